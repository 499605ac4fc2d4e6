"""tesla-eval: judge machine-made text against references by exact matching of weighted n-grams.

from tesla_eval import score, explain, TeslaM

score(hypotheses, [references]).score           # a system, with TESLA-X
explain("The cats sat.", ["The cat sat."])      # one text, with the matching behind its score
metric = TeslaM(lang="en")                      # a metric that is used more than once
metric.sentence_score("hyp", ["ref1", "ref2"])
metric.corpus_score(hypotheses, [references])

`dir(tesla_eval)` lists the public names; everything else may change in any version (docs/versions.md).
"""

from __future__ import annotations

import os

from tesla_eval.base.version import __version__ as __version__

# NumPy's OpenBLAS starts a thread per core that waits busily before it sleeps: 2^26 cycles, 0.1 s of CPU time per core
# at every start. 2^20 are as good for its products (docs/benchmarks.md, "Start-up"). It is read when NumPy is loaded.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")


_HOMES: dict[str, str] = {}


def _homes() -> dict[str, str]:
    """The module of each public name. The stub says each name once, for type checkers and for us.

    This is how scientific Python packages load lazily (SPEC 1): `import tesla_eval` stays light.
    """
    if _HOMES:
        return _HOMES
    import re
    from pathlib import Path

    stub = Path(__file__).with_suffix(".pyi").read_text("utf-8")
    statements = re.findall(r"^from (tesla_eval\.\S+) import (\([^)]*\)|.*)$", stub, re.MULTILINE)
    _HOMES.update((name, home) for home, names in statements for name in re.findall(r"(\w+) as \w+", names))
    return _HOMES


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for."""
    from tesla_eval.base.errors import import_module

    if name.startswith("__") or name not in _homes():
        raise AttributeError(f"module 'tesla_eval' has no attribute {name!r}")
    return getattr(import_module(_homes()[name]), name)


def __dir__() -> list[str]:
    return sorted(["__version__", *_homes()])
