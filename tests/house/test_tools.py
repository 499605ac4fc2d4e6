"""Every tool, study and benchmark imports: none is left behind when the package changes."""

from __future__ import annotations

import doctest
import importlib
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = sorted(
    path.stem for tools in (ROOT, ROOT / "packages" / "papers") for path in (tools / "tools").glob("*.py")
)
PACKAGES = [
    f"{folder}.{path.stem}"
    for folder in ("benchmarks", "research")
    for path in sorted((ROOT / folder).glob("*.py"))
    if not path.stem.startswith("__")
]

ELSEWHERE = {
    "build_encoder": "tesla_eval_neural",
    "docs_docstrings": "griffe",
    "docs_hooks": "mkdocs",
    "research.n_speed": "tesla_eval_neural",
}
"""What runs in an environment of its own, with what that has: `make test-neural` and `make docs`."""


@pytest.fixture
def beside_the_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tools import each other by name, as they do when one is run; nothing of it stays behind."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    monkeypatch.syspath_prepend(str(ROOT / "packages" / "papers" / "tools"))
    monkeypatch.syspath_prepend(str(ROOT))
    for name in TOOLS:
        monkeypatch.delitem(sys.modules, name, raising=False)


@pytest.mark.usefixtures("beside_the_tools")
@pytest.mark.parametrize("name", [*TOOLS, *PACKAGES])
def test_it_imports(name: str) -> None:
    if name in ELSEWHERE:
        pytest.importorskip(ELSEWHERE[name])
    module = importlib.import_module(name)
    assert module.__doc__
    assert doctest.testmod(module).failed == 0


def test_nothing_shipped_and_no_tool_uses_a_study() -> None:
    code = [
        *(ROOT / "src").rglob("*.py"),
        *(path for path in (ROOT / "packages").rglob("*.py") if "tests" not in path.parts),
        *(ROOT / "tools").rglob("*.py"),
    ]
    users = [
        path for path in code if re.search(r"^\s*(from|import) research\b", path.read_text("utf-8"), re.M)
    ]
    assert not users
