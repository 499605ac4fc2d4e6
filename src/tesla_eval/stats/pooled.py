"""Correlation over all outputs at once, of several metrics, in a form that can be resampled by segment.

Human scores are a table (systems, segments), metric scores (metrics, systems, segments); outputs without a
human score (NaN) take no part. The three correlations need three forms:

- Pearson's r is a function of sums over segments.
- Kendall's tau is a function of sums over pairs of segments: quadratic forms in the segments' weights.
- Spearman's rho needs ranks again for every resample, but never a new order.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tesla_eval.errors import UsageError
from tesla_eval.stats.additive import Additive, Resampled
from tesla_eval.stats.estimate import FloatArray, as_array, ratio
from tesla_eval.stats.pooled_kendall import PooledKendall
from tesla_eval.stats.pooled_spearman import PooledSpearman

__all__ = ["pooled_association"]


def pooled_association(statistic: str, human: npt.ArrayLike, metrics: npt.ArrayLike) -> Resampled:
    """Pearson, Spearman or Kendall (tau-b) of each metric with humans over all judged outputs.

    >>> human = [[1, 2], [3, 4]]
    >>> pooled = pooled_association("kendall", human, [[[1, 2], [3, 4]], [[1, 3], [2, 4]]])
    >>> pooled.weighted(np.ones((1, 2))).round(3)
    array([[1.   , 0.667]])
    """
    h, m = as_array(human, "human", 2), as_array(metrics, "metrics", 3)
    if m.shape[1:] != h.shape:
        raise UsageError(f"metrics of shape {m.shape} for human scores of shape {h.shape}")
    if statistic not in _FORMS:
        raise UsageError(f"statistic: one of {', '.join(_FORMS)}, not {statistic!r}")
    judged = ~np.isnan(h)
    if not np.isfinite(m[:, judged]).all():
        raise UsageError("pooled correlation: take the human score from outputs that a metric did not score")
    m = np.where(judged, standardised(m, judged), np.nan)
    used = judged.any(axis=0)
    return _FORMS[statistic](h[:, used], m[:, :, used])


def standardised(metrics: FloatArray, present: npt.NDArray[np.bool_]) -> FloatArray:
    """Scores (metrics, systems, segments), each metric with mean 0 and standard deviation 1 where `present`.

    Only so can two metrics exchange scores. Correlations do not notice; a constant metric stays constant.
    """
    return np.stack([_standard_scores(scores, present & ~np.isnan(scores)) for scores in metrics])


def _standard_scores(scores: FloatArray, known: npt.NDArray[np.bool_]) -> FloatArray:
    if not known.any():
        return scores
    spread = float(scores[known].std())
    return np.asarray((scores - scores[known].mean()) / (spread if spread > 0 else 1.0))


def _pearson(human: FloatArray, metrics: FloatArray) -> Additive:
    judged = ~np.isnan(human)
    x = np.where(judged, human - human[judged].mean(), 0.0)  # centred, so that sums of squares do not cancel
    y = np.where(judged, metrics, 0.0)
    columns = [judged * np.ones_like(y), x * np.ones_like(y), y, x * x * np.ones_like(y), y * y, x * y]
    return Additive(np.stack([c.sum(axis=1).T for c in columns], axis=2), correlation_of_moments)


def correlation_of_moments(moments: FloatArray) -> FloatArray:
    """Pearson's r from sums of (1, x, y, x², y², xy) on the last axis, NaN where a side is constant."""
    n, x, y, xx, yy, xy = np.moveaxis(moments, -1, 0)
    spread_x, spread_y = n * xx - x * x, n * yy - y * y
    # A constant side leaves only rounding error in its spread.
    spread_x = np.where(spread_x > 1e-13 * n * xx, spread_x, 0.0)
    spread_y = np.where(spread_y > 1e-13 * n * yy, spread_y, 0.0)
    return np.clip(ratio(n * xy - x * y, np.sqrt(spread_x) * np.sqrt(spread_y)), -1.0, 1.0)


_FORMS: dict[str, Callable[[FloatArray, FloatArray], Resampled]] = {
    "pearson": _pearson,
    "spearman": PooledSpearman,
    "kendall": PooledKendall,
}
