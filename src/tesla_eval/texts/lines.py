"""Strict reading of text: a line is what ends in a line feed, bytes are UTF-8, and nothing is ever dropped or shifted.

Files may be of any length: they are read in blocks and handed on in chunks. Errors name file and line.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice
from typing import IO, Any, ClassVar

from tesla_eval.base.errors import InputError
from tesla_eval.texts.compression import compression_of_bytes, open_bytes, reading_error, without_suffix

STANDARD_INPUT = "-"
_MARKED_UP = (".sgm", ".sgml", ".xml")
_BLOCK_BYTES = 1 << 20
_LONGEST_LINE = 64 << 20  # bytes: a line longer than this is no line of text
_CHUNK_CHARACTERS = 1 << 22  # a chunk of lines ends early when it holds this much text
_BYTE_ORDER_MARK = "\ufeff"
_SURROGATE = re.compile("[\ud800-\udfff]")  # half a character


class LineReader:
    """The lines of a file, of a compressed file (`.gz`, `.bz2`, `.xz`, `.zst`), or of standard input (`-`), without
    their line ends.

    A byte-order mark and carriage returns before line feeds are taken off. `count` tells how many lines were read.
    """

    unit: ClassVar[str] = "line"
    """What is counted, for messages."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.name = name_of(path)
        self.count = 0

    def __iter__(self) -> Iterator[str]:
        for lines in self._blocks():
            if self.count == 0:  # UTF-16 has its mark, or a 0 in every second byte
                has_gaps = any(len(half) > 1 and not any(half) for half in (lines[0][::2], lines[0][1::2]))
                if lines[0].startswith((b"\xff\xfe", b"\xfe\xff")) or has_gaps:
                    raise InputError(
                        f"{self.name}: looks like UTF-16, not UTF-8; convert it, for instance with iconv -f UTF-16 "
                        "-t UTF-8"
                    )
            try:
                texts = b"\n".join(lines).decode("utf-8").split("\n")
            except UnicodeDecodeError:
                raise self._undecodable(lines) from None
            for text in texts:
                self.count += 1
                if self.count == 1:
                    text = text.removeprefix(_BYTE_ORDER_MARK)  # noqa: PLW2901
                yield text.removesuffix("\r")

    def _blocks(self) -> Iterator[list[bytes]]:
        """Runs of whole lines, still as bytes."""
        rest = b""
        with _reading(self.path, self.name) as handle:
            while True:
                try:
                    block = handle.read(_BLOCK_BYTES)
                except Exception as error:
                    raise reading_error(error, self.path, self.name) from error
                if not block:
                    break
                lines = (rest + block).split(b"\n") if b"\n" in block else [rest + block]
                rest = lines.pop()
                if len(rest) > _LONGEST_LINE:
                    raise InputError(f"{self.name}, line {self.count + len(lines) + 1}: is longer than 64 MB")
                if lines:
                    yield lines
        if rest:
            yield [rest]

    def _undecodable(self, lines: list[bytes]) -> InputError:
        ending = compression_of_bytes(lines[0]) if self.count == 0 else None
        if ending is not None:
            return InputError(
                f"{self.name}: is compressed; give it a name that ends in {ending}, or unpack it first"
            )
        for number, line in enumerate(lines, self.count + 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                return InputError(
                    f"{self.name}, line {number}: is not valid UTF-8 (byte {error.start + 1} of the line); "
                    "convert the file, for instance with iconv"
                )
        raise AssertionError("the block did not decode, but each of its lines does")


def _reading(path: str, name: str) -> IO[bytes]:
    if path == STANDARD_INPUT:
        if sys.stdin is None:
            raise InputError(f"{name}: cannot be read (it is closed)")
        # closefd=False: standard input is not ours to close
        return open(sys.stdin.fileno(), "rb", closefd=False)
    try:
        return open_bytes(path)
    except OSError as error:
        raise InputError(f"{name}: cannot be opened ({error.strerror})") from error


class PeekedReader(LineReader):
    """A file whose first line is known before the others are read."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._lines = super().__iter__()
        self._start = list(islice(self._lines, 1))
        self.first = "".join(self._start)
        """Empty if there is none."""

    def __iter__(self) -> Iterator[str]:
        return chain(self._start, self._lines)


def name_of(path: str) -> str:
    """A file's name in messages."""
    return "standard input" if path == STANDARD_INPUT else path


def read_lines(path: str) -> list[str]:
    """All lines of a file.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = path.write_bytes(b"one\\r\\n\\ntwo")
    >>> read_lines(str(path))
    ['one', '', 'two']
    """
    return list(LineReader(path))


def read_json_lines(path: str | LineReader) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a JSON Lines file, each with the place ("FILE, line N") that errors about it name.

    Empty lines are passed over; a line that is no JSON object is an `InputError`.
    """
    reader = path if isinstance(path, LineReader) else LineReader(path)
    for line in reader:
        if line.strip():
            place = f"{reader.name}, line {reader.count}"
            yield place, parse_json_object(line, place)


def read_headed_rows(
    path: str, required: Collection[str], optional: Collection[str] | None = ()
) -> Iterator[tuple[str, dict[str, str]]]:
    """The rows of a tab-separated file by column, each with the place ("FILE, line N") that errors about it name.

    The first line names the columns, in any order: all that are `required`, and others only if they are `optional`
    (None: any).
    """
    reader = LineReader(path)
    lines = iter(reader)
    header = next(lines, "").split("\t")
    known = set(header) if optional is None else {*required, *optional}
    if not set(required) <= set(header) <= known or len(set(header)) < len(header):
        others = f" and may have {' '.join(optional)}" if optional else ""
        raise InputError(
            f"{reader.name}, line 1: the header must have the columns {' '.join(required)}{others} (separated by "
            f"tabs), but it is {' '.join(header) or 'empty'}"
        )
    for line in lines:
        place = f"{reader.name}, line {reader.count}"
        cells = line.split("\t")
        if len(cells) != len(header):
            raise InputError(f"{place}: has {len(cells)} fields instead of {len(header)}")
        yield place, dict(zip(header, cells, strict=True))


def parse_number(text: str, place: str, what: str = "score") -> float:
    """The number that a cell holds; anything else is an `InputError` that names `place`."""
    if not is_number(text) or not math.isfinite(float(text)):
        raise InputError(f"{place}: {what} {text!r} is not a number")
    return float(text)


def to_number(value: Any) -> float:
    """What `float` reads, except the underscores of source code (`1_000`): a `ValueError`."""
    if isinstance(value, str) and "_" in value:
        raise ValueError(f"{value!r} is not a number")
    return float(value)


def is_number(value: Any) -> bool:
    """Whether `to_number` takes the value.

    >>> is_number("-1e3"), is_number("1,5"), is_number("1_000")
    (True, False, False)
    """
    try:
        to_number(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def parse_json_object(line: str, place: str) -> dict[str, Any]:
    """The JSON object on a line; anything else is an `InputError` that names `place`."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: is not JSON ({error})") from error
    if not isinstance(value, dict):
        raise InputError(f"{place}: is JSON, but not an object in braces")
    if "\\ud" in line.lower() and _SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        raise InputError(f"{place}: holds half a character (a lone surrogate such as \\ud83d)")
    return value


def read_in_step(
    paths: Sequence[str | LineReader], lines: int = 1024, *, reader: type[LineReader] = LineReader
) -> Iterator[list[list[str]]]:
    """Chunks of parallel files: one list of lines (or of what `reader` makes of them) per file, of the same length.

    At the end the files must have the same number of lines, and some: `InputError` names the files and both counts.
    """
    readers = [path if isinstance(path, LineReader) else reader(path) for path in paths]
    if [each.path for each in readers].count(STANDARD_INPUT) > 1:
        raise InputError("standard input (-) can be read only once")
    sources = [iter(reader) for reader in readers]
    while True:
        chunk: list[list[str]] = [[] for _ in readers]
        size = 0
        ended = False
        while len(chunk[0]) < lines and size < _CHUNK_CHARACTERS and not ended:
            for texts, source in zip(chunk, sources, strict=True):
                text = next(source, None)
                if text is None:
                    ended = True
                else:
                    texts.append(text)
                    size += len(text)
        if ended:
            _check_counts(readers, sources)
        if chunk[0]:
            yield chunk
        if ended:
            return


def _check_counts(readers: Sequence[LineReader], sources: Sequence[Iterator[str]]) -> None:
    """Count all files to their ends and compare."""
    for source in sources:
        for _ in source:
            pass
    first = readers[0]
    for reader in readers:
        if reader.count == 0:
            raise InputError(f"{reader.name}: is empty; it must have a {reader.unit} for each segment")
        if reader.count != first.count:
            raise InputError(
                f"{first.name} has {first.count} {first.unit}s, but {reader.name} has {reader.count}: "
                f"{first.unit} i of every file must belong to segment i"
            )


def looks_tokenised(texts: Sequence[str]) -> bool:
    """Whether the texts seem to have their punctuation already split off by spaces.

    >>> looks_tokenised(["Hello , world ."] * 20), looks_tokenised(["Hello, world."] * 20)
    (True, False)
    """
    ending = [text for text in texts if text.rstrip().endswith((".", "?", "!", "。", "？", "！"))]
    apart = sum(text.rstrip()[-2:-1] == " " for text in ending)
    return len(ending) >= 10 and apart > 0.8 * len(ending)


def looks_lowercased(texts: Sequence[str]) -> bool:
    """Whether the texts are in a script with cases and seem to have lost them.

    >>> looks_lowercased(["we met in paris."] * 20), looks_lowercased(["We met in Paris."] * 20)
    (True, False)
    """
    cased = [text for text in texts if text.lower() != text.upper()]
    lowered = sum(text == text.lower() for text in cased)
    return len(cased) >= 10 and lowered > 0.98 * len(cased)


def any_marked_up(*paths: str | None) -> bool:
    """Whether the name of one of the files says that it is SGML or XML.

    >>> any_marked_up("newstest2010-ref.en.sgm"), any_marked_up("ref.xml.gz"), any_marked_up("ref.txt", None)
    (True, True, False)
    """
    return any(without_suffix(path or "").lower().endswith(_MARKED_UP) for path in paths)
