"""NIST's folders of summaries (DUC, TAC, AESOP): files called `D1101-A.M.100.B.7` and tables of judgements beside them.

The name of a file is docset, kind, size, selector and summariser; a summariser of letters is a person, whose summary is
a model, one of digits a system. Tables hold the scores of people: pyramid, linguistic quality, responsiveness.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tesla_eval.base.errors import InputError
from tesla_eval.judgements.nouns import SummaryRow
from tesla_eval.texts.lines import LineReader, parse_number

_FILE = re.compile(
    r"(?P<docset>[A-Za-z]+\d+[A-Za-z]?(?:-[A-Z])?)\.(?P<kind>[A-Za-z]+)\.(?P<size>\d+)\.(?P<selector>[A-Za-z0-9]+)"
    r"\.(?P<summariser>[A-Za-z]+|\d+)(?:\.(?P<document>[\w.-]+))?"
)
_TEXT_FOLDERS = ("models", "peers", "summaries")
_TABLE_FOLDERS = ("", "manual", "responsiveness", "linguistic_quality", "pyramid", "scoring")


class _Table(NamedTuple):
    """Tables of judgements that look alike: how their files are called, and where a line has what."""

    name: str
    sizes: range
    """How many fields a line has; the first is the docset."""
    system: int
    scores: Mapping[str, int]
    question: int | None = None
    """The field with the question that belongs to the name of the score."""


_TABLES = (
    # TAC: docset, summariser, modified pyramid score, four or five counts, linguistic quality, responsiveness.
    _Table(
        r"manual\.peer(\.[a-z])?", range(9, 11), 1,
        {"pyramid": 2, "linguistic_quality": -2, "responsiveness": -1},
    ),
    # DUC: docset, kind, selector or assessor, summariser, perhaps a question, score.
    _Table(r"(responsiveness|overall)\.table|results\.table\.r", range(5, 6), 3, {"responsiveness": 4}),
    _Table(r"content\.table", range(5, 6), 3, {"content_responsiveness": 4}),
    _Table(r"linguistic_quality\.table", range(6, 7), 3, {"linguistic_quality": 5}, question=4),
    # DUC 2007: docset, summariser, modified pyramid score, counts.
    _Table(r".*modified_scores\.txt", range(3, 100), 1, {"pyramid": 2}),
)  # fmt: skip


def is_tac_folder(folder: Path) -> bool:
    """Whether a folder holds files that are called as NIST calls summaries."""
    return any(_FILE.fullmatch(path.name) for path in _text_files(folder))


def read_tac_folder(folder: Path) -> Iterator[SummaryRow]:
    """The summaries of all systems, topic by topic; models are in the order of their authors."""
    models: dict[str, dict[str, str]] = {}
    peers: dict[tuple[str, str], Path] = {}
    for path in _text_files(folder):
        match = _FILE.fullmatch(path.name)
        if match is None:
            raise InputError(f"{path}: is not called DOCSET.KIND.SIZE.SELECTOR.SUMMARISER, as by NIST")
        topic = match["docset"].upper() + (f".{match['document']}" if match["document"] else "")
        if match["summariser"].isdigit():
            if (topic, match["summariser"]) in peers:
                raise InputError(f"{path}: a second summary of {topic} by {match['summariser']}")
            peers[topic, match["summariser"]] = path
        else:
            models.setdefault(topic, {})[match["summariser"]] = whole_text(path)
    human = _judgements(folder, set(peers))
    for (topic, system), path in sorted(peers.items(), key=lambda item: (item[0][0], int(item[0][1]))):
        if topic not in models:
            raise InputError(f"{path}: there is no model of {topic}")
        texts = tuple(text for _, text in sorted(models[topic].items()))
        yield SummaryRow(str(path), topic, system, whole_text(path), texts, human.get((topic, system), {}))


def _text_files(folder: Path) -> list[Path]:
    places = [base / name for base in (folder, folder / "ROUGE") for name in _TEXT_FOLDERS]
    present = [place for place in places if place.is_dir()] or [folder]
    paths = sorted(path for place in present for path in place.iterdir() if path.is_file())
    if present == [folder]:
        paths = [path for path in paths if _FILE.fullmatch(path.name)]
    return [path for path in paths if not path.name.startswith(".")]


def whole_text(path: Path) -> str:
    """The text of a file without empty lines around it."""
    return "\n".join(LineReader(str(path))).strip("\n")


Scores = dict[tuple[str, str], dict[str, float]]


def _judgements(folder: Path, summaries: set[tuple[str, str]]) -> Scores:
    """The human scores of the systems' summaries, from all tables in the folder."""
    scores: Scores = {}
    for path, table in _tables(folder):
        for place, fields in _lines_of_scores(path):
            if len(fields) not in table.sizes:
                sizes = " to ".join(map(str, sorted({table.sizes[0], table.sizes[-1]})))
                raise InputError(f"{place}: has {len(fields)} fields; tables of this name have {sizes}")
            topic, system = _docset(fields[0]), fields[table.system]
            if not system.isdigit():  # judges scored the models too
                continue
            if (topic, system) not in summaries:
                raise InputError(f"{place}: there is no summary of {topic} by {system}")
            kinds = scores.setdefault((topic, system), {})
            for score, column in table.scores.items():
                question = "" if table.question is None else fields[table.question].upper().removeprefix("Q")
                kind = f"{score}.Q{question}" if question else score
                value = parse_number(fields[column], place)
                if kind in kinds:
                    raise InputError(f"{place}: a second score {kind!r} of {topic} by {system}")
                kinds[kind] = value
    return scores


def _tables(folder: Path) -> Iterator[tuple[Path, _Table]]:
    """The files that hold human scores, by their names."""
    folders = {
        place for place in folder.iterdir() if place.is_dir() and place.name.lower() in _TABLE_FOLDERS
    } | {folder}
    for path in sorted(path for place in folders for path in place.iterdir() if path.is_file()):
        for table in _TABLES:
            if re.fullmatch(table.name, path.name.lower()):
                yield path, table


def _lines_of_scores(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The fields of each line that holds scores, with its place."""
    reader = LineReader(str(path))
    begun = False
    for line in reader:
        fields = line.split()
        # NIST's tables begin with some lines of explanation; after the first score there are scores only.
        begun = begun or (
            len(fields) >= 3 and re.fullmatch(r"[A-Za-z]?\d+[A-Za-z]?(-[A-Z])?", fields[0]) is not None
        )
        if begun and fields:
            yield f"{reader.name}, line {reader.count}", fields
    if not begun:
        raise InputError(f"{reader.name}: holds no scores")


def _docset(text: str) -> str:
    return text.upper() if text[:1].isalpha() else f"D{text}"
