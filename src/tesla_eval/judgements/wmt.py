"""Readers of the uniform WMT tables: segments, preferences, raw rankings, system scores.

Tab-separated UTF-8 with one header line, `.gz` or plain, read line by line; whatever is not as it should be
is an `InputError` that names file and line.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np

from tesla_eval.errors import InputError
from tesla_eval.judgements.nouns import EvalSet, Key, Preferences, Rankings, SystemScores, present_references
from tesla_eval.textio import LineReader

__all__ = ["read_preferences", "read_rankings", "read_segments", "read_system_scores"]

_SEGMENTS = ("lp", "testset", "system", "seg_id", "human_score", "hypothesis", "reference")
_PREFERENCES = ("lp", "testset", "seg_id", "system_better", "system_worse")
_RANKINGS = ("lp", "testset", "seg_id", "task", "judge", "system", "rank")
_SYSTEM_SCORES = ("lp", "testset", "system", "human_system_score", "score_type", "n_judgements")


class _Row(NamedTuple):
    """A data line: where it stands and its fields."""

    source: str
    line: int
    fields: list[str]

    @property
    def key(self) -> Key:
        return self.fields[0], self.fields[1]

    def error(self, message: str) -> InputError:
        return InputError(f"{self.source}, line {self.line}: {message}")


def read_segments(path: str, lps: Collection[str] | None = None) -> Iterator[EvalSet]:
    """The test sets of a `*.seg.tsv` file one after the other, or only those of the language pairs `lps`.

    Rows of a test set must stand together. A segment's references must be the same in all of its rows. With
    several reference columns an empty one is a missing reference, unless all are empty.
    """
    rows = _together(_read_rows(path, _SEGMENTS, more_references=True))
    for key, group in groupby(rows, key=lambda row: row.key):
        if lps is None or key[0] in lps:
            yield _eval_set(key, group)


def read_preferences(path: str) -> dict[Key, Preferences]:
    """The pairwise judgements of a `*.pairs.tsv` file by language pair and test set."""
    result: dict[Key, Preferences] = {}
    for row in _read_rows(path, _PREFERENCES):
        _, _, segment, better, worse = row.fields
        if better == worse:
            raise row.error(f"system {better} is compared with itself")
        group = result.setdefault(row.key, Preferences(row.source))
        group.segments.append(segment)
        group.better.append(better)
        group.worse.append(worse)
        group.lines.append(row.line)
    return result


def read_rankings(path: str) -> dict[Key, Rankings]:
    """The raw rankings of a `*.rawranks.tsv` file by language pair and test set."""
    result: dict[Key, Rankings] = {}
    for row in _read_rows(path, _RANKINGS):
        _, _, segment, task, judge, system, rank = row.fields
        if not (rank.isascii() and rank.isdigit() and int(rank) > 0):
            raise row.error(f"rank {rank!r} is not a whole number of at least 1")
        group = result.setdefault(row.key, Rankings(row.source))
        group.segments.append(segment)
        group.tasks.append(task)
        group.judges.append(judge)
        group.systems.append(system)
        group.ranks.append(int(rank))
        group.lines.append(row.line)
    return result


def read_system_scores(path: str) -> dict[Key, SystemScores]:
    """The human system scores of a `system_scores.tsv` file by language pair and test set."""
    result: dict[Key, SystemScores] = {}
    for row in _read_rows(path, _SYSTEM_SCORES):
        _, _, system, score, score_type, _ = row.fields
        scores = result.setdefault(row.key, SystemScores(row.source)).by_type.setdefault(score_type, {})
        if system in scores:
            raise row.error(f"a second {score_type} score for system {system}")
        scores[system] = _number(row, score, "human_system_score")
    return result


def _read_rows(path: str, columns: tuple[str, ...], *, more_references: bool = False) -> Iterator[_Row]:
    """The data lines of a table whose header must be `columns` (and further references where allowed)."""
    reader = LineReader(path)
    lines = iter(reader)
    header = next(lines, "").split("\t")
    expected = list(columns)
    if more_references:
        expected += [f"reference{i}" for i in range(2, 2 + len(header) - len(columns))]
    if header != expected:
        raise InputError(
            f"{reader.name}, line 1: the header must be {' '.join(columns)} (separated by tabs), "
            f"but it is {' '.join(header) or 'empty'}"
        )
    for number, line in enumerate(lines, start=2):
        fields = line.split("\t")
        if len(fields) != len(header):
            raise InputError(
                f"{reader.name}, line {number}: has {len(fields)} fields instead of {len(header)}"
            )
        yield _Row(reader.name, number, fields)


def _together(rows: Iterator[_Row]) -> Iterator[_Row]:
    """The same rows, once it is sure that those of a test set stand together."""
    begun: set[Key] = set()
    current: Key | None = None
    for row in rows:
        if row.key != current:
            if row.key in begun:
                raise row.error(f"the rows of {' '.join(row.key)} are not next to each other; sort the file")
            begun.add(row.key)
            current = row.key
        yield row


def _number(row: _Row, text: str, name: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise row.error(f"{name} {text!r} is not a number")
    return value


def _eval_set(key: Key, rows: Iterator[_Row]) -> EvalSet:
    systems: dict[str, int] = {}
    segments: dict[str, list[str]] = {}
    cells: dict[tuple[str, str], tuple[str, float]] = {}
    for row in rows:
        _, _, system, segment, score, hypothesis, *references = row.fields
        systems.setdefault(system, len(systems))
        if segments.setdefault(segment, references) != references:
            raise row.error(f"segment {segment} has other references than in an earlier row")
        if (system, segment) in cells:
            raise row.error(f"a second output of system {system} for segment {segment}")
        human = _number(row, score, "human_score") if score else math.nan
        cells[system, segment] = hypothesis, human
    names = tuple(sorted(systems))
    return EvalSet(
        *key,
        systems=names,
        segments=tuple(segments),
        hypotheses=tuple(tuple(cells.get((s, g), (None,))[0] for g in segments) for s in names),
        references=tuple(zip(*map(present_references, segments.values()), strict=True)),
        human=np.array([[cells.get((s, g), ("", math.nan))[1] for g in segments] for s in names]),
    )
