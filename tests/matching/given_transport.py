"""The transport problem itself (specification §4), for weights and similarities that are given as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite, lcm

import numpy as np
import numpy.typing as npt

from tesla_eval import _core
from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import UsageError

__all__ = ["Transport", "solve_transport"]

_LARGEST_DENOMINATOR = 1_000_000
_LARGEST_WHOLE = 1 << 62


@dataclass(frozen=True)
class Transport:
    """An optimum: what it is worth, and the weights w_ij that reach it."""

    objective: float
    weights: FloatArray


def solve_transport(x: Sequence[float], y: Sequence[float], similarity: npt.ArrayLike) -> Transport:
    """Maximise Σ s_ij w_ij with Σ_j w_ij ≤ x_i and Σ_i w_ij ≤ y_j.

    Similarities are decimals or fractions with a common denominator of at most a million. Weights that are such
    decimals too are scaled to whole numbers, and nothing is rounded; others are taken as doubles.

    >>> s = [[.5, 0, 0], [0, .5, 0], [0, 1, 0], [0, 0, 1]]
    >>> solve_transport([1, .8, .2, .1], [1, .8, .1], s).objective
    1.1
    """
    matrix = np.atleast_2d(np.asarray(similarity, np.float64))
    if matrix.shape != (len(x), len(y)):
        raise UsageError(
            f"the similarities have shape {matrix.shape}, but the weights need {(len(x), len(y))}"
        )
    if not ((matrix >= 0) & (matrix <= 1)).all():
        raise UsageError("similarities must lie between 0 and 1")
    if not all(isfinite(weight) and weight >= 0 for weight in (*x, *y)):
        raise UsageError("weights must be finite and must not be negative")
    rows, columns = np.nonzero(matrix)
    gains, gain_unit = _scaled(matrix[rows, columns].tolist())
    if gains is None:
        raise UsageError("similarities must be decimals or fractions with a small common denominator")
    arcs = (rows.astype(np.int64), columns.astype(np.int64), np.array(gains, np.int64))
    whole, weight_unit = _scaled([*x, *y])
    if whole is not None and sum(whole) * max(gains, default=1) < _LARGEST_WHOLE:
        amounts = np.array(whole, np.int64)
        units, carried = _core.solve_transport(amounts[: len(x)], amounts[len(x) :], *arcs)
        objective, flow = float(Fraction(units, gain_unit * weight_unit)), carried / weight_unit
    else:
        supply: FloatArray = np.array(x, np.float64)
        demand: FloatArray = np.array(y, np.float64)
        gain, flow = _core.solve_transport(supply, demand, *arcs)
        objective = gain / gain_unit
    weights = np.zeros(matrix.shape)
    weights[rows, columns] = flow
    return Transport(objective, weights)


def _scaled(numbers: list[float]) -> tuple[list[int] | None, int]:
    """The numbers times their common denominator, and that; `None` where it would be too large."""
    fractions = [Fraction(str(float(number))).limit_denominator(_LARGEST_DENOMINATOR) for number in numbers]
    unit = lcm(*(fraction.denominator for fraction in fractions))
    exact = all(float(fraction) == number for fraction, number in zip(fractions, numbers, strict=True))
    if not exact or unit > _LARGEST_DENOMINATOR:
        return None, 1
    return [int(fraction * unit) for fraction in fractions], unit
