"""The resource file: what was written comes back; what is damaged is refused, by name, without a crash."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tesla_eval.base.errors import ResourceError
from tesla_eval.base.resources import (
    Provenance,
    Resource,
    find_resource,
    installed_resources,
    read_resource,
    shipped_folder,
    text_array,
    user_data_folder,
    write_resource,
)

ARRAYS = {
    "numbers": np.arange(1000, dtype=np.uint32),
    "matrix": np.linspace(0, 1, 12).reshape(3, 4),
    "words": text_array("größer\nkleiner\n"),
    "nothing": np.zeros(0, np.int8),
}


@pytest.fixture(params=[True, False], ids=["deflated", "plain"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    file = tmp_path / "table-xx.tesla"
    resource = Resource(
        "table", "xx", ARRAYS, analysis="a1", provenance=Provenance(("me",), "MIT", "2026"), info={"n": 3}
    )
    write_resource(file, resource, compress=request.param)
    return file


def test_what_was_written_comes_back(path: Path) -> None:
    found = read_resource(path, "table")
    assert (found.kind, found.language, found.analysis) == ("table", "xx", "a1")
    assert (found.provenance, found.info) == (Provenance(("me",), "MIT", "2026"), {"n": 3})
    assert found.text("words") == "größer\nkleiner\n"
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(found.arrays[name], array)


def test_nothing_half_made_is_left_behind(path: Path) -> None:
    assert [file.name for file in path.parent.iterdir()] == ["table-xx.tesla"]


def test_writing_is_reproducible_to_the_byte(path: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.tesla"
    write_resource(again, read_resource(path), compress=False)
    write_resource(path, read_resource(again), compress=False)
    assert path.read_bytes() == again.read_bytes()


def test_another_kind_is_refused(path: Path) -> None:
    with pytest.raises(ResourceError, match="is a table, not a tagger"):
        read_resource(path, "tagger")


def test_another_format_version_is_refused(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[8] = 99
    path.write_bytes(data)
    with pytest.raises(ResourceError, match=r"table-xx\.tesla: has format 99.*rebuild"):
        read_resource(path)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match="cannot be read"):
        read_resource(tmp_path / "nowhere.tesla")


def test_every_truncation_is_refused(path: Path) -> None:
    data = path.read_bytes()
    for length in [0, 5, 23, 24, 100, len(data) // 2, len(data) - 64]:
        path.write_bytes(data[:length])
        with pytest.raises(ResourceError, match=r"table-xx\.tesla"):
            read_resource(path)


@settings(max_examples=300, deadline=None)
@given(place=st.integers(0, 10**9), flip=st.integers(1, 255))
def test_a_damaged_byte_is_refused_or_harmless(
    place: int, flip: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.getbasetemp() / "fuzz.tesla"
    write_resource(file, Resource("table", "xx", ARRAYS))
    data = bytearray(file.read_bytes())
    data[place % len(data)] ^= flip
    file.write_bytes(data)
    try:
        found = read_resource(file)
    except ResourceError:
        return
    for name, array in ARRAYS.items():  # only padding may change unseen
        np.testing.assert_array_equal(found.arrays[name], array)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
def test_random_bytes_are_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "random.tesla"
    file.write_bytes(data)
    with pytest.raises(ResourceError):
        read_resource(file)
    file.write_bytes(b"TESLARES" + data)
    with pytest.raises(ResourceError):
        read_resource(file)


def with_header(data: bytes, change: Callable[[Any], object]) -> bytes:
    """The file with a changed header, which has the right length and checksum."""
    length = int.from_bytes(data[12:20], "little")
    header = json.loads(data[24 : 24 + length])
    change(header)
    changed = json.dumps(header).encode()
    changed += b" " * (-(24 + len(changed)) % 64)
    prefix = data[:12] + len(changed).to_bytes(8, "little") + zlib.crc32(changed).to_bytes(4, "little")
    return prefix + changed + data[24 + length :]


@pytest.mark.parametrize(
    "change",
    [
        lambda header: header.pop("kind"),
        lambda header: header.update(language=7),
        lambda header: header.update(sources=[None]),
        lambda header: header.update(info=[]),
        lambda header: header.update(arrays={}),
        lambda header: header["arrays"].append("array"),
        lambda header: header["arrays"][0].pop("crc"),
        lambda header: header["arrays"][0].update(shape=["1000"]),
        lambda header: header["arrays"][0].update(shape=[-1000]),
        lambda header: header["arrays"][0].update(shape=[1 << 32, 1 << 32]),
        lambda header: header["arrays"][0].update(offset=-64),
        lambda header: header["arrays"][0].update(stored=-64),
        lambda header: header["arrays"][0].update(stored=1 << 40),
        lambda header: header["arrays"][0].update(dtype="|O"),
        lambda header: header["arrays"][0].update(shape=[True]),
        lambda header: header["arrays"][0].update(shape=[*header["arrays"][0]["shape"], *[1] * 99]),
        lambda header: header["arrays"].append({**header["arrays"][0], "name": "the same bytes again"}),
        lambda header: header["arrays"].append(
            {**header["arrays"][0], "offset": 1 << 20, "stored": 0, "shape": [0]}
        ),
    ],
)
def test_a_header_that_lies_is_refused(path: Path, change: Callable[[Any], object]) -> None:
    path.write_bytes(with_header(path.read_bytes(), lambda header: None))
    read_resource(path)  # so that it is the change that is refused
    path.write_bytes(with_header(path.read_bytes(), change))
    with pytest.raises(ResourceError, match=r"table-xx\.tesla: is damaged"):
        read_resource(path)


def test_own_resources_come_first(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESLA_EVAL_DATA", str(path.parent))
    assert find_resource("table", "xx") == path
    assert next(iter(installed_resources())) == path
    assert find_resource("table", "yy") is None
    assert find_resource("senses", "en") is not None, "the shipped ones stay"


def test_without_a_home_there_are_the_shipped_resources(homeless, tesla, write) -> None:
    senses = find_resource("senses", "en")
    assert senses is not None and senses.parent == shipped_folder()
    told = tesla("score", "-r", write("r", ["A cat sat."]), write("s", ["A cat sits."]))
    assert (told.status, told.err) == (0, "")
    assert tesla("resources").status == 0
    with pytest.raises(ResourceError, match="name a folder in \\$TESLA_EVAL_DATA"):
        user_data_folder()


def test_every_shipped_resource_is_sound_and_has_a_licence() -> None:
    found = [read_resource(file) for file in installed_resources()]
    assert found
    for resource in found:
        assert resource.provenance.licence, resource.path
        assert resource.provenance.sources, resource.path
