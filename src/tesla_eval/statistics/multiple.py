"""Many comparisons at once: Holm's correction, how many draws it needs, and clusters of candidates."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.errors import UsageError
from tesla_eval.statistics import DEFAULT_RESAMPLES
from tesla_eval.statistics.estimate import as_array

_ROOM = 20  # a difference that no draw reaches has a corrected p-value of at most 1/20 of the level


def enough_resamples(comparisons: int, alpha: float, asked: int | None = None) -> int:
    """The draws that let a clear difference reach level `alpha` after Holm's correction over `comparisons`.

    A number that was `asked` for is taken if it can reach the level.

    >>> enough_resamples(1, 0.05), enough_resamples(78, 0.05)
    (1000, 31200)
    """
    enough = max(DEFAULT_RESAMPLES, math.ceil(_ROOM * comparisons / alpha))
    if asked is None:
        return enough
    least = math.ceil(comparisons / alpha) - 1  # the smallest p-value of n draws is 1 / (n + 1)
    if asked < least:
        raise UsageError(
            f"{asked} resamples: with {comparisons} comparisons no difference can reach level {alpha:g} after Holm's "
            f"correction; give at least {least}, or leave the number out ({enough} are drawn then)"
        )
    return asked


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
    values = as_array(scores, "scores", 1)
    apart = np.asarray(significant, dtype=bool)
    if apart.shape != (len(values), len(values)):
        raise UsageError(
            f"significant: a table of {len(values)} by {len(values)} is needed, got shape {apart.shape}"
        )
    if np.isnan(values).any():
        raise UsageError("candidates without a score cannot be ranked: leave them out")
    order = np.argsort(-values, kind="stable")
    apart = apart[np.ix_(order, order)]
    clusters = np.empty(len(values), np.int64)
    current = 1
    for place, candidate in enumerate(order):
        if place and apart[:place, place:].all():
            current += 1
        clusters[candidate] = current
    return clusters
