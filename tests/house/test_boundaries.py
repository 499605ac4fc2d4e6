"""What import-linter does not see: the compiled core, the public names, and the order of the core's own rooms."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import tesla_eval
from names_beside import PAGE, names, page

PACKAGE = Path(tesla_eval.__file__).parent
ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "core"
CORE_ROOMS = ("base", "simd", "language", "encoder", "matching", "metrics", "tuning", "training", "bindings")
"""Left to right."""
COMPILES_KERNELS = "simd/all.inc"
"""It includes the kernels of encoder and matching: they are compiled for each CPU, and called through a table."""
USE_THE_CORE = {"language", "matching", "metrics", "training", "serving"}


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


def test_packages_beside_this_one_use_no_core_and_only_the_names_that_are_promised() -> None:
    assert PAGE.read_text("utf-8") == page(), "run tools/names_beside.py, and think of what it promises"
    used = names()
    assert "tesla_eval._core" not in used and "_core" not in used.get("tesla_eval", set())


def test_nothing_in_the_package_uses_its_public_names() -> None:
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir()} | {"_core"}
    assert [room for room, module, name in imports() if module == "tesla_eval" and name not in rooms] == []


def test_the_rooms_of_the_core_include_only_those_to_their_left() -> None:
    sources = [path for path in sorted(CORE.rglob("*")) if path.suffix in {".h", ".cpp", ".inc"}]
    assert {path.relative_to(CORE).parts[0] for path in sources} == set(CORE_ROOMS)
    wrong = []
    for path in sources:
        room = path.relative_to(CORE).parts[0]
        for name in re.findall(r'#include "([^"]+)"', path.read_text("utf-8")):
            other = name.split("/")[0]
            to_the_right = CORE_ROOMS.index(other) > CORE_ROOMS.index(room)
            if to_the_right and str(path.relative_to(CORE)) != COMPILES_KERNELS:
                wrong.append((str(path.relative_to(CORE)), name))
    assert wrong == []


def test_includes_stand_in_alphabetical_order() -> None:
    """In each block of a file; what compiles kernels has an order of its own."""
    for path in sorted(CORE.rglob("*.h")) + sorted(CORE.rglob("*.cpp")):
        for block in re.findall(r'(?:^#include (?:".+\.h"|<.+>)\n)+', path.read_text("utf-8"), re.MULTILINE):
            names = [line.split()[1] for line in block.splitlines()]
            assert names == sorted(names), f"{path}: {names}"
