"""Effect sizes, and many comparisons at once: Holm's correction, ranks that only significant differences separate."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tesla_eval.arrays import FloatArray, Index
from tesla_eval.errors import UsageError
from tesla_eval.stats.estimate import as_array, paired_vectors

__all__ = ["EffectSize", "holm", "paired_effect", "rank_clusters"]


@dataclass(frozen=True)
class EffectSize:
    """A paired difference in units of its own spread, and as a share of segments.

    `cohen_d` is mean / standard deviation (n - 1) of the differences. `superiority` is the share of segments
    on which the first scores higher, ties counting half; 0.5 means no effect.
    """

    cohen_d: float
    superiority: float
    n: int
    note: str = ""


def paired_effect(first: npt.ArrayLike, second: npt.ArrayLike) -> EffectSize:
    """Effect of taking `first` instead of `second`, on the segments that have both scores (no NaN).

    >>> paired_effect([5, 6, 9, 8], [4, 6, 7, 7])
    EffectSize(cohen_d=1.224744871391589, superiority=0.875, n=4, note='')
    """
    x, y = paired_vectors(first, second)
    difference = x - y
    difference = difference[~np.isnan(difference)]
    n = len(difference)
    if not n:
        return EffectSize(math.nan, math.nan, 0, "no segment has both scores")
    superiority = float(np.mean(difference > 0) + np.mean(difference == 0) / 2)
    if not difference.any():
        return EffectSize(0.0, superiority, n)
    if difference.min() == difference.max():
        return EffectSize(math.nan, superiority, n, "the difference does not vary: Cohen's d does not exist")
    return EffectSize(float(difference.mean() / difference.std(ddof=1)), superiority, n)


def holm(p_values: npt.ArrayLike) -> FloatArray:
    """Holm's (1979) adjusted p-values, in the shape given; NaN is no comparison and stays NaN.

    >>> holm([0.01, 0.04, 0.03, 0.005])
    array([0.03, 0.06, 0.06, 0.02])
    """
    p = np.asarray(p_values, dtype=np.float64)
    if ((p < 0) | (p > 1)).any():
        raise UsageError("p-values lie between 0 and 1")
    known = p[~np.isnan(p)]
    order = np.argsort(known, kind="stable")
    steps = known[order] * np.arange(len(known), 0, -1)
    adjusted = np.empty_like(known)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    result = p.copy()
    result[~np.isnan(p)] = adjusted
    return result


def rank_clusters(scores: npt.ArrayLike, significant: npt.ArrayLike) -> Index:
    """Cluster (1 = best) of each candidate: a line is drawn where all above differ from all below.

    `significant[a, b]` says that a and b differ significantly; higher scores are better.

    >>> apart = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]], dtype=bool)
    >>> rank_clusters([0.9, 0.8, 0.2, 0.3], apart)
    array([1, 1, 2, 2])
    """
    values, apart = _ranking(scores, significant)
    order = np.argsort(-values, kind="stable")
    apart = apart[np.ix_(order, order)]
    clusters = np.empty(len(values), np.int64)
    current = 1
    for place, candidate in enumerate(order):
        if place and apart[:place, place:].all():
            current += 1
        clusters[candidate] = current
    return clusters


def _ranking(scores: npt.ArrayLike, significant: npt.ArrayLike) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    values = as_array(scores, "scores", 1)
    apart = np.asarray(significant, dtype=bool)
    if apart.shape != (len(values), len(values)):
        raise UsageError(
            f"significant: a table of {len(values)} by {len(values)} is needed, got shape {apart.shape}"
        )
    if np.isnan(values).any():
        raise UsageError("candidates without a score cannot be ranked: leave them out")
    return values, apart
