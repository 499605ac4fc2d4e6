"""Agreement on pairs of outputs, and pairwise accuracy with tie calibration (Deutsch, Foster and Freitag 2023)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tesla_eval.arrays import FloatArray, Index
from tesla_eval.errors import UsageError
from tesla_eval.stats.estimate import Estimate, paired_vectors, undefined

__all__ = [
    "CalibratedAccuracy",
    "PairCounts",
    "accuracy",
    "calibrated_accuracy",
    "consistency",
    "count_pairs",
    "group_accuracy",
    "kendall_wmt",
    "pairs_within",
]


@dataclass(frozen=True)
class PairCounts:
    """How pairs fall: agreed, contradicted, tied by the metric, by humans, or by both.

    >>> counts = PairCounts(concordant=6, discordant=2, metric_ties=2)
    >>> counts.consistency.value, counts.kendall_wmt.value, counts.accuracy.value
    (0.6, 0.4, 0.7)
    """

    concordant: int = 0
    discordant: int = 0
    metric_ties: int = 0
    human_ties: int = 0
    both_tied: int = 0

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
    """Count pairs given as differences between their two members; a pair with a NaN is left out.

    >>> count_pairs(human=[1, 1, 1, 0], metric=[0.2, -0.1, 0.0, 0.3])
    PairCounts(concordant=1, discordant=1, metric_ties=1, human_ties=1, both_tied=0)
    """
    h, m = paired_vectors(human, metric)
    known = ~(np.isnan(h) | np.isnan(m))
    h, m = np.sign(h[known]), np.sign(m[known])
    return PairCounts(
        concordant=int(np.count_nonzero(h * m > 0)),
        discordant=int(np.count_nonzero(h * m < 0)),
        metric_ties=int(np.count_nonzero((h != 0) & (m == 0))),
        human_ties=int(np.count_nonzero((h == 0) & (m != 0))),
        both_tied=int(np.count_nonzero((h == 0) & (m == 0))),
    )


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


def consistency(human: npt.ArrayLike, metric: npt.ArrayLike, groups: npt.ArrayLike | None = None) -> Estimate:
    """Share of correctly ordered pairs within groups; human ties are left out, a metric tie is not correct.

    >>> consistency([1, 2, 3], [0.1, 0.1, 0.5]).value
    0.6666666666666666
    """
    return _counts(human, metric, groups).consistency


def kendall_wmt(human: npt.ArrayLike, metric: npt.ArrayLike, groups: npt.ArrayLike | None = None) -> Estimate:
    """(concordant - discordant) / all pairs without human ties within groups; a metric tie adds 0.

    >>> kendall_wmt([1, 2, 3], [0.1, 0.1, 0.05]).value
    -0.6666666666666666
    """
    return _counts(human, metric, groups).kendall_wmt


def accuracy(human: npt.ArrayLike, metric: npt.ArrayLike, groups: npt.ArrayLike | None = None) -> Estimate:
    """Share of correctly ordered pairs within groups; human ties are left out, a metric tie counts half.

    >>> accuracy([1, 2, 3], [0.1, 0.1, 0.5]).value
    0.8333333333333334
    """
    return _counts(human, metric, groups).accuracy


def _counts(human: npt.ArrayLike, metric: npt.ArrayLike, groups: npt.ArrayLike | None) -> PairCounts:
    h, m = paired_vectors(human, metric)
    first, second = pairs_within(np.zeros(len(h)) if groups is None else groups)
    return count_pairs(h[first] - h[second], m[first] - m[second])


# Averages this close are equal: sums of fractions carry rounding error, and the smaller epsilon is to win a
# tie.
_SAME = 1e-12


@dataclass(frozen=True)
class CalibratedAccuracy:
    """The best average accuracy, the epsilon that gives it, the pairs and groups it rests on."""

    value: float
    epsilon: float
    n: int
    groups: int
    note: str = ""

    @property
    def estimate(self) -> Estimate:
        """The accuracy alone."""
        return Estimate(self.value, self.n, self.note)


def calibrated_accuracy(
    human: npt.ArrayLike, metric: npt.ArrayLike, groups: npt.ArrayLike | None = None
) -> CalibratedAccuracy:
    """Tie-calibrated accuracy of pairs given as differences, each in a group; pairs with a NaN are left out.

    With epsilon 4 four of the six pairs of human (1, 1, 1, 4) and metric (0, 2, 6, 8) are right:

    >>> calibrated_accuracy(human=[0, 0, -3, 0, -3, -3], metric=[-2, -6, -8, -4, -6, -2])
    CalibratedAccuracy(value=0.6666666666666666, epsilon=4.0, n=6, groups=1, note='')
    """
    h, m, group = _known(human, metric, groups)
    if not len(h):
        return CalibratedAccuracy(math.nan, math.nan, 0, 0, "no pair with both scores")
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
    return CalibratedAccuracy(value, epsilon, len(h), len(size))


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
