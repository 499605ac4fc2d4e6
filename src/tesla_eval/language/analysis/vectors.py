"""Word vectors: find words with nearly the same meaning (specification §8b, `vec`), for features that match them.

A table holds whole words (made from fastText, GloVe or word2vec files) or WordPieces (made from the input embeddings of
a BERT model), each with a vector of 8-bit numbers. A word of several pieces has the mean of their unit vectors.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from tesla_eval import _core
from tesla_eval._core import CharacterMap
from tesla_eval.base.resources import Kind, Resource, interpreting
from tesla_eval.language.analysis.batch import CAPITAL_SIGMA, AnalysedBatch, PerVocabulary, word_facts
from tesla_eval.language.analysis.frequencies import WordFrequencies

KIND = "vectors"
_IDEOGRAPH = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ffff]")


class WordVectors:
    """The vectors of one language's words.

    >>> load_vectors("en").look_up(["arrested", "%"]).any(axis=1).tolist()
    [True, False]
    """

    def __init__(self, resource: Resource) -> None:
        info, arrays = resource.info, resource.arrays
        with interpreting(resource, "table of vectors"):
            in_pieces = info["segmentation"] == "wordpiece"
            self.prepared, self.as_entries = _as_entries(bool(info["strip_accents"]), in_pieces)
            vectors = arrays["vectors"]
            if vectors.ndim != 2 or vectors.dtype != np.int8:
                raise ValueError("the vectors have an invalid shape or type")
            flat = np.ascontiguousarray(vectors).reshape(-1)
            self.core = _core.VectorTable(arrays["entries"], flat, vectors.shape[1], in_pieces)
        self.fingerprint = resource.fingerprint

    def __len__(self) -> int:
        return len(self.core)

    def look_up(self, words: Sequence[str]) -> npt.NDArray[np.int8]:
        """One row per word; a row of zeros for a word that has no vector."""
        return self.core.look_up([self.prepared(word) for word in words])


@cache
def _as_entries(strips_accents: bool, in_pieces: bool) -> tuple[Callable[[str], str], CharacterMap]:
    """Words as a table is asked for them: in lower case; for pieces, with spaces where BERT cuts first.

    BERT leaves out signs, and ideographs stand alone.
    """

    def prepared(word: str) -> str:
        word = word.lower()
        if word.isascii() and word.isalnum():  # most words
            return word
        if strips_accents and not word.isascii():
            word = strip_accents(word)
        if not in_pieces:
            return word
        spaced = "".join(c if c.isalnum() or c.isspace() else " " for c in word)
        return _IDEOGRAPH.sub(r" \g<0> ", spaced)

    return prepared, CharacterMap(lambda c: (None if c == CAPITAL_SIGMA else prepared(c), 0), prepared)


def strip_accents(word: str) -> str:
    """The word without accents, as BERT's uncased models read it.

    >>> strip_accents("café")
    'cafe'
    """
    return "".join(c for c in unicodedata.normalize("NFD", word) if unicodedata.category(c) != "Mn")


@cache
def load_vectors(language: str) -> WordVectors | None:
    """The table of a language, read once per process; `None` if it has no table.

    >>> load_vectors("und") is None
    True
    """
    return Kind(KIND, WordVectors).load(language)


class WordsWithVectors:
    """The words of analysed texts with their vectors and weights; every word type is looked up once.

    A table of whole words is also asked for the lemma of a word that it does not have. Weights are 64ths of 8 − log10
    of a word's occurrences in a thousand million words.
    """

    def __init__(self, vectors: WordVectors, frequencies: WordFrequencies | None) -> None:
        self.signature = {
            "vectors": vectors.fingerprint,
            "frequencies": frequencies.fingerprint if frequencies else "none",
        }
        facts = word_facts(frequencies)
        self.core = PerVocabulary(
            lambda vocabulary: _core.WordVectors(vectors.core, vectors.as_entries, facts[vocabulary])
        )

    def of(
        self, batch: AnalysedBatch
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.int8]]:
        """For each token the number of its lower-cased form, its weight, and its vector or zeros."""
        return self.core[batch.vocabulary].of(batch.core)

    def prepare(self, batch: AnalysedBatch) -> _core.VectorTexts:
        """The texts of a batch, prepared for any number of matches."""
        return _core.VectorTexts(batch.core, self.core[batch.vocabulary])
