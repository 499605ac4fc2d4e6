"""The byte budget of the wheel of data, checked on the data folder: `make wheel` checks the wheel itself."""

from __future__ import annotations

import importlib.util
import zlib
from collections import Counter
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from tesla_eval.base.resources import shipped_folder

TOOL = Path(__file__).resolve().parents[2] / "tools" / "check_wheel.py"
spec = importlib.util.spec_from_file_location("check_wheel", TOOL)
assert spec is not None
assert spec.loader is not None
check_wheel = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_wheel)


def test_the_data_stays_inside_its_budget() -> None:
    found: Counter[str] = Counter()
    for path in shipped_folder().rglob("*"):
        if path.is_file():
            # 6 is what zip files, and so wheels, are written with
            found[check_wheel.part_of(path.name)] += len(zlib.compress(path.read_bytes(), 6))
    assert found.total() <= check_wheel.WHOLE["tesla_eval_data"] * check_wheel.MEGABYTE
    for part, size in found.items():
        assert size <= check_wheel.BUDGET[part] * check_wheel.MEGABYTE, part


@pytest.mark.parametrize(("megabytes", "fits"), [(5, True), (7, False)])
def test_a_wheel_that_is_too_large_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, megabytes: int, fits: bool
) -> None:
    wheel = tmp_path / "tesla_eval_data-0.whl"
    monkeypatch.setitem(check_wheel.BUDGET, "senses", 0.006)
    noise = bytes((i * i * 7919 >> 3) % 251 for i in range(megabytes * 1000))
    with ZipFile(wheel, "w") as archive:
        archive.writestr("tesla_eval_data/senses-de.tesla", noise)
        archive.writestr("tesla_eval_data/tagger-de.tesla", b"0" * 1000, ZIP_DEFLATED)
    monkeypatch.setattr("sys.argv", ["check_wheel.py", str(wheel)])
    if fits:
        check_wheel.main()
    else:
        with pytest.raises(SystemExit, match="too large: senses of tesla_eval_data"):
            check_wheel.main()
