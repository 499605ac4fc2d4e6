"""Spearman's rho over all outputs, to be resampled by segment.

Weighting or exchanging outputs changes their ranks, but never the order of two scores. So scores are sorted
once, and the ranks under some weights are running sums of the weights in that order.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tesla_eval.stats.estimate import FloatArray, IntArray, ratio

__all__ = ["PooledSpearman"]


@dataclass(frozen=True)
class _Order:
    """Points in order, with ties: each point's group, the points sorted, and where groups start there."""

    group: IntArray
    points: IntArray
    starts: IntArray

    @classmethod
    def of(cls, values: FloatArray) -> _Order:
        _, group, size = np.unique(values, return_inverse=True, return_counts=True)
        return cls(group, np.argsort(group, kind="stable"), np.cumsum(size) - size)

    def sums(self, table: FloatArray) -> FloatArray:
        """(resamples, points) to sums over the groups of equal points, in order."""
        ordered = table[:, self.points]
        return (
            ordered if len(self.starts) == len(self.points) else np.add.reduceat(ordered, self.starts, axis=1)
        )


class PooledSpearman:
    """Rho of metrics (metrics, systems, segments) with humans (systems, segments); see `Resampled`."""

    def __init__(self, human: FloatArray, metrics: FloatArray) -> None:
        judged = ~np.isnan(human)
        self.units = human.shape[1]
        self._unit = np.nonzero(judged)[1]
        self._metrics = metrics[:, judged]
        self._human = _Order.of(human[judged])
        self._orders = [_Order.of(scores) for scores in self._metrics]

    @property
    def candidates(self) -> int:
        """How many metrics are compared."""
        return len(self._metrics)

    def weighted(self, weights: FloatArray) -> FloatArray:
        """(resamples, segments) of weights to (resamples, metrics) of correlations."""
        points = weights[:, self._unit]
        human, spread = self._human_ranks(points)
        weighed = points * human
        return np.stack([_rho(o.sums(points), o.sums(weighed), spread) for o in self._orders], axis=1)

    def exchanged(self, keep: FloatArray) -> FloatArray:
        """Correlations after exchanging segments between every two metrics; see `Resampled`."""
        result = np.empty((len(keep), self.candidates, self.candidates))
        result[:, range(self.candidates), range(self.candidates)] = self.weighted(np.ones((1, self.units)))
        kept = keep[:, self._unit]
        human, spread = self._human_ranks(np.ones((1, len(self._unit))))
        # Of each output's two scores one is chosen: weights 1 and 0 over the scores of both metrics.
        chosen = np.concatenate([kept, 1 - kept], axis=1)
        human = np.concatenate([human, human], axis=1)
        weighed = chosen * human
        for a, b in combinations(range(self.candidates), 2):
            order = _Order.of(np.concatenate([self._metrics[a], self._metrics[b]]))
            sizes, sums = order.sums(chosen), order.sums(weighed)
            result[:, a, b] = _rho(sizes, sums, spread)
            # The other metric has what is not chosen here.
            result[:, b, a] = _rho(order.sums(np.ones_like(human)) - sizes, order.sums(human) - sums, spread)
        return result

    def _human_ranks(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The humans' ranks (resamples, points) less their mean, and the sum of their squares."""
        sizes = self._human.sums(points)
        ranks = _centred_ranks(sizes)
        return np.asarray(ranks[:, self._human.group]), np.asarray((sizes * ranks * ranks).sum(axis=1))


def _centred_ranks(sizes: FloatArray) -> FloatArray:
    """Mean rank of every group of `sizes` (resamples, groups) less the mean of all ranks."""
    last = np.cumsum(sizes, axis=1)
    return np.asarray(last - (sizes - 1) / 2 - (last[:, -1:] + 1) / 2)


def _rho(sizes: FloatArray, human: FloatArray, human_spread: FloatArray) -> FloatArray:
    """Rho from the groups of equal metric scores: how many outputs, and the sum of their human ranks."""
    ranks = _centred_ranks(sizes)
    spread = (sizes * ranks * ranks).sum(axis=1)
    return np.clip(ratio((ranks * human).sum(axis=1), np.sqrt(spread) * np.sqrt(human_spread)), -1.0, 1.0)
