"""Scores of outputs, from whatever can score: a metric is here a function of hypotheses and references."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tesla_eval.errors import UsageError
from tesla_eval.meta.judgements import EvalSet, FloatTable, PairTable
from tesla_eval.stats.estimate import ratio

__all__ = ["CorpusStatistics", "MetricScores", "Scorer", "judged_segments", "score_outputs"]

Scorer: TypeAlias = Callable[[Sequence[str], Sequence[Sequence[str | None]]], npt.ArrayLike]
"""N hypotheses and K streams of N references (None: missing) to N scores, NaN where there is none."""


@dataclass(frozen=True, eq=False)
class CorpusStatistics:
    """Statistics (systems, segments, columns) whose sums give a corpus score, as in BLEU; NaN where not scored."""

    rows: FloatTable
    score: Callable[[FloatTable], FloatTable]

    def system_scores(self, weights: FloatTable) -> FloatTable:
        """(resamples, segments) of weights to (resamples, systems) of corpus scores; NaN for a system without rows."""
        present = ~np.isnan(self.rows[:, :, 0])
        sums = np.einsum("rg,sgc->rsc", weights, np.where(present[:, :, None], self.rows, 0.0), optimize=True)
        counted = weights @ present.T
        return np.asarray(np.where(counted > 0, self.score(sums), np.nan))


@dataclass(frozen=True, eq=False)
class MetricScores:
    """A metric's scores: of segments (systems, segments), NaN where there is none, and of systems.

    A system's score is the one in `systems`, else that of its summed statistics in `corpus`, else the mean of
    its segments' scores. Scores of a metric for which lower is better are kept as they are and turned round
    when they are compared with humans.
    """

    segments: FloatTable
    systems: FloatTable | None = None
    higher_is_better: bool = True
    corpus: CorpusStatistics | None = None

    @property
    def oriented(self) -> FloatTable:
        """The segment scores, higher is better."""
        return self.segments if self.higher_is_better else -self.segments

    def system_scores(self, segments: npt.NDArray[np.bool_]) -> FloatTable:
        """The system scores, higher is better: those given, or else of the chosen segments."""
        if self.systems is not None:
            return self.systems if self.higher_is_better else -self.systems
        if self.corpus is not None:
            return np.asarray(self.drawn_system_scores(segments[None].astype(np.float64))[0])
        return row_means(self.oriented[:, segments])

    def drawn_system_scores(self, weights: FloatTable) -> FloatTable:
        """(resamples, segments) of weights to (resamples, systems) of system scores, higher is better."""
        if self.corpus is not None:
            drawn = self.corpus.system_scores(weights)
            return drawn if self.higher_is_better else -drawn
        present = ~np.isnan(self.segments)
        return ratio(weights @ np.where(present, self.oriented, 0.0).T, weights @ present.T)


def row_means(table: FloatTable) -> FloatTable:
    """The mean of every row over its values that are not NaN; NaN for a row without one."""
    present = ~np.isnan(table)
    count = present.sum(axis=1)
    return np.where(count > 0, np.where(present, table, 0.0).sum(axis=1) / np.maximum(count, 1), np.nan)


def judged_segments(outputs: EvalSet, pairs: PairTable | None = None) -> npt.NDArray[np.bool_]:
    """The segments in which humans judged anything: a score, or a pair of outputs."""
    judged: npt.NDArray[np.bool_] = np.any(~np.isnan(outputs.human), axis=0)
    if pairs is not None:
        judged[pairs.segment] = True
    return np.asarray(judged)


def score_outputs(
    outputs: EvalSet,
    scorer: Scorer,
    *,
    segments: npt.NDArray[np.bool_] | None = None,
    all_references: bool = False,
) -> FloatTable:
    """Scores (systems, segments) of the outputs in the chosen segments, by default all, in one call.

    The first reference that a segment has is used, unless `all_references`. Cells without an output, and
    those not chosen, are NaN.
    """
    chosen = np.ones(len(outputs.segments), bool) if segments is None else segments
    places = [
        (system, segment)
        for system, row in enumerate(outputs.hypotheses)
        for segment in np.flatnonzero(chosen).tolist()
        if row[segment] is not None
    ]
    hypotheses = [
        text for system, segment in places if (text := outputs.hypotheses[system][segment]) is not None
    ]
    streams = outputs.references if all_references else (outputs.first_reference,)
    references = [[stream[segment] for _, segment in places] for stream in streams]
    table = np.full(outputs.human.shape, np.nan)
    if not places:
        return table
    scores = np.asarray(scorer(hypotheses, references), dtype=np.float64)
    if scores.shape != (len(places),):
        raise UsageError(f"the metric gave scores of shape {scores.shape} for {len(places)} outputs")
    table[tuple(np.transpose(places))] = scores
    return table
