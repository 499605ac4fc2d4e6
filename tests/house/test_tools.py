"""Every tool and every benchmark imports: none is left behind when the package changes."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = sorted(path.stem for path in (ROOT / "tools").glob("*.py"))
BENCHMARKS = sorted(
    path.stem for path in (ROOT / "benchmarks").glob("*.py") if not path.stem.startswith("__")
)


ELSEWHERE = {"build_encoder": "tesla_eval_neural", "docs_docstrings": "griffe", "docs_hooks": "mkdocs"}
"""Tools that run in an environment of their own, with what that has: `make test-neural` and `make docs`."""


@pytest.fixture
def beside_the_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tools import each other by name, as they do when one is run; nothing of it stays behind."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    monkeypatch.syspath_prepend(str(ROOT))
    for name in TOOLS:
        monkeypatch.delitem(sys.modules, name, raising=False)


@pytest.mark.usefixtures("beside_the_tools")
@pytest.mark.parametrize("name", [*TOOLS, *(f"benchmarks.{name}" for name in BENCHMARKS)])
def test_it_imports(name: str) -> None:
    if name in ELSEWHERE:
        pytest.importorskip(ELSEWHERE[name])
    assert importlib.import_module(name).__doc__
