"""Candidates that can be scored again on resampled units, and the common case of it: sums of statistics.

Candidates are systems under one metric, or metrics under one statistic of agreement with humans. What is
resampled are units: segments, or blocks of them such as documents. A candidate need only be able to say its
score when units are weighted (a bootstrap) or exchanged with another candidate (a randomisation test): the
protocol `Resampled`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tesla_eval.arrays import FloatArray
from tesla_eval.errors import InputError, UsageError
from tesla_eval.stats.estimate import as_array, ratio

__all__ = ["Additive", "Resampled"]


class Resampled(Protocol):
    """Candidates that can be scored again on weighted or exchanged units."""

    @property
    def units(self) -> int:
        """How many units there are to draw from."""

    @property
    def candidates(self) -> int:
        """How many candidates are compared."""

    def weighted(self, weights: FloatArray) -> FloatArray:
        """(resamples, units) of weights to (resamples, candidates) of scores."""

    def exchanged(self, keep: FloatArray) -> FloatArray:
        """(resamples, units) of 0 and 1 to (resamples, candidates, candidates) of scores.

        [r, a, b] is the score of `a` when it takes over the units of `b` where `keep[r]` is 0.
        """


@dataclass(frozen=True, eq=False)
class Additive:
    """Candidates scored from summed statistics: an array (units, candidates, columns) and sums -> scores.

    A mean of segment scores is the sums of (score, 1); corpus BLEU, chrF and TER have longer rows. `score`
    maps an array (..., columns) to (...) and is called on many resamples at once.

    >>> system = Additive.of_segment_scores([[0.2, 0.4], [0.6, 0.9]])
    >>> system.weighted(np.array([[1.0, 1.0], [0.0, 2.0]]))
    array([[0.4 , 0.65],
           [0.6 , 0.9 ]])
    """

    statistics: FloatArray
    score: Callable[[FloatArray], FloatArray]

    @classmethod
    def of_statistics(
        cls,
        statistics: npt.ArrayLike,
        score: Callable[[FloatArray], FloatArray],
        blocks: npt.ArrayLike | None = None,
    ) -> Additive:
        """From sufficient statistics (segments, candidates, columns); `blocks` names each segment's block."""
        rows = as_array(statistics, "statistics", 3)
        if not np.isfinite(rows).all():
            segment, candidate, _ = np.argwhere(~np.isfinite(rows))[0]
            raise InputError(
                f"segment {segment + 1} of candidate {candidate + 1} has no score; "
                "leave the segment out for every candidate, or give it a score"
            )
        return cls(rows if blocks is None else _sum_blocks(rows, np.asarray(blocks)), score)

    @classmethod
    def of_segment_scores(cls, scores: npt.ArrayLike, blocks: npt.ArrayLike | None = None) -> Additive:
        """From segment scores (segments, candidates); a candidate's score is the mean of its segments."""
        values = as_array(scores, "scores", 2)
        return cls.of_statistics(np.stack([values, np.ones_like(values)], axis=2), mean_of_sums, blocks)

    @property
    def units(self) -> int:
        """How many units there are to draw from."""
        return len(self.statistics)

    @property
    def candidates(self) -> int:
        """How many candidates are compared."""
        return int(self.statistics.shape[1])

    def weighted(self, weights: FloatArray) -> FloatArray:
        """(resamples, units) of weights to (resamples, candidates) of scores."""
        return self.score(self._sums(weights))

    def exchanged(self, keep: FloatArray) -> FloatArray:
        """Scores after exchanging units between every two candidates; see `Resampled`."""
        kept = self._sums(keep)
        given_up = self.statistics.sum(axis=0) - kept
        return np.stack([self.score(kept[:, [a]] + given_up) for a in range(self.candidates)], axis=1)

    def _sums(self, weights: FloatArray) -> FloatArray:
        flat = weights @ self.statistics.reshape(self.units, -1)
        return flat.reshape(len(weights), *self.statistics.shape[1:])


def mean_of_sums(sums: FloatArray) -> FloatArray:
    """(..., 2) sums of (score, 1) to means, NaN where nothing was summed."""
    return ratio(sums[..., 0], sums[..., 1])


def _sum_blocks(rows: FloatArray, blocks: npt.NDArray[np.generic]) -> FloatArray:
    if blocks.shape != rows.shape[:1]:
        raise UsageError(
            f"blocks: one per segment is needed, got shape {blocks.shape} for {len(rows)} segments"
        )
    names, index = np.unique(blocks, return_inverse=True)
    summed = np.zeros((len(names), *rows.shape[1:]))
    np.add.at(summed, index, rows)
    return summed
