"""n-best lists in the formats that decoders write: one list of candidates per segment, with features if known.

| format | one line |
|---|---|
| `moses` `marian` | `0 ||| text ||| LM0= -12.1 D0= -3 ||| -15.3` |
| `zmert` `joshua` | `0 ||| text ||| -12.1 -3` or `0 ||| text ||| lm=-12.1 d=-3` |
| `fairseq` | `H-0<TAB>-0.51<TAB>text`; a `D-0` line after it holds the text without subword marks |
| `json` | `{"id": 0, "candidates": ["text", ...], "scores": [-0.51, ...], "features": {"lm": [...]}}` |
| `plain:K` | `text`; K lines belong to one segment |
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, NamedTuple

from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.texts.lines import LineReader, is_number, parse_json_object, to_number

SEPARATOR = "|||"
SCORE = "score"
"""The name of the only feature where a list has the decoder's score and nothing else."""
FORMATS = ("moses", "zmert", "joshua", "marian", "fairseq", "json", "plain")
_SEGMENT = re.compile(r"\s*[0-9]{1,9}\s*")
_FAIRSEQ = re.compile(r"([A-Z])-([0-9]{1,9})\t")
_LINES_TO_DETECT = 200
MOST_SEGMENTS = 10_000_000


class Candidate(NamedTuple):
    """A text with the decoder's features and its total score, if known; names are shared between candidates."""

    text: str
    names: tuple[str, ...] = ()
    values: tuple[float, ...] = ()
    score: float | None = None


@dataclass(frozen=True)
class CandidateList:
    """The candidates of one segment (counted from 0), in the order of the file; `place` is for messages."""

    segment: int
    place: str
    candidates: tuple[Candidate, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The candidates without their features."""
        return tuple(candidate.text for candidate in self.candidates)


def read_nbest(
    path: str, nbest_format: str | None = None, segments: int | None = None
) -> Iterator[CandidateList]:
    """The lists of a file in ascending order of segments; the format is detected unless it is given.

    `segments` tells how many there are, if known: then a plain file needs no K.
    """
    reader = _Lines(path)
    name, _, size = (nbest_format or "").partition(":")
    if name and name not in FORMATS:
        raise UsageError(f"unknown n-best format {nbest_format!r}; known are {', '.join(FORMATS)} (plain:K)")
    if size and name != "plain":
        raise UsageError(f"n-best format {nbest_format!r}: only plain takes a number")
    head = list(islice(reader, _LINES_TO_DETECT))
    if not head:
        raise InputError(f"{reader.name}: is empty, so there are no candidates for segment 0")
    name = name or detect_format(head)
    reader.unread(head)
    if name == "plain":
        if size and not re.fullmatch("[1-9][0-9]{0,6}", size):
            raise UsageError(f"n-best format {nbest_format!r}: K must be a number from 1 on")
        return _plain_lists(reader, int(size) if size else None, segments)
    if name == "fairseq":
        return _fairseq_lists(reader)
    if name == "json":
        return _json_lists(reader)
    return _bar_lists(reader, needs_names=nbest_format in ("moses", "marian"))


def complete_lists(
    lists: Iterable[CandidateList], source: str, segments: int | None = None
) -> Iterator[CandidateList]:
    """The lists, of which every segment must have one: an `InputError` names the segment of `source` that differs.

    Without the number of `segments`, the last list is taken for that of the last segment.
    """
    expected = 0
    for candidates in lists:
        if segments is not None and candidates.segment >= segments:
            raise InputError(
                f"{candidates.place}: segment {candidates.segment}, but there are references for "
                f"{segments} segments only (counted from 0)"
            )
        if candidates.segment != expected:
            raise _no_candidates(source, expected)
        expected += 1
        yield candidates
    if segments is not None and expected < segments:
        raise _no_candidates(source, expected)


def _no_candidates(source: str, segment: int) -> InputError:
    return InputError(f"{source}: has no candidates for segment {segment} (counted from 0)")


def detect_format(lines: Sequence[str]) -> str:
    """The format that the first lines of a file are in.

    >>> detect_format(["0 ||| a b ||| F0= -1 ||| -1"]), detect_format(['{"id": 0, "candidates": ["a"]}'])
    ('moses', 'json')
    >>> detect_format(["INFO | loading", "S-3\\tein Haus", "H-3\\t-0.2\\ta house"]), detect_format(["a house"])
    ('fairseq', 'plain')
    """
    first = next((line for line in lines if line.strip()), "")
    _, separator, rest = first.partition(SEPARATOR)
    if separator:
        return "moses" if "=" in rest.rpartition(SEPARATOR)[0] else "zmert"
    if first.lstrip().startswith("{"):
        return "json"
    return "fairseq" if any(_FAIRSEQ.match(line) for line in lines) else "plain"


class _Lines:
    """Lines of a file that can be given back once; `place` names the last one that was taken."""

    def __init__(self, path: str) -> None:
        reader = LineReader(path)
        self.name = reader.name
        self._lines = iter(reader)
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.number += 1
        return line

    @property
    def place(self) -> str:
        return f"{self.name}, line {self.number}"

    def unread(self, lines: Sequence[str]) -> None:
        self._lines = chain(lines, self._lines)
        self.number -= len(lines)


def _bar_lists(lines: _Lines, *, needs_names: bool) -> Iterator[CandidateList]:
    """Moses, Marian, Joshua, Z-MERT: fields between bars; `needs_names` says whether features must have names."""
    parse = _FeatureParser(needs_names)
    current, place = -1, ""
    candidates: list[Candidate] = []
    for line in lines:
        number, *fields = line.split(SEPARATOR)
        if not fields or not _SEGMENT.fullmatch(number):
            raise InputError(f"{lines.place}: must be SEGMENT ||| TEXT ||| FEATURES, with segments from 0")
        segment = int(number)
        if segment < current:
            raise InputError(f"{lines.place}: segment {segment} comes after segment {current}")
        if segment != current:
            if candidates:
                yield CandidateList(current, place, tuple(candidates))
            current, place, candidates = segment, lines.place, []
        names, values = parse(fields[1] if len(fields) > 1 else "", lines)
        score = _numbers([fields[2]], lines.place)[0] if len(fields) > 2 else None
        candidates.append(Candidate(fields[0].strip(), names, values, score))
    if candidates:
        yield CandidateList(current, place, tuple(candidates))


class _FeatureParser:
    """Reads `LM0= -1 -2 D0= 3`, `lm=-1 d=3` and `-1 -2 3`; the same names are the same object."""

    def __init__(self, needs_names: bool) -> None:
        self._needs_names = needs_names
        self._known: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._numbered: tuple[str, ...] | None = None

    def __call__(self, field: str, lines: _Lines) -> tuple[tuple[str, ...], tuple[float, ...]]:
        tokens = field.split()
        named = "=" in field
        if self._needs_names and tokens and not named:
            raise InputError(f"{lines.place}: features in this format must have names (NAME= VALUE)")
        if not named:
            return self._numbered_names(len(tokens), lines.place), _numbers(tokens, lines.place)
        labels: list[str] = []
        values: list[str] = []
        for token in tokens:
            name, equals, value = token.rpartition("=")
            if equals:
                labels.append(name)
                if value:
                    values.append(value)
            elif not labels:
                raise InputError(f"{lines.place}: feature value {token!r} stands before any NAME=")
            else:
                if len(values) >= len(labels):
                    labels.append(labels[-1])
                values.append(value)
        if len(values) != len(labels) or not all(labels):
            raise InputError(f"{lines.place}: every feature needs a name and a value (NAME= VALUE)")
        return self._names(tuple(labels), lines.place), _numbers(values, lines.place)

    def _numbered_names(self, count: int, place: str) -> tuple[str, ...]:
        if self._numbered is None:
            self._numbered = tuple(f"f{k}" for k in range(1, count + 1))
        if len(self._numbered) != count:
            raise InputError(f"{place}: has {count} features, the first line has {len(self._numbered)}")
        return self._numbered

    def _names(self, labels: tuple[str, ...], place: str) -> tuple[str, ...]:
        """Several values of one name get numbers: `TM0= 1 2` is TM0_0 and TM0_1."""
        if labels not in self._known:
            counts = {label: labels.count(label) for label in labels}
            seen = dict.fromkeys(labels, 0)
            names = []
            for label in labels:
                names.append(label if counts[label] == 1 else f"{label}_{seen[label]}")
                seen[label] += 1
            if len(set(names)) < len(names):
                raise InputError(f"{place}: two features have the same name")
            self._known[labels] = tuple(names)
        return self._known[labels]


def _numbers(tokens: Sequence[Any], place: str) -> tuple[float, ...]:
    try:
        values = tuple(map(to_number, tokens))
    except (TypeError, ValueError, OverflowError):
        bad = next(token for token in tokens if not is_number(token))
        raise InputError(f"{place}: {str(bad)[:40]!r} is not a number") from None
    if not all(map(math.isfinite, values)):
        raise InputError(f"{place}: a feature is infinite or not a number")
    return values


def _fairseq_lists(lines: _Lines) -> Iterator[CandidateList]:
    """fairseq-generate writes segments by length, among other lines; so all are read before the first is given."""
    candidates: dict[int, list[Candidate]] = {}
    places: dict[int, str] = {}
    detokenised = Counter[int]()
    for line in lines:
        match = _FAIRSEQ.match(line)
        if match is None or match[1] not in "HD":
            continue
        segment = int(match[2])
        fields = line.split("\t", 2)
        if len(fields) < 3:
            raise InputError(
                f"{lines.place}: must be {match[1]}-{segment}, score and text, separated by tabs"
            )
        (score,) = _numbers(fields[1:2], lines.place)
        own = candidates.setdefault(segment, [])
        if match[1] == "H":
            places.setdefault(segment, lines.place)
            own.append(Candidate(fields[2], (SCORE,), (score,), score))
            continue
        detokenised[segment] += 1
        if len(own) != detokenised[segment]:
            raise InputError(f"{lines.place}: D-{segment} must follow its H-{segment} line")
        own[-1] = own[-1]._replace(text=fields[2])
    if not candidates:
        raise InputError(f"{lines.name}: has no H- lines; is it the output of fairseq-generate?")
    for segment, own in sorted(candidates.items()):
        yield CandidateList(segment, places[segment], tuple(own))


def _json_lists(lines: _Lines) -> Iterator[CandidateList]:
    """One object per segment, as written from Hugging Face's `generate`; ids are numbers from 0, or absent."""
    expected = 0
    for line in lines:
        if not line.strip():
            continue
        place = lines.place
        item = parse_json_object(line, place)
        segment = item.get("id", expected)
        if isinstance(segment, str) and _SEGMENT.fullmatch(segment):
            segment = int(segment)
        if type(segment) is not int or segment < expected:
            raise InputError(f"{place}: id must be a number from {expected} on, not {str(segment)[:40]!r}")
        expected = segment + 1
        texts = item.get("candidates")
        if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
            raise InputError(f"{place}: candidates must be a list of texts")
        if any("\n" in text for text in texts):
            raise InputError(f"{place}: a candidate has a line break")
        names, rows = _json_features(item, len(texts), place)
        scores = item.get("scores") or [None] * len(texts)
        if names != (SCORE,) and scores[0] is not None:
            _check_column("scores", scores, len(texts), place)
        yield CandidateList(segment, place, tuple(map(Candidate, texts, [names] * len(texts), rows, scores)))


def _json_features(
    item: dict[str, Any], count: int, place: str
) -> tuple[tuple[str, ...], list[tuple[float, ...]]]:
    features = item.get("features")
    if features is None:
        features = {SCORE: item["scores"]} if item.get("scores") is not None else {}
    if isinstance(features, list):  # one row per candidate
        width = len(features[0]) if features and isinstance(features[0], list) else 0
        if len(features) != count or not all(isinstance(row, list) and len(row) == width for row in features):
            raise InputError(
                f"{place}: features must be one list of numbers per candidate, all of one length"
            )
        return tuple(f"f{k}" for k in range(1, width + 1)), [_numbers(row, place) for row in features]
    if not isinstance(features, dict):
        raise InputError(f"{place}: features must be lists by name, or one list per candidate")
    for name, column in features.items():
        _check_column(name, column, count, place)
    columns = [_numbers(column, place) for column in features.values()]
    return tuple(features), list(zip(*columns, strict=True)) if columns else [()] * count


def _check_column(name: str, column: Any, count: int, place: str) -> None:
    if not isinstance(column, list) or len(column) != count:
        raise InputError(f"{place}: {name[:40]!r} must be a list of {count} numbers, one per candidate")
    if not all(type(value) in (int, float) for value in column):
        raise InputError(f"{place}: {name[:40]!r} must hold numbers only")


def _plain_lists(lines: _Lines, size: int | None, segments: int | None) -> Iterator[CandidateList]:
    if size is None:
        texts = list(lines)
        if segments is None:
            raise UsageError(
                f"{lines.name}: looks like plain text; say how many lines belong to a segment: --nbest-format plain:K"
            )
        if len(texts) % segments:
            raise InputError(
                f"{lines.name}: {len(texts)} lines cannot be shared equally by {segments} segments"
            )
        lines.unread(texts)
        size = len(texts) // segments
    return _runs(lines, size)


def _runs(lines: _Lines, size: int) -> Iterator[CandidateList]:
    for segment in range(MOST_SEGMENTS):
        first = lines.number + 1
        texts = list(islice(lines, size))
        if not texts:
            return
        if len(texts) < size:
            raise InputError(f"{lines.name}: ends after {lines.number} lines, which is no multiple of {size}")
        yield CandidateList(segment, f"{lines.name}, line {first}", tuple(map(Candidate, texts)))
