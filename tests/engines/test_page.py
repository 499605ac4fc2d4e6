"""The code on the page "More than one machine", run as it is written there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

from tests.engines.common import ROOT, own_scores, same_rows, write_pairs

arrow = pytest.importorskip("pyarrow")
PAGE = (ROOT / "docs" / "more-than-one-machine.md").read_text("utf-8")
PYPROJECT = (ROOT / "pyproject.toml").read_text("utf-8")


def section(title: str) -> str:
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def blocks(title: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", section(title), re.DOTALL | re.MULTILINE)


def run(code: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=folder,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("title", "extra"), [("DuckDB", "duckdb"), ("Ray", "ray"), ("Spark", "spark")])
def test_what_a_page_installs_exists(title: str, extra: str) -> None:
    assert f"pip install 'tesla-eval[{extra}]'" in section(title)
    assert re.search(rf"^{extra} = \[", PYPROJECT, re.MULTILINE)


def test_ray_from_nothing_to_scores_in_ten_lines(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="make test-engines installs it")
    (install,), (code,) = blocks("Ray", "sh"), blocks("Ray", "py")
    assert len([line for line in (install + code).splitlines() if line.strip()]) <= 10
    run(code, tmp_path)
    from pyarrow import dataset

    from tesla_eval import create_metric

    texts = ["The cats sat." + " Oh!" * (i % 9) for i in range(1000)]
    wanted = create_metric("m", "en").score_segments(texts, [["The cat sat."] * 1000]).scores.tolist()
    found = dataset.dataset(str(tmp_path / "scores")).to_table(columns=["id", "tesla-m"]).sort_by("id")
    assert found.to_pydict() == {"id": list(range(1000)), "tesla-m": wanted}


def test_duckdb(tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="make test-engines installs it")
    from pyarrow import parquet

    write_pairs(tmp_path / "data.parquet", 50, row_group=50)
    (code,) = blocks("DuckDB", "py")
    run(code, tmp_path)
    found = parquet.read_table(tmp_path / "scores.parquet").rename_columns(["id", "tesla-m"])
    assert same_rows(found, own_scores(tmp_path / "data.parquet"))


@pytest.mark.skipif(which("java") is None, reason="Spark needs Java")
def test_spark(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="make test-engines installs it")
    from pyarrow import dataset

    (tmp_path / "data").mkdir()
    write_pairs(tmp_path / "data" / "a.parquet", 50, row_group=50)
    (code,) = blocks("Spark", "py")
    run(code, tmp_path)
    expected = own_scores(tmp_path / "data" / "a.parquet")
    assert same_rows(dataset.dataset(str(tmp_path / "scores")).to_table(), expected)


def test_one_file(tmp_path: Path) -> None:
    from pyarrow import parquet

    write_pairs(tmp_path / "data.parquet", 50, row_group=50)
    (line,) = blocks("One file, constant memory", "")
    arguments = line.split()[1:]
    subprocess.run([sys.executable, "-m", "tesla_eval.cli", *arguments], cwd=tmp_path, check=True)
    found = parquet.read_table(tmp_path / "scores.parquet")
    assert same_rows(found, own_scores(tmp_path / "data.parquet"))
