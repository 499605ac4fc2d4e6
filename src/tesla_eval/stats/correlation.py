"""Correlation of two vectors: Pearson's r, Spearman's rho, Kendall's tau-b.

Where a correlation does not exist (a constant side, fewer than two observations, a value that is not finite)
the result is NaN with the reason in its note.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tesla_eval.stats.estimate import Estimate, FloatArray, paired_vectors, undefined
from tesla_eval.stats.weighted import WeightedKendall

__all__ = ["kendall", "midranks", "pearson", "spearman"]


def pearson(first: npt.ArrayLike, second: npt.ArrayLike) -> Estimate:
    """Pearson's linear correlation.

    >>> round(pearson([1, 2, 3], [2, 4, 9]).value, 6)
    0.970725
    >>> pearson([1, 2, 3], [5, 5, 5])
    Estimate(value=nan, n=3, note='the second side is constant')
    """
    x, y = paired_vectors(first, second)
    obstacle = _obstacle(x, y)
    if obstacle:
        return undefined(len(x), obstacle)
    return Estimate(float(np.clip(_direction(x) @ _direction(y), -1.0, 1.0)), len(x))


def spearman(first: npt.ArrayLike, second: npt.ArrayLike) -> Estimate:
    """Spearman's rank correlation; ties share the mean of their ranks.

    >>> spearman([1, 2, 3, 4], [10, 20, 20, 5]).value == pearson([1, 2, 3, 4], [2, 3.5, 3.5, 1]).value
    True
    """
    x, y = paired_vectors(first, second)
    obstacle = _obstacle(x, y)
    return undefined(len(x), obstacle) if obstacle else pearson(midranks(x), midranks(y))


def kendall(first: npt.ArrayLike, second: npt.ArrayLike) -> Estimate:
    """Kendall's tau-b, in O(n log n): (concordant - discordant) / sqrt(untied in first x untied in second).

    >>> kendall([1, 2, 3], [1, 3, 2]).value
    0.3333333333333333
    """
    x, y = paired_vectors(first, second)
    obstacle = _obstacle(x, y)
    if obstacle:
        return undefined(len(x), obstacle)
    return Estimate(float(WeightedKendall(x, y)(np.ones((1, len(x))))[0]), len(x))


def midranks(values: npt.ArrayLike) -> FloatArray:
    """Ranks from 1; equal values share the mean of their ranks.

    >>> midranks([10, 30, 20, 20])
    array([1. , 4. , 2.5, 2.5])
    """
    _, group, size = np.unique(np.asarray(values, np.float64), return_inverse=True, return_counts=True)
    last = np.cumsum(size)
    return np.asarray((last - (size - 1) / 2)[group], dtype=np.float64)


def _obstacle(x: FloatArray, y: FloatArray) -> str:
    """Why no correlation of `x` and `y` exists; empty if one does."""
    if len(x) < 2:
        return f"two observations are needed, there are {len(x)}"
    missing = int(np.count_nonzero(~(np.isfinite(x) & np.isfinite(y))))
    if missing:
        return f"{missing} of {len(x)} observations are not finite"
    for side, values in (("first", x), ("second", y)):
        if values.min() == values.max():
            return f"the {side} side is constant"
    return ""


def _direction(x: FloatArray) -> FloatArray:
    """`x` centred and scaled to length 1."""
    # Scaling by powers of two is exact, so neither tiny nor huge values are squared away, nor do close ones
    # merge.
    scaled = _near_one(x)
    centred = _near_one(scaled - scaled.mean())
    return np.asarray(centred / math.sqrt(float(centred @ centred)))


def _near_one(x: FloatArray) -> FloatArray:
    """`x` times the power of two that brings its largest absolute value into [0.5, 1)."""
    _, exponent = math.frexp(float(np.abs(x).max()))
    return np.asarray(np.ldexp(x, -exponent))
