"""The words of paraphrases by their stems, and how many n-grams of them two texts share (specification §13)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.language.analysis import AnalysedBatch
from tesla_eval.language.analysis.batch import WordMap
from tesla_eval.language.analysis.porter import porter_stem
from tesla_eval.matching.kernels import ngram_overlap

LONGEST = 4
"""specification §13: n-grams of one to four words, in one bag."""


class Stems(NamedTuple):
    """The stems of texts as numbers."""

    offsets: Index
    stems: npt.NDArray[np.uint32]


class Stemmer:
    """English words by their Porter stems, those of other languages by their lemmas."""

    def __init__(self, language: str) -> None:
        self._numbers: dict[str, int] = {}
        self._stem_of_word = WordMap(self._number) if language == "en" else None

    def _number(self, form: str) -> int:
        return self._numbers.setdefault(porter_stem(form.lower()), len(self._numbers))

    def of(self, batch: AnalysedBatch) -> Stems:
        """The stems of all words of a batch."""
        stems = batch.lemma if self._stem_of_word is None else self._stem_of_word.of(batch)
        return Stems(batch.offsets, stems)


def shared_and_all(x: Stems, y: Stems, i: Index, j: Index, longest: int) -> tuple[FloatArray, FloatArray]:
    """How many n-grams up to `longest` both texts of each pair have, and how many the two have in all."""
    shared = ngram_overlap(x.offsets, x.stems, y.offsets, y.stems, i, j, longest)
    lengths = np.diff(x.offsets)[i], np.diff(y.offsets)[j]
    totals = sum(np.maximum(length - n, 0) for length in lengths for n in range(longest))
    return np.asarray(shared, np.float64), np.asarray(totals, np.float64)


def overlap(x: Stems, y: Stems, i: Index, j: Index) -> FloatArray:
    """The F1 of the n-grams of each pair of texts, 1 for a copy; NaN where both are empty."""
    shared, totals = shared_and_all(x, y, i, j, LONGEST)
    return np.where(totals > 0, 2 * shared / np.maximum(totals, 1), np.nan)
