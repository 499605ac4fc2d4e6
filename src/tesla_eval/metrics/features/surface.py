"""The group `surface`: what two texts show without matching n-grams (specification §8b)."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import Any, ClassVar

import numpy as np

from tesla_eval._core import SURFACE_FEATURES, Surfaces, compare_surfaces
from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.language.analysis import AnalysedBatch, Analysis
from tesla_eval.language.analysis.batch import word_facts
from tesla_eval.language.analysis.frequencies import WordFrequencies, load_frequencies
from tesla_eval.metrics.features import FIRST, BoundGroup, Feature, FeatureGroup, GroupDetail

_LABELS = {
    "content": "content words", "function": "function words", "rareword": "rare words", "rarelemma": "rare words",
    "number": "numbers and names", "capital": "numbers and names", "foreign": "foreign or unknown words",
    "unknown": "foreign or unknown words", "repeated": "repeated words",
    "lcs": "word order", "fragments": "word order", "order": "word order",
    "short": "length", "long": "length", "punct": "punctuation",
}  # fmt: skip
_PENALTIES = frozenset({"fragments", "short", "long", "foreign", "unknown", "repeated"})
_NEEDS_FREQUENCIES = np.array([name.startswith("rare") or name == "unknown" for name in SURFACE_FEATURES])


@dataclass(frozen=True)
class SurfaceGroup(FeatureGroup):
    """Content and function words apart, rare words, numbers, names, word order, lengths, punctuation."""

    name: ClassVar[str] = "surface"

    def bind(self, analysis: Analysis) -> BoundGroup:
        """The group with the language's list of frequencies, if it has one."""
        return _BoundSurface(load_frequencies(analysis.signature["lang"]))


class _BoundSurface(BoundGroup):
    features = tuple(
        Feature(name, SurfaceGroup.name, kind, _LABELS[kind], name, more_is_better=kind not in _PENALTIES)
        for name in SURFACE_FEATURES
        for kind in [name.partition(".")[0]]
    )

    def __init__(self, frequencies: WordFrequencies | None) -> None:
        self._frequencies = frequencies
        self._facts = word_facts(frequencies)

    @property
    def signature(self) -> dict[str, str]:
        return {"frequencies": self._frequencies.fingerprint if self._frequencies else "none"}

    def prepare(self, batch: AnalysedBatch) -> Surfaces:
        """The words of each text in the orders in which they are compared."""
        return Surfaces(batch.composed, batch.core, self._facts[batch.vocabulary])

    def compare(
        self, reference: Any, hypothesis: Any, reference_index: Index, hypothesis_index: Index
    ) -> FloatArray:
        """All features; those of rare words are NaN where the language has no list of frequencies."""
        values = compare_surfaces(reference, hypothesis, reference_index, hypothesis_index)
        if self._frequencies is None:
            values[:, _NEEDS_FREQUENCIES] = np.nan
        return values

    def explain(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> GroupDetail:
        from tesla_eval.base.explanations import ValueDetail  # not before something is explained

        values = self.compare(self.prepare(reference), self.prepare(hypothesis), FIRST, FIRST)[0]
        details = tuple(
            ValueDetail(name=name, value=value)
            for name, value in zip(SURFACE_FEATURES, values.tolist(), strict=True)
            if not isnan(value)
        )
        return GroupDetail(values, details)
