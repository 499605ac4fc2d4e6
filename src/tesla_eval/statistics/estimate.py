"""The result types of this package, and the checks that its functions make first."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import UsageError

_Choice = TypeVar("_Choice")


@dataclass(frozen=True)
class Estimate:
    """A number, the observations it rests on, and a note: why it is NaN, or what was left out.

    >>> Estimate(0.5, n=12)
    Estimate(value=0.5, n=12, note='')
    """

    value: float
    n: int
    note: str = ""

    def __float__(self) -> float:
        return self.value


def undefined(n: int, note: str) -> Estimate:
    """An `Estimate` without a value; the note is not optional."""
    return Estimate(math.nan, n, note)


def as_array(values: npt.ArrayLike, name: str, dimensions: int) -> FloatArray:
    """`values` as floats with the given number of dimensions, or a `UsageError` naming the argument."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != dimensions:
        raise UsageError(f"{name}: expected {dimensions} dimension(s), got an array of shape {array.shape}")
    return array


def paired_vectors(first: npt.ArrayLike, second: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Two vectors of one length; other shapes are a `UsageError` naming both lengths."""
    x, y = as_array(first, "first", 1), as_array(second, "second", 1)
    if len(x) != len(y):
        raise UsageError(
            f"both vectors must have the same length: the first has {len(x)} values, the second {len(y)}"
        )
    return x, y


def chosen(table: Mapping[str, _Choice], name: str) -> _Choice:
    """The entry of a statistic, or a `UsageError` naming those that there are."""
    if name not in table:
        raise UsageError(f"statistic {name!r}: must be one of {', '.join(table)}")
    return table[name]


def ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> FloatArray:
    """Element-wise quotient, NaN where the denominator is 0.

    >>> ratio([1.0, 0.0], [4.0, 0.0])
    array([0.25,  nan])
    """
    top, bottom = np.broadcast_arrays(np.asarray(numerator, np.float64), np.asarray(denominator, np.float64))
    quotient = np.full(top.shape, math.nan)
    np.divide(top, bottom, out=quotient, where=bottom != 0)
    return quotient


def known_means(table: FloatArray, axis: int) -> FloatArray:
    """Means along an axis over the values that are not NaN; NaN if all are.

    >>> known_means(np.array([[1.0, math.nan], [3.0, math.nan]]), axis=0)
    array([ 2., nan])
    """
    known = ~np.isnan(table)
    return ratio(np.where(known, table, 0.0).sum(axis=axis), known.sum(axis=axis))
