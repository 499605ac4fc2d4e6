"""Pairwise accuracy with tie calibration (Deutsch, Foster and Freitag 2023, "Ties Matter").

Humans give ties and a metric of many digits never does. The metric is therefore said to tie where its two
scores differ by at most epsilon; a pair is right if both order it alike or both tie. Accuracy is taken within
each group (segment) and averaged over groups; epsilon is the one value, the same for all, that makes the
average largest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tesla_eval.errors import UsageError
from tesla_eval.stats.estimate import Estimate, FloatArray, paired_vectors

__all__ = ["CalibratedAccuracy", "calibrated_accuracy", "group_accuracy"]

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
