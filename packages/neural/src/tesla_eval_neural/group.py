"""Pieces of words matched by their states in context, as a group of features (specification §8c)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.language.analysis import AnalysedBatch, Analysis
from tesla_eval.matching.kernels import STATE_PROBLEMS, StateTexts, explain_states, match_states
from tesla_eval.matching.matcher import RECALL_WEIGHT
from tesla_eval.metrics.features import FIRST, BoundGroup, Feature, FeatureGroup, GroupDetail, fixed
from tesla_eval.metrics.features.measures import MEASURES, measured_features
from tesla_eval_neural.encoder import Encoder, load_encoder
from tesla_eval_neural.kinds import PIECE_WEIGHTS

if TYPE_CHECKING:
    from tesla_eval.base.explanations import FeatureDetail, MatchDetail

__all__ = [
    "MEAN",
    "THRESHOLD",
    "BoundContext",
    "ContextGroup",
    "f_measure",
]

THRESHOLD = 0.3
"""Similarities up to it are worth nothing to the flow, as with word vectors (specification §8b)."""
MEAN = "ctx.mean"
_PAIR, _FLOW = "ctx.pair", "ctx.flow"
_NO_WORD = -1
_WEIGHTS = np.array(PIECE_WEIGHTS, np.uint32)
_SIMILARITY_UNIT, _GAIN_UNIT = 1 << 16, 16  # as in core/matching/states.cpp


def f_measure(precision: FloatArray, recall: FloatArray, alpha: float) -> FloatArray:
    """F of precision and recall (specification §4); 0 where one of them is 0, NaN where one does not exist.

    >>> f_measure(np.array([1.0, 0.5, 0.0, 1.0]), np.array([1.0, 0.5, 0.5, 0.5]), 0.8).round(4).tolist()
    [1.0, 0.5, 0.0, 0.5556]
    """
    weighted = recall + alpha * (precision - recall)
    return np.divide(precision * recall, weighted, out=np.zeros_like(weighted), where=~(weighted <= 0))


@dataclass(frozen=True)
class ContextGroup(FeatureGroup):
    """Pieces in their context: best partners of pieces and of neighbours, the exact flow, the mean states."""

    name: ClassVar[str] = "context"

    alpha: float = fixed(RECALL_WEIGHT)
    encoder: str | None = fixed(None)
    """The file of the encoder; by default the installed one of the language."""

    def bind(self, analysis: Analysis) -> BoundGroup:
        """The group over the language's encoder; an error says how to make one for a language that has none."""
        return BoundContext(load_encoder(analysis.signature["lang"], self.encoder), self)


class BoundContext(BoundGroup):
    """The group with its encoder."""

    def __init__(self, encoder: Encoder, declared: ContextGroup) -> None:
        self.encoder, self._declared = encoder, declared
        label, group = "words in context", ContextGroup.name
        problems = [Feature(name, group, name, label, "ctx") for name in STATE_PROBLEMS]
        mean = Feature(MEAN, group, MEAN, "mean states", MEAN)
        self.features = (*measured_features(problems, MEASURES), mean)

    @cached_property
    def signature(self) -> dict[str, str]:
        """The encoder."""
        return {"encoder": self.encoder.fingerprint}

    def prepare(self, batch: AnalysedBatch) -> StateTexts:
        """The states of the texts of a batch."""
        return self.encoder.prepare(batch.texts)

    def compare(
        self, reference: StateTexts, hypothesis: StateTexts, reference_index: Index, hypothesis_index: Index
    ) -> FloatArray:
        """Precision, recall and F of every problem, and the cosine of the mean states."""
        return self._columns(*self._match(reference, hypothesis, reference_index, hypothesis_index))

    def compare_both_ways(
        self, texts: StateTexts, first: Index, second: Index
    ) -> tuple[FloatArray, FloatArray]:
        """Each pair is matched once: precision and recall change places when the sides do."""
        precision, recall, cosine = self._match(texts, texts, first, second)
        return self._columns(precision, recall, cosine), self._columns(recall, precision, cosine)

    def _match(
        self, reference: StateTexts, hypothesis: StateTexts, i: Index, j: Index
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        return match_states(reference, hypothesis, i, j, _WEIGHTS, THRESHOLD)

    def _columns(self, precision: FloatArray, recall: FloatArray, cosine: FloatArray) -> FloatArray:
        f = f_measure(precision, recall, self._declared.alpha)
        return np.concatenate([precision, recall, f, cosine[:, None]], axis=1)

    def explain(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> GroupDetail:
        """Precision, recall and F of each problem; the flow between words, of which each may have several pieces."""
        from tesla_eval.base.explanations import (  # not before something is explained
            MeasuredDetail,
            ValueDetail,
        )

        x, y = self.prepare(reference), self.prepare(hypothesis)
        precision, recall, cosine = self._match(x, y, FIRST, FIRST)
        values = self._columns(precision, recall, cosine)[0]
        details: list[FeatureDetail] = []
        count = len(STATE_PROBLEMS)
        for k, name in enumerate(STATE_PROBLEMS):
            p, r, f = (float(values[measure * count + k]) for measure in range(3))
            if isnan(p):
                continue
            if name == _FLOW:
                flow = self._flow((reference, hypothesis), (x, y), (p, r, f))
                details.insert(0, flow)  # what is drawn comes first
            else:
                size = 2 if name == _PAIR else 1
                details.append(
                    MeasuredDetail(name=name, similarity="ctx", n=size, precision=p, recall=r, f=f)
                )
        if not isnan(cosine[0]):
            details.append(ValueDetail(name=MEAN, value=float(cosine[0])))
        return GroupDetail(values, tuple(details))

    def _flow(
        self,
        batches: tuple[AnalysedBatch, AnalysedBatch],
        texts: tuple[StateTexts, StateTexts],
        measures: tuple[float, float, float],
    ) -> MatchDetail:
        from tesla_eval.base.explanations import Link, MatchDetail  # not before something is explained

        x, y = (self._words(batch) for batch in batches)
        joined: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
        objective = 0.0
        for i, j, similarity, gain in explain_states(*texts, THRESHOLD).tolist():
            objective += gain / _GAIN_UNIT
            if min(x[i], y[j]) == _NO_WORD:
                continue
            entry = joined[x[i], y[j]]
            entry[0] += similarity / _SIMILARITY_UNIT
            entry[1] += 1.0
        precision, recall, f = measures
        return MatchDetail(
            name=_FLOW, similarity="ctx", n=1, precision=precision, recall=recall, f=f,
            objective=objective, reference_weight=float(len(x)),
            hypothesis_weight=float(len(y)),
            flow=tuple(
                Link((i, i + 1), (j, j + 1), min(similarity / weight, 1.0), weight)
                for (i, j), (similarity, weight) in sorted(joined.items())
            ),
        )  # fmt: skip

    def _words(self, batch: AnalysedBatch) -> list[int]:
        """For each piece of the only text the token that it begins in; punctuation is no token."""
        starts = np.array([start for start, _ in self.encoder.pieces(batch.texts[0]).spans], np.int64)
        places = np.searchsorted(batch.start, starts, side="right") - 1
        ends = np.append(batch.end.astype(np.int64), 0)  # the last for a piece before the first token
        words: list[int] = np.where(starts < ends[places], places, _NO_WORD).tolist()
        return words
