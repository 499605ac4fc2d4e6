"""Segments in tables with named columns: TSV, CSV, JSON Lines and Parquet, read row by row.

`--columns hyp=mt,ref=ref,src=src` names the columns; several are joined by `+`. The usual names need no option.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from tesla_eval.base.errors import InputError, UsageError, need_package, warn
from tesla_eval.texts.compression import without_suffix
from tesla_eval.texts.lines import LineReader, read_json_lines

ROLES = ("hyp", "ref", "src")
USUAL_NAMES = {
    "hyp": ("hyp", "mt", "hypothesis", "translation", "prediction"),
    "ref": ("ref", "reference", "references", "refs"),
    "src": ("src", "source"),
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
    """The columns that hold hypotheses, references and the source."""

    hyp: tuple[str, ...] = ()
    ref: tuple[str, ...] = ()
    src: tuple[str, ...] = ()

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
        return cls(**chosen)

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
                f"{place}: which column holds the hypotheses? Write --columns hyp=NAME,ref=NAME; "
                f"its columns are {', '.join(present)}"
            )
        return Columns(**columns_of)


_QUOTED = re.compile(r'"(?=[^"]*"")(?:[^"]|"")*"')  # a field with a quote in it, as pandas writes it
_JSON_LINES = ("jsonl", "ndjson")
_READ_BUFFER = 1 << 20
_LONGEST_FIELD = 64 << 20  # characters: a CSV field that is longer has lost its closing quote


class TableRow(NamedTuple):
    """One segment: where it stands, a hypothesis per system, its references, its source."""

    place: str
    hypotheses: list[str]
    references: list[str | None]
    source: str | None
    lacks: str = ""
    """The column that makes it a row to skip."""


def is_table(path: str) -> bool:
    """Whether the file's name, or for JSON Lines its first line, says that it is a table of segments."""
    ending = _ending(path)
    if ending in ("tsv", "csv", "parquet"):
        return True
    if ending not in _JSON_LINES:
        return False
    _, first = next(read_json_lines(path), ("", {}))
    return "system" not in first and usual_name(first, "hyp") is not None


def table_columns(path: str, columns: Columns | None) -> Columns:
    """The columns of a table, once it is known that it has them."""
    for place, row in _rows(path, Columns()):
        return (columns or Columns()).found_in(list(row), place)
    raise InputError(f"{path}: is empty; it must have a row for each segment")


def is_summary_source(path: str) -> bool:
    """Whether a path names a folder or JSON Lines rather than a text with one segment per line.

    >>> is_summary_source("sums.jsonl.zst"), is_summary_source("sums.txt")
    (True, False)
    """
    return _ending(path) in _JSON_LINES or os.path.isdir(path)  # noqa: PTH112 (any text will do)


def read_table(path: str, columns: Columns, missing: Missing = "empty") -> Iterator[TableRow]:
    """The segments of a table one after the other; `columns` are those of `table_columns`.

    A null, or an empty cell of CSV and TSV, is a missing text; `missing` says what becomes of such a row.
    """
    quotes_matter = _ending(path) == "tsv"
    for place, row in _rows(path, columns):
        if quotes_matter and any(_QUOTED.fullmatch(text) for text in row.values() if text and '""' in text):
            warn(
                f"{place}: has a field in quotation marks, which a .csv file would lose; a .tsv file is read as it is"
            )
            quotes_matter = False
        hypotheses = [_text(row, name, place) for name in columns.hyp]
        references = [text for name in columns.ref for text in _texts(row, name, place)]
        sources = [_text(row, name, place) for name in columns.src]
        lacks = "" if missing == "empty" else _first_lacking(columns, hypotheses, references, sources)
        if lacks and missing == "error":
            raise InputError(f"{place}: has no {lacks}")
        source = (sources[0] or "") if sources else None
        yield TableRow(place, [text or "" for text in hypotheses], references, source, lacks)


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
    chosen = table_columns(path, columns)
    cells = [row.get(name) for _, row in islice(_rows(path, chosen), most) for name in chosen.ref]
    texts = [text for cell in cells for text in (cell if isinstance(cell, list) else [cell])]
    return [text for text in texts if isinstance(text, str) and text]


Row = Mapping[str, Any]


def _ending(path: str) -> str:
    return without_suffix(path).rpartition(".")[2].lower()


def _rows(path: str, columns: Columns) -> Iterator[tuple[str, Row]]:
    ending = _ending(path)
    if ending not in ("tsv", "csv", "parquet", *_JSON_LINES):
        raise UsageError(f"{path}: is no table; its name should end in .tsv, .csv, .jsonl or .parquet")
    if Path(path).exists() and not Path(path).is_file():  # it is read twice, for its columns and for its rows
        raise UsageError(f"{path}: a table must be a file, not a pipe or folder")
    if ending == "parquet":
        return _parquet_rows(path, columns)
    reader = LineReader(path)
    if ending == "csv":
        return _under_header(reader.name, _csv_fields(reader))
    if ending == "tsv":  # fields between tabs, without quoting
        fields = ((f"{reader.name}, line {reader.count}", line.split("\t")) for line in reader)
        return _under_header(reader.name, fields)
    return read_json_lines(path)


def _csv_fields(reader: LineReader) -> Iterator[tuple[str, list[str]]]:
    """Fields between commas, quoted as RFC 4180 says."""
    rows = csv.reader((f"{line}\n" for line in reader), strict=True)
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


def _under_header(name: str, rows: Iterator[tuple[str, list[str]]]) -> Iterator[tuple[str, Row]]:
    place, header = next(rows, (name, []))
    if len(set(header)) < len(header):
        twice = next(column for column in header if header.count(column) > 1)
        raise InputError(f"{place}: two columns have the name {twice!r}")
    for where, fields in rows:
        if len(fields) != len(header):
            raise InputError(f"{where}: {len(fields)} fields, but the header has {len(header)}")
        yield where, {name: text or None for name, text in zip(header, fields, strict=True)}


def _parquet_rows(path: str, columns: Columns) -> Iterator[tuple[str, Row]]:
    with open_parquet(path) as file:
        # Only the columns that matter are read; the first call, which asks what there is, takes one row of all.
        wanted = [*columns.hyp, *columns.ref, *columns.src]
        names = wanted if set(wanted) <= set(file.schema_arrow.names) else []
        number = 0
        for batch in file.iter_batches(batch_size=1024 if names else 1, columns=names or None):
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
