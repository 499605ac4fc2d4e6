"""Agreement on pairs of outputs: accuracy with tie calibration (Deutsch et al. 2023), and soft pairwise accuracy.

Soft pairwise accuracy (Thompson et al. 2024) asks whether a metric is as sure about pairs of systems as humans are.
For systems i, j the confidence is the p-value of a one-sided paired permutation test that i is better than j.
The statistic is 1 - |p_human - p_metric|, averaged over pairs: near 1 where both are sure of the same order
or both are unsure, 0 where they are sure of opposite orders.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.errors import UsageError
from tesla_eval.statistics import DEFAULT_RESAMPLES, DEFAULT_SEED
from tesla_eval.statistics.agreements import binomial_upper_tail
from tesla_eval.statistics.estimate import Estimate, as_array, paired_vectors, undefined
from tesla_eval.statistics.resampling import exchange_masks


@dataclass(frozen=True)
class PairCounts:
    """How the pairs that humans tell apart fall: agreed, contradicted, or tied by the metric.

    >>> counts = PairCounts(concordant=6, discordant=2, metric_ties=2)
    >>> counts.consistency.value, counts.kendall_wmt.value, counts.accuracy.value
    (0.6, 0.4, 0.7)
    """

    concordant: int = 0
    discordant: int = 0
    metric_ties: int = 0

    @property
    def judged(self) -> int:
        """Pairs that humans tell apart."""
        return self.concordant + self.discordant + self.metric_ties

    @property
    def consistency(self) -> Estimate:
        """Concordant / judged: a metric tie is not correct (specification §14)."""
        return self._share(self.concordant)

    @property
    def kendall_wmt(self) -> Estimate:
        """(concordant - discordant) / judged: a metric tie adds 0 (specification §14)."""
        return self._share(self.concordant - self.discordant)

    @property
    def accuracy(self) -> Estimate:
        """(concordant + half of the metric's ties) / judged."""
        return self._share(self.concordant + self.metric_ties / 2)

    def _share(self, credit: float) -> Estimate:
        if not self.judged:
            return undefined(0, "no pair that humans tell apart")
        return Estimate(credit / self.judged, self.judged)


def count_pairs(human: npt.ArrayLike, metric: npt.ArrayLike) -> PairCounts:
    """Count pairs given as differences between their two members; human ties and pairs with a NaN are left out.

    >>> count_pairs(human=[1, 1, 1, 0], metric=[0.2, -0.1, 0.0, 0.3])
    PairCounts(concordant=1, discordant=1, metric_ties=1)
    """
    h, m = paired_vectors(human, metric)
    known = ~(np.isnan(h) | np.isnan(m))
    h, m = np.sign(h[known]), np.sign(m[known])
    return PairCounts(
        concordant=int(np.count_nonzero(h * m > 0)),
        discordant=int(np.count_nonzero(h * m < 0)),
        metric_ties=int(np.count_nonzero((h != 0) & (m == 0))),
    )


def weighted_tau(differences: FloatArray, counts: FloatArray) -> FloatArray:
    """(concordant - discordant) / all judgements, each pair counted as often as it was judged; a tie adds 0.

    Rows of `differences` are pairs, the better output less the worse one by a metric; columns are metrics.

    >>> weighted_tau(np.array([[0.2, 0.1], [-0.1, 0.0]]), np.array([3.0, 1.0])).tolist()
    [0.5, 0.75]
    """
    return np.asarray(counts @ np.sign(differences) / counts.sum())


def pairs_within(groups: npt.ArrayLike) -> tuple[Index, Index]:
    """Indices (first, second) of every unordered pair of items that share a group.

    >>> pairs_within(["a", "b", "a", "a"])
    (array([0, 0, 2]), array([2, 3, 3]))
    """
    _, group, size = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
    items = np.argsort(group, kind="stable")
    starts = np.cumsum(size) - size
    first, second = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for members in np.unique(size):
        low, high = np.triu_indices(members, k=1)
        start = starts[size == members][:, None]
        first.append(items[(start + low).ravel()])
        second.append(items[(start + high).ravel()])
    return np.concatenate(first), np.concatenate(second)


# Averages this close are equal: sums of fractions carry rounding error, and the smaller epsilon is to win a
# tie.
_SAME = 1e-12


@dataclass(frozen=True)
class CalibratedAccuracy(Estimate):
    """The best average accuracy with the epsilon that gives it; it rests on `n` pairs in so many groups."""

    epsilon: float = math.nan
    groups: int = 0


def calibrated_accuracy(
    human: npt.ArrayLike, metric: npt.ArrayLike, groups: npt.ArrayLike | None = None
) -> CalibratedAccuracy:
    """Tie-calibrated accuracy of pairs given as differences, each in a group; pairs with a NaN are left out.

    With epsilon 4 four of the six pairs of human (1, 1, 1, 4) and metric (0, 2, 6, 8) are right:

    >>> calibrated_accuracy(human=[0, 0, -3, 0, -3, -3], metric=[-2, -6, -8, -4, -6, -2])
    CalibratedAccuracy(value=0.6666666666666666, n=6, note='', epsilon=4.0, groups=1)
    """
    h, m, group = _known(human, metric, groups)
    if not len(h):
        return CalibratedAccuracy(math.nan, 0, "no pair with both scores")
    _, index, size = np.unique(group, return_inverse=True, return_counts=True)
    gap = np.abs(m)
    # Raising epsilon over a pair's gap turns it into a tie: right before if the orders agree, right after if
    # h ties.
    gain = ((h == 0).astype(np.float64) - (h * np.sign(m) > 0)) / size[index]
    order = np.argsort(gap, kind="stable")
    steps = gap[order]
    total = np.cumsum(gain[order])
    last_of_step = np.append(steps[1:] != steps[:-1], True)
    # Gaps of 0 are ties already at epsilon 0, which is always a candidate.
    candidates = np.concatenate(([0.0], steps[last_of_step]))
    gains = np.concatenate(([0.0 if steps[0] > 0 else -math.inf], total[last_of_step]))
    best = int(np.argmax(gains >= gains.max() - _SAME * len(size)))
    epsilon = float(candidates[best])
    value = float(group_accuracy(h, m, index, epsilon).mean())
    return CalibratedAccuracy(value, len(h), epsilon=epsilon, groups=len(size))


def group_accuracy(
    human: npt.ArrayLike, metric: npt.ArrayLike, groups: npt.ArrayLike | None, epsilon: float
) -> FloatArray:
    """Accuracy within each group (in sorted order of the groups) with metric gaps of up to `epsilon` as ties.

    >>> group_accuracy(human=[1, 0, 1], metric=[0.5, 0.1, -0.3], groups=["a", "a", "b"], epsilon=0.2)
    array([1., 0.])
    """
    if not epsilon >= 0:
        raise UsageError(f"epsilon: a number of at least 0 is needed, got {epsilon}")
    h, m, group = _known(human, metric, groups)
    _, index, size = np.unique(group, return_inverse=True, return_counts=True)
    called = np.where(np.abs(m) <= epsilon, 0.0, np.sign(m))
    return np.asarray(np.bincount(index, weights=called == np.sign(h), minlength=len(size)) / size)


def _known(
    human: npt.ArrayLike, metric: npt.ArrayLike, groups: npt.ArrayLike | None
) -> tuple[FloatArray, FloatArray, npt.NDArray[np.generic]]:
    h, m = paired_vectors(human, metric)
    group = np.zeros(len(h), np.int64) if groups is None else np.asarray(groups)
    if group.shape != h.shape:
        raise UsageError(f"groups: one per pair is needed, got shape {group.shape} for {len(h)} pairs")
    known = ~(np.isnan(h) | np.isnan(m))
    return h[known], m[known], group[known]


# A permuted sum that differs from the observed one by less than this share of all differences equals it.
_EQUAL_DIFFERENCES = 1e-10


def better_p_values(
    scores: npt.ArrayLike, *, permutations: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
) -> FloatArray:
    """[i, j] is the p-value of "system i is better than j" from segment scores (systems, segments).

    Scores of the two systems are exchanged in random segments; the p-value is the share of permutations in
    which the difference is at least the one observed; two systems with the same scores have 1/2. A pair is
    compared on the segments that have a score (not NaN) for both; without one its p-value is NaN, as is the
    diagonal.

    >>> better_p_values([[3, 5, 4], [1, 2, 2]])  # all 8 exchanges: one reaches +7, all reach -7
    array([[  nan, 0.125],
           [1.   ,   nan]])
    """
    table = as_array(scores, "scores", 2)
    systems, segments = table.shape
    first, second = np.triu_indices(systems, k=1)
    p_values = np.full((systems, systems), math.nan)
    if not (len(first) and segments):
        return p_values
    difference = table[first] - table[second]
    shared = ~np.isnan(difference)
    difference = np.where(shared, difference, 0.0)  # adds nothing to a sum, whichever way it is exchanged
    observed = difference.sum(axis=1)
    same = _EQUAL_DIFFERENCES * np.abs(difference).sum(axis=1)
    reached, reversed_reached, drawn = np.zeros(len(first)), np.zeros(len(first)), 0
    for keep in exchange_masks(segments, permutations, seed):
        permuted = (2 * keep - 1) @ difference.T
        reached += (permuted >= observed - same).sum(axis=0)
        reversed_reached += (-permuted >= -observed - same).sum(axis=0)
        drawn += len(keep)
    known, differ = shared.any(axis=1), difference.any(axis=1)
    for places, hits in (((first, second), reached), ((second, first), reversed_reached)):
        p_values[places] = np.where(known, np.where(differ, hits / drawn, 0.5), math.nan)
    return p_values


def wins_p_values(wins: npt.ArrayLike) -> FloatArray:
    """[i, j] is the p-value of "system i is better than j" from a table of pairwise wins (systems, systems).

    This is the same permutation test for judgements that are only preferences: exchanging the two systems of
    a judgement flips its winner, so the p-value is the upper tail of a binomial with probability 1/2.

    >>> wins_p_values([[0, 3], [1, 0]])
    array([[   nan, 0.3125],
           [0.9375,    nan]])
    """
    table = as_array(wins, "wins", 2)
    p_values = np.full(table.shape, math.nan)
    for i, j in zip(*np.nonzero(table + table.T), strict=True):
        if i != j:
            p_values[i, j] = binomial_upper_tail(int(table[i, j]), int(table[i, j] + table[j, i]))
    return p_values


def soft_accuracy(human: npt.ArrayLike, metric: npt.ArrayLike) -> Estimate:
    """Mean of 1 - |p_human - p_metric| over system pairs i < j; pairs without both p-values are left out.

    >>> soft_accuracy([[np.nan, 0.1], [0.9, np.nan]], [[np.nan, 0.4], [0.6, np.nan]])
    Estimate(value=0.7, n=1, note='')
    """
    h, m = as_array(human, "human", 2), as_array(metric, "metric", 2)
    if h.shape != m.shape or h.shape[0] != h.shape[1]:
        raise UsageError(f"two square tables of p-values are needed, got shapes {h.shape} and {m.shape}")
    pairs = np.triu_indices(len(h), k=1)
    closeness = 1 - np.abs(h[pairs] - m[pairs])
    known = closeness[~np.isnan(closeness)]
    if not len(known):
        return undefined(0, "no pair of systems has p-values from both sides")
    left_out = len(closeness) - len(known)
    note = f"{left_out} of {len(closeness)} system pairs have no p-value" if left_out else ""
    return Estimate(float(known.mean()), len(known), note)
