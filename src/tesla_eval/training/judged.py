"""Judged outputs as features and pairs: what learners learn from.

Features of a test set are computed once and kept in the cache of `tesla meta`, so that training again takes seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.base.parallel import NO_PROGRESS, Progress
from tesla_eval.judgements.meta.run import JudgedSet
from tesla_eval.judgements.nouns import EvalSet
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.metrics.feature_metric import FeatureMetric


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """The judged outputs of one test set: features by row, pairs of rows of which people preferred the first."""

    name: str
    features: FloatArray
    segments: npt.NDArray[np.str_]
    """The source segment of every row, the same name wherever it was translated: `newstest2012 17`."""
    better: Index
    worse: Index
    counts: FloatArray
    """The number of judgements for each pair."""
    scores: FloatArray
    """Human scores of the rows, NaN where they are missing."""
    weight: float = 1.0
    """How much its pairs count beside those of other sets."""

    def __post_init__(self) -> None:
        if not len(self.better) == len(self.worse) == len(self.counts):
            raise UsageError(f"{self.name}: `better`, `worse` and `counts` have different lengths")

    def with_pairs(self, chosen: npt.NDArray[np.bool_]) -> TrainingSet:
        """The same rows with some of the pairs."""
        return replace(self, better=self.better[chosen], worse=self.worse[chosen], counts=self.counts[chosen])

    def with_features(self, columns: Index) -> TrainingSet:
        """The same judgements with some of the features."""
        return replace(self, features=self.features[:, columns])

    @property
    def pair_segments(self) -> npt.NDArray[np.str_]:
        """The source segment of every pair."""
        return np.asarray(self.segments[self.better])


def collect(
    judged: Iterable[JudgedSet],
    features_for: Callable[[str], FeatureMetric],
    cache: ScoreCache,
    *,
    threshold: float = 0.0,
    progress: Progress = NO_PROGRESS,
) -> list[TrainingSet]:
    """The training sets of judged test sets; `features_for` gives the uncombined features for a language pair.

    Pairs are the preferences where there are any, else the pairs of human scores that differ by more than `threshold`
    standard deviations of the test set's scores. Their order never matters: pairs are sorted, equal ones are counted.
    """
    progress.stage("features (outputs)")
    sets = [_training_set(one, features_for(one.outputs.lp), cache, threshold, progress) for one in judged]
    sets = [one for one in sets if len(one.better) or not np.isnan(one.scores).all()]
    if not sets:
        raise InputError("there is nothing to learn from: no preferences and no human scores")
    return sorted(sets, key=lambda one: one.name)


def pairs_of_scores(human: FloatArray, threshold: float) -> tuple[Index, Index, Index]:
    """Segment, better and worse system of all pairs in (systems, segments) that differ by more than `threshold`.

    >>> [places.tolist() for places in pairs_of_scores(np.array([[1.0, 5.0], [3.0, 5.5]]), 1.0)]
    [[0], [1], [0]]
    """
    first, second = np.triu_indices(len(human), k=1)
    difference = human[first] - human[second]
    pair, segment = np.nonzero(np.abs(np.nan_to_num(difference)) > threshold)
    first_better = difference[pair, segment] > 0
    better = np.where(first_better, first[pair], second[pair])
    return segment, better, np.where(first_better, second[pair], first[pair])


def _training_set(
    judged: JudgedSet, metric: FeatureMetric, cache: ScoreCache, threshold: float, progress: Progress
) -> TrainingSet:
    outputs = judged.outputs
    if judged.preferences is not None:
        table = judged.preferences.joined(outputs)
        segment, better, worse = table.segment, table.better, table.worse
    else:
        deviation = 0.0 if np.isnan(outputs.human).all() else float(np.nanstd(outputs.human))
        segment, better, worse = pairs_of_scores(outputs.human, threshold * deviation)
    judgements, counts = np.unique(np.stack([segment, better, worse]), axis=1, return_counts=True)
    cells = _cells(outputs, judgements)
    row_of = {cell: row for row, cell in enumerate(cells)}
    segment, better, worse = judgements.tolist()
    return TrainingSet(
        name=" ".join(outputs.key),
        features=_features(outputs, cells, metric, cache, progress),
        segments=np.array([f"{outputs.testset} {outputs.segments[g]}" for g, _ in cells], np.str_),
        better=np.array([row_of[cell] for cell in zip(segment, better, strict=True)], np.int64),
        worse=np.array([row_of[cell] for cell in zip(segment, worse, strict=True)], np.int64),
        counts=counts.astype(np.float64),
        scores=np.array([outputs.human[s, g] for g, s in cells]),
    )


def _cells(outputs: EvalSet, judgements: Index) -> list[tuple[int, int]]:
    """All judged outputs as (segment, system), sorted."""
    segment, better, worse = judgements
    scored = {(g, s) for s, g in np.argwhere(~np.isnan(outputs.human)).tolist()}
    compared = {
        *zip(segment.tolist(), better.tolist(), strict=True),
        *zip(segment.tolist(), worse.tolist(), strict=True),
    }
    return sorted((g, s) for g, s in scored | compared if outputs.hypotheses[s][g] is not None)


def _features(
    outputs: EvalSet,
    cells: list[tuple[int, int]],
    metric: FeatureMetric,
    cache: ScoreCache,
    progress: Progress,
) -> FloatArray:
    if not cells:
        return np.empty((0, len(metric.features)))
    references = outputs.first_reference
    hypotheses = [outputs.hypotheses[s][g] or "" for g, s in cells]
    with outputs.naming_refused([s for _, s in cells], [g for g, _ in cells]):
        return cache.score(
            metric, hypotheses, [[references[g] or "" for g, _ in cells]], progress.advance
        ).features
