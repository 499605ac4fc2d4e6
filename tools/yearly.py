"""Leave one year out: learn from all other years, measure on the one left out (specification §8b).

Year × language pair × kind of judgement counts alike, whatever its size. Every choice about a learned metric is made by
the figures of this module, and every figure that is reported of one comes from it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.judgements.meta.join import human_system_scores
from tesla_eval.judgements.meta.run import JudgedSet
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.metrics.feature_metric import FeatureMetric
from tesla_eval.metrics.features import Feature
from tesla_eval.models.linear import LinearModel
from tesla_eval.statistics.pairs import better_p_values, soft_accuracy, weighted_tau, wins_p_values
from tesla_eval.training.fit import RankingProblem
from tesla_eval.training.judged import TrainingSet, pairs_of_scores

__all__ = ["Figures", "YearlySet", "fit_years", "gather", "interval", "leave_out"]

MOST_PAIRS = 6_000
"""Pairs of one set that are learned from: evenly chosen, so that large sets do not cost all the time."""
FEWEST_PAIRS = 200
"""With fewer pairs within segments, outputs of different segments are paired too (WMT17's direct assessment)."""
_PERMUTATIONS = 500  # of soft pairwise accuracy
_NEIGHBOURS = 8  # how many other outputs each is paired with then


@dataclass(eq=False)
class YearlySet:
    """The judged outputs of one year, language pair and kind of judgement."""

    year: str
    lp: str
    name: str
    systems: int
    cells: Index
    """Segment and system of every row."""
    features: FloatArray
    better: Index
    worse: Index
    counts: FloatArray
    human: FloatArray
    """Scores of the systems; NaN for a system without a score."""
    baselines: dict[str, FloatArray] = field(default_factory=dict)
    """Other metrics' scores of the rows, higher is better."""
    certainty: FloatArray | None = None
    """[i, j]: the p-value of "system i is better than j" by the human judgements of segments."""
    weight: float = 1.0
    """How much it counts where it is learned from."""
    reported: bool = True
    """Whether it is measured too, and not only learned from."""

    def training_set(self, columns: Index, most_pairs: int) -> TrainingSet:
        """What a learner sees of it: not more than `most_pairs`, evenly chosen."""
        count = min(len(self.better), most_pairs)
        some = np.linspace(0, len(self.better) - 1, count).round().astype(np.int64)
        return TrainingSet(
            name=f"{self.lp} {self.name}", features=self.features[:, columns],
            segments=np.array([str(segment) for segment in self.cells[:, 0].tolist()], np.str_),
            better=self.better[some], worse=self.worse[some], counts=self.counts[some],
            scores=np.full(len(self.features), np.nan), weight=self.weight,
        )  # fmt: skip

    def tau(self, scores: FloatArray) -> float:
        """(concordant − discordant) / pairs; a tie of the metric adds nothing."""
        return float(weighted_tau(scores[self.better] - scores[self.worse], self.counts))

    def pearson(self, scores: FloatArray, weights: FloatArray | None = None) -> FloatArray:
        """Pearson's r of system means with human scores, for every row of segment weights."""
        means, human = self._system_means(scores, weights)
        centred = means - means.mean(axis=1, keepdims=True)
        human = human - human.mean()
        with np.errstate(invalid="ignore"):
            return np.asarray((centred @ human) / np.sqrt((centred**2).sum(axis=1) * (human**2).sum()))

    def accuracy(self, scores: FloatArray, weights: FloatArray | None = None) -> FloatArray:
        """Share of the pairs of systems that are ranked as humans do, for every row of segment weights; a tie is ½."""
        means, human = self._system_means(scores, weights)
        first, second = np.triu_indices(len(human), k=1)
        differ = human[first] != human[second]
        first, second = first[differ], second[differ]
        agreement = np.sign(means[:, first] - means[:, second]) * np.sign(human[first] - human[second])
        return np.asarray((1 + agreement.mean(axis=1)) / 2)

    def soft_accuracy(self, scores: FloatArray) -> float:
        """Soft pairwise accuracy of systems (Thompson et al. 2024); NaN where segments were not judged."""
        if self.certainty is None:
            return float("nan")
        table, _ = self._table(scores, np.nan)
        metric = better_p_values(table, permutations=_PERMUTATIONS)
        return soft_accuracy(self.certainty, metric).value

    def _table(self, scores: FloatArray, missing: float) -> tuple[FloatArray, FloatArray]:
        """Scores by system and segment, and 1 where there is one."""
        shape = self.systems, int(self.cells[:, 0].max()) + 1
        table, present = np.full(shape, missing), np.zeros(shape)
        table[self.cells[:, 1], self.cells[:, 0]] = scores
        present[self.cells[:, 1], self.cells[:, 0]] = 1.0
        return table, present

    def _system_means(self, scores: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        """Means of the systems that people scored, for every row of segment weights, and their human scores."""
        table, present = self._table(scores, 0.0)
        if weights is None:
            weights = np.ones((1, table.shape[1]))
        known = ~np.isnan(self.human) & (present.sum(axis=1) > 0)
        means = (weights @ table[known].T) / np.maximum(weights @ present[known].T, 1e-9)
        return means, self.human[known]

    def has(self, statistic: str) -> bool:
        """Whether the set allows `tau`, or what is measured on systems."""
        return self.has_pairs if statistic == "tau" else self.has_systems

    @property
    def has_pairs(self) -> bool:
        """Whether segments were judged."""
        return len(self.better) > 0

    @property
    def has_systems(self) -> bool:
        """Whether three systems or more have human scores."""
        return int((~np.isnan(self.human)).sum()) >= 3


def gather(
    judged: Iterable[tuple[str, str, JudgedSet]],
    features: Sequence[Feature],
    features_for: Callable[[str], FeatureMetric],
    baselines_for: Callable[[str], Sequence[Metric]],
    cache: ScoreCache,
    advance: Callable[[int], None] = lambda done: None,
) -> list[YearlySet]:
    """The sets of (year, kind, judged set), with the features and the baselines' scores of all their outputs.

    A feature that does not exist for a language is NaN for all its outputs.
    """
    sets = []
    for year, kind, one in judged:
        outputs = one.outputs
        segments = one.scored_segments(False)
        cells = [
            (g, s)
            for g in np.flatnonzero(segments).tolist()
            for s in range(len(outputs.systems))
            if outputs.hypotheses[s][g] is not None
        ]
        references = outputs.first_reference
        # System by system: the cache scores many outputs at once as long as no reference comes twice.
        by_system = sorted(range(len(cells)), key=lambda row: (cells[row][1], row))
        rows = np.argsort(by_system)
        texts = (
            [outputs.hypotheses[cells[row][1]][cells[row][0]] or "" for row in by_system],
            [[references[cells[row][0]] or "" for row in by_system]],
        )
        metric = features_for(outputs.lp)
        scored = cache.score(metric, *texts, advance).features[rows]
        values = _columns(scored, metric.features, features)
        pairs = None if one.preferences is None else one.preferences.joined(outputs)
        better, worse, counts = _pairs(one, cells)
        _, human = human_system_scores(outputs, pairs, one.systems, None)
        sets.append(
            YearlySet(
                year, outputs.lp, f"{kind} {outputs.testset}", len(outputs.systems), np.array(cells, np.int64),
                values, better, worse, counts, np.asarray(human, np.float64),
                {
                    other.id: (1 if other.higher_is_better else -1) * cache.score(other, *texts, advance).scores[rows]
                    for other in baselines_for(outputs.lp)
                },
                _certainty(one, segments),
            )
        )  # fmt: skip
    return sets


def _certainty(judged: JudgedSet, segments: npt.NDArray[np.bool_]) -> FloatArray | None:
    outputs = judged.outputs
    if judged.preferences is not None:
        return wins_p_values(judged.preferences.joined(outputs).wins(len(outputs.systems)))
    if np.isnan(outputs.human).all():
        return None
    return better_p_values(outputs.human[:, segments], permutations=_PERMUTATIONS)


def _columns(values: FloatArray, present: Sequence[Feature], wanted: Sequence[Feature]) -> FloatArray:
    place = {feature.name: column for column, feature in enumerate(present)}
    missing = np.full(len(values), np.nan)
    return np.column_stack([values[:, place[one.name]] if one.name in place else missing for one in wanted])


def _pairs(judged: JudgedSet, cells: list[tuple[int, int]]) -> tuple[Index, Index, FloatArray]:
    """Rows that people preferred, rows that they did not, how often; sorted."""
    outputs = judged.outputs
    row_of = {cell: row for row, cell in enumerate(cells)}
    if judged.preferences is not None:
        table = judged.preferences.joined(outputs)
        places = table.segment, table.better, table.worse
    else:
        places = pairs_of_scores(outputs.human, 0.0)
    rows = [
        (row_of[g, a], row_of[g, b])
        for g, a, b in zip(*(place.tolist() for place in places), strict=True)
        if (g, a) in row_of and (g, b) in row_of
    ]
    if judged.preferences is None and 0 < len(rows) < FEWEST_PAIRS:
        rows += _across_segments(outputs.human, cells)
    if not rows:
        empty = np.empty(0, np.int64)
        return empty, empty, np.empty(0)
    unique, counts = np.unique(np.array(rows, np.int64), axis=0, return_counts=True)
    return unique[:, 0], unique[:, 1], counts.astype(np.float64)


def _across_segments(human: FloatArray, cells: list[tuple[int, int]]) -> list[tuple[int, int]]:
    scored = [row for row, (g, s) in enumerate(cells) if not np.isnan(human[s, g])]
    scored.sort(key=lambda row: hashlib.sha256(str(row).encode()).digest())
    value = {row: float(human[cells[row][1], cells[row][0]]) for row in scored}
    least = 0.5 * float(np.std(list(value.values())))
    pairs = []
    for k, row in enumerate(scored):
        for step in range(1, _NEIGHBOURS + 1):
            other = scored[(k + step) % len(scored)]
            if abs(value[row] - value[other]) > least:
                pairs.append((row, other) if value[row] > value[other] else (other, row))
    return pairs


def fit_years(
    sets: Sequence[YearlySet],
    features: Sequence[Feature],
    kept: Callable[[Feature], bool],
    learner: str,
    penalty: float,
    floors: Mapping[str, float],
    most_pairs: int = MOST_PAIRS,
) -> LinearModel:
    """The model that a learner finds from all these sets."""
    columns = np.array([k for k, feature in enumerate(features) if kept(feature)], np.int64)
    problem = RankingProblem(
        [one.training_set(columns, most_pairs) for one in sets if one.has_pairs],
        [features[k] for k in columns.tolist()],
    )
    return problem.fit(learner, penalty, floors=floors)


@dataclass(frozen=True, eq=False)
class Figures:
    """What leaving a year out found on one set."""

    data: YearlySet
    scores: Mapping[str, FloatArray]
    """Of the rows, by metric."""

    def tau(self, metric: str) -> float:
        """Kendall's τ of a metric, NaN where segments were not judged."""
        return self.data.tau(self.scores[metric]) if self.data.has_pairs else float("nan")

    def pearson(self, metric: str) -> float:
        """System Pearson of a metric, NaN where there are fewer than three systems."""
        return float(self.data.pearson(self.scores[metric])[0]) if self.data.has_systems else float("nan")

    def accuracy(self, metric: str) -> float:
        """Pairwise accuracy of systems, NaN where there are fewer than three."""
        return float(self.data.accuracy(self.scores[metric])[0]) if self.data.has_systems else float("nan")

    def soft_accuracy(self, metric: str) -> float:
        """Soft pairwise accuracy of systems, NaN where segments were not judged."""
        return self.data.soft_accuracy(self.scores[metric])


def leave_out(
    sets: Sequence[YearlySet],
    features: Sequence[Feature],
    *,
    name: str,
    kept: Callable[[Feature], bool] = lambda feature: True,
    learner: str = "signed",
    penalty: float = 0.01,
    floors: Mapping[str, float] | None = None,
    most_pairs: int = MOST_PAIRS,
    advance: Callable[[int], None] = lambda done: None,
) -> list[Figures]:
    """The scores of every set by a model that was learned from the sets of all other years."""
    place = {feature.name: column for column, feature in enumerate(features)}
    figures = []
    for year in sorted({one.year for one in sets if one.reported}):
        others = [one for one in sets if one.year != year]
        model = fit_years(others, features, kept, learner, penalty, floors or {}, most_pairs)
        columns = np.array([place[feature] for feature in model.features], np.int64)
        figures += [
            Figures(one, {**one.baselines, name: model.score(one.features[:, columns])})
            for one in sets
            if one.year == year and one.reported
        ]
        advance(1)
    return figures


def interval(
    figures: Sequence[Figures],
    first: str,
    second: str,
    statistic: str,
    *,
    resamples: int = 1000,
    seed: int = 1,
) -> tuple[float, float, float]:
    """The mean over sets of first − second, and its 95 % interval by resampling the segments of every set."""
    random = np.random.default_rng(seed)
    differences: list[FloatArray] = []
    observed: list[float] = []
    for one in figures:
        data = one.data
        segments = int(data.cells[:, 0].max()) + 1
        if statistic == "tau" and data.has_pairs:
            observed.append(one.tau(first) - one.tau(second))
            signs = [np.sign(one.scores[m][data.better] - one.scores[m][data.worse]) for m in (first, second)]
            used, place = np.unique(data.cells[data.better, 0], return_inverse=True)
            gain = np.bincount(place, (signs[0] - signs[1]) * data.counts, len(used))
            total = np.bincount(place, data.counts, len(used))
            weights = _drawn(random, resamples, len(used))
            differences.append((weights @ gain) / np.maximum(weights @ total, 1e-9))
        elif statistic in ("pearson", "accuracy") and data.has_systems:
            measure = data.pearson if statistic == "pearson" else data.accuracy
            drawn = [measure(one.scores[metric]) for metric in (first, second)]
            observed.append(float(drawn[0][0] - drawn[1][0]))
            present = np.unique(data.cells[:, 0])
            weights = np.zeros((resamples, segments))
            weights[:, present] = _drawn(random, resamples, len(present))
            drawn = [measure(one.scores[metric], weights) for metric in (first, second)]
            differences.append(drawn[0] - drawn[1])
    low, high = np.nanpercentile(np.nanmean(np.stack(differences), axis=0), [2.5, 97.5])
    return float(np.mean(observed)), float(low), float(high)


def _drawn(random: np.random.Generator, resamples: int, segments: int) -> npt.NDArray[np.float64]:
    return random.multinomial(segments, np.full(segments, 1 / segments), size=resamples).astype(np.float64)
