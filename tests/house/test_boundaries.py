"""Which modules may import the compiled core and the public names: import-linter does not see a compiled module."""

import ast
from collections.abc import Iterator
from pathlib import Path

import tesla_eval

PACKAGE = Path(tesla_eval.__file__).parent
USE_THE_CORE = {"language", "matching", "metrics", "tuning", "training"}


def imports() -> Iterator[tuple[str, str, str]]:
    """The room of a module, what it imports from, and the name that it imports."""
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).parts[0]
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                yield from ((room, node.module or "", name.name) for name in node.names)
            elif isinstance(node, ast.Import):
                yield from ((room, name.name, "") for name in node.names)


def test_few_rooms_use_the_core() -> None:
    using = {
        room for room, module, name in imports() if "_core" in (name, module.removeprefix("tesla_eval."))
    }
    assert using == USE_THE_CORE


def test_nothing_in_the_package_uses_its_public_names() -> None:
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir()} | {"_core"}
    assert [room for room, module, name in imports() if module == "tesla_eval" and name not in rooms] == []
