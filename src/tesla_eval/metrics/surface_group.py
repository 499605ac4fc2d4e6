"""The group `surface`: what can be seen of two texts without matching n-grams (SPEC §8b)."""

from __future__ import annotations

import threading
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tesla_eval._core import SURFACE_FEATURES, Surfaces, compare_surfaces
from tesla_eval.analysis import AnalysedBatch, Analysis, Vocabulary
from tesla_eval.analysis.batch import GrowingArray, numbers_from
from tesla_eval.analysis.frequencies import WordFrequencies, load_frequencies
from tesla_eval.analysis.tokenisers import compose
from tesla_eval.metrics.feature_groups import FeatureGroup, FloatArray, Index

__all__ = ["SurfaceGroup"]

_HAS_DIGIT, _CAPITALISED = 1, 2  # as in core/matching/surface.h


class SurfaceGroup(FeatureGroup):
    """Content and function words apart, rare words, numbers, names, word order, lengths, punctuation."""

    name = "surface"
    feature_names = SURFACE_FEATURES

    def __init__(self, analysis: Analysis) -> None:
        self._frequencies = load_frequencies(analysis.signature["lang"])
        self._tables: WeakKeyDictionary[Vocabulary, _WordTable] = WeakKeyDictionary()
        self._lock = threading.Lock()

    @property
    def signature(self) -> dict[str, str]:
        """The list of frequencies."""
        return {"frequencies": self._frequencies.fingerprint if self._frequencies else "none"}

    def prepare(self, batch: AnalysedBatch) -> Any:
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
        found = compare_surfaces(reference, hypothesis, reference_index, hypothesis_index)
        if self._frequencies is None:
            found[:, [name.startswith("rare") for name in SURFACE_FEATURES]] = np.nan
        return found

    def explain(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> list[dict[str, Any]]:
        """Each feature with its value."""
        only = np.zeros(1, np.int64)
        values = self.compare(self.prepare(reference), self.prepare(hypothesis), only, only)[0]
        return [
            {"name": name, "value": float(value)}
            for name, value in zip(SURFACE_FEATURES, values, strict=True)
            if not np.isnan(value)
        ]


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
