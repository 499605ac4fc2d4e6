"""The Python on pages of docs/, run as written."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def blocks(page: Path, *languages: str) -> list[str]:
    """The fenced blocks of a page in these languages."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return [text for language, text in fenced if language in languages]


def run_python(page: Path, names: dict[str, Any]) -> None:
    """Run the Python of a page; where a comment after an expression shows a value, the value must be that."""
    for block in blocks(page, "python"):
        lines = block.splitlines()
        for statement in ast.parse(block).body:
            if not isinstance(statement, ast.Expr):
                exec(compile(ast.Module([statement], []), str(page), "exec"), names)
                continue
            value = eval(compile(ast.Expression(statement.value), str(page), "eval"), names)
            comment = lines[(statement.end_lineno or 1) - 1].partition("  # ")[2]
            if re.match(r"[\d\[({'\"]|array\(|True|False", comment):
                assert repr(value).startswith(comment.partition("...")[0].rstrip(", ")), (comment, value)
