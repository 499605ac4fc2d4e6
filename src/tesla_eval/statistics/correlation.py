"""Correlation of two vectors, and of many short rows at once: Pearson's r, Spearman's rho, Kendall's tau-b."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.statistics.estimate import Estimate, paired_vectors, ratio, undefined


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
    x, y = _centred(x), _centred(y)
    value = float(x @ y) / math.sqrt(float(x @ x) * float(y @ y))
    return Estimate(min(1.0, max(-1.0, value)), len(x))


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
    x_rank, y_rank = (np.unique(side, return_inverse=True)[1] for side in (x, y))
    pairs = len(x) * (len(x) - 1) // 2
    x_ties, y_ties = _tied_pairs(x_rank), _tied_pairs(y_rank)
    both = _tied_pairs(x_rank * len(x) + y_rank)
    # Sorted by x, then y, a pair is discordant exactly if its y values are out of order.
    discordant = _inversions(y_rank[np.lexsort((y_rank, x_rank))])
    concordant = pairs - x_ties - y_ties + both - discordant
    return Estimate((concordant - discordant) / math.sqrt((pairs - x_ties) * (pairs - y_ties)), len(x))


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


def _tied_pairs(ranks: Index) -> int:
    _, sizes = np.unique(ranks, return_counts=True)
    return int((sizes * (sizes - 1) // 2).sum())


def _inversions(ranks: Index) -> int:
    """How many pairs stand in the wrong order, counted by a radix sort from the highest binary digit.

    A pair is inverted exactly if, at the first digit in which it differs, a 1 comes before a 0.
    """
    total = 0
    for digit in reversed(range(int(ranks.max()).bit_length())):
        # Sorted by their higher digits so far, ranks that agree in those stand together in a block.
        is_one = (ranks >> digit & 1).astype(bool)
        ones = np.cumsum(is_one)
        block = ranks >> (digit + 1)
        starts = np.concatenate(([True], block[1:] != block[:-1]))
        ones_before_block = np.maximum.accumulate(np.where(starts, ones - is_one, 0))
        total += int((ones - ones_before_block)[~is_one].sum())
        ranks = ranks[np.argsort(ranks >> digit, kind="stable")]
    return total


def _centred(x: FloatArray) -> FloatArray:
    """`x` less its mean, of a size near 1."""
    # Scaling by powers of two is exact, so neither tiny nor huge values are squared away, nor do close ones
    # merge.
    return _near_one(_centred_rows(_near_one(x)))


def _near_one(x: FloatArray) -> FloatArray:
    """`x` times the power of two that brings its largest absolute value into [0.5, 1)."""
    _, exponent = math.frexp(float(np.abs(x).max()))
    return np.asarray(np.ldexp(x, -exponent))


RowStatistic: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]


def pearson_rows(human: FloatArray, metric: FloatArray) -> FloatArray:
    """Pearson's r of every row.

    >>> pearson_rows(np.array([1.0, 2, 3]), np.array([[2.0, 4, 6], [3, 2, 1], [1, 1, 1]]))
    array([ 1., -1., nan])
    """
    x, y = _centred_rows(human), _centred_rows(metric)
    return np.clip(ratio((x * y).sum(-1), np.sqrt((x * x).sum(-1)) * np.sqrt((y * y).sum(-1))), -1.0, 1.0)


def spearman_rows(human: FloatArray, metric: FloatArray) -> FloatArray:
    """Spearman's rho of every row; ties share the mean of their ranks."""
    return pearson_rows(_midranks(human), _midranks(metric))


def kendall_rows(human: FloatArray, metric: FloatArray) -> FloatArray:
    """Kendall's tau-b of every row."""
    x, y = _pair_signs(human), _pair_signs(metric)
    return ratio((x * y).sum(-1), np.sqrt((x * x).sum(-1) * (y * y).sum(-1)))


def consistency_rows(human: FloatArray, metric: FloatArray) -> FloatArray:
    """Of the pairs that humans tell apart, the share that the metric ranks the same way; metric ties count as wrong."""
    x, y = _pair_signs(human), _pair_signs(metric)
    agreement = x * y
    return ratio(np.where(np.isnan(agreement), np.nan, agreement > 0).sum(-1), np.abs(x).sum(-1))


def kendall_wmt_rows(human: FloatArray, metric: FloatArray) -> FloatArray:
    """(concordant - discordant) / pairs that humans tell apart."""
    x, y = _pair_signs(human), _pair_signs(metric)
    return ratio((x * y).sum(-1), np.abs(x).sum(-1))


def accuracy_rows(human: FloatArray, metric: FloatArray) -> FloatArray:
    """Share of the pairs that humans tell apart on which the metric agrees; a metric tie counts half."""
    return (1 + kendall_wmt_rows(human, metric)) / 2


ROW_STATISTICS: dict[str, RowStatistic] = {
    "pearson": pearson_rows,
    "spearman": spearman_rows,
    "kendall": kendall_rows,
    "consistency": consistency_rows,
    "kendall_wmt": kendall_wmt_rows,
    "accuracy": accuracy_rows,
}


def _centred_rows(rows: FloatArray) -> FloatArray:
    """Rows minus their means, exactly 0 where a row is constant."""
    centred = rows - rows.mean(axis=-1, keepdims=True)
    # A mean is rounded to the size of its values; the mean of the differences is that error.
    centred -= centred.mean(axis=-1, keepdims=True)
    constant = rows.min(axis=-1, keepdims=True) == rows.max(axis=-1, keepdims=True)
    return np.where(constant, 0.0, centred)


def _midranks(rows: FloatArray) -> FloatArray:
    difference = rows[..., :, None] - rows[..., None, :]
    ranks = (difference > 0).sum(-1) + ((difference == 0).sum(-1) + 1) / 2
    return np.where(np.isnan(rows), np.nan, ranks)


def _pair_signs(rows: FloatArray) -> FloatArray:
    first, second = np.triu_indices(rows.shape[-1], k=1)
    return np.asarray(np.sign(rows[..., first] - rows[..., second]))
