"""Write the table of docs/reference/beside.md: what the packages beside tesla-eval import from it.

python tools/names_beside.py
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "beside.md"
PACKAGES = [ROOT / "packages" / name / "src" for name in ("papers", "neural")]
HEAD = "| module | names |\n|---|---|\n"


def names() -> dict[str, set[str]]:
    """The names that the packages import, by module."""
    used: dict[str, set[str]] = {}
    for package in PACKAGES:
        for path in package.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tesla_eval":
                    used.setdefault(node.module or "", set()).update(name.name for name in node.names)
    return used


def page() -> str:
    """The page with the table as it should be."""
    rows = (
        f"| `{module}` | {', '.join(f'`{one}`' for one in sorted(used))} |\n"
        for module, used in sorted(names().items())
    )
    return PAGE.read_text("utf-8").partition(HEAD)[0] + HEAD + "".join(rows)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
