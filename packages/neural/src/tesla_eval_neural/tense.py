"""The tenses of finite verbs, as a group of one feature (specification §8c): states in context hardly show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.language.analysis import AnalysedBatch, Analysis
from tesla_eval.metrics.features import FIRST, BoundGroup, Feature, FeatureGroup, GroupDetail

__all__ = ["TENSE", "TenseGroup"]

TENSE = "tense"
_TENSES = {"VBD": 0, "VBZ": 1, "VBP": 1, "MD": 2}
"""Past, present, and the modals, which make the future; tags of other words have no tense."""
_COUNT = 3


@dataclass(frozen=True)
class TenseGroup(FeatureGroup):
    """By how much the shares of past, present and modal verbs differ: 0 for a copy, 1 if they have none in common."""

    name: ClassVar[str] = TENSE

    def bind(self, analysis: Analysis) -> BoundGroup | None:
        """The group for English, whose tags tell the tense."""
        return _BoundTense() if analysis.signature["lang"] == "en" else None


class _BoundTense(BoundGroup):
    features = (Feature(TENSE, TENSE, TENSE, "tense", TENSE, more_is_better=False),)

    def prepare(self, batch: AnalysedBatch) -> Index:
        """How many finite verbs of each tense every text has."""
        tense_of = np.array([_TENSES.get(tag, _COUNT) for tag in batch.vocabulary.tags], np.int64)
        text = np.repeat(np.arange(len(batch)), batch.lengths)
        places = text * (_COUNT + 1) + tense_of[batch.tag]
        counts = np.bincount(places, minlength=len(batch) * (_COUNT + 1))
        return counts.reshape(len(batch), _COUNT + 1)[:, :_COUNT].astype(np.int64)

    def compare(
        self, reference: Index, hypothesis: Index, reference_index: Index, hypothesis_index: Index
    ) -> FloatArray:
        """Half the sum of the differences of the shares; 1 where only one text has a finite verb, 0 where none has."""
        x, y = reference[reference_index], hypothesis[hypothesis_index]
        verbs_of_x, verbs_of_y = x.sum(axis=1), y.sum(axis=1)
        differences = np.abs(x * verbs_of_y[:, None] - y * verbs_of_x[:, None]).sum(axis=1)
        shared = verbs_of_x * verbs_of_y
        values = np.where(shared, differences / np.maximum(2 * shared, 1), verbs_of_x != verbs_of_y)
        return np.asarray(values[:, None])

    def explain(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> GroupDetail:
        """The value."""
        from tesla_eval.base.explanations import ValueDetail  # not before something is explained

        row = self.compare(self.prepare(reference), self.prepare(hypothesis), FIRST, FIRST)[0]
        return GroupDetail(row, (ValueDetail(name=TENSE, value=float(row[0])),))
