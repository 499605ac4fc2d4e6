"""All candidates that a decoder has shown so far, merged, scored once, and laid out for the optimisers."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.errors import InputError, SegmentError
from tesla_eval.choosing.nbest import CandidateList, complete_lists
from tesla_eval.matching.kernels import CandidateTable
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.results import SegmentScores
from tesla_eval.metrics.scoring import cut_chunks, score_chunks
from tesla_eval_papers.tuning.objective import TuningObjective, whole_numbers

_CHUNK = 4096  # texts that are scored at once
MOST_FEATURES = 10_000


@dataclass(frozen=True, eq=False)
class TuningProblem:
    """Candidates with features and statistics: what weights are tuned on."""

    names: tuple[str, ...]
    offsets: Index
    """Segment s has the candidates offsets[s] to offsets[s + 1]."""
    features: FloatArray
    """One row per feature, one column per candidate."""
    gains: FloatArray
    """The segment score of every candidate, higher is better."""
    objective: TuningObjective
    numbers: Index
    """The statistics of every candidate in whole units, one row each."""
    unit: float
    table: CandidateTable

    @classmethod
    def create(
        cls,
        names: Sequence[str],
        offsets: npt.ArrayLike,
        features: npt.ArrayLike,
        statistics: npt.ArrayLike,
        objective: TuningObjective,
        gains: npt.ArrayLike | None = None,
    ) -> TuningProblem:
        """From arrays: features (names, candidates), statistics (candidates, columns)."""
        bounds = np.ascontiguousarray(offsets, np.int64)
        values = np.ascontiguousarray(features, np.float64)
        rows = np.asarray(statistics, np.float64)
        numbers, unit = whole_numbers(rows, len(bounds) - 1)
        sign = 1 if objective.higher_is_better else -1
        return cls(
            tuple(names), bounds, values, sign * rows[:, 0] if gains is None else np.asarray(gains, np.float64),
            objective, numbers, unit, CandidateTable(bounds, values, numbers),
        )  # fmt: skip

    def with_features(self, features: FloatArray) -> TuningProblem:
        """The same candidates with other features, such as scaled ones."""
        values = np.ascontiguousarray(features, np.float64)
        return replace(self, features=values, table=CandidateTable(self.offsets, values, self.numbers))

    @property
    def segments(self) -> int:
        """How many segments there are."""
        return len(self.offsets) - 1

    def choice(self, weights: FloatArray) -> Index:
        """The candidate of each segment with the highest model score; of equals the first."""
        return self.table.best(weights)

    def quality(self, sums: Index) -> FloatArray:
        """Whole sums (..., columns) to scores (...), higher is better."""
        scores = self.objective.score(sums.astype(np.float64) * self.unit, self.segments)
        return scores if self.objective.higher_is_better else -scores

    def evaluate(self, weights: FloatArray) -> float:
        """The quality of the candidates that the weights choose."""
        return float(self.quality(self.numbers[self.choice(weights)].sum(axis=0)))

    def score(self, weights: FloatArray) -> float:
        """The same as the metric prints it: lower is better for error rates."""
        quality = self.evaluate(weights)
        return quality if self.objective.higher_is_better else -quality


@dataclass
class _Segment:
    texts: dict[str, int]
    """Text to its number among all texts."""
    seen: set[bytes]
    blocks: list[tuple[tuple[str, ...], array[float]]]
    """Values of features, row after row, with their names."""
    rows: array[int]
    """The number of the text of every candidate."""


class Pool:
    """The candidates of any number of n-best lists; the same text with the same features counts once.

    `names` are the features that have weights; without them, all that the lists have.
    """

    def __init__(self, segments: int, names: Sequence[str] | None = None) -> None:
        self._segments = [_Segment({}, set(), [], array("q")) for _ in range(segments)]
        self._fixed = names is not None
        self._columns: dict[str, int] = {name: k for k, name in enumerate(names or ())}
        self._texts: list[tuple[int, str]] = []
        self._scored: list[SegmentScores] = []
        self._scored_count = 0

    def __len__(self) -> int:
        return sum(len(segment.rows) for segment in self._segments)

    @property
    def texts(self) -> int:
        """How many texts were scored, or wait for it."""
        return len(self._texts)

    @property
    def names(self) -> tuple[str, ...]:
        """The features so far."""
        return tuple(self._columns)

    def add(self, lists: Iterable[CandidateList], source: str = "the n-best list") -> int:
        """Take in candidates; returns how many are new. Every segment must have some."""
        before = len(self)
        for candidates in complete_lists(lists, source, len(self._segments)):
            self._add_list(candidates)
        return len(self) - before

    def _add_list(self, candidates: CandidateList) -> None:
        segment = self._segments[candidates.segment]
        for text, names, values, _ in candidates.candidates:
            row = array("d", values)
            digest = hashlib.blake2b(digest_size=16)
            digest.update(text.encode("utf-8", "surrogatepass"))
            digest.update(b"\0" + row.tobytes() + b"\0".join(name.encode() for name in names))
            key = digest.digest()
            if key in segment.seen:
                continue
            segment.seen.add(key)
            if not segment.blocks or segment.blocks[-1][0] is not names:
                self._check_names(names, candidates.place)
                segment.blocks.append((names, array("d")))
            segment.blocks[-1][1].extend(row)
            number = segment.texts.setdefault(text, len(self._texts))
            if number == len(self._texts):
                self._texts.append((candidates.segment, text))
            segment.rows.append(number)

    def _check_names(self, names: tuple[str, ...], place: str) -> None:
        if not names:
            raise InputError(f"{place}: candidates have no features, so there is nothing to tune")
        if self._fixed:
            unknown = [name for name in names if name not in self._columns]
            if unknown and len(names) == len(self._columns) and names[0] == "f1":
                return  # numbers without names: they are in the order of the parameters
            if unknown:
                raise InputError(
                    f"{place}: feature {unknown[0]!r} is no parameter; known are {', '.join(self._columns)}"
                )
            return
        for name in names:
            self._columns.setdefault(name, len(self._columns))
        if len(self._columns) > MOST_FEATURES:
            raise InputError(f"{place}: more than {MOST_FEATURES} features in all")

    def score(
        self,
        metric: Metric,
        references: Sequence[Sequence[str | None]],
        advance: Callable[[int], None] = lambda done: None,
    ) -> None:
        """Score the texts that are new; `references` are K streams of all segments."""
        fresh = self._texts[self._scored_count :]
        streams = [[stream[segment] for segment, _ in fresh] for stream in references]
        chunks = cut_chunks([[text for _, text in fresh]], streams, None, _CHUNK)
        try:
            for [[part]] in score_chunks([metric], chunks, metric.workers):
                texts = len(part.scores)
                self._scored.append(SegmentScores(part.scores, np.empty((texts, 0)), part.statistics))
                advance(texts)
        except SegmentError as refused:
            raise refused.at(f"candidates of segment {fresh[refused.segment][0]}") from None
        self._scored_count = len(self._texts)

    def problem(self, objective: TuningObjective) -> TuningProblem:
        """Everything so far as arrays."""
        scored = SegmentScores.concatenate(self._scored)
        sizes = [len(segment.rows) for segment in self._segments]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        features = np.zeros((len(self._columns), int(offsets[-1])))
        for start, segment in zip(offsets.tolist(), self._segments, strict=False):
            at = start
            for names, values in segment.blocks:
                block = np.frombuffer(values).reshape(-1, len(names))
                features[self._places(names), at : at + len(block)] = block.T
                at += len(block)
        rows = np.concatenate([np.frombuffer(segment.rows, np.int64) for segment in self._segments])
        sign = 1 if objective.higher_is_better else -1
        return TuningProblem.create(
            self.names, offsets, features, objective.statistics(scored)[rows], objective, sign * scored.scores[rows]
        )  # fmt: skip

    def _places(self, names: tuple[str, ...]) -> list[int]:
        if names[0] not in self._columns:  # numbered features stand in the order of the parameters
            return list(range(len(names)))
        return [self._columns[name] for name in names]
