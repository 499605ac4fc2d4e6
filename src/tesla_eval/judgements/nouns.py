"""The record types of this package: outputs with human scores, preferences, rankings, system scores."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.errors import InputError, SegmentError, UsageError
from tesla_eval.metrics.segments import present_references
from tesla_eval.statistics.pairs import pairs_within

FloatTable: TypeAlias = FloatArray
Key: TypeAlias = tuple[str, str]
"""A language pair and the name of its test set."""


@dataclass(frozen=True, eq=False)
class EvalSet:
    """The outputs of several systems for one language pair of one test set, with references and human scores.

    `hypotheses` holds one row of segments per system, `references` one row of segments per reference, as they
    were given; None is a missing text. `human` is (systems, segments).
    """

    lp: str
    testset: str
    systems: tuple[str, ...]
    segments: tuple[str, ...]
    hypotheses: tuple[tuple[str | None, ...], ...]
    references: tuple[tuple[str | None, ...], ...]
    human: FloatTable
    score_kind: str = ""
    """The kind of the human scores: the name of the file that held them, such as `wmt21-mqm-news` or `mqm`."""
    reference_names: tuple[str, ...] = ()
    """What the references are called, where they have names."""
    sources: tuple[str, ...] | None = None
    """For every segment its source text, where all of them are known."""

    def __post_init__(self) -> None:
        shape = (len(self.systems), len(self.segments))
        if self.human.shape != shape:
            raise UsageError(f"human scores of shape {self.human.shape} for (systems, segments) {shape}")
        sources = () if self.sources is None else (self.sources,)
        for what, rows in (
            ("outputs", self.hypotheses),
            ("references", self.references),
            ("sources", sources),
        ):
            if any(len(row) != len(self.segments) for row in rows):
                lengths = sorted({len(row) for row in rows})
                raise UsageError(f"{what} of {lengths} segments for a test set of {len(self.segments)}")

    @property
    def key(self) -> Key:
        """Language pair and test set: what judgements in other files are joined on."""
        return self.lp, self.testset

    @contextmanager
    def naming_refused(self, systems: Sequence[int], segments: Sequence[int]) -> Iterator[None]:
        """While these outputs are scored, in this order, an error about one names its system and segment."""
        try:
            yield
        except SegmentError as refused:
            system, segment = systems[refused.segment], segments[refused.segment]
            place = f"{' '.join(self.key)}, {self.systems[system]}, segment {self.segments[segment]}"
            raise refused.at(place) from None

    @property
    def first_reference(self) -> tuple[str | None, ...]:
        """For every segment the first reference that it has."""
        present = zip(*present_references(self.references), strict=True)
        return tuple(next((text for text in texts if text is not None), None) for texts in present)


@dataclass(frozen=True)
class SummaryRow:
    """A system's summary of a topic with the models of that topic and what people said of it."""

    place: str
    topic: str
    system: str
    hypothesis: str
    references: tuple[str, ...]
    human: Mapping[str, float] = field(default_factory=dict)
    source: str | None = None


@dataclass(frozen=True)
class Preferences:
    """Pairwise judgements as they were read: segment, better system, worse system, and the line of each."""

    source: str
    segments: list[str] = field(default_factory=list)
    better: list[str] = field(default_factory=list)
    worse: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    def joined(self, outputs: EvalSet) -> PairTable:
        """The same as places in the tables of `outputs`; an unknown system or segment is an `InputError`."""
        systems = {name: place for place, name in enumerate(outputs.systems)}
        segments = {name: place for place, name in enumerate(outputs.segments)}
        return PairTable(
            self._places("segment", self.segments, segments, outputs),
            self._places("system", self.better, systems, outputs),
            self._places("system", self.worse, systems, outputs),
        )

    def _places(self, what: str, names: list[str], places: Mapping[str, int], outputs: EvalSet) -> Index:
        try:
            return np.array([places[name] for name in names], dtype=np.int64)
        except KeyError:
            line, name = next((ln, nm) for ln, nm in zip(self.lines, names, strict=True) if nm not in places)
            raise InputError(
                f"{self.source}, line {line}: {what} {name} has no output for {outputs.lp} {outputs.testset}"
            ) from None


@dataclass(frozen=True, eq=False)
class PairTable:
    """Pairwise judgements as places in the tables of an `EvalSet`."""

    segment: Index
    better: Index
    worse: Index

    def wins(self, systems: int) -> FloatTable:
        """[i, j] is how often system i was preferred to j."""
        table = np.zeros((systems, systems))
        np.add.at(table, (self.better, self.worse), 1)
        return table


@dataclass(frozen=True)
class Rankings:
    """Raw rankings, one row per ranked output; rows of one task are ranked against each other, 1 is best."""

    source: str
    segments: list[str] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)
    judges: list[str] = field(default_factory=list)
    systems: list[str] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.tasks)


# Where several kinds of human system scores cover the same systems, the official one comes first, then the
# more careful protocol.
SCORE_TYPES = (
    "trueskill_official",
    "mqm",
    "mqm_unbabel",
    "esa",
    "da_z",
    "srcda_z",
    "srcda_raw",
    "expected_wins",
    "expected_wins_darr",
    "win_ratio",
)


@dataclass(frozen=True)
class SystemScores:
    """Human scores of systems: score type -> system -> score."""

    source: str
    by_type: dict[str, dict[str, float]] = field(default_factory=dict)

    def chosen(
        self, systems: tuple[str, ...], score_type: str | None = None, *, kind: str = ""
    ) -> tuple[str, FloatTable]:
        """A score type and its scores for `systems`, NaN where a score is missing.

        Without a wish the type that the segments were judged by (`kind`, the name of their file), if two systems have
        it; else the type that covers most of the systems, of these the first in `SCORE_TYPES`. Standardised scores
        (`_z`) come before raw ones.

        >>> scores = SystemScores("file", {"win_ratio": {"a": 0.7, "b": 0.3}, "mqm": {"a": -2.0, "b": -3.0}})
        >>> scores.chosen(("a", "b"))
        ('mqm', array([-2., -3.]))
        >>> SystemScores("file", {"x_raw": {"a": 70.0}, "x_z": {"a": 0.3}}).chosen(("a",))
        ('x_z', array([0.3]))
        """
        if score_type is None:
            score_type = min(
                self.by_type, key=lambda name: self._reluctance(name, systems, kind), default=None
            )
        if score_type not in self.by_type:
            known = ", ".join(self.by_type) or "none"
            raise UsageError(
                f"{self.source}: no human system scores of type {score_type!r}; there are: {known}"
            )
        scores = self.by_type[score_type]
        return score_type, np.array([scores.get(system, np.nan) for system in systems])

    def _reluctance(self, name: str, systems: tuple[str, ...], kind: str) -> tuple[bool, int, int, bool, str]:
        covered = sum(system in self.by_type[name] for system in systems)
        of_segments = covered >= 2 and _is_of_kind(name, kind)
        preference = SCORE_TYPES.index(name) if name in SCORE_TYPES else len(SCORE_TYPES)
        return not of_segments, -covered, preference, name.endswith("raw"), name


def _is_of_kind(score_type: str, kind: str) -> bool:
    """Whether a type of system scores is what a file of segments is named after.

    >>> _is_of_kind("da_z", "wmt21-da-toen"), _is_of_kind("srcda_z", "wmt21-da-toen"), _is_of_kind("mqm", "mqm")
    (True, False, True)
    """
    if score_type == kind:
        return True
    words = set(re.split(r"[-_.]", score_type)) - {"z", "raw"}
    return not words.isdisjoint(re.split(r"[-_.]", kind))


def preferences_of(rankings: Rankings) -> Preferences:
    """Every pair of one task whose ranks differ, as a preference for the lower rank; ties are dropped.

    >>> rankings = Rankings("file", ["9"] * 3, ["t"] * 3, ["ann"] * 3, ["a", "b", "c"], [1, 2, 2], [2, 3, 4])
    >>> pairs = preferences_of(rankings)
    >>> list(zip(pairs.better, pairs.worse))
    [('a', 'b'), ('a', 'c')]
    """
    first, second = pairs_within(rankings.tasks)
    ranks = np.array(rankings.ranks)
    untied = ranks[first] != ranks[second]
    in_order = ranks[first] < ranks[second]
    better = np.where(in_order, first, second)[untied].tolist()
    worse = np.where(in_order, second, first)[untied].tolist()
    return Preferences(
        rankings.source, [rankings.segments[k] for k in better], [rankings.systems[k] for k in better],
        [rankings.systems[k] for k in worse], [rankings.lines[k] for k in better],
    )  # fmt: skip


def win_table(preferences: Preferences) -> tuple[tuple[str, ...], FloatArray]:
    """The systems in alphabetical order, and [i, j]: how often system i was preferred to j."""
    systems = tuple(sorted({*preferences.better, *preferences.worse}))
    place = {name: i for i, name in enumerate(systems)}
    table = np.zeros((len(systems), len(systems)))
    np.add.at(table, ([place[n] for n in preferences.better], [place[n] for n in preferences.worse]), 1)
    return systems, table


def columns_of(rows: Sequence[tuple[Any, ...]]) -> Iterator[list[Any]]:
    """The columns of some rows, as the records above hold them."""
    return map(list, zip(*rows, strict=True))


def labels(*columns: npt.NDArray[np.generic]) -> Index:
    """One whole number per distinct row of the columns."""
    codes = np.stack([np.unique(column, return_inverse=True)[1] for column in columns])
    return np.unique(codes, axis=1, return_inverse=True)[1].reshape(-1)
