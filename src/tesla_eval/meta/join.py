"""Judgements and metric scores side by side, ready for statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tesla_eval.errors import UsageError
from tesla_eval.meta.judgements import EvalSet, FloatTable, PairTable, Preferences, SystemScores
from tesla_eval.meta.scoring import MetricScores, judged_segments, row_means
from tesla_eval.stats import expected_wins

__all__ = ["HumanPairs", "Joined", "join"]


@dataclass(frozen=True, eq=False)
class HumanPairs:
    """Pairs of outputs of one segment: their places, and the human difference first - second."""

    segment: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    second: npt.NDArray[np.int64]
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
            return HumanPairs(table.segment, table.better, table.worse, np.ones(len(table)))
        human = self.outputs.human
        first, second = np.triu_indices(len(human), k=1)
        difference = human[first] - human[second]
        pair, segment = np.nonzero(~np.isnan(difference))
        return HumanPairs(segment, first[pair], second[pair], difference[pair, segment])

    @cached_property
    def ranking(self) -> npt.NDArray[np.int64]:
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
    chosen, human_systems = _human_systems(outputs, pairs, system_scores, score_type)
    return Joined(outputs, metrics, used, human_systems, chosen, pairs)


def _human_systems(
    outputs: EvalSet, pairs: PairTable | None, system_scores: SystemScores | None, score_type: str | None
) -> tuple[str, FloatTable]:
    if system_scores is not None and (score_type is None or score_type in system_scores.by_type):
        return system_scores.chosen(outputs.systems, score_type)
    has_scores = not np.isnan(outputs.human).all()
    if score_type in (None, "mean") and has_scores:
        return "mean", row_means(outputs.human)
    if score_type in (None, "expected_wins") and pairs is not None:
        return "expected_wins", expected_wins(pairs.wins(len(outputs.systems)))
    if score_type is not None:
        raise UsageError(f"{outputs.lp} {outputs.testset}: no human system scores of type {score_type!r}")
    return "none", np.full(len(outputs.systems), np.nan)
