"""Agreement with humans as something that can be resampled: the candidates here are metrics.

Each function or class builds a `Resampled` for `paired_bootstrap` (Koehn's resampling: how often does metric
a correlate better than metric b?) and for `approximate_randomisation` (the paired permutation test). Before
scores of two metrics are exchanged they are standardised, which no correlation notices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.errors import UsageError
from tesla_eval.statistics.candidates import Additive, Exchanged, exact_parts, exact_sums, mean_of_sums
from tesla_eval.statistics.correlation import ROW_STATISTICS, RowStatistic
from tesla_eval.statistics.estimate import as_array, chosen, ratio
from tesla_eval.statistics.pairs import group_accuracy
from tesla_eval.statistics.pooled import standardised

Unit = Literal["segment", "system", "cell"]

# What a pair adds to each statistic, as (credit for concordant, for a metric tie, for discordant).
_PAIR_CREDIT = {"consistency": (1.0, 0.0, 0.0), "kendall_wmt": (1.0, 0.0, -1.0), "accuracy": (1.0, 0.5, 0.0)}


def pair_association(
    statistic: str, human: npt.ArrayLike, metrics: npt.ArrayLike, segments: npt.ArrayLike
) -> Additive:
    """Consistency, WMT's tau or accuracy of several metrics on pairs, to be resampled by segment.

    `human` holds a difference per pair, `metrics` (metrics, pairs) the metrics' differences, `segments` the
    segment of each pair. Pairs that humans tie are left out.

    >>> pair_association("accuracy", [1, 1], [[0.3, 0.0], [0.1, 0.1]], ["s1", "s2"]).weighted(np.ones((1, 2)))
    array([[0.75, 1.  ]])
    """
    credit = chosen(_PAIR_CREDIT, statistic)
    h, m = np.sign(as_array(human, "human", 1)), np.sign(as_array(metrics, "metrics", 2))
    judged = h != 0
    agreement = (h * m)[:, judged]
    credits = np.select([agreement > 0, agreement == 0, agreement < 0], credit, default=np.nan)
    return Additive.of_segment_scores(credits.T, blocks=np.asarray(segments)[judged])


def calibrated_association(
    human: npt.ArrayLike, metrics: npt.ArrayLike, epsilons: npt.ArrayLike, segments: npt.ArrayLike
) -> Additive:
    """Tie-calibrated accuracy of several metrics, each at its own fixed epsilon, to be resampled by segment.

    >>> calibrated_association([1, 0], [[0.3, 0.1]], [0.1], ["s1", "s2"]).weighted(np.ones((1, 2)))
    array([[1.]])
    """
    m = as_array(metrics, "metrics", 2)
    rows = [
        group_accuracy(human, row, segments, epsilon)
        for row, epsilon in zip(m, as_array(epsilons, "epsilons", 1), strict=True)
    ]
    return Additive.of_segment_scores(np.stack(rows, axis=1))


def within_association(correlations: npt.ArrayLike) -> Additive:
    """Mean over segments of correlations (segments, metrics), NaN where a metric has none in a segment.

    >>> within_association([[0.5, 1.0], [np.nan, 0.0]]).weighted(np.ones((1, 2)))
    array([[0.5, 0.5]])
    """
    values = as_array(correlations, "correlations", 2)
    present = ~np.isnan(values)
    return Additive(
        np.stack([np.where(present, values, 0.0), present.astype(np.float64)], axis=2), mean_of_sums
    )


@dataclass(frozen=True, eq=False)
class SystemAssociation:
    """A system-level statistic of several metrics whose system scores are means of segment scores.

    `metrics` is (metrics, systems, segments), `human` either (systems,) or (systems, segments); NaN marks
    what was not scored and is left out of the means. The unit that is drawn or exchanged is a segment (for
    all systems), a system (all of its segments) or a cell, one segment of one system. Deutsch et al. (2021)
    recommend cells for permutation, Koehn (2004) draws segments.

    >>> metrics = [[[1.0, 2.0], [2.0, 4.0], [5.0, 5.0]]]
    >>> SystemAssociation.of("pearson", [1, 2, 3], metrics).weighted(np.ones((1, 2))).round(4)
    array([[0.9966]])
    """

    statistic: RowStatistic
    human: FloatArray
    metrics: FloatArray
    unit: Unit = "segment"

    @classmethod
    def of(
        cls, statistic: str, human: npt.ArrayLike, metrics: npt.ArrayLike, unit: Unit = "segment"
    ) -> SystemAssociation:
        """Check the shapes and standardise the metrics."""
        scores = as_array(metrics, "metrics", 3)
        judgements = np.asarray(human, dtype=np.float64)
        if judgements.shape not in (scores.shape[1:2], scores.shape[1:]):
            raise UsageError(
                f"human: one score per system, or per system and segment, is needed for metrics of shape "
                f"{scores.shape}, got shape {judgements.shape}"
            )
        if unit not in ("segment", "system", "cell"):
            raise UsageError(f"unit {unit!r}: must be segment, system or cell")
        scores = standardised(scores, np.ones(scores.shape[1:], bool))
        return cls(chosen(ROW_STATISTICS, statistic), judgements, scores, unit)

    @property
    def units(self) -> int:
        """How many units there are to draw from."""
        _, systems, segments = self.metrics.shape
        return int({"segment": segments, "system": systems, "cell": systems * segments}[self.unit])

    def weighted(self, weights: FloatArray) -> FloatArray:
        """(resamples, units) of weights to (resamples, metrics) of statistics."""
        return self.statistic(
            self._human_means(weights)[:, None, :], ratio(*self._sums(weights, self.metrics))
        )

    def exchanged(self, keep: FloatArray, pairs: Index) -> Exchanged:
        """Statistics after the metrics of each pair exchanged units; see `Resampled`."""
        kept, kept_count = self._sums(keep, self.metrics)
        total, total_count = self._sums(np.ones((1, self.units)), self.metrics)
        given_up, given_up_count = total - kept, total_count - kept_count
        human = self._human_means(np.ones((1, self.units)))

        def mixed(own: Index, other: Index) -> FloatArray:
            means = ratio(kept[:, own] + given_up[:, other], kept_count[:, own] + given_up_count[:, other])
            return self.statistic(human[:, None, :], means)

        first, second = pairs.T
        return mixed(first, second), mixed(second, first)

    def _human_means(self, weights: FloatArray) -> FloatArray:
        if self.human.ndim == 1:
            return np.broadcast_to(self.human, (len(weights), len(self.human)))
        return ratio(*self._sums(weights, self.human[None]))[:, 0]

    def _sums(self, weights: FloatArray, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weighted sums over segments, and the weights summed: both (resamples, candidates, systems)."""
        _, systems, segments = scores.shape
        present = ~np.isnan(scores)
        table = np.concatenate([np.where(present, scores, 0.0), present])
        sums = np.empty((len(weights), len(table), systems))
        for system in range(systems):
            if self.unit == "system":
                sums[:, :, system] = weights[:, [system]] * table[:, system].sum(axis=1)
            else:
                start = system * segments if self.unit == "cell" else 0
                sums[:, :, system] = exact_sums(
                    weights[:, start : start + segments], exact_parts(table[:, system].T)
                )
        return sums[:, : len(scores)], sums[:, len(scores) :]
