"""Correlation over all outputs at once, of several metrics, in a form that can be resampled by segment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.errors import UsageError
from tesla_eval.statistics.candidates import Additive, Exchanged, Resampled
from tesla_eval.statistics.estimate import as_array, chosen, ratio


@dataclass(frozen=True)
class _Form:
    """The values of one quadratic form A for rows k of 0 and 1: k'Ak, k'A1, 1'Ak, 1'A1."""

    kept: FloatArray
    kept_first: FloatArray
    kept_second: FloatArray
    total: float

    @classmethod
    def of(cls, table: FloatArray, keep: FloatArray) -> _Form:
        kept = np.asarray(((keep @ table) * keep).sum(axis=1))
        return cls(kept, keep @ table.sum(axis=1), keep @ table.sum(axis=0), float(table.sum()))

    @property
    def first_only(self) -> FloatArray:
        """k'A(1 - k)."""
        return self.kept_first - self.kept

    @property
    def second_only(self) -> FloatArray:
        """(1 - k)'Ak."""
        return self.kept_second - self.kept

    @property
    def given_up(self) -> FloatArray:
        """(1 - k)'A(1 - k)."""
        return self.total - self.kept - self.first_only - self.second_only


class PooledKendall:
    """Tau-b of metrics (metrics, systems, segments) with humans (systems, segments); see `Resampled`."""

    def __init__(self, human: FloatArray, metrics: FloatArray) -> None:
        self.candidates, _, self.units = metrics.shape
        _, self._human = _pair_sums(human, human, human)
        # (a, b): the first output of a pair has its score from metric a, the second from metric b
        self._sums = {
            (a, b): _pair_sums(human, metrics[a], metrics[b])
            for a, b in combinations_with_replacement(range(self.candidates), 2)
        }

    def weighted(self, weights: FloatArray) -> FloatArray:
        """(resamples, segments) of weights to (resamples, metrics) of correlations."""
        human = _Form.of(self._human, weights).kept
        own = [self._sums[metric, metric] for metric in range(self.candidates)]
        taus = [_tau(human, *(_Form.of(table, weights).kept for table in sums)) for sums in own]
        return np.stack(taus, axis=1)

    def exchanged(self, keep: FloatArray, pairs: Index) -> Exchanged:
        """Correlations after the metrics of each pair exchanged segments; see `Resampled`."""
        ordered = [(min(pair), max(pair)) for pair in pairs.tolist()]  # as in `_sums`
        needed = {key for a, b in ordered for key in ((a, a), (a, b), (b, b))}
        forms = {key: tuple(_Form.of(table, keep) for table in self._sums[key]) for key in needed}
        human = np.asarray(self._human.sum())
        scores = np.empty((2, len(keep), len(pairs)))
        for place, (a, b) in enumerate(ordered):
            parts = list(zip(forms[a, a], forms[a, b], forms[b, b], strict=True))
            own, other = (0, 1) if pairs[place, 0] == a else (1, 0)
            # Metric a keeps its segments and takes over b's in the rest; metric b the other way round.
            scores[own, :, place] = _tau(
                human, *(x.kept + 2 * m.first_only + y.given_up for x, m, y in parts)
            )
            scores[other, :, place] = _tau(
                human, *(x.given_up + 2 * m.second_only + y.kept for x, m, y in parts)
            )
        return scores[0], scores[1]


def _pair_sums(human: FloatArray, first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """For every two segments, over the pairs of their outputs: agreement in sign, and how many are untied."""
    segments = human.shape[1]
    agreed, untied = np.zeros((segments, segments), np.int32), np.zeros((segments, segments), np.int32)
    for one, other in product(range(len(human)), repeat=2):
        sign = _signs(first[one], second[other])
        untied += sign != 0
        agreed += sign * _signs(human[one], human[other])
    return agreed.astype(np.float64), untied.astype(np.float64)


def _signs(first: FloatArray, second: FloatArray) -> npt.NDArray[np.int8]:
    """The sign of every first - second, 0 where one is missing."""
    higher, lower = first[:, None] > second, first[:, None] < second
    return higher.view(np.int8) - lower.view(np.int8)


def _tau(human: FloatArray, agreed: FloatArray, untied: FloatArray) -> FloatArray:
    return np.clip(ratio(agreed, np.sqrt(human * untied)), -1.0, 1.0)


@dataclass(frozen=True)
class _Order:
    """Points in order, with ties: each point's group, the points sorted, and where groups start there."""

    group: Index
    points: Index
    starts: Index

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

    def weighted(self, weights: FloatArray) -> FloatArray:
        """(resamples, segments) of weights to (resamples, metrics) of correlations."""
        points = weights[:, self._unit]
        human, spread = self._human_ranks(points)
        weighed = points * human
        return np.stack([_rho(o.sums(points), o.sums(weighed), spread) for o in self._orders], axis=1)

    def exchanged(self, keep: FloatArray, pairs: Index) -> Exchanged:
        """Correlations after the metrics of each pair exchanged segments; see `Resampled`."""
        scores = np.empty((2, len(keep), len(pairs)))
        kept = keep[:, self._unit]
        human, spread = self._human_ranks(np.ones((1, len(self._unit))))
        # Of each output's two scores one is chosen: weights 1 and 0 over the scores of both metrics.
        chosen = np.concatenate([kept, 1 - kept], axis=1)
        human = np.concatenate([human, human], axis=1)
        weighed = chosen * human
        for place, (a, b) in enumerate(pairs.tolist()):
            order = _Order.of(np.concatenate([self._metrics[a], self._metrics[b]]))
            sizes, sums = order.sums(chosen), order.sums(weighed)
            scores[0, :, place] = _rho(sizes, sums, spread)
            # The other metric has what is not chosen here.
            scores[1, :, place] = _rho(
                order.sums(np.ones_like(human)) - sizes, order.sums(human) - sums, spread
            )
        return scores[0], scores[1]

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


def pooled_association(statistic: str, human: npt.ArrayLike, metrics: npt.ArrayLike) -> Resampled:
    """Pearson, Spearman or Kendall (tau-b) of each metric with humans over all judged outputs.

    >>> human = [[1, 2], [3, 4]]
    >>> pooled = pooled_association("kendall", human, [[[1, 2], [3, 4]], [[1, 3], [2, 4]]])
    >>> pooled.weighted(np.ones((1, 2))).round(3)
    array([[1.   , 0.667]])
    """
    h, m = as_array(human, "human", 2), as_array(metrics, "metrics", 3)
    if m.shape[1:] != h.shape:
        raise UsageError(f"metrics of shape {m.shape} for human scores of shape {h.shape}")
    form = chosen(_FORMS, statistic)
    judged = ~np.isnan(h)
    if not np.isfinite(m[:, judged]).all():
        raise UsageError("pooled correlation: remove the human scores of outputs that a metric did not score")
    m = np.where(judged, standardised(m, judged), np.nan)
    used = judged.any(axis=0)
    return form(h[:, used], m[:, :, used])


def standardised(metrics: FloatArray, present: npt.NDArray[np.bool_]) -> FloatArray:
    """Scores (metrics, systems, segments), each metric with mean 0 and standard deviation 1 where `present`.

    Only so can two metrics exchange scores. Correlations do not notice; a constant metric stays constant.
    """
    return np.stack([_standard_scores(scores, present & ~np.isnan(scores)) for scores in metrics])


def _standard_scores(scores: FloatArray, known: npt.NDArray[np.bool_]) -> FloatArray:
    if not known.any():
        return scores
    spread = float(scores[known].std())
    return np.asarray((scores - scores[known].mean()) / (spread if spread > 0 else 1.0))


def _pearson(human: FloatArray, metrics: FloatArray) -> Additive:
    judged = ~np.isnan(human)
    x = np.where(judged, human - human[judged].mean(), 0.0)  # centred, so that sums of squares do not cancel
    y = np.where(judged, metrics, 0.0)
    columns = [judged * np.ones_like(y), x * np.ones_like(y), y, x * x * np.ones_like(y), y * y, x * y]
    return Additive(np.stack([c.sum(axis=1).T for c in columns], axis=2), correlation_of_moments)


def correlation_of_moments(moments: FloatArray) -> FloatArray:
    """Pearson's r from sums of (1, x, y, x², y², xy) on the last axis, NaN where a side is constant."""
    n, x, y, xx, yy, xy = np.moveaxis(moments, -1, 0)
    spread_x, spread_y = n * xx - x * x, n * yy - y * y
    # A constant side leaves only rounding error in its spread.
    spread_x = np.where(spread_x > 1e-13 * n * xx, spread_x, 0.0)
    spread_y = np.where(spread_y > 1e-13 * n * yy, spread_y, 0.0)
    return np.clip(ratio(n * xy - x * y, np.sqrt(spread_x) * np.sqrt(spread_y)), -1.0, 1.0)


_FORMS: dict[str, Callable[[FloatArray, FloatArray], Resampled]] = {
    "pearson": _pearson,
    "spearman": PooledSpearman,
    "kendall": PooledKendall,
}
