"""WMT's original rankings (`RNK_results.csv`, 2008 to 2016): up to five systems per line, ranked by one judge."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.judgements.nouns import Key, Rankings, columns_of
from tesla_eval.language.analysis.languages import resolve_language
from tesla_eval.texts.compression import without_suffix
from tesla_eval.texts.lines import LineReader

_NEEDED = ("srclang", "trglang", "judgeid")
_UNRANKED = "-1"
"""The rank of an output that the judge left out, and the document of a file that does not name documents."""
_SYSTEM_ID = re.compile(r"(?P<testset>[^.]+)\.(?P<pair>[a-z]{2,3}-[a-z]{2,3})\.(?P<system>.+)")
_LARGEST_RANK = 100


def is_rnk_header(line: str) -> bool:
    """Whether a first line is that of WMT's CSV.

    >>> is_rnk_header("srclang,trglang,srcIndex,documentId,segmentId,judgeId,system1Number,system1Id")
    True
    """
    return line.lower().startswith("srclang,trglang,")


def read_rnk_results(path: str) -> dict[Key, Rankings]:
    """The rankings by language pair and test set; every line is a task, an output of rank -1 is left out.

    Systems called `newstest2013.fr-en.NAME` name their test set; otherwise it has the name of the file. A segment is
    called by document and number where the file names documents, else by its number in the test set.
    """
    reader = LineReader(path)
    lines = iter(reader)
    names = [name.strip().lower() for name in next(lines, "").split(",")]
    outputs = _outputs(names, f"{reader.name}, line 1")
    testset = (
        re.sub(r"[._-]?RNK_results", "", without_suffix(Path(path).name).removesuffix(".csv")) or "rankings"
    )
    rows: dict[Key, list[tuple[str, str, str, str, int, int]]] = {}
    for line in lines:
        fields = [field.strip() for field in line.split(",")]
        if not any(fields):
            continue
        place = f"{reader.name}, line {reader.count}"
        if len(fields) != len(names):
            raise InputError(f"{place}: has {len(fields)} fields, but the header has {len(names)}")
        cells = dict(zip(names, fields, strict=True))
        for own_testset, system, rank in _ranked(cells, outputs, place):
            pair = "-".join(_language(cells, name, place) for name in ("srclang", "trglang"))
            task = (_segment(cells, place), str(reader.count), cells["judgeid"], system, rank, reader.count)
            rows.setdefault((pair, own_testset or testset), []).append(task)
    if not rows:
        raise InputError(f"{reader.name}: holds no ranking")
    return {key: Rankings(reader.name, *columns_of(group)) for key, group in rows.items()}


def _outputs(names: Sequence[str], place: str) -> list[str]:
    """What the columns of each output begin with (`system1`), in order; the header must have all columns."""
    missing = [name for name in _NEEDED if name not in names]
    if "srcindex" not in names and "segmentid" not in names:
        missing.append("srcindex")
    if missing:
        raise InputError(f"{place}: the header has no column {missing[0]}")
    numbers = sorted(int(match[1]) for name in names if (match := re.fullmatch(r"system(\d{1,3})id", name)))
    for number in numbers:
        if f"system{number}rank" not in names:
            raise InputError(f"{place}: the header has system{number}Id, but no system{number}rank")
    if len(numbers) < 2:
        raise InputError(f"{place}: the header names fewer than two systems (system1Id, system2Id, …)")
    return [f"system{number}" for number in numbers]


def _language(cells: Mapping[str, str], name: str, place: str) -> str:
    try:
        return resolve_language(cells[name])
    except UsageError as error:
        raise InputError(f"{place}: {name}: {error}") from None


def _segment(cells: Mapping[str, str], place: str) -> str:
    document, segment = cells.get("documentid", ""), cells.get("segmentid", "")
    if document not in ("", _UNRANKED) and segment:
        return f"{document}:{segment}"
    number = cells.get("srcindex", "") or segment
    if not (number.isascii() and number.isdigit()):
        raise InputError(f"{place}: srcIndex {number!r} is not a number of a segment")
    return str(int(number))


def _ranked(cells: Mapping[str, str], outputs: Sequence[str], place: str) -> Iterator[tuple[str, str, int]]:
    """The outputs that the judge ranked: the test set if the file names it, system and rank."""
    for output in outputs:
        name, rank = cells[f"{output}id"], cells[f"{output}rank"]
        if rank in ("", _UNRANKED):
            continue
        if not (rank.isascii() and rank.isdigit() and 1 <= int(rank) <= _LARGEST_RANK):
            raise InputError(
                f"{place}: rank {rank!r} is not a whole number of at least 1 (or -1 for not ranked)"
            )
        if not name:
            raise InputError(f"{place}: rank {rank} belongs to a system without a name")
        match = _SYSTEM_ID.fullmatch(name)
        yield match["testset"] if match else "", match["system"] if match else name, int(rank)
