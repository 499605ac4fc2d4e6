"""A module fits on a few screens."""

from pathlib import Path

import tesla_eval

LONGEST = 450


def test_no_module_is_long() -> None:
    lengths = {
        path: len(path.read_text("utf-8").splitlines())
        for path in Path(tesla_eval.__file__).parent.rglob("*.py")
    }
    assert {path.name: length for path, length in lengths.items() if length > LONGEST} == {}
