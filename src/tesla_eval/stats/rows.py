"""Correlation along the last axis, for many short rows at once (one row per resample, one column per system).

A row in which the statistic does not exist (a missing value, a constant side) is NaN. Work grows with the
square of the row's length, as every pair of columns is looked at; long vectors belong in `correlation` and
`weighted`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from tesla_eval.stats.estimate import FloatArray, ratio

__all__ = ["ROW_STATISTICS", "RowStatistic"]

RowStatistic: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]


def pearson_rows(human: FloatArray, metric: FloatArray) -> FloatArray:
    """Pearson's r of every row.

    >>> pearson_rows(np.array([1.0, 2, 3]), np.array([[2.0, 4, 6], [3, 2, 1], [1, 1, 1]]))
    array([ 1., -1., nan])
    """
    x, y = _centred(human), _centred(metric)
    return np.clip(ratio((x * y).sum(-1), np.sqrt((x * x).sum(-1)) * np.sqrt((y * y).sum(-1))), -1.0, 1.0)


def spearman_rows(human: FloatArray, metric: FloatArray) -> FloatArray:
    """Spearman's rho of every row; ties share the mean of their ranks."""
    return pearson_rows(_midranks(human), _midranks(metric))


def kendall_rows(human: FloatArray, metric: FloatArray) -> FloatArray:
    """Kendall's tau-b of every row."""
    x, y = _pair_signs(human), _pair_signs(metric)
    return ratio((x * y).sum(-1), np.sqrt((x * x).sum(-1) * (y * y).sum(-1)))


def consistency_rows(human: FloatArray, metric: FloatArray) -> FloatArray:
    """Share of the pairs that humans tell apart on which the metric agrees; a metric tie does not agree."""
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


def _centred(rows: FloatArray) -> FloatArray:
    """Rows minus their means, exactly 0 where a row is constant."""
    centred = rows - rows.mean(axis=-1, keepdims=True)
    constant = rows.min(axis=-1, keepdims=True) == rows.max(axis=-1, keepdims=True)
    return np.where(constant, 0.0, centred)


def _midranks(rows: FloatArray) -> FloatArray:
    difference = rows[..., :, None] - rows[..., None, :]
    ranks = (difference > 0).sum(-1) + ((difference == 0).sum(-1) + 1) / 2
    return np.where(np.isnan(rows), np.nan, ranks)


def _pair_signs(rows: FloatArray) -> FloatArray:
    first, second = np.triu_indices(rows.shape[-1], k=1)
    return np.asarray(np.sign(rows[..., first] - rows[..., second]))
