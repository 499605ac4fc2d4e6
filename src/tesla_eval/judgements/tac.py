"""NIST's folders of summaries (DUC, TAC, AESOP): files called `D1101-A.M.100.B.7` and tables of judgements beside them.

The name of a file is docset, kind, size, selector and summariser; a summariser of letters is a person, whose summary is
a model, one of digits a system. Tables hold the scores of people: pyramid, linguistic quality, responsiveness.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tesla_eval.base.errors import InputError
from tesla_eval.texts.lines import LineReader, parse_number

_FILE = re.compile(
    r"(?P<docset>[A-Za-z]+\d+[A-Za-z]?(?:-[A-Z])?)\.(?P<kind>[A-Za-z]+)\.(?P<size>\d+)\.(?P<selector>[A-Za-z0-9]+)"
    r"\.(?P<summariser>[A-Za-z]+|\d+)(?:\.(?P<document>[\w.-]+))?"
)
_TEXT_FOLDERS = ("models", "peers", "summaries")
_TABLE_FOLDERS = ("", "manual", "responsiveness", "linguistic_quality", "pyramid", "scoring")


class TacSummary(NamedTuple):
    """A system's summary of a topic with the models of that topic and what people said of it."""

    place: str
    topic: str
    system: str
    text: str
    models: tuple[str, ...]
    human: Mapping[str, float]


def is_tac_folder(folder: Path) -> bool:
    """Whether a folder holds files that are called as NIST calls summaries."""
    return any(_FILE.fullmatch(path.name) for path in _text_files(folder))


def read_tac_folder(folder: Path) -> Iterator[TacSummary]:
    """The summaries of all systems, topic by topic; models are in the order of their authors."""
    models: dict[str, dict[str, str]] = {}
    peers: dict[tuple[str, str], Path] = {}
    for path in _text_files(folder):
        match = _FILE.fullmatch(path.name)
        if match is None:
            raise InputError(
                f"{path}: is not called DOCSET.KIND.SIZE.SELECTOR.SUMMARISER, as NIST's summaries are"
            )
        topic = match["docset"].upper() + (f".{match['document']}" if match["document"] else "")
        if match["summariser"].isdigit():
            if (topic, match["summariser"]) in peers:
                raise InputError(f"{path}: a second summary of {topic} by {match['summariser']}")
            peers[topic, match["summariser"]] = path
        else:
            models.setdefault(topic, {})[match["summariser"]] = _text(path)
    human = _judgements(folder, set(peers))
    for (topic, system), path in sorted(peers.items(), key=lambda item: (item[0][0], int(item[0][1]))):
        if topic not in models:
            raise InputError(f"{path}: there is no model of {topic}")
        texts = tuple(text for _, text in sorted(models[topic].items()))
        yield TacSummary(str(path), topic, system, _text(path), texts, human.get((topic, system), {}))


def _text_files(folder: Path) -> list[Path]:
    places = [base / name for base in (folder, folder / "ROUGE") for name in _TEXT_FOLDERS]
    present = [place for place in places if place.is_dir()] or [folder]
    paths = sorted(path for place in present for path in place.iterdir() if path.is_file())
    if present == [folder]:
        paths = [path for path in paths if _FILE.fullmatch(path.name)]
    return [path for path in paths if not path.name.startswith(".")]


def _text(path: Path) -> str:
    return "\n".join(LineReader(str(path))).strip("\n")


Scores = dict[tuple[str, str], dict[str, float]]


def _judgements(folder: Path, summaries: set[tuple[str, str]]) -> Scores:
    """The human scores of the systems' summaries, from all tables in the folder."""
    scores: Scores = {}
    for path in _tables(folder):
        for place, topic, system, kind, value in _rows(path):
            if not system.isdigit():  # judges scored the models too
                continue
            if (topic, system) not in summaries:
                raise InputError(f"{place}: there is no summary of {topic} by {system}")
            kinds = scores.setdefault((topic, system), {})
            if kind in kinds:
                raise InputError(f"{place}: a second score {kind!r} of {topic} by {system}")
            kinds[kind] = value
    return scores


def _tables(folder: Path) -> list[Path]:
    folders = {
        place for place in folder.iterdir() if place.is_dir() and place.name.lower() in _TABLE_FOLDERS
    } | {folder}
    return sorted(path for place in folders for path in place.iterdir() if path.is_file() and _reader(path))


class _Row(NamedTuple):
    place: str
    topic: str
    system: str
    kind: str
    value: float


def _reader(path: Path) -> Callable[[str, Sequence[str]], Iterator[_Row]] | None:
    """The reader for the lines of a table, chosen by its name; None if it holds no human scores."""
    name = path.name.lower()
    if re.fullmatch(r"manual\.peer(\.[a-z])?", name):
        return _tac_line
    if name in ("responsiveness.table", "results.table.r", "overall.table"):
        return lambda place, fields: _duc_line(place, fields, "responsiveness")
    if name == "content.table":
        return lambda place, fields: _duc_line(place, fields, "content_responsiveness")
    if name == "linguistic_quality.table":
        return _quality_line
    if name.endswith("modified_scores.txt"):
        return _pyramid_line
    return None


def _rows(path: Path) -> Iterator[_Row]:
    read = _reader(path)
    assert read is not None
    reader = LineReader(str(path))
    begun = False
    for line in reader:
        fields = line.split()
        # NIST's tables begin with some lines of explanation; after the first score there are scores only.
        begun = begun or (
            len(fields) >= 3 and re.fullmatch(r"[A-Za-z]?\d+[A-Za-z]?(-[A-Z])?", fields[0]) is not None
        )
        if begun and fields:
            yield from read(f"{reader.name}, line {reader.count}", fields)
    if not begun:
        raise InputError(f"{reader.name}: holds no scores")


def _tac_line(place: str, fields: Sequence[str]) -> Iterator[_Row]:
    """TAC: docset, summariser, modified pyramid score, four or five counts, linguistic quality, responsiveness."""
    if len(fields) not in (9, 10):
        raise InputError(f"{place}: has {len(fields)} fields; TAC's tables have 9 (2008) or 10")
    topic, system = fields[0].upper(), fields[1]
    for kind, text in (
        ("pyramid", fields[2]), ("linguistic_quality", fields[-2]), ("responsiveness", fields[-1])
    ):  # fmt: skip
        yield _Row(place, topic, system, kind, parse_number(text, place))


def _duc_line(place: str, fields: Sequence[str], kind: str) -> Iterator[_Row]:
    """DUC: docset, kind, selector or assessor, summariser, score."""
    if len(fields) != 5:
        raise InputError(f"{place}: has {len(fields)} fields; DUC's tables of {kind} have 5")
    yield _Row(place, _docset(fields[0]), fields[3], kind, parse_number(fields[4], place))


def _quality_line(place: str, fields: Sequence[str]) -> Iterator[_Row]:
    """DUC: docset, kind, selector or assessor, summariser, question, score."""
    if len(fields) != 6:
        raise InputError(f"{place}: has {len(fields)} fields; DUC's tables of linguistic quality have 6")
    kind = f"linguistic_quality.Q{fields[4].upper().removeprefix('Q')}"
    yield _Row(place, _docset(fields[0]), fields[3], kind, parse_number(fields[5], place))


def _pyramid_line(place: str, fields: Sequence[str]) -> Iterator[_Row]:
    """DUC 2007: docset, summariser, modified pyramid score, counts."""
    if len(fields) < 3:
        raise InputError(f"{place}: has {len(fields)} fields; docset, summariser and score are expected")
    yield _Row(place, _docset(fields[0]), fields[1], "pyramid", parse_number(fields[2], place))


def _docset(text: str) -> str:
    return text.upper() if text[:1].isalpha() else f"D{text}"
