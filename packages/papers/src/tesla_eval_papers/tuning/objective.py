"""The objective of tuning: the score of a corpus, computed from summed statistics of its segments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.results import SegmentScores

_MOST_BITS = 62
_FINEST_UNIT = -32  # 2^-32: finer than any difference between two scores that means something


@dataclass(frozen=True)
class TuningObjective:
    """The mean of segment scores, or the metric's own corpus score of summed statistics (BLEU, chrF, TER)."""

    higher_is_better: bool
    formula: Callable[[FloatArray], FloatArray] | None = None

    @classmethod
    def of(cls, metric: Metric) -> TuningObjective:
        """What a system is scored by under this metric."""
        return cls(metric.higher_is_better, metric.formula_of_sums)

    def statistics(self, scored: SegmentScores) -> FloatArray:
        """One row per segment, to be added up."""
        if self.formula is None or scored.statistics is None:
            return scored.scores[:, None]
        return scored.statistics

    def score(self, sums: FloatArray, segments: int) -> FloatArray:
        """Sums (..., columns) over `segments` segments to scores (...), as the metric prints them."""
        if self.formula is None:
            mean: FloatArray = sums[..., 0] / segments
            return mean
        return np.asarray(self.formula(sums.reshape(-1, sums.shape[-1])).reshape(sums.shape[:-1]))


def whole_numbers(statistics: FloatArray, segments: int) -> tuple[Index, float]:
    """Statistics as multiples of a power of two: their sums are exact in any order, and cannot overflow.

    >>> whole_numbers(np.array([[0.5], [3.0]]), segments=2)[0][:, 0] * whole_numbers(np.array([[3.0]]), 2)[1]
    array([0.5, 3. ])
    """
    largest = float(np.abs(statistics).max(initial=0.0)) * segments
    exponent = max(_FINEST_UNIT, int(np.frexp(largest)[1]) - _MOST_BITS)
    unit = float(np.ldexp(1.0, exponent))
    return np.rint(statistics / unit).astype(np.int64), unit
