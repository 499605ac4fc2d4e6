"""Is one metric better than another? Significance of differences in agreement with humans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from tesla_eval import stats
from tesla_eval.arrays import FloatArray
from tesla_eval.errors import UsageError
from tesla_eval.meta.evaluate import within_segments
from tesla_eval.meta.join import Joined
from tesla_eval.stats.correlation import ROW_STATISTICS, RowStatistic
from tesla_eval.stats.draws import DEFAULT_RESAMPLES, DEFAULT_SEED

__all__ = ["MetricComparison", "compare_metrics"]

Level = Literal["segment", "system"]


@dataclass(frozen=True, eq=False)
class MetricComparison:
    """Metrics ranked by one statistic on one test set.

    `wins[a, b]` is the share of resamples (segments drawn with replacement, Koehn 2004) in which a agrees
    better than b; `p_values[a, b]` that of the one-sided paired permutation test (Deutsch et al. 2021) that a
    is better; `adjusted` the same after Holm's correction over all pairs; `low` and `high` bound the
    statistic. Metrics in different `clusters` (1 = best) differ at level `alpha`; 0 is a metric for which the
    statistic does not exist.
    """

    level: Level
    statistic: str
    metrics: tuple[str, ...]
    values: FloatArray
    low: FloatArray
    high: FloatArray
    wins: FloatArray
    p_values: FloatArray
    adjusted: FloatArray
    clusters: tuple[int, ...]
    alpha: float


def compare_metrics(
    joined: Joined,
    level: Level,
    statistic: str,
    *,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    alpha: float = 0.05,
) -> MetricComparison:
    """Compare all metrics of `joined` by one statistic, on what every one of them has scored."""
    drawn, exchanged = _subjects(joined, level, statistic)
    bootstrap = stats.paired_bootstrap(drawn, resamples=resamples, seed=seed, level=1 - alpha)
    p_values = stats.approximate_randomisation(exchanged, resamples=resamples, seed=seed).one_sided
    np.fill_diagonal(p_values, np.nan)
    # Of the two hypotheses about a pair, only the one that the data favour is a comparison.
    favoured = np.where(bootstrap.differences > 0, p_values, np.nan)
    adjusted = stats.holm(favoured)
    return MetricComparison(
        level, statistic, tuple(joined.metrics), bootstrap.scores, bootstrap.low, bootstrap.high,
        bootstrap.wins, p_values, adjusted, _clusters(bootstrap.scores, adjusted <= alpha), alpha,
    )  # fmt: skip


def _clusters(values: FloatArray, better: npt.NDArray[np.bool_]) -> tuple[int, ...]:
    ranked = np.flatnonzero(~np.isnan(values))
    apart = (better | better.T)[np.ix_(ranked, ranked)]
    clusters = np.zeros(len(values), np.int64)
    clusters[ranked] = stats.rank_clusters(values[ranked], apart)
    return tuple(clusters.tolist())


def _subjects(joined: Joined, level: str, statistic: str) -> tuple[stats.Resampled, stats.Resampled]:
    """What is drawn with replacement, and what is exchanged between metrics."""
    if level == "system":
        return _system_subjects(joined, statistic)
    if level != "segment":
        raise UsageError(f"level: segment or system, not {level!r}")
    subject = _segment_subject(joined, statistic)
    return subject, subject


def _system_subjects(joined: Joined, statistic: str) -> tuple[stats.Resampled, stats.Resampled]:
    if any(scores.systems is not None for scores in joined.metrics.values()):
        raise UsageError(
            "system level: system scores that are given, not means of segments, cannot be resampled"
        )
    if statistic not in ROW_STATISTICS:
        raise UsageError(f"statistic: one of {', '.join(ROW_STATISTICS)} at system level, not {statistic!r}")
    if any(scores.corpus is not None for scores in joined.metrics.values()):
        return _corpus_subjects(joined, statistic)
    ranking = joined.ranking
    metrics = np.stack([m.oriented[ranking][:, joined.used] for m in joined.metrics.values()])
    human = joined.human_systems[ranking]
    return (
        stats.SystemAssociation.of(statistic, human, metrics, "segment"),
        stats.SystemAssociation.of(statistic, human, metrics, "cell"),
    )


def _corpus_subjects(joined: Joined, statistic: str) -> tuple[stats.Resampled, stats.Resampled]:
    """With corpus scores among the metrics segments cannot be exchanged between metrics, but whole systems can."""
    ranking = joined.ranking
    human = joined.human_systems[ranking]
    systems = np.stack([scores.system_scores(joined.used)[ranking] for scores in joined.metrics.values()])
    return (
        DrawnSystems(ROW_STATISTICS[statistic], joined),
        stats.SystemAssociation.of(statistic, human, systems[:, :, None], "system"),
    )


@dataclass(frozen=True, eq=False)
class DrawnSystems:
    """A system-level statistic of metrics whose system scores are made anew from every draw of segments."""

    statistic: RowStatistic
    joined: Joined

    @property
    def units(self) -> int:
        """How many segments there are to draw from."""
        return int(self.joined.used.sum())

    @property
    def candidates(self) -> int:
        """How many metrics are compared."""
        return len(self.joined.metrics)

    def weighted(self, weights: FloatArray) -> FloatArray:
        """(resamples, segments) of weights to (resamples, metrics) of statistics."""
        ranking = self.joined.ranking
        spread = np.zeros((len(weights), len(self.joined.used)))
        spread[:, self.joined.used] = weights
        drawn = [scores.drawn_system_scores(spread)[:, ranking] for scores in self.joined.metrics.values()]
        return self.statistic(self.joined.human_systems[ranking], np.stack(drawn, axis=1))

    def exchanged(self, keep: FloatArray) -> FloatArray:
        """Refused: statistics of different metrics cannot be exchanged."""
        raise UsageError("segments of corpus metrics cannot be exchanged between metrics")


def _segment_subject(joined: Joined, statistic: str) -> stats.Resampled:
    metrics = np.stack([scores.oriented for scores in joined.metrics.values()])
    human = joined.outputs.human
    if statistic in ("pearson", "spearman", "kendall"):
        scored = np.where(np.isnan(metrics).any(axis=0), np.nan, human)
        if np.isnan(scored).all():
            raise UsageError(f"{statistic}: no output has a human score and a score of every metric")
        return stats.pooled_association(statistic, scored, metrics)
    if statistic.endswith("_within"):
        name = statistic.removesuffix("_within")
        return stats.within_association(np.stack([within_segments(name, human, m) for m in metrics], axis=1))
    pairs = joined.pairs
    differences = np.stack([pairs.metric_difference(m) for m in metrics])
    known = ~np.isnan(differences).any(axis=0)
    if not known.any():
        raise UsageError(f"{statistic}: no pair has a human judgement and a score of every metric")
    judged, differences, segments = pairs.difference[known], differences[:, known], pairs.segment[known]
    if statistic == "accuracy_calibrated":
        epsilons = [stats.calibrated_accuracy(judged, row, segments).epsilon for row in differences]
        return stats.calibrated_association(judged, differences, epsilons, segments)
    return stats.pair_association(statistic, judged, differences, segments)
