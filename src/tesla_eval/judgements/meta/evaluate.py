"""Metric against human: the statistics of specification §14, by name, for segments and for systems."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval.judgements.meta.join import HumanPairs, Joined
from tesla_eval.judgements.nouns import FloatTable
from tesla_eval.statistics import DEFAULT_RESAMPLES, DEFAULT_SEED
from tesla_eval.statistics.correlation import ROW_STATISTICS, kendall, pearson, spearman
from tesla_eval.statistics.estimate import Estimate
from tesla_eval.statistics.pairs import (
    better_p_values,
    calibrated_accuracy,
    count_pairs,
    soft_accuracy,
    wins_p_values,
)

AVERAGE = "average"
"""The name of the rows that average over all language pairs."""

_PAIRWISE = ("consistency", "kendall_wmt", "accuracy", "accuracy_calibrated")
_CORRELATIONS = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
}
_WITHIN = tuple(f"{name}_within" for name in _CORRELATIONS)
SEGMENT_STATISTICS = (*_PAIRWISE, *_CORRELATIONS, *_WITHIN)
CENTRED = "kendall_centred"
"""Kendall's τ of pairs without what the two systems differ by on average: does a metric see the segment?"""
SYSTEM_STATISTICS = (*_PAIRWISE, *_CORRELATIONS, "soft_accuracy")


@dataclass(frozen=True)
class Result:
    """One number: how well a metric agrees with humans on one test set, by one statistic at one level.

    `n` counts what the statistic rests on: pairs, outputs, segments (`*_within`) or systems.
    """

    lp: str
    testset: str
    metric: str
    level: str
    statistic: str
    value: float
    n: int
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: a value that does not exist is null, and the note says why."""
        row = {name: getattr(self, name) for name in ("lp", "testset", "metric", "level", "statistic")}
        row |= {"value": None if math.isnan(self.value) else self.value, "n": self.n}
        return row | ({"note": self.note} if self.note else {})


def evaluate(
    joined: Joined, *, permutations: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
) -> Iterator[Result]:
    """Every statistic of every metric at both levels; `permutations` and `seed` serve soft accuracy."""
    human_p = _human_p_values(joined, permutations, seed)
    for name, scores in joined.metrics.items():
        by_level = {"segment": _segment_level(joined, scores.oriented)}
        systems = _system_level(joined, scores.system_scores(joined.used))
        segments = scores.oriented[joined.ranking][:, joined.used]
        metric_p = better_p_values(segments, permutations=permutations, seed=seed)
        soft = soft_accuracy(human_p, metric_p)
        if len(human_p) > 1 and np.isnan(human_p).all():
            soft = replace(soft, note="no human judgements from which system pairs could be tested")
        by_level["system"] = systems | {"soft_accuracy": soft}
        for level, estimates in by_level.items():
            for statistic, estimate in estimates.items():
                yield Result(
                    joined.outputs.lp, joined.outputs.testset, name, level, statistic,
                    estimate.value, estimate.n, estimate.note,
                )  # fmt: skip


def averages(results: Iterable[Result], kind: str = "") -> Iterator[Result]:
    """For every metric, level and statistic the mean over the test sets with a value; `n` counts them.

    `kind` stands in place of the test set: the kind of judgement that all of them have.
    """
    groups: dict[tuple[str, str, str], list[Result]] = {}
    for result in results:
        groups.setdefault((result.metric, result.level, result.statistic), []).append(result)
    for rows in groups.values():
        known = [row.value for row in rows if not math.isnan(row.value)]
        missing = [row for row in rows if math.isnan(row.value)]
        reasons = "; ".join(dict.fromkeys(row.note for row in missing))
        yield replace(
            rows[0],
            lp=AVERAGE,
            testset=kind,
            value=math.fsum(known) / len(known) if known else math.nan,
            n=len(known),
            note=f"{len(missing)} of {len(rows)} test sets have no value: {reasons}" if missing else "",
        )


def within_segments(statistic: str, human: FloatTable, metric: FloatTable) -> FloatTable:
    """For each segment the correlation over the systems that have both scores, NaN where a score is missing."""
    correlate = ROW_STATISTICS[statistic]
    known = ~(np.isnan(human) | np.isnan(metric))
    values = np.full(human.shape[1], math.nan)
    for segment in np.flatnonzero(known.sum(axis=0) >= 2):
        systems = known[:, segment]
        values[segment] = correlate(human[systems, segment], metric[systems, segment])
    return values


def _segment_level(joined: Joined, metric: FloatTable) -> dict[str, Estimate]:
    pairs = joined.pairs
    difference = pairs.metric_difference(metric)
    estimates = _pairwise(pairs.difference, difference, pairs.segment)
    estimates[CENTRED] = _centred(pairs, difference)
    human = joined.outputs.human
    judged = ~np.isnan(human)
    known = judged & ~np.isnan(metric)
    missing, total = int((judged & ~known).sum()), int(judged.sum())
    for name, correlate in _CORRELATIONS.items():
        if total:
            pooled = correlate(human[known], metric[known])
            estimates[name] = _noting(pooled, missing, total, "judged outputs")
            within = within_segments(name, human, metric)
            within = within[~np.isnan(within)]
            mean = math.fsum(within.tolist()) / len(within) if len(within) else math.nan
            note = "" if len(within) else "no segment in which the correlation exists"
            estimates[f"{name}_within"] = Estimate(mean, len(within), note)
        else:
            estimates[name] = estimates[f"{name}_within"] = Estimate(math.nan, 0, "no human segment scores")
    return estimates


def _centred(pairs: HumanPairs, metric: FloatTable) -> Estimate:
    """τ of differences minus their mean over all pairs of the same two systems; those of the other order are turned."""
    known = ~np.isnan(metric)
    first, second = pairs.first[known], pairs.second[known]
    turn = np.where(first < second, 1.0, -1.0)
    systems = np.stack([np.minimum(first, second), np.maximum(first, second)])
    _, place, counts = np.unique(systems, axis=1, return_inverse=True, return_counts=True)
    centred = []
    for values in (turn * pairs.difference[known], turn * metric[known]):
        rest = values - (np.bincount(place, values, len(counts)) / counts)[place]
        # What is not 0 only by rounding is a tie.
        centred.append(np.where(np.abs(rest) < 1e-9 * np.abs(values).max(initial=0), 0.0, rest))
    missing = len(known) - int(known.sum())
    return _noting(count_pairs(*centred).kendall_wmt, missing, len(known), "pairs")


def _system_level(joined: Joined, metric: FloatTable) -> dict[str, Estimate]:
    human = joined.human_systems
    known = ~(np.isnan(human) | np.isnan(metric))
    missing, total = int((~known).sum()), len(known)
    human, metric = human[known], metric[known]
    first, second = np.triu_indices(len(human), k=1)
    estimates = _pairwise(human[first] - human[second], metric[first] - metric[second], np.zeros(len(first)))
    estimates |= {name: correlate(human, metric) for name, correlate in _CORRELATIONS.items()}
    return {name: _noting(estimate, missing, total, "systems") for name, estimate in estimates.items()}


def _pairwise(human: FloatTable, metric: FloatTable, groups: npt.ArrayLike) -> dict[str, Estimate]:
    counts = count_pairs(human, metric)
    estimates = {
        "consistency": counts.consistency,
        "kendall_wmt": counts.kendall_wmt,
        "accuracy": counts.accuracy,
        "accuracy_calibrated": calibrated_accuracy(human, metric, groups),
    }
    missing = int(np.isnan(metric).sum())
    return {name: _noting(estimate, missing, len(metric), "pairs") for name, estimate in estimates.items()}


def _human_p_values(joined: Joined, permutations: int, seed: int) -> FloatTable:
    """How sure humans are of every pair of ranked systems, by segment scores or else by preferences."""
    ranking = joined.ranking
    human = joined.outputs.human[ranking]
    if joined.preferences is not None and np.isnan(human).all():
        wins = joined.preferences.wins(len(joined.outputs.systems))
        return wins_p_values(wins[np.ix_(ranking, ranking)])
    return better_p_values(human[:, joined.used], permutations=permutations, seed=seed)


def _noting(estimate: Estimate, missing: int, total: int, what: str) -> Estimate:
    """The estimate with a note on what had to be left out of it."""
    if not missing:
        return estimate
    left_out = f"{missing} of {total} {what} have no score and are left out"
    return replace(estimate, note="; ".join(filter(None, [estimate.note, left_out])))
