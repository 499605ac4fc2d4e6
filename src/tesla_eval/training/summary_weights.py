"""Learning the weights of `s-x` and `cremer-x` from several data sets of judged summaries (specification §10, §12).

Weights are points of a grid, never negative, and add up to 1. With a few data sets a learned weight is hardly
determined, so both learners hold on to something: `s-x` must not rank systems by content worse than TESLA-S does,
and `cremer-x` is drawn towards equal weights of content and support.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import UsageError
from tesla_eval.judgements.summaries import OVERALL, SummarySet
from tesla_eval.metrics.summary_parts import SummaryParts
from tesla_eval.models.linear import ANY_LANGUAGE, SIGNED, LinearModel, Scale
from tesla_eval.statistics import pearson, weighted_tau

__all__ = ["LEARNERS", "JudgedParts", "judged_parts", "learn_cremer_x", "learn_s_x", "linear_model"]

STEP = 20
"""Weights are twentieths."""
CONTENT_LOSS = 0.05
"""`s-x`: at system level Pearson with the judgement of content may lie so much below TESLA-S's in a training set."""
RIDGE = 0.5
"""`cremer-x`: what the squared distance from equal weights of content and support costs, in units of Kendall's τ."""
_CONTENT_KINDS = ("litepyramid_recall", "informativeness", "relevance")
_WEIGHTS_AT_ONCE = 256


@dataclass(frozen=True)
class JudgedParts:
    """The parts of the summaries of one data set beside what people said."""

    name: str
    parts: FloatArray
    """Systems × topics × parts."""
    overall: FloatArray
    """Systems × topics: the overall score, or the mean of the scores that there are."""
    content: FloatArray
    """Systems × topics: the judgement nearest to content."""

    def kendall(self, weights: FloatArray) -> FloatArray:
        """For each row of weights Kendall's τ over the pairs that people told apart; the mean over topics."""
        differences, shares = self._pairs()
        taus = np.zeros(len(weights))
        for start in range(0, len(weights) if len(shares) else 0, _WEIGHTS_AT_ONCE):
            some = slice(start, start + _WEIGHTS_AT_ONCE)
            taus[some] = weighted_tau(differences @ weights[some].T, shares)
        return taus

    def _pairs(self) -> tuple[FloatArray, FloatArray]:
        """The parts of the better summary less those of the worse one, and how much each pair counts."""
        first, second = np.triu_indices(len(self.overall), 1)
        human = np.sign(self.overall[first] - self.overall[second])  # pairs × topics
        told = human != 0  # NaN, a missing summary, is told apart from nothing
        told &= ~np.isnan(human)
        share = told / np.maximum(told.sum(axis=0), 1)  # topics count alike
        differences = (self.parts[first] - self.parts[second])[told]
        return differences * human[told][:, None], share[told]

    def system_pearson(self, weights: FloatArray) -> FloatArray:
        """For each row of weights Pearson's r of system means with the judgement of content."""
        means = np.nanmean(self.parts, axis=1)
        human = np.nanmean(self.content, axis=1)
        return np.array([pearson(human, means @ row).value for row in weights])


def judged_parts(summaries: SummarySet, metric: SummaryParts) -> JudgedParts:
    """The parts of all summaries of a set; a part that does not exist counts 0."""
    if not summaries.human:
        raise UsageError(f"{summaries.name}: has no human scores")
    names = tuple(summaries.human)
    overall = summaries.human[OVERALL if OVERALL in names else names[0]]
    content = next((summaries.human[kind] for kind in _CONTENT_KINDS if kind in names), overall)
    tables = []
    for row in summaries.hypotheses:
        texts = [text or "" for text in row]
        rows = metric.score_segments(texts, summaries.reference_streams, summaries.sources).features
        absent = np.array([text is None for text in row])
        tables.append(np.where(absent[:, None], np.nan, np.nan_to_num(rows)))
    return JudgedParts(summaries.name, np.array(tables), overall, content)


def _grid(parts: int) -> FloatArray:
    """All weights in twentieths that add up to 1."""
    rows = [(*row, STEP - sum(row)) for row in product(range(STEP + 1), repeat=parts - 1) if sum(row) <= STEP]
    return np.array(rows) / STEP


def learn_s_x(sets: Sequence[JudgedParts]) -> FloatArray:
    """The weights with the highest mean τ among those that keep TESLA-S's agreement about content at system level."""
    weights = _grid(4)
    weights = weights[weights[:, 2:].sum(axis=1) <= 0.5]
    plain = np.array([[0.5, 0.5, 0.0, 0.0]])  # TESLA-S
    objective = np.mean([one.kendall(weights) for one in sets], axis=0)
    for one in sets:
        floor = one.system_pearson(plain)[0] - CONTENT_LOSS
        objective = np.where(one.system_pearson(weights) >= floor, objective, -np.inf)
    return np.asarray(weights[int(np.argmax(objective))])


def learn_cremer_x(sets: Sequence[JudgedParts], ridge: float = RIDGE) -> FloatArray:
    """The weights with the highest mean τ less the cost of leaving equal weights of content and support."""
    weights = _grid(3)
    equal = np.array([0.5, 0.5, 0.0])
    objective = np.mean([one.kendall(weights) for one in sets], axis=0)
    objective = objective - ridge * ((weights - equal) ** 2).sum(axis=1)
    return np.asarray(weights[int(np.argmax(objective))])


LEARNERS = {"s-x": learn_s_x, "cremer-x": learn_cremer_x}


def linear_model(
    metric: type[SummaryParts], weights: FloatArray, data: Sequence[str], date: str = ""
) -> LinearModel:
    """Weights as a model file: parts without weight are left out."""
    kept = [place for place, weight in enumerate(weights.tolist()) if weight > 0]
    return LinearModel(
        metric=metric.id, language=ANY_LANGUAGE, features=tuple(metric.part_names[k] for k in kept),
        weights=np.asarray(weights[kept]), means=np.zeros(len(kept)), deviations=np.ones(len(kept)),
        scale=Scale(SIGNED, 1.0, 0.0), groups=tuple(dict.fromkeys(metric.families[k] for k in kept)),
        data=tuple(data), date=date, training={"learner": "grid", "step": 1 / STEP},
    )  # fmt: skip
