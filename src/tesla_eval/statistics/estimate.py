"""The result types of this package, and the checks that its functions make first."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import UsageError


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


@dataclass(frozen=True)
class Interval:
    """A confidence interval: its two ends and its level."""

    low: float
    high: float
    level: float


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


def ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> FloatArray:
    """Element-wise quotient, NaN where the denominator is 0.

    >>> ratio([1.0, 0.0], [4.0, 0.0])
    array([0.25,  nan])
    """
    top, bottom = np.broadcast_arrays(np.asarray(numerator, np.float64), np.asarray(denominator, np.float64))
    quotient = np.full(top.shape, math.nan)
    np.divide(top, bottom, out=quotient, where=bottom != 0)
    return quotient
