"""The group `surface`: what two texts show without matching n-grams (specification §8b)."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from math import isnan
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from tesla_eval._core import SURFACE_FEATURES, Surfaces, compare_surfaces
from tesla_eval.analysis import AnalysedBatch, Analysis, Vocabulary
from tesla_eval.analysis.batch import GrowingArray, numbers_from
from tesla_eval.analysis.frequencies import WordFrequencies, load_frequencies
from tesla_eval.analysis.tokenisers import compose
from tesla_eval.arrays import FloatArray, Index
from tesla_eval.metrics.groups import FIRST, BoundGroup, Feature, FeatureGroup, GroupDetail
from tesla_eval.records import ValueDetail

__all__ = ["SurfaceGroup"]

_HAS_DIGIT, _CAPITALISED = 1, 2  # as in core/matching/surface.h

_LABELS = {
    "content": "content words", "function": "function words", "rareword": "rare words", "rarelemma": "rare words",
    "number": "numbers and names", "capital": "numbers and names", "foreign": "foreign letters",
    "lcs": "word order", "fragments": "word order", "order": "word order", "chunks": "word order",
    "length": "length", "punct": "punctuation",
}  # fmt: skip
_PENALTIES = frozenset({"fragments", "chunks", "length", "foreign"})
_NEEDS_FREQUENCIES = np.array([name.startswith("rare") for name in SURFACE_FEATURES])


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
        self._tables: WeakKeyDictionary[Vocabulary, _WordTable] = WeakKeyDictionary()
        self._lock = threading.Lock()

    @property
    def signature(self) -> dict[str, str]:
        return {"frequencies": self._frequencies.fingerprint if self._frequencies else "none"}

    def prepare(self, batch: AnalysedBatch) -> Surfaces:
        """The words of each text in the orders in which they are compared."""
        with self._lock:
            table = self._tables.setdefault(batch.vocabulary, _WordTable(batch.vocabulary, self._frequencies))
            table.learn(batch)
        return Surfaces(
            [compose(text) for text in batch.texts], batch.offsets, table.folded.values[batch.word], batch.lemma,
            batch.function, table.shape.values[batch.word], table.word_weight.values[batch.word],
            table.lemma_weight.values[batch.lemma],
        )  # fmt: skip

    def compare(
        self, reference: Any, hypothesis: Any, reference_index: Index, hypothesis_index: Index
    ) -> FloatArray:
        """All features; those of rare words are NaN where the language has no list of frequencies."""
        values = compare_surfaces(reference, hypothesis, reference_index, hypothesis_index)
        if self._frequencies is None:
            values[:, _NEEDS_FREQUENCIES] = np.nan
        return values

    def explain(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> GroupDetail:
        values = self.compare(self.prepare(reference), self.prepare(hypothesis), FIRST, FIRST)[0]
        details = tuple(
            ValueDetail(name=name, value=value)
            for name, value in zip(SURFACE_FEATURES, values.tolist(), strict=True)
            if not isnan(value)
        )
        return GroupDetail(values, details)


class _WordTable:
    """What is known of the words of a vocabulary, by number: every word is looked at once, when it is first met."""

    def __init__(self, vocabulary: Vocabulary, frequencies: WordFrequencies | None) -> None:
        self._lexicon = vocabulary.lexicon
        self._frequencies = frequencies
        self._first_with: dict[str, int] = {}
        self.folded = GrowingArray(np.uint32)
        """The number of the first word that is the same but for capitals."""
        self.shape = GrowingArray(np.uint8)
        self.word_weight = GrowingArray(np.float64)
        self.lemma_weight = GrowingArray(np.float64)

    def learn(self, batch: AnalysedBatch) -> None:
        """Take in the words of a batch that are new."""
        words = numbers_from(len(self.shape), batch.word)
        forms = self._lexicon.forms(words)
        lowered = [form.lower() for form in forms]
        self.folded.extend(list(map(self._first_with.setdefault, lowered, words.tolist())))
        self.shape.extend([_shape(form) for form in forms])
        self.word_weight.extend(self._weights(lowered))
        lemmas = numbers_from(len(self.lemma_weight), batch.lemma)
        self.lemma_weight.extend(self._weights(self._lexicon.lemmas(lemmas)))

    def _weights(self, words: list[str]) -> FloatArray:
        return np.ones(len(words)) if self._frequencies is None else self._frequencies.weights(words)


def _shape(form: str) -> int:
    has_digit = not form.isalpha() and any(map(str.isdigit, form))  # most words are letters alone
    return _HAS_DIGIT * has_digit + _CAPITALISED * form[:1].isupper()
