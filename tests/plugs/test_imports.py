"""No neighbour is imported before it is used."""

from __future__ import annotations

import subprocess
import sys

NEIGHBOURS = [
    "pandas",
    "polars",
    "pyarrow",
    "torch",
    "torchmetrics",
    "mbrs",
    "evaluate",
    "lm_eval",
    "inspect_ai",
    "comet",
    "bert_score",
    "dask",
    "datasets",
    "sklearn",
    "optuna",
    "mlflow",
    "wandb",
]


def imported_after(code: str) -> set[str]:
    ran = subprocess.run([sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"],
                         capture_output=True, text=True, check=True)  # fmt: skip
    return set(ran.stdout.split())


def test_scoring_imports_no_plug() -> None:
    modules = imported_after("import tesla_eval\ntesla_eval.score(['a b'], [['a b']], 'm')")
    assert "tesla_eval.metrics.segments" in modules
    assert not {name for name in modules if name.startswith("tesla_eval.connect")}
    assert not modules & set(NEIGHBOURS)


def test_plugs_that_work_on_what_comes_in_import_no_neighbour() -> None:
    modules = imported_after(
        "import tesla_eval.connect.frames, tesla_eval.connect.lm_eval, tesla_eval.connect.adapters"
    )
    assert "tesla_eval.connect.frames" in modules
    assert not modules & set(NEIGHBOURS)
