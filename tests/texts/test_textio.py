"""Strict reading: nothing dropped, nothing shifted, errors that name file and line."""

from __future__ import annotations

import gzip
import sys

import pytest

from tesla_eval.base.errors import InputError
from tesla_eval.texts.lines import LineReader, looks_lowercased, looks_tokenised, read_in_step, read_lines


def test_line_ends_byte_order_mark_and_empty_lines(write) -> None:
    assert read_lines(write("a", b"\xef\xbb\xbfone\r\n\r\ntwo\n\nthree")) == ["one", "", "two", "", "three"]


def test_only_line_feeds_end_lines(write) -> None:
    text = "a\u2028b\u0085c\x0bd\x0ce\x1cf\rg"
    assert read_lines(write("a", [text, "next"])) == [text, "next"]


def test_control_and_right_to_left_characters_pass_through(write) -> None:
    text = "\x00\x07\u202eabc\u2069 שלום"
    assert read_lines(write("a", [text])) == [text]


def test_gzip_is_read_as_such(write) -> None:
    assert read_lines(write("a.gz", gzip.compress(b"one\ntwo\n"))) == ["one", "two"]


def test_standard_input(monkeypatch: pytest.MonkeyPatch, write) -> None:
    with open(write("in", ["one", "two"]), encoding="utf-8") as handle:  # noqa: PTH123
        monkeypatch.setattr(sys, "stdin", handle)
        assert read_lines("-") == ["one", "two"]


def test_standard_input_twice_is_refused() -> None:
    with pytest.raises(InputError, match="only once"):
        next(read_in_step(["-", "-"]))


def test_invalid_utf8_names_file_and_line(write) -> None:
    path = write("bad.txt", b"good\nalso good\nb\xe9d\ngood\n")
    with pytest.raises(InputError, match=r"bad\.txt, line 3: is not valid UTF-8 \(byte 2"):
        read_lines(path)


def test_invalid_utf8_far_into_a_file_names_its_line(write) -> None:
    path = write("bad.txt", b"x" * 100 + b"\n" + b"fine line\n" * 300_000 + b"\xff\n")
    with pytest.raises(InputError, match="line 300002"):
        read_lines(path)


@pytest.mark.parametrize("content", [b"not gzip at all", gzip.compress(b"some text " * 100)[:-20]])
def test_broken_gzip_is_an_error(write, content: bytes) -> None:
    with pytest.raises(InputError, match=r"a\.gz: is not a sound gzip file"):
        read_lines(write("a.gz", content))


def test_gzip_under_another_name_is_recognised(write) -> None:
    with pytest.raises(InputError, match=r"a\.txt: is compressed; give it a name that ends in \.gz"):
        read_lines(write("a.txt", gzip.compress(b"some text " * 100)))


def test_unreadable_files_are_errors(tmp_path) -> None:
    with pytest.raises(InputError, match="nowhere: cannot be opened"):
        read_lines(str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="cannot be"):
        read_lines(str(tmp_path))


def test_a_line_without_end_is_bounded(monkeypatch: pytest.MonkeyPatch, write) -> None:
    monkeypatch.setattr("tesla_eval.texts.lines._LONGEST_LINE", 1 << 20)
    with pytest.raises(InputError, match="line 2: is longer"):
        read_lines(write("long", b"short\n" + b"x" * (3 << 20)))


def test_files_are_read_in_step(write) -> None:
    paths = [write("a", [f"a{i}" for i in range(2500)]), write("b", [f"b{i}" for i in range(2500)])]
    chunks = list(read_in_step(paths, 1000))
    assert [len(chunk[0]) for chunk in chunks] == [1000, 1000, 500]
    assert [line for chunk in chunks for line in chunk[1]] == [f"b{i}" for i in range(2500)]


def test_unequal_counts_name_both_files_and_counts(write) -> None:
    paths = [write("ref.txt", ["x"] * 7), write("sys.txt", ["x"] * 5)]
    with pytest.raises(InputError, match=r"ref\.txt has 7 lines, but .*sys\.txt has 5"):
        list(read_in_step(paths, 2))


def test_empty_files_are_errors(write) -> None:
    with pytest.raises(InputError, match=r"empty\.txt: is empty"):
        list(read_in_step([write("ref.txt", ["x"]), write("empty.txt", b"")]))
    with pytest.raises(InputError, match="is empty"):
        list(read_in_step([write("empty.txt", b"")]))


def test_long_lines_make_small_chunks(monkeypatch: pytest.MonkeyPatch, write) -> None:
    monkeypatch.setattr("tesla_eval.texts.lines._CHUNK_CHARACTERS", 10)
    assert [len(chunk[0]) for chunk in read_in_step([write("a", ["x" * 6] * 5)])] == [2, 2, 1]


def test_a_reader_counts_its_lines(write) -> None:
    reader = LineReader(write("a", ["x"] * 3))
    assert sum(1 for _ in reader) == reader.count == 3


def test_worked_on_text_is_noticed() -> None:
    plain = ["He came, he said.", "So be it!"] * 10
    assert not looks_tokenised(plain)
    assert not looks_lowercased(plain)
    assert looks_tokenised(["He came , he said .", "So be it !"] * 10)
    assert looks_lowercased([text.lower() for text in plain])
    assert not looks_lowercased(["今天天气很好。"] * 20)
    assert not looks_tokenised(["x ."] * 3), "three lines are no evidence"
