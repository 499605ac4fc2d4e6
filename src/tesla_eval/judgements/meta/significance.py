"""Is one metric better than another, and which system do people prefer? Tests, and how far the judges agree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.errors import UsageError
from tesla_eval.judgements.judges import JudgePair, Ratings, annotator_agreement, judge_pairs, rankings_of
from tesla_eval.judgements.meta.evaluate import within_segments
from tesla_eval.judgements.meta.join import Joined
from tesla_eval.judgements.nouns import Key, Preferences, Rankings, preferences_of, win_table
from tesla_eval.statistics import DEFAULT_RESAMPLES, DEFAULT_SEED
from tesla_eval.statistics.agreements import Agreement, expected_wins, sign_test
from tesla_eval.statistics.association import (
    SystemAssociation,
    calibrated_association,
    pair_association,
    within_association,
)
from tesla_eval.statistics.candidates import Exchanged, Resampled
from tesla_eval.statistics.correlation import ROW_STATISTICS, RowStatistic
from tesla_eval.statistics.judges import JudgeCorrelation, judge_correlations
from tesla_eval.statistics.multiple import enough_resamples, holm, rank_clusters
from tesla_eval.statistics.pairs import calibrated_accuracy, pairs_within
from tesla_eval.statistics.pooled import pooled_association
from tesla_eval.statistics.resampling import approximate_randomisation, paired_bootstrap
from tesla_eval.statistics.shares import pairwise_shares, score1, score2, share_of_best

Level = Literal["segment", "system"]
ALPHA = 0.05
"""Metrics are compared at this level."""


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
    resamples: int


def compare_metrics(
    joined: Joined, level: Level, statistic: str, *, resamples: int | None = None, seed: int = DEFAULT_SEED
) -> MetricComparison:
    """Compare all metrics of `joined` by one statistic, on what every one of them has scored.

    Without `resamples`, their number follows that of the comparisons (`enough_resamples`). The permutation test of a
    pair stops earlier if it is decided.
    """
    resamples = enough_resamples(math.comb(len(joined.metrics), 2), ALPHA, resamples)
    drawn, exchanged = _subjects(joined, level, statistic)
    bootstrap = paired_bootstrap(drawn, resamples=resamples, seed=seed, level=1 - ALPHA)
    p_values = approximate_randomisation(
        exchanged, resamples=resamples, seed=seed, level=1 - ALPHA, look=DEFAULT_RESAMPLES
    ).one_sided
    np.fill_diagonal(p_values, np.nan)
    # Of the two hypotheses about a pair, only the one that the data favour is a comparison.
    favoured = np.where(bootstrap.differences > 0, p_values, np.nan)
    adjusted = holm(favoured)
    return MetricComparison(
        level, statistic, tuple(joined.metrics), bootstrap.scores, bootstrap.low, bootstrap.high,
        bootstrap.wins, p_values, adjusted, _clusters(bootstrap.scores, adjusted <= ALPHA), ALPHA, resamples,
    )  # fmt: skip


def _clusters(values: FloatArray, better: npt.NDArray[np.bool_]) -> tuple[int, ...]:
    ranked = np.flatnonzero(~np.isnan(values))
    apart = (better | better.T)[np.ix_(ranked, ranked)]
    clusters = np.zeros(len(values), np.int64)
    clusters[ranked] = rank_clusters(values[ranked], apart)
    return tuple(clusters.tolist())


def _subjects(joined: Joined, level: str, statistic: str) -> tuple[Resampled, Resampled]:
    """What is drawn with replacement, and what is exchanged between metrics."""
    if level == "system":
        return _system_subjects(joined, statistic)
    if level != "segment":
        raise UsageError(f"level {level!r}: must be segment or system")
    subject = _segment_subject(joined, statistic)
    return subject, subject


def _system_subjects(joined: Joined, statistic: str) -> tuple[Resampled, Resampled]:
    if statistic not in ROW_STATISTICS:
        raise UsageError(
            f"statistic {statistic!r}: must be one of {', '.join(ROW_STATISTICS)} at system level"
        )
    if any(scores.corpus is not None for scores in joined.metrics.values()):
        return _corpus_subjects(joined, statistic)
    ranking = joined.ranking
    metrics = np.stack([m.oriented[ranking][:, joined.used] for m in joined.metrics.values()])
    human = joined.human_systems[ranking]
    return (
        SystemAssociation.of(statistic, human, metrics, "segment"),
        SystemAssociation.of(statistic, human, metrics, "cell"),
    )


def _corpus_subjects(joined: Joined, statistic: str) -> tuple[Resampled, Resampled]:
    """With corpus scores among the metrics segments cannot be exchanged between metrics, but whole systems can."""
    ranking = joined.ranking
    human = joined.human_systems[ranking]
    systems = np.stack([scores.system_scores(joined.used)[ranking] for scores in joined.metrics.values()])
    return (
        DrawnSystems(ROW_STATISTICS[statistic], joined),
        SystemAssociation.of(statistic, human, systems[:, :, None], "system"),
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

    def weighted(self, weights: FloatArray) -> FloatArray:
        """(resamples, segments) of weights to (resamples, metrics) of statistics."""
        ranking = self.joined.ranking
        spread = np.zeros((len(weights), len(self.joined.used)))
        spread[:, self.joined.used] = weights
        drawn = [scores.drawn_system_scores(spread)[:, ranking] for scores in self.joined.metrics.values()]
        return self.statistic(self.joined.human_systems[ranking], np.stack(drawn, axis=1))

    def exchanged(self, keep: FloatArray, pairs: Index) -> Exchanged:
        """Refused: statistics of different metrics cannot be exchanged."""
        raise UsageError("segments of corpus metrics cannot be exchanged between metrics")


def _segment_subject(joined: Joined, statistic: str) -> Resampled:
    metrics = np.stack([scores.oriented for scores in joined.metrics.values()])
    human = joined.outputs.human
    if statistic in ("pearson", "spearman", "kendall"):
        scored = np.where(np.isnan(metrics).any(axis=0), np.nan, human)
        if np.isnan(scored).all():
            raise UsageError(f"{statistic}: no output has a human score and a score of every metric")
        return pooled_association(statistic, scored, metrics)
    if statistic.endswith("_within"):
        name = statistic.removesuffix("_within")
        return within_association(np.stack([within_segments(name, human, m) for m in metrics], axis=1))
    pairs = joined.pairs
    differences = np.stack([pairs.metric_difference(m) for m in metrics])
    known = ~np.isnan(differences).any(axis=0)
    if not known.any():
        raise UsageError(f"{statistic}: no pair has a human judgement and a score of every metric")
    judged, differences, segments = pairs.difference[known], differences[:, known], pairs.segment[known]
    if statistic == "accuracy_calibrated":
        epsilons = [calibrated_accuracy(judged, row, segments).epsilon for row in differences]
        return calibrated_association(judged, differences, epsilons, segments)
    return pair_association(statistic, judged, differences, segments)


@dataclass(frozen=True)
class RankedSystem:
    """A system with its mean share of wins over opponents, and its wins and losses."""

    system: str
    expected_wins: float
    wins: int
    losses: int


@dataclass(frozen=True)
class PreferenceTest:
    """How often one system was preferred to another; ties are known only from rankings and are left out of the test."""

    first: str
    second: str
    wins: int
    losses: int
    ties: int | None
    p_value: float
    adjusted: float


@dataclass(frozen=True)
class PreferenceShares:
    """Shares of the systems, in the order of the report (from rankings only, because ties count).

    `best`: the share of rankings in which a system is best. `score1`, `score2`: the share of its pairwise comparisons
    in which it is better or equal, and strictly better. `matrix[i][j]`: how often system i was preferred to system j.
    """

    best: tuple[float, ...]
    score1: tuple[float, ...]
    score2: tuple[float, ...]
    matrix: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class JudgeAgreement:
    """How far the judges of one test set agree: pooled, each two of them, and their scores where they gave scores.

    `between` and `within` (one judge twice) have P(E) = 1/3; `_untied` leaves out tied judgements, P(E) = 1/2.
    """

    between: Agreement
    within: Agreement
    between_untied: Agreement
    within_untied: Agreement
    pairs: tuple[JudgePair, ...]
    correlations: tuple[JudgeCorrelation, ...] = ()
    with_others: tuple[JudgeCorrelation, ...] = ()


@dataclass(frozen=True)
class PreferenceReport:
    """What the judges of one test set said: agreement (not from pairs), systems best first, all pairs tested."""

    lp: str
    testset: str
    criterion: str
    judges: JudgeAgreement | None
    systems: tuple[RankedSystem, ...]
    tests: tuple[PreferenceTest, ...]
    shares: PreferenceShares | None = None


def preference_reports(
    rankings: Mapping[Key, Rankings],
    preferences: Mapping[Key, Preferences],
    ratings: Mapping[Key, Mapping[str, Ratings]],
) -> list[PreferenceReport]:
    """A report for each test set that has rankings or else preferences, and for each criterion that has scores."""
    return [
        *(preference_report(key, ranked) for key, ranked in rankings.items()),
        *(preference_report(key, pairs) for key, pairs in preferences.items() if key not in rankings),
        *(preference_report(key, rated) for key, by_name in ratings.items() for rated in by_name.values()),
    ]


def preference_report(key: Key, judged: Rankings | Preferences | Ratings) -> PreferenceReport:
    """Agreement, expected wins and sign tests with Holm's correction, as far as the judgements tell.

    Scores are compared output by output within an item: the higher score of one judge is a preference.
    """
    rankings = rankings_of(judged) if isinstance(judged, Ratings) else judged
    if isinstance(rankings, Preferences):
        return _report(key, "", rankings, None, None)
    criterion, correlations = "", judge_correlations([], [], [], [])
    if isinstance(judged, Ratings):
        criterion = judged.criterion
        correlations = judge_correlations(judged.items, judged.systems, judged.judges, judged.scores)
    judges = JudgeAgreement(
        between=annotator_agreement(rankings),
        within=annotator_agreement(rankings, same_judge=True),
        between_untied=annotator_agreement(rankings, ties=False),
        within_untied=annotator_agreement(rankings, same_judge=True, ties=False),
        pairs=tuple(judge_pairs(rankings)),
        correlations=tuple(correlations[0]),
        with_others=tuple(correlations[1]),
    )
    return _report(key, criterion, preferences_of(rankings), rankings, judges)


def _report(
    key: Key,
    criterion: str,
    preferences: Preferences,
    rankings: Rankings | None,
    judges: JudgeAgreement | None,
) -> PreferenceReport:
    systems, wins = win_table(preferences)
    expected = expected_wins(wins)
    order = np.argsort(-np.nan_to_num(expected, nan=-1.0), kind="stable")
    names, wins, expected = [systems[i] for i in order], wins[np.ix_(order, order)], expected[order]
    pairs = list(combinations(range(len(names)), 2))
    tests = [sign_test(int(wins[i, j]), int(wins[j, i])) for i, j in pairs]
    adjusted = holm([test.p_value for test in tests]).tolist()
    ties = None if rankings is None else _tie_table(rankings, names)
    return PreferenceReport(
        *key,
        criterion=criterion,
        judges=judges,
        systems=tuple(
            RankedSystem(name, float(expected[i]), int(wins[i].sum()), int(wins[:, i].sum()))
            for i, name in enumerate(names)
        ),
        tests=tuple(
            PreferenceTest(
                names[i], names[j], test.wins, test.losses, None if ties is None else int(ties[i, j]), test.p_value, p
            )
            for (i, j), test, p in zip(pairs, tests, adjusted, strict=True)
        ),
        shares=None if rankings is None or ties is None else _shares(rankings, names, wins, ties),
    )  # fmt: skip


def _shares(rankings: Rankings, systems: list[str], wins: FloatArray, ties: FloatArray) -> PreferenceShares:
    best = share_of_best(rankings.tasks, rankings.systems, rankings.ranks)
    return PreferenceShares(
        tuple(best[name] for name in systems),
        tuple(score1(wins, ties).tolist()),
        tuple(score2(wins, ties).tolist()),
        tuple(map(tuple, pairwise_shares(wins, ties).tolist())),
    )


def _tie_table(rankings: Rankings, systems: list[str]) -> FloatArray:
    """[i, j]: how often two of the systems shared a rank of one task."""
    place = {name: k for k, name in enumerate(systems)}
    code = np.array([place.get(name, -1) for name in rankings.systems])
    ranks = np.array(rankings.ranks)
    first, second = pairs_within(rankings.tasks)
    tied = (ranks[first] == ranks[second]) & (code[first] >= 0) & (code[second] >= 0)
    i, j = code[first[tied]], code[second[tied]]
    table = np.zeros((len(systems), len(systems)))
    np.add.at(table, (i, j), 1)
    return table + table.T
