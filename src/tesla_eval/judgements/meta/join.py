"""Joins the scores of outputs, from any scorer, with human judgements, as input for the statistics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import Index
from tesla_eval.base.errors import UsageError
from tesla_eval.judgements.nouns import EvalSet, FloatTable, PairTable, Preferences, SystemScores
from tesla_eval.statistics.agreements import expected_wins
from tesla_eval.statistics.estimate import known_means, ratio


@dataclass(frozen=True, eq=False)
class CorpusStatistics:
    """Statistics (systems, segments, columns) whose sums give a corpus score, as in BLEU; NaN where not scored."""

    rows: FloatTable
    score: Callable[[FloatTable], FloatTable]

    def system_scores(self, weights: FloatTable) -> FloatTable:
        """(resamples, segments) of weights to (resamples, systems) of corpus scores; NaN for a system without rows."""
        present = ~np.isnan(self.rows[:, :, 0])
        sums = np.einsum("rg,sgc->rsc", weights, np.where(present[:, :, None], self.rows, 0.0), optimize=True)
        counted = weights @ present.T
        return np.asarray(np.where(counted > 0, self.score(sums), np.nan))


@dataclass(frozen=True, eq=False)
class MetricScores:
    """A metric's scores of segments (systems, segments), NaN where a score is missing.

    A system's score is that of its summed statistics in `corpus`, else the mean of its segments' scores. Scores
    of a metric for which lower is better are kept as they are and turned round when they are compared with humans.
    """

    segments: FloatTable
    higher_is_better: bool = True
    corpus: CorpusStatistics | None = None
    signatures: tuple[str, ...] = ()
    """Those of the systems' scores and, if other settings made them, of the segments'."""

    @property
    def oriented(self) -> FloatTable:
        """The segment scores, higher is better."""
        return self.segments if self.higher_is_better else -self.segments

    def system_scores(self, segments: npt.NDArray[np.bool_]) -> FloatTable:
        """The system scores of the chosen segments, higher is better."""
        if self.corpus is not None:
            return np.asarray(self.drawn_system_scores(segments[None].astype(np.float64))[0])
        return known_means(self.oriented[:, segments], axis=1)

    def drawn_system_scores(self, weights: FloatTable) -> FloatTable:
        """(resamples, segments) of weights to (resamples, systems) of system scores, higher is better."""
        if self.corpus is not None:
            drawn = self.corpus.system_scores(weights)
            return drawn if self.higher_is_better else -drawn
        present = ~np.isnan(self.segments)
        return ratio(weights @ np.where(present, self.oriented, 0.0).T, weights @ present.T)


def judged_segments(outputs: EvalSet, pairs: PairTable | None = None) -> npt.NDArray[np.bool_]:
    """The segments in which humans judged anything: a score, or a pair of outputs."""
    judged: npt.NDArray[np.bool_] = np.any(~np.isnan(outputs.human), axis=0)
    if pairs is not None:
        judged[pairs.segment] = True
    return np.asarray(judged)


@dataclass(frozen=True, eq=False)
class ChosenOutputs:
    """Outputs to be scored, and their cells in the tables (systems, segments)."""

    cells: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
    hypotheses: list[str]
    references: list[list[str | None]]
    sources: list[str] | None = None


def choose_outputs(
    outputs: EvalSet, segments: npt.NDArray[np.bool_] | None = None, *, all_references: bool = False
) -> ChosenOutputs:
    """The outputs in the chosen segments, by default all, with the first reference of each or with all of them."""
    chosen = np.ones(len(outputs.segments), bool) if segments is None else segments
    places = [
        (system, segment)
        for system, row in enumerate(outputs.hypotheses)
        for segment in np.flatnonzero(chosen).tolist()
        if row[segment] is not None
    ]
    hypotheses = [
        text for system, segment in places if (text := outputs.hypotheses[system][segment]) is not None
    ]
    streams = outputs.references if all_references else (outputs.first_reference,)
    rows, columns = np.array(places, np.int64).reshape(-1, 2).T
    return ChosenOutputs(
        (rows, columns),
        hypotheses,
        [[stream[segment] for _, segment in places] for stream in streams],
        None if outputs.sources is None else [outputs.sources[segment] for _, segment in places],
    )


@dataclass(frozen=True, eq=False)
class HumanPairs:
    """Pairs of outputs of one segment: their places, and the human difference first - second."""

    segment: Index
    first: Index
    second: Index
    difference: FloatTable

    def metric_difference(self, scores: FloatTable) -> FloatTable:
        """The same difference in a table of scores (systems, segments)."""
        return np.asarray(scores[self.first, self.segment] - scores[self.second, self.segment])


@dataclass(frozen=True, eq=False)
class Joined:
    """One test set with its human judgements of segments and systems, and the scores of some metrics.

    `used` marks the segments that count for system scores. `human_systems` are the human scores of systems,
    of the kind that `score_type` names: read from a file, or made from the segments (`mean`) or from the
    preferences (`expected_wins`).
    """

    outputs: EvalSet
    metrics: Mapping[str, MetricScores]
    used: npt.NDArray[np.bool_]
    human_systems: FloatTable
    score_type: str
    preferences: PairTable | None

    @cached_property
    def pairs(self) -> HumanPairs:
        """The preferences, or where there are none all pairs within segments that have two human scores."""
        if self.preferences is not None:
            table = self.preferences
            return HumanPairs(table.segment, table.better, table.worse, np.ones(len(table.segment)))
        human = self.outputs.human
        first, second = np.triu_indices(len(human), k=1)
        difference = human[first] - human[second]
        pair, segment = np.nonzero(~np.isnan(difference))
        return HumanPairs(segment, first[pair], second[pair], difference[pair, segment])

    @cached_property
    def ranking(self) -> Index:
        """The systems that have a human score, best first; by name where scores are equal."""
        known = np.flatnonzero(~np.isnan(self.human_systems))
        return known[np.argsort(-self.human_systems[known], kind="stable")]


def join(
    outputs: EvalSet,
    metrics: Mapping[str, MetricScores],
    *,
    preferences: Preferences | None = None,
    system_scores: SystemScores | None = None,
    score_type: str | None = None,
    all_segments: bool = False,
) -> Joined:
    """Bring outputs, judgements and metric scores of one test set together.

    System scores count the judged segments only, unless `all_segments` or nobody judged any: systems are
    often judged on a part of a test set, and what happens in the rest of it says nothing about the
    judgements.
    """
    for name, scores in metrics.items():
        if scores.segments.shape != outputs.human.shape:
            raise UsageError(
                f"metric {name}: scores of shape {scores.segments.shape}, but the outputs are "
                f"(systems, segments) {outputs.human.shape}"
            )
    pairs = None if preferences is None else preferences.joined(outputs)
    judged = judged_segments(outputs, pairs)
    used = np.ones_like(judged) if all_segments or not judged.any() else judged
    chosen, human_systems = human_system_scores(outputs, pairs, system_scores, score_type)
    return Joined(outputs, metrics, used, human_systems, chosen, pairs)


def human_system_scores(
    outputs: EvalSet, pairs: PairTable | None, system_scores: SystemScores | None, score_type: str | None
) -> tuple[str, FloatTable]:
    """The kind of human system scores, and the scores: from a file, from the segments, or from preferences."""
    if system_scores is not None and (score_type is None or score_type in system_scores.by_type):
        return system_scores.chosen(outputs.systems, score_type, kind=outputs.score_kind)
    has_scores = not np.isnan(outputs.human).all()
    if score_type in (None, "mean") and has_scores:
        return "mean", known_means(outputs.human, axis=1)
    if score_type in (None, "expected_wins") and pairs is not None:
        return "expected_wins", expected_wins(pairs.wins(len(outputs.systems)))
    if score_type is not None:
        raise UsageError(f"{outputs.lp} {outputs.testset}: no human system scores of type {score_type!r}")
    return "none", np.full(len(outputs.systems), np.nan)
