"""The group `guards`: penalties that added and repeated words, other numbers and negations cannot avoid (§8b)."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import Any, ClassVar

import numpy as np

from tesla_eval._core import GUARD_FEATURES, Guards, compare_guards
from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.language.analysis import AnalysedBatch, Analysis
from tesla_eval.language.analysis.critical_words import CriticalWords
from tesla_eval.metrics.features import FIRST, BoundGroup, Feature, FeatureGroup, GroupDetail

_LABELS = {
    "padding": "added words", "insertion": "added words", "surplus": "added words", "digression": "added words",
    "disorder": "word order", "stutter": "repeated words", "numbers": "numbers and names", "negation": "negation",
}  # fmt: skip
_NEGATION = GUARD_FEATURES.index("negation")


@dataclass(frozen=True)
class GuardGroup(FeatureGroup):
    """Words beyond the reference's, repetitions, broken order, numbers and negations that differ: 0 for a copy."""

    name: ClassVar[str] = "guards"

    def bind(self, analysis: Analysis) -> BoundGroup:
        """The group with the language's lists of negations and number words, if it has any."""
        return _BoundGuards(CriticalWords(analysis.signature["lang"]))


class _BoundGuards(BoundGroup):
    features = tuple(
        Feature(name, GuardGroup.name, name, _LABELS[name], name, more_is_better=False)
        for name in GUARD_FEATURES
    )

    def __init__(self, words: CriticalWords) -> None:
        self._words = words

    def prepare(self, batch: AnalysedBatch) -> Guards:
        """The words, numbers and negations of each text."""
        words = self._words
        return Guards(
            batch.offsets, batch.lemma, batch.function, words.numbers(batch), words.negations(batch)
        )

    def compare(
        self, reference: Any, hypothesis: Any, reference_index: Index, hypothesis_index: Index
    ) -> FloatArray:
        """All features; `negation` is NaN where the language has no list of negations."""
        values = compare_guards(reference, hypothesis, reference_index, hypothesis_index)
        if not self._words.knows_negations:
            values[:, _NEGATION] = np.nan
        return values

    def explain(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> GroupDetail:
        from tesla_eval.base.explanations import ValueDetail  # not before something is explained

        values = self.compare(self.prepare(reference), self.prepare(hypothesis), FIRST, FIRST)[0]
        details = tuple(
            ValueDetail(name=name, value=value)
            for name, value in zip(GUARD_FEATURES, values.tolist(), strict=True)
            if not isnan(value)
        )
        return GroupDetail(values, details)
