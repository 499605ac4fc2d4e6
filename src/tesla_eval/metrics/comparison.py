"""Systems against each other under one metric: intervals, paired tests, effect sizes, rank clusters, feature shares.

What a feature contributes to a learned score is a share of the linear score, before the scale (specification §8b).
Shares add up exactly, and so do their means over a test set.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import UsageError
from tesla_eval.base.records import Signature
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.combinations import Linear
from tesla_eval.metrics.feature_metric import FeatureMetric
from tesla_eval.metrics.features import Feature
from tesla_eval.metrics.segments import (
    References,
    check_references,
    distinct_texts,
    mean_over_references,
    streams_of_texts,
    texts_of,
)
from tesla_eval.statistics import DEFAULT_SEED
from tesla_eval.statistics.agreements import sign_test
from tesla_eval.statistics.candidates import Additive
from tesla_eval.statistics.multiple import enough_resamples, holm, rank_clusters
from tesla_eval.statistics.resampling import (
    LOOK,
    Bootstrap,
    Randomisation,
    approximate_randomisation,
    paired_bootstrap,
    paired_effect,
)

_MOST_WORK = 10**10
"""Pairs of systems times resamples: 100 systems and their 4,950 pairs are a little less."""

_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class SystemTable:
    """Several systems under one metric: segment scores (segments, systems), and how a system's score comes of them.

    A metric with corpus scores has the statistics (segments, systems, columns) of its segments and the formula that
    scores their sums; for all others a system's score is the mean of its segments. `scores` are those that are shown,
    to the last digit; without them they are summed anew.
    """

    metric: str
    systems: tuple[str, ...]
    segments: FloatArray
    higher_is_better: bool = True
    statistics: FloatArray | None = None
    formula: Callable[[FloatArray], FloatArray] | None = None
    scores: tuple[float, ...] | None = None

    def candidates(self, blocks: npt.ArrayLike | None = None) -> Additive:
        """The systems as candidates to resample, segment by segment or block by block."""
        if self.statistics is None or self.formula is None:
            return Additive.of_segment_scores(self.segments, blocks)
        return Additive.of_statistics(self.statistics, self.formula, blocks)


@dataclass(frozen=True)
class PairTest:
    """One system against another: `difference` is first - second in the metric's own scale, with its interval.

    `wins` is the share of bootstrap resamples in which the first is better (Koehn 2004). `p_bootstrap` is the p-value
    of Moses and sacreBLEU, which alarms too often; `p_randomisation` is two-sided; `_holm` is after Holm's correction
    over all pairs tested under the metric. `p_sign` is the two-sided exact sign test over segments (over documents
    where these are resampled), without ties.
    `cohen_d` and `superiority` (share of segments on which the first is better) are sizes of the effect on
    segment scores, positive and above 0.5 where the first is better.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    wins: float
    p_bootstrap: float
    p_bootstrap_holm: float
    p_randomisation: float
    p_randomisation_holm: float
    p_sign: float
    p_sign_holm: float
    cohen_d: float
    superiority: float

    def is_significant(self, alpha: float) -> bool:
        """Whether the randomisation test, corrected, tells the two systems apart; False where it does not exist."""
        return self.p_randomisation_holm <= alpha


@dataclass(frozen=True, eq=False)
class DocumentScores:
    """The documents as they first appear, and their scores (documents, systems)."""

    names: tuple[str, ...]
    scores: FloatArray


@dataclass(frozen=True, eq=False)
class SystemComparison:
    """Systems with scores and intervals, and the pairs tested; `clusters` (1 = best) only if all pairs were."""

    metric: str
    higher_is_better: bool
    systems: tuple[str, ...]
    scores: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    clusters: tuple[int, ...] | None
    pairs: tuple[PairTest, ...]
    documents: DocumentScores | None
    segments: int
    units: int
    resamples: int
    seed: int
    alpha: float

    @property
    def best_first(self) -> list[int]:
        """The places of the systems, best first."""
        sign = -1 if self.higher_is_better else 1
        return sorted(range(len(self.systems)), key=lambda i: sign * self.scores[i])

    @property
    def by_difference(self) -> list[PairTest]:
        """The pairs, largest difference first."""
        return sorted(
            self.pairs, key=lambda pair: -abs(pair.difference) if not math.isnan(pair.difference) else 0
        )

    @property
    def drawn(self) -> str:
        """How many resamples there are, in words: of very many, comparisons that are decided need fewer."""
        return f"{'at most ' if self.resamples > LOOK else ''}{self.resamples} resamples"

    @property
    def can_tell_apart(self) -> bool:
        """Whether there are enough units for any difference to reach the level: of 2^n exchanges two always do."""
        return len(self.pairs) * 2.0 ** (1 - self.units) <= self.alpha

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain data, ready for JSON."""
        clusters = self.clusters or (None,) * len(self.systems)
        columns = zip(self.systems, self.scores, self.low, self.high, clusters, strict=True)
        plain = ("metric", "higher_is_better", "segments", "units", "resamples", "seed", "alpha")
        result: dict[str, Any] = {
            **{name: getattr(self, name) for name in plain},
            "systems": [
                {"system": system, "score": score, "low": low, "high": high, "cluster": cluster}
                for system, score, low, high, cluster in columns
            ],
            "pairs": [
                {
                    key: None if isinstance(value, float) and math.isnan(value) else value
                    for key, value in asdict(pair).items()
                }
                | {"significant": pair.is_significant(self.alpha)}
                for pair in self.pairs
            ],
        }
        if self.documents is not None:
            result["documents"] = [
                {"document": name, "scores": dict(zip(self.systems, scores, strict=True))}
                for name, scores in zip(self.documents.names, self.documents.scores.tolist(), strict=True)
            ]
        return result


def compare_systems(
    table: SystemTable,
    *,
    baseline: str | None = None,
    documents: Sequence[str] | None = None,
    resamples: int | None = None,
    seed: int = DEFAULT_SEED,
    alpha: float = 0.05,
) -> SystemComparison:
    """Test every pair of systems, or every system against `baseline`, on resampled segments or documents.

    Without `resamples`, their number follows that of the comparisons (`statistics.enough_resamples`).

    >>> table = SystemTable("m", ("a", "b"), np.array([[0.1, 0.2], [0.5, 0.6], [0.2, 0.4], [0.7, 0.8], [0.3, 0.5]]))
    >>> comparison = compare_systems(table)
    >>> comparison.pairs[0].p_randomisation, comparison.clusters
    (0.0625, (1, 1))
    """
    candidates = table.candidates(None if documents is None else distinct_texts(documents)[1])
    tested = _compared_pairs(table.systems, baseline)
    resamples = _draws(tested, alpha, resamples)
    draws: Any = {"resamples": resamples, "seed": seed, "level": 1 - alpha, "pairs": tested}
    bootstrap = paired_bootstrap(candidates, **draws)
    randomisation = approximate_randomisation(candidates, **draws)
    units = table.segments if documents is None else candidates.score(candidates.statistics)
    scores = tuple(bootstrap.scores.tolist()) if table.scores is None else table.scores
    pairs = _pair_tests(table, scores, tested, bootstrap, randomisation, units)
    apart = np.zeros((len(table.systems), len(table.systems)), bool)
    for (first, second), test in zip(tested, pairs, strict=True):
        apart[first, second] = apart[second, first] = test.is_significant(alpha)
    ranked = np.array(scores) if table.higher_is_better else -np.array(scores)
    return SystemComparison(
        metric=table.metric,
        higher_is_better=table.higher_is_better,
        systems=table.systems,
        scores=scores,
        low=_ends(bootstrap.low, scores),
        high=_ends(bootstrap.high, scores),
        clusters=tuple(rank_clusters(ranked, apart).tolist()) if baseline is None else None,
        pairs=pairs,
        documents=None
        if documents is None
        else DocumentScores(tuple(dict.fromkeys(documents)), candidates.score(candidates.statistics)),
        segments=len(table.segments),
        units=candidates.units,
        resamples=resamples,
        seed=seed,
        alpha=alpha,
    )


def _ends(ends: FloatArray, scores: Sequence[float]) -> tuple[float, ...]:
    """Ends of intervals; one that only rounding separates from the score is the score."""
    return tuple(
        score if math.isclose(end, score, rel_tol=_ROUNDING) else end
        for end, score in zip(ends.tolist(), scores, strict=True)
    )


def _compared_pairs(systems: Sequence[str], baseline: str | None) -> list[tuple[int, int]]:
    """The places of the two systems of every comparison: all pairs, or each system with the baseline."""
    if baseline is not None and baseline not in systems:
        raise UsageError(f"baseline {baseline!r}: is not one of the systems {', '.join(systems)}")
    if baseline is None:
        return list(combinations(range(len(systems)), 2))
    base = systems.index(baseline)
    return [(i, base) for i in range(len(systems)) if i != base]


def check_comparison(
    baseline: str | None, alpha: float, resamples: int | None, systems: Sequence[str], *, least: int = 1
) -> None:
    """Refuse a comparison of too few or equal systems, and one in which no difference can reach the level."""
    if len(systems) < least:
        raise UsageError(f"only one system, {systems[0]}: there is nothing to compare it with")
    if len(set(systems)) < len(systems):
        raise UsageError("a system is given twice: its differences would all be 0")
    _draws(_compared_pairs(systems, baseline), alpha, resamples)


def _draws(tested: Sequence[tuple[int, int]], alpha: float, resamples: int | None) -> int:
    """How many resamples so many comparisons take; refuses what would take too long."""
    draws = enough_resamples(len(tested), alpha, resamples)
    if draws * len(tested) > _MOST_WORK:
        raise UsageError(
            f"{len(tested):,} comparisons with up to {draws:,} resamples each would take too long",
            hint="compare all systems with one of them (--baseline, in Python baseline=), or fewer systems",
        )
    return draws


def _pair_tests(
    table: SystemTable,
    scores: Sequence[float],
    tested: Sequence[tuple[int, int]],
    bootstrap: Bootstrap,
    randomisation: Randomisation,
    units: FloatArray,
) -> tuple[PairTest, ...]:
    bootstrap_holm = holm([bootstrap.p_values[pair] for pair in tested])
    randomisation_holm = holm([randomisation.p_values[pair] for pair in tested])
    # NaN if no unit tells the systems apart.
    signs = [
        sign_test(int((first > second).sum()), int((first < second).sum())).p_value
        for first, second in (units[:, pair].T for pair in tested)
    ]
    sign_holm = holm(signs)
    sign = 1.0 if table.higher_is_better else -1.0
    tests = []
    for k, pair in enumerate(tested):
        first, second = pair
        effect = paired_effect(sign * table.segments[:, first], sign * table.segments[:, second])
        tests.append(
            PairTest(
                first=table.systems[first],
                second=table.systems[second],
                difference=scores[first] - scores[second],
                low=float(bootstrap.difference_low[pair]),
                high=float(bootstrap.difference_high[pair]),
                wins=float(bootstrap.wins[pair if table.higher_is_better else (second, first)]),
                p_bootstrap=float(bootstrap.p_values[pair]),
                p_bootstrap_holm=float(bootstrap_holm[k]),
                p_randomisation=float(randomisation.p_values[pair]),
                p_randomisation_holm=float(randomisation_holm[k]),
                p_sign=signs[k],
                p_sign_holm=float(sign_holm[k]),
                cohen_d=effect.cohen_d,
                superiority=effect.superiority,
            )
        )
    return tuple(tests)


@dataclass(frozen=True)
class Difference:
    """Two systems against the same references: their scores, and each feature's share in the difference."""

    metric: str
    signature: Signature
    scores: tuple[float, float]
    features: tuple[Feature, ...]
    shares: FloatArray
    """Mean shares of both systems (2, features) in the linear score."""

    @property
    def linear(self) -> tuple[float, float]:
        """The linear scores of both: the sums of their shares."""
        first, second = (float(np.sum(row)) for row in self.shares)
        return first, second

    def by_feature(self) -> list[tuple[str, float, float, float]]:
        """Feature, share of the first, of the second, difference; the largest difference first."""
        return [(feature.name, a, b, difference) for feature, a, b, difference in self._rows()]

    def by_part(self) -> list[tuple[str, float, float, float]]:
        """The same, summed over the features that look at the same thing."""
        sums: dict[str, list[float]] = {}
        for feature, a, b, _ in self._rows():
            total = sums.setdefault(feature.label, [0.0, 0.0])
            total[0] += a
            total[1] += b
        return _by_difference([(part, a, b, a - b) for part, (a, b) in sums.items()])

    def _rows(self) -> list[tuple[Feature, float, float, float]]:
        shares = zip(self.features, *self.shares.tolist(), strict=True)
        return _by_difference([(feature, a, b, a - b) for feature, a, b in shares])

    def to_dict(self) -> dict[str, Any]:
        """The difference as plain data, ready for JSON."""
        keys = ("first", "second", "difference")
        return {
            "metric": self.metric, "signature": str(self.signature), "scores": list(self.scores),
            "linear": list(self.linear),
            "parts": [{"name": part, **dict(zip(keys, row, strict=True))} for part, *row in self.by_part()],
            "features": [
                {"name": feature.name, "part": feature.label, **dict(zip(keys, row, strict=True))}
                for feature, *row in self._rows()
            ],
        }  # fmt: skip


_Row = TypeVar("_Row", bound=tuple[Any, ...])


def _by_difference(rows: list[_Row]) -> list[_Row]:
    return sorted(rows, key=lambda row: -abs(row[3]))


def explain_difference(
    metric: Metric, first: Sequence[str], second: Sequence[str], references: References
) -> Difference:
    """Why one system scores higher than another, on one segment or on a whole test set.

    >>> from tesla_eval import TeslaX
    >>> difference = explain_difference(TeslaX("en"), ["A cat sat."], ["A dog sat."], [["The cat sat."]])
    >>> difference.scores[0] > difference.scores[1], round(sum(row[3] for row in difference.by_part()), 6) > 0
    (True, True)
    """
    if not (isinstance(metric, FeatureMetric) and isinstance(metric.combined, Linear)):
        raise UsageError(f"{metric.id} has no weights to explain a difference with; use -m x or -m f")
    scores, shares = [], []
    references = streams_of_texts(references)
    for hypotheses in (texts_of(first), texts_of(second)):
        check_references(hypotheses, references)
        corpus = metric.corpus_score(hypotheses, references)
        scores.append(corpus.score)
        shares.append(_mean_shares(metric, metric.combined, hypotheses, references))
    return Difference(metric.id, corpus.signature, (scores[0], scores[1]), metric.features, np.stack(shares))


def _mean_shares(
    metric: FeatureMetric, combination: Linear, hypotheses: Sequence[str], references: References
) -> FloatArray:
    """The mean share of each feature over the segments, over the references that each has."""
    streams = []
    for stream in references:
        texts = ["" if text is None else text for text in stream]
        shares = combination.model.shares(metric.corpus_score(hypotheses, [texts]).features)
        shares[[index for index, text in enumerate(stream) if text is None]] = np.nan
        streams.append(shares)
    by_segment = mean_over_references(np.stack(streams))
    return np.array([math.fsum(column) / len(column) for column in by_segment.T.tolist()])
