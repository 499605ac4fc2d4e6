"""How large is a difference, apart from how sure we are of it?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tesla_eval.stats.estimate import paired_vectors

__all__ = ["EffectSize", "paired_effect"]


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
