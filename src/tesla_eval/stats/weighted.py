"""Correlations in which every point counts as often as its weight says, for many weightings at once.

Both ways of judging a correlation by resampling come down to weights over fixed points: a bootstrap repeats
points, a permutation test chooses between two points. What depends on the points alone (their order, their
ties) is worked out once; a matrix of weights (one row per resample) then costs a few passes, with no loop
over resamples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tesla_eval.stats.estimate import FloatArray, IntArray, paired_vectors, ratio

__all__ = ["WeightedKendall", "WeightedPearson", "WeightedSpearman"]


class WeightedPearson:
    """Pearson's r of two vectors under each row of a matrix of weights.

    >>> WeightedPearson([1, 2, 3, 9], [1, 2, 4, 0])(np.array([[1.0, 1, 1, 0], [2, 0, 1, 0]])).round(6)
    array([0.981981, 1.      ])
    """

    def __init__(self, first: npt.ArrayLike, second: npt.ArrayLike) -> None:
        x, y = paired_vectors(first, second)
        # Centring keeps the differences of sums below from cancelling.
        x, y = x - x.mean(), y - y.mean()
        self._moments = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1)

    def __call__(self, weights: FloatArray) -> FloatArray:
        """(resamples, points) of weights to (resamples,) of correlations, NaN where a side is constant."""
        return correlation_of_moments(weights @ self._moments)


def correlation_of_moments(moments: FloatArray) -> FloatArray:
    """Pearson's r from sums of (1, x, y, x², y², xy) on the last axis, NaN where a side is constant."""
    n, x, y, xx, yy, xy = np.moveaxis(moments, -1, 0)
    spread_x, spread_y = n * xx - x * x, n * yy - y * y
    # A constant side leaves only rounding error in its spread.
    spread_x = np.where(spread_x > 1e-13 * n * xx, spread_x, 0.0)
    spread_y = np.where(spread_y > 1e-13 * n * yy, spread_y, 0.0)
    return np.clip(ratio(n * xy - x * y, np.sqrt(spread_x) * np.sqrt(spread_y)), -1.0, 1.0)


class WeightedSpearman:
    """Spearman's rho under each row of a matrix of weights; ranks are those among the weighted points.

    >>> WeightedSpearman([1, 2, 3, 4], [1, 9, 5, 7])(np.array([[1.0, 1, 1, 1], [1, 0, 1, 1]]))
    array([0.4, 1. ])
    """

    def __init__(self, first: npt.ArrayLike, second: npt.ArrayLike) -> None:
        x, y = paired_vectors(first, second)
        self._first, self._second = _Ties.of(x), _Ties.of(y)

    def __call__(self, weights: FloatArray) -> FloatArray:
        """(resamples, points) of weights to (resamples,) of correlations, NaN where a side is constant."""
        mean = (weights.sum(axis=1, keepdims=True) + 1) / 2
        x, y = self._first.midranks(weights) - mean, self._second.midranks(weights) - mean
        product = np.einsum("rp,rp,rp->r", weights, x, y)
        lengths = np.sqrt(np.einsum("rp,rp,rp->r", weights, x, x)) * np.sqrt(
            np.einsum("rp,rp,rp->r", weights, y, y)
        )
        return np.clip(ratio(product, lengths), -1.0, 1.0)


class WeightedKendall:
    """Kendall's tau-b under each row of a matrix of whole weights, in O(points x log points) a row.

    >>> WeightedKendall([1, 2, 3, 4], [1, 3, 2, 4])(np.array([[1.0, 1, 1, 1], [1, 1, 0, 2]]))
    array([0.66666667, 1.        ])
    """

    def __init__(self, first: npt.ArrayLike, second: npt.ArrayLike) -> None:
        x, y = paired_vectors(first, second)
        self._first, self._second = _Ties.of(x), _Ties.of(y)
        self._both = _Ties.of_ranks(
            self._first.group * (self._second.group.max(initial=0) + 1) + self._second.group
        )
        # Sorted by x, then y, a pair is discordant exactly if its y values are out of order.
        self._by_first = np.lexsort((self._second.group, self._first.group))
        self._inversions = _inversion_levels(self._second.group[self._by_first])

    def __call__(self, weights: FloatArray) -> FloatArray:
        """(resamples, points) of weights to (resamples,) of correlations, NaN where a side is constant."""
        total = weights.sum(axis=1)
        pairs = total * (total - 1) / 2
        first, second, both = (ties.pairs(weights) for ties in (self._first, self._second, self._both))
        discordant = _inverted_weight(weights.T[self._by_first], self._inversions)
        concordant = pairs - first - second + both - discordant
        tau = ratio(concordant - discordant, np.sqrt((pairs - first) * (pairs - second)))
        return np.clip(tau, -1.0, 1.0)


@dataclass(frozen=True)
class _Ties:
    """Equal values of a vector: each point's group, the points in order, and where groups start there."""

    group: IntArray
    order: IntArray
    starts: IntArray

    @classmethod
    def of(cls, values: FloatArray) -> _Ties:
        return cls.of_ranks(np.unique(values, return_inverse=True)[1])

    @classmethod
    def of_ranks(cls, ranks: IntArray) -> _Ties:
        _, group, size = np.unique(ranks, return_inverse=True, return_counts=True)
        return cls(group, np.argsort(group, kind="stable"), np.cumsum(size) - size)

    def weights(self, weights: FloatArray) -> FloatArray:
        """(resamples, groups): the weight of every group."""
        if not len(self.starts):
            return np.zeros((len(weights), 0))
        return np.add.reduceat(weights[:, self.order], self.starts, axis=1)

    def pairs(self, weights: FloatArray) -> FloatArray:
        """(resamples,): how many tied pairs there are."""
        sizes = self.weights(weights)
        return np.asarray((sizes * (sizes - 1)).sum(axis=1) / 2)

    def midranks(self, weights: FloatArray) -> FloatArray:
        """(resamples, points): the rank of every point, the mean rank of its group."""
        sizes = self.weights(weights)
        return np.asarray((np.cumsum(sizes, axis=1) - (sizes - 1) / 2)[:, self.group])


@dataclass(frozen=True)
class _Level:
    """One binary digit of the ranks: in a block, a point with digit 1 before one with digit 0 is inverted."""

    ones: IntArray
    zeros: IntArray
    ones_before: IntArray
    ones_before_block: IntArray
    order: IntArray


def _inversion_levels(ranks: IntArray) -> list[_Level]:
    """How to count inversions of `ranks` digit by digit from the highest: a radix sort that keeps books."""
    levels = []
    for digit in reversed(range(int(ranks.max(initial=0)).bit_length())):
        is_one = (ranks >> digit & 1).astype(bool)
        count = np.concatenate(([0], np.cumsum(is_one)))
        # Points are sorted by their higher digits here, so equal higher digits are one contiguous block.
        block = ranks >> (digit + 1)
        starts = np.concatenate(([True], block[1:] != block[:-1]))
        ones_before_block = np.maximum.accumulate(np.where(starts, count[:-1], 0))
        ones, zeros = np.flatnonzero(is_one), np.flatnonzero(~is_one)
        order = np.argsort(ranks >> digit, kind="stable")
        levels.append(_Level(ones, zeros, count[zeros], ones_before_block[zeros], order))
        ranks = ranks[order]
    return levels


def _inverted_weight(weights: FloatArray, levels: list[_Level]) -> FloatArray:
    """Sum over inverted pairs of the product of their weights, for `weights` (points, resamples)."""
    total = np.zeros(weights.shape[1])
    for level in levels:
        ones = np.zeros((len(level.ones) + 1, weights.shape[1]))
        np.cumsum(weights[level.ones], axis=0, out=ones[1:])
        inverted = ones[level.ones_before] - ones[level.ones_before_block]
        total += np.einsum("pr,pr->r", weights[level.zeros], inverted)
        weights = weights[level.order]
    return total
