"""Segments in tables with named columns: TSV, CSV, JSON Lines and Parquet, read row by row.

`--columns hyp=mt,ref=ref,src=src` names the columns; several are joined by `+`. The usual names need no option. Columns
of TSV and CSV without a header are named by their numbers, from 1.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from tesla_eval.base.errors import InputError, UsageError, need_package, warn
from tesla_eval.texts.compression import without_suffix
from tesla_eval.texts.lines import STANDARD_INPUT, LineReader, PeekedReader, name_of, read_json_lines

ROLES = ("hyp", "ref", "src", "system")
USUAL_NAMES = {
    "hyp": ("hyp", "mt", "hypothesis", "translation", "prediction"),
    "ref": ("ref", "reference", "references", "refs", "target"),
    "src": ("src", "source"),
    "system": ("system",),
}


Missing = Literal["empty", "error", "null", "skip"]
"""What becomes of a row without hypothesis, any reference, or source: an empty text, an error, a null score, no row."""
MISSING: tuple[Missing, ...] = get_args(Missing)


def usual_name(present: Container[str], role: str) -> str | None:
    """The usual name of a role that is there, if any.

    >>> usual_name(["id", "mt", "ref"], "hyp"), usual_name(["id"], "src")
    ('mt', None)
    """
    return next((name for name in USUAL_NAMES[role] if name in present), None)


@dataclass(frozen=True)
class Columns:
    """The columns that hold hypotheses, references, the source, and the name of the hypothesis's system."""

    hyp: tuple[str, ...] = ()
    ref: tuple[str, ...] = ()
    src: tuple[str, ...] = ()
    system: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Columns:
        """From `hyp=mt,ref=refA+refB,src=src`; a role may come several times.

        >>> Columns.parse("hyp=mt,ref=refA+refB") == Columns.parse("hyp=mt,ref=refA,ref=refB")
        True
        """
        chosen: dict[str, tuple[str, ...]] = {}
        for part in filter(None, text.split(",")):
            role, equals, names = part.partition("=")
            role = role.strip()
            if not equals or role not in ROLES or not names:
                raise UsageError(f"--columns {text}: write hyp=NAME,ref=NAME,src=NAME; {part!r} is not that")
            chosen[role] = (*chosen.get(role, ()), *filter(None, map(str.strip, names.split("+"))))
        if len(chosen.get("src", ())) > 1:
            raise UsageError(f"--columns {text}: a segment has one source")
        if len(chosen.get("system", ())) > 1 or ("system" in chosen and len(chosen.get("hyp", ())) > 1):
            raise UsageError(f"--columns {text}: one column of systems goes with one column of hypotheses")
        return cls(**chosen)

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns with texts."""
        return (*self.hyp, *self.ref, *self.src)

    @property
    def named(self) -> tuple[str, ...]:
        """All columns that are read."""
        return (*self.texts, *self.system)

    @property
    def are_numbers(self) -> bool:
        """Whether the columns are told by their numbers."""
        return bool(self.named) and all(name.isascii() and name.isdigit() for name in self.named)

    def found_in(self, present: Sequence[str], place: str) -> Columns:
        """The same with the usual names where none was given; `InputError` if the table lacks a column."""
        columns_of = {}
        for role in ROLES:
            names: tuple[str, ...] = getattr(self, role)
            for name in names:
                if name not in present:
                    raise InputError(f"{place}: has no column {name!r}; its columns are {', '.join(present)}")
            columns_of[role] = names or tuple(filter(None, [usual_name(present, role)]))
        if not columns_of["hyp"]:
            raise InputError(
                f"{place}: which column holds the hypotheses? Its columns are {', '.join(present)}",
                hint="write --columns hyp=NAME,ref=NAME, or by number hyp=1,ref=2 if there is no header; a text with "
                "one segment per line goes with a file of references (-r). In Python: hypothesis=NAME, references=NAME",
            )
        if len(columns_of["hyp"]) > 1:
            columns_of["system"] = self.system  # every column is a system already
        return Columns(**columns_of)


_QUOTED = re.compile(r'"(?=[^"]*"")(?:[^"]|"")*"')  # a field with a quote in it, as pandas writes it
_JSON_LINES = ("jsonl", "ndjson")
_SEPARATORS = ",;\t"
_READ_BUFFER = 1 << 20
_LONGEST_FIELD = 64 << 20  # characters: a CSV field that is longer has lost its closing quote


Row = Mapping[str, Any]


class TableRow(NamedTuple):
    """One segment: where it stands, a hypothesis per system, its references, its source."""

    place: str
    hypotheses: list[str]
    references: list[str | None]
    source: str | None
    cells: Row
    """All that was read of the row."""
    system: str = ""
    """The system that wrote the hypothesis, where a column says it."""
    lacks: str = ""
    """The column that makes it a row to skip."""


class Table(NamedTuple):
    """An open table: its columns, and its rows one after the other."""

    columns: Columns
    names: list[str]
    """The names of all its columns."""
    rows: Iterator[TableRow]


def is_table(path: str) -> bool:
    """Whether the file's name, or for JSON Lines its first line, says that it is a table of segments."""
    ending = _ending(path)
    if ending in ("tsv", "csv", "parquet"):
        return True
    if ending not in _JSON_LINES:
        return False
    _, first = next(read_json_lines(path), ("", {}))
    is_summary = "system" in first and "id" in first
    return not is_summary and usual_name(first, "hyp") is not None


def has_columns(path: str) -> bool:
    """Whether a file is a table by its name, and by its first line not a text with one segment per line."""
    if _ending(path) not in ("tsv", "csv") or not Path(path).is_file():
        return path != STANDARD_INPUT and _ending(path) != "jsonl" and is_table(path)
    first = next(iter(LineReader(path)), "")
    return any(separator in first for separator in ("\t" if _ending(path) == "tsv" else _SEPARATORS))


def is_summary_source(path: str) -> bool:
    """Whether a path names a folder or JSON Lines rather than a text with one segment per line.

    >>> is_summary_source("sums.jsonl.zst"), is_summary_source("sums.txt")
    (True, False)
    """
    return _ending(path) in _JSON_LINES or os.path.isdir(path)  # noqa: PTH112 (any text will do)


def open_table(
    path: str, wanted: Columns | None = None, missing: Missing = "empty", *, whole: bool = False
) -> Table:
    """A table by its name, or on standard input, which is read once; of Parquet only the `whole` has other columns.

    A null, or an empty cell of CSV and TSV, is a missing text; `missing` says what becomes of such a row.
    """
    wanted = wanted or Columns()
    records = _rows(path, wanted)
    place, first = next(records, ("", None))
    if first is None:
        raise InputError(f"{name_of(path)}: is empty; it must have a row for each segment")
    columns = wanted.found_in(list(first), place)
    is_parquet = _ending(path) == "parquet"
    if is_parquet:
        records = _parquet_rows(path, list(first) if whole else list(dict.fromkeys(columns.named)))
    else:
        records = chain([(place, first)], records)
    if _ending(path) == "tsv":
        records = _warning_of_quotes(records)
    return Table(columns, list(first), (_table_row(*one, columns, missing) for one in records))


def _warning_of_quotes(records: Iterator[tuple[str, Row]]) -> Iterator[tuple[str, Row]]:
    """The rows of a TSV file; a warning, if one looks as if it were CSV."""
    for place, row in records:
        yield place, row
        if any(_QUOTED.fullmatch(text) for text in row.values() if text and '""' in text):
            warn(
                f"{place}: has a field in quotation marks, which a .csv file would lose; a .tsv file is read as it is"
            )
            break
    yield from records


def _table_row(place: str, row: Row, columns: Columns, missing: Missing) -> TableRow:
    hypotheses = [_text(row, name, place) for name in columns.hyp]
    references = [text for name in columns.ref for text in _texts(row, name, place)]
    sources = [_text(row, name, place) for name in columns.src]
    lacks = "" if missing == "empty" else _first_lacking(columns, hypotheses, references, sources)
    if lacks and missing == "error":
        raise InputError(f"{place}: has no {lacks}")
    source = (sources[0] or "") if sources else None
    system = "".join(str(row[name]) for name in columns.system)
    return TableRow(place, [text or "" for text in hypotheses], references, source, row, system, lacks)


def _first_lacking(
    columns: Columns, hypotheses: Sequence[str | None], references: Sequence[str | None], sources: Sequence[str | None]
) -> str:  # fmt: skip
    """The column that lacks a text which a row must have; of the references it must have one."""
    single = zip((*columns.hyp, *columns.src), (*hypotheses, *sources), strict=True)
    without_reference = columns.ref and all(text is None for text in references)
    return next(
        (repr(name) for name, text in single if text is None),
        " or ".join(map(repr, columns.ref)) if without_reference else "",
    )


def sample_references(path: str, columns: Columns | None, most: int) -> list[str]:
    """The references of the first rows that have some; nothing is refused that some reader of tables accepts."""
    records = list(islice(_rows(path, columns or Columns()), most))
    chosen = open_table(path, columns).columns
    cells = [row.get(name) for _, row in records for name in chosen.ref]
    texts = [text for cell in cells for text in (cell if isinstance(cell, list) else [cell])]
    return [text for text in texts if isinstance(text, str) and text]


def _ending(path: str) -> str:
    return without_suffix(path).rpartition(".")[2].lower()


def _rows(path: str, wanted: Columns) -> Iterator[tuple[str, Row]]:
    """The rows with all their columns."""
    ending = _ending(path)
    if path != STANDARD_INPUT and ending not in ("tsv", "csv", "parquet", *_JSON_LINES):
        raise UsageError(f"{path}: is no table; its name should end in .tsv, .csv, .jsonl or .parquet")
    if path != STANDARD_INPUT and Path(path).exists() and not Path(path).is_file():
        raise UsageError(
            f"{path}: a table must be a file, not a pipe or folder; or read it from standard input (-)"
        )
    if ending == "parquet":
        return _parquet_rows(path)
    reader = PeekedReader(path)
    if ending in _JSON_LINES or (path == STANDARD_INPUT and reader.first.startswith("{")):
        return read_json_lines(reader)
    separator = max(_SEPARATORS, key=reader.first.count)
    is_tsv = ending == "tsv" or (path == STANDARD_INPUT and separator == "\t")
    fields = _tsv_fields(reader) if is_tsv else _csv_fields(reader, separator)
    return _under_header(reader.name, fields, wanted)


def _tsv_fields(reader: LineReader) -> Iterator[tuple[str, list[str]]]:
    """Fields between tabs, without quoting."""
    return ((f"{reader.name}, line {reader.count}", line.split("\t")) for line in reader)


def _csv_fields(reader: LineReader, separator: str) -> Iterator[tuple[str, list[str]]]:
    """Fields between commas (or semicolons, or tabs), quoted as RFC 4180 says."""
    rows = csv.reader((f"{line}\n" for line in reader), strict=True, delimiter=separator)
    first_line = 1
    try:
        while (fields := _next_row(rows)) is not None:
            if fields:  # an empty line is no row
                yield f"{reader.name}, line {first_line}", fields
            first_line = reader.count + 1
    except csv.Error as error:
        raise InputError(f"{reader.name}, line {reader.count}: is not sound CSV ({error})") from error


def _next_row(rows: Iterator[list[str]]) -> list[str] | None:
    """The next row, which may have long fields: only for its time, since the limit is that of the whole process."""
    before = csv.field_size_limit(_LONGEST_FIELD)
    try:
        return next(rows, None)
    finally:
        csv.field_size_limit(before)


def _under_header(
    name: str, rows: Iterator[tuple[str, list[str]]], wanted: Columns
) -> Iterator[tuple[str, Row]]:
    """The fields of each row by column: by the header's names, or by number if the user names columns so."""
    place, header = next(rows, (name, []))
    if wanted.are_numbers and not set(wanted.named) <= set(header):
        if not any(usual_name(header, role) for role in ROLES):  # a header that is passed over
            rows = chain([(place, header)], rows)
        header = [str(number) for number in range(1, len(header) + 1)]
    if len(set(header)) < len(header):
        twice = next(column for column in header if header.count(column) > 1)
        raise InputError(f"{place}: two columns have the name {twice!r}")
    for where, fields in rows:
        if len(fields) != len(header):
            raise InputError(f"{where}: {len(fields)} fields, but the header has {len(header)}")
        yield where, {name: text or None for name, text in zip(header, fields, strict=True)}


def _parquet_rows(path: str, names: list[str] | None = None) -> Iterator[tuple[str, Row]]:
    """The rows with these columns; with all of them one by one, for who reads only the first."""
    with open_parquet(path) as file:
        number = 0
        for batch in file.iter_batches(batch_size=1024 if names else 1, columns=names):
            for row in batch.to_pylist():
                number += 1
                yield f"{path}, row {number}", row


@contextmanager
def open_parquet(path: str) -> Iterator[Any]:
    """The file for pyarrow; errors about it, and those that do not name it, are `InputError`s that do."""
    need_package("pyarrow", "'tesla-eval[parquet]'", f"{path}: reading Parquet")
    import pyarrow
    from pyarrow import parquet

    try:
        # With a buffer, a column of a row group is read bit by bit, not at once.
        with parquet.ParquetFile(path, buffer_size=_READ_BUFFER, pre_buffer=False) as file:
            yield file
    except InputError as error:
        raise error if str(error).startswith(path) else InputError(f"{path}: {error}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be opened ({error.strerror or error})") from error
    except pyarrow.ArrowException as error:
        raise InputError(f"{path}: is not a sound Parquet file ({error})") from error


def _text(row: Row, name: str, place: str) -> str | None:
    if name not in row:
        raise InputError(f"{place}: has no {name!r}")
    value = row[name]
    if not isinstance(value, str | None):
        raise InputError(f"{place}: has no text in {name!r}")
    return value


def _texts(row: Row, name: str, place: str) -> list[str | None]:
    """A reference, or a list of them."""
    value = row.get(name)
    if not isinstance(value, list):
        return [_text(row, name, place)]
    if not all(isinstance(text, str | None) for text in value):
        raise InputError(f"{place}: {name!r} is not a list of texts")
    return value or [None]
