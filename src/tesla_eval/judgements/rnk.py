"""WMT's original rankings (`RNK_results.csv`, 2008 to 2016): up to five systems per line, ranked by one judge."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.judgements.nouns import Key, Rankings
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


@dataclass(frozen=True)
class _Columns:
    """Where the header puts what."""

    places: dict[str, int]
    systems: tuple[tuple[int, int], ...]
    """The columns of each output's system and rank."""

    @classmethod
    def parse(cls, header: str, place: str) -> _Columns:
        names = [name.strip().lower() for name in header.split(",")]
        places = {name: column for column, name in enumerate(names)}
        missing = [name for name in _NEEDED if name not in places]
        if "srcindex" not in places and "segmentid" not in places:
            missing.append("srcindex")
        if missing:
            raise InputError(f"{place}: the header has no column {missing[0]}")
        numbers = sorted(
            int(match[1]) for name in names if (match := re.fullmatch(r"system(\d{1,3})id", name))
        )
        for number in numbers:
            if f"system{number}rank" not in places:
                raise InputError(f"{place}: the header has system{number}Id, but no system{number}rank")
        if len(numbers) < 2:
            raise InputError(f"{place}: the header names fewer than two systems (system1Id, system2Id, …)")
        return cls(places, tuple((places[f"system{n}id"], places[f"system{n}rank"]) for n in numbers))


def read_rnk_results(path: str) -> dict[Key, Rankings]:
    """The rankings by language pair and test set; every line is a task, an output of rank -1 is left out.

    Systems called `newstest2013.fr-en.NAME` name their test set; otherwise it has the name of the file. A segment is
    called by document and number where the file names documents, else by its number in the test set.
    """
    reader = LineReader(path)
    lines = iter(reader)
    columns = _Columns.parse(next(lines, ""), f"{reader.name}, line 1")
    testset = (
        re.sub(r"[._-]?RNK_results", "", without_suffix(Path(path).name).removesuffix(".csv")) or "rankings"
    )
    result: dict[Key, Rankings] = {}
    for line in lines:
        if line.strip():
            _add(result, _Line(reader.name, reader.count, line.split(","), columns), testset)
    if not result:
        raise InputError(f"{reader.name}: holds no ranking")
    return result


@dataclass(frozen=True)
class _Line:
    source: str
    number: int
    fields: list[str]
    columns: _Columns

    def __post_init__(self) -> None:
        expected = len(self.columns.places)
        if len(self.fields) != expected:
            raise self.error(f"has {len(self.fields)} fields, but the header has {expected}")

    def error(self, message: str) -> InputError:
        return InputError(f"{self.source}, line {self.number}: {message}")

    def value(self, name: str) -> str:
        place = self.columns.places.get(name)
        return "" if place is None else self.fields[place].strip()

    def language(self, name: str) -> str:
        try:
            return resolve_language(self.value(name))
        except UsageError as error:
            raise self.error(f"{name}: {error}") from None

    @property
    def segment(self) -> str:
        document, segment = self.value("documentid"), self.value("segmentid")
        if document not in ("", _UNRANKED) and segment:
            return f"{document}:{segment}"
        number = self.value("srcindex") or segment
        if not (number.isascii() and number.isdigit()):
            raise self.error(f"srcIndex {number!r} is not a number of a segment")
        return str(int(number))

    def ranked(self) -> Iterator[tuple[str, int]]:
        """The outputs that the judge ranked, each with its rank."""
        for system, rank in self.columns.systems:
            name, text = self.fields[system].strip(), self.fields[rank].strip()
            if text in ("", _UNRANKED):
                continue
            if not (text.isascii() and text.isdigit() and 1 <= int(text) <= _LARGEST_RANK):
                raise self.error(f"rank {text!r} is not a whole number of at least 1 (or -1 for not ranked)")
            if not name:
                raise self.error(f"rank {text} belongs to a system without a name")
            yield name, int(text)


def _add(result: dict[Key, Rankings], line: _Line, testset: str) -> None:
    pair = f"{line.language('srclang')}-{line.language('trglang')}"
    segment, judge = line.segment, line.value("judgeid")
    for name, rank in line.ranked():
        match = _SYSTEM_ID.fullmatch(name)
        key = (pair, match["testset"] if match else testset)
        group = result.setdefault(key, Rankings(line.source))
        group.segments.append(segment)
        group.tasks.append(str(line.number))
        group.judges.append(judge)
        group.systems.append(match["system"] if match else name)
        group.ranks.append(rank)
        group.lines.append(line.number)
