"""What a test compares: candidates that can be scored again on weighted or exchanged units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.statistics.estimate import as_array, ratio

_BLOCK_PAIRS = 64  # so few that their sums stay in the processor's cache
Exchanged = tuple[FloatArray, FloatArray]
"""Scores (resamples, pairs) of the first and of the second candidate of each pair."""


class Resampled(Protocol):
    """Candidates that can be scored again on weighted or exchanged units."""

    @property
    def units(self) -> int:
        """How many units there are to draw from."""

    def weighted(self, weights: FloatArray) -> FloatArray:
        """(resamples, units) of weights to (resamples, candidates) of scores."""

    def exchanged(self, keep: FloatArray, pairs: Index) -> Exchanged:
        """The scores of both candidates of each pair when they exchange the units where `keep` is 0.

        `keep` is (resamples, units) of 0 and 1, `pairs` (pairs, 2) candidates.
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
    def of_segment_scores(cls, scores: npt.ArrayLike, blocks: npt.ArrayLike | None = None) -> Means:
        """From segment scores (segments, candidates); a candidate's score is the mean of its segments."""
        values = as_array(scores, "scores", 2)
        summed = cls.of_statistics(np.stack([values, np.ones_like(values)], axis=2), mean_of_sums, blocks)
        return Means(summed.statistics, summed.score)

    @property
    def units(self) -> int:
        """How many units there are to draw from."""
        return len(self.statistics)

    def weighted(self, weights: FloatArray) -> FloatArray:
        """(resamples, units) of weights to (resamples, candidates) of scores."""
        return self.score(self._sums(weights))

    def exchanged(self, keep: FloatArray, pairs: Index) -> Exchanged:
        """Scores after the candidates of each pair exchanged units; see `Resampled`."""
        kept = self._sums(keep)
        given_up = self.statistics.sum(axis=0) - kept
        scores = np.empty((2, len(keep), len(pairs)))
        for start in range(0, len(pairs), _BLOCK_PAIRS):
            block = slice(start, start + _BLOCK_PAIRS)
            first, second = pairs[block].T
            scores[0, :, block] = self.score(kept[:, first] + given_up[:, second])
            scores[1, :, block] = self.score(kept[:, second] + given_up[:, first])
        return scores[0], scores[1]

    @cached_property
    def _parts(self) -> tuple[FloatArray, ...]:
        return exact_parts(self.statistics.reshape(self.units, -1))

    def _sums(self, weights: FloatArray) -> FloatArray:
        return exact_sums(weights, self._parts).reshape(len(weights), *self.statistics.shape[1:])


class Means(Additive):
    """Means over the same segments for all candidates, so that one count of them is enough."""

    @cached_property
    def _parts(self) -> tuple[FloatArray, ...]:
        return exact_parts(self.statistics[..., 0])

    def weighted(self, weights: FloatArray) -> FloatArray:
        """(resamples, units) of weights to (resamples, candidates) of scores."""
        return ratio(exact_sums(weights, self._parts), weights @ self.statistics[:, :1, 1])

    def exchanged(self, keep: FloatArray, pairs: Index) -> Exchanged:
        """Scores after the candidates of each pair exchanged units; see `Resampled`."""
        first, second = pairs.T
        kept = exact_sums(keep, self._parts)
        given_up = exact_sums(np.ones((1, self.units)), self._parts) - kept
        count = self.statistics[:, 0, 1].sum()
        return (
            (kept[:, first] + given_up[:, second]) / count,
            (kept[:, second] + given_up[:, first]) / count,
        )


def exact_parts(table: FloatArray) -> tuple[FloatArray, ...]:
    """Tables (units, columns) that add up to `table`, whose sums with resampling weights have no rounding error.

    Each is rounded to so few bits that a sum of as many rows as there are fits into 53. So a matrix product gives the
    same bits on every machine and with any number of threads. The sum of two parts is exact to 80 bits and more.

    >>> high, low = exact_parts(np.array([[0.1], [0.7]]))
    >>> (high + low).tolist(), len(exact_parts(np.array([[3.0], [4.0]])))
    ([[0.1], [0.7]], 1)
    """
    high = _rounded(table)
    low = _rounded(table - high)
    return (high, low) if low.any() else (high,)


def _rounded(table: FloatArray) -> FloatArray:
    """Each column rounded to a multiple of a power of two, so that sums of as many values have at most 53 bits."""
    largest = len(table) * np.abs(table).max(axis=0, initial=0.0)
    _, exponent = np.frexp(largest)
    step = np.maximum(np.ldexp(1.0, exponent - 53), np.finfo(np.float64).smallest_subnormal)
    return np.asarray(np.rint(table / step) * step)


def exact_sums(weights: FloatArray, parts: Sequence[FloatArray]) -> FloatArray:
    """(resamples, units) of whole weights, `units` at most in all, to (resamples, columns): the sums of all parts."""
    first, *others = (weights @ part for part in parts)
    return np.asarray(first + others[0]) if others else first


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
