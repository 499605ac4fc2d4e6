"""Words as vectors: which words mean nearly the same (specification §8b, `vec`), for features that match them.

A table holds whole words (made from fastText, GloVe or word2vec files) or WordPieces (made from the input embeddings of
a BERT model), each with a vector of 8-bit numbers. A word of several pieces has the mean of their unit vectors.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from tesla_eval._core import NO_VECTOR, CharacterMap, Lexicon, VectorTable
from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import ResourceError
from tesla_eval.base.resources import Resource, find_resource, read_resource
from tesla_eval.language.analysis.batch import (
    AnalysedBatch,
    GrowingArray,
    PerVocabulary,
    WordTable,
    changed_alone,
    numbers_from,
    word_tables,
)
from tesla_eval.language.analysis.frequencies import WordFrequencies

__all__ = ["KIND", "VectorTokens", "WordVectors", "WordsWithVectors", "load_vectors", "strip_accents"]

KIND = "vectors"
_WEIGHT_UNIT = 64  # specification §8b: weights of words are 64ths
_WEIGHT_STEPS = 50  # `WordFrequencies.weights` counts 50 for a factor of ten
_IDEOGRAPHS = (("\u3400", "\u4dbf"), ("\u4e00", "\u9fff"), ("\uf900", "\ufaff"), ("\U00020000", "\U0002ffff"))

VectorRows = tuple[npt.NDArray[np.int8], npt.NDArray[np.uint32], npt.NDArray[np.uint32]]


class WordVectors:
    """The vectors of one language's words.

    >>> en = load_vectors("en")
    >>> en.dimensions, en.pieces("detainees")
    (64, ('detainees',))
    >>> round(en.cosine("arrested", "detained"), 2), en.cosine("arrested", "%")
    (0.62, 0.0)
    """

    def __init__(self, resource: Resource) -> None:
        name = resource.path or f"{KIND}-{resource.language}"
        info, arrays = resource.info, resource.arrays
        try:
            self.uses_pieces = info["segmentation"] == "wordpiece"
            self._prepared, self._characters = _as_entries(bool(info["strip_accents"]), self.uses_pieces)
            vectors = arrays["vectors"]
            if vectors.ndim != 2 or vectors.dtype != np.int8:
                raise ValueError("the vectors have an invalid shape or type")
            self.dimensions = int(vectors.shape[1])
            self._all_entries = resource.text("entries")
            self._table = VectorTable(
                arrays["entries"],
                np.ascontiguousarray(vectors).reshape(-1),
                self.dimensions,
                self.uses_pieces,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ResourceError(f"{name}: is not a sound table of vectors ({error}); rebuild it") from error
        self.fingerprint = resource.fingerprint

    def __len__(self) -> int:
        return len(self._table)

    def look_up(self, words: Sequence[str]) -> npt.NDArray[np.int8]:
        """One row per word; a row of zeros for a word that has no vector."""
        return self._table.look_up([self._prepared(word) for word in words])

    def word_rows(self, lexicon: Lexicon, words: npt.NDArray[np.uint32], first: int) -> VectorRows:
        """The vectors of words that have one, the row of every word (from `first` on), the squares of the lengths."""
        return self._table.word_rows(self._characters, lexicon, words, first)

    def lemma_rows(self, lexicon: Lexicon, lemmas: npt.NDArray[np.uint32], first: int) -> VectorRows:
        """The same for lemmas."""
        return self._table.lemma_rows(self._characters, lexicon, lemmas, first)

    @cached_property
    def _entries(self) -> list[str]:
        return self._all_entries.split("\n")

    def pieces(self, word: str) -> tuple[str, ...]:
        """The entries that a word is made of."""
        return tuple(self._entries[number] for number in self._table.segment(self._prepared(word)))

    def cosine(self, x: str, y: str) -> float:
        """The cosine of the vectors of two words, 0 where one has none."""
        a, b = self.look_up([x, y]).astype(np.int64)
        squares = int(a @ a) * int(b @ b)
        return int(a @ b) / float(np.sqrt(squares)) if squares else 0.0


@cache
def _as_entries(strips_accents: bool, in_pieces: bool) -> tuple[Callable[[str], str], CharacterMap]:
    """Words as a table is asked for them: in lower case; for pieces, with spaces where BERT cuts first."""

    def prepared(word: str) -> str:
        word = word.lower()
        if word.isascii() and word.isalnum():  # most words
            return word
        if strips_accents:
            word = strip_accents(word)
        return "".join(map(_apart, word)) if in_pieces else word

    return prepared, CharacterMap(lambda character: (changed_alone(character, prepared), 0), prepared)


def _apart(character: str) -> str:
    """A character of a word with spaces where BERT cuts: signs are left out, ideographs stand alone."""
    if not (character.isalnum() or character.isspace()):
        return " "
    is_ideograph = any(first <= character <= last for first, last in _IDEOGRAPHS)
    return f" {character} " if is_ideograph else character


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
    path = find_resource(KIND, language)
    return None if path is None else WordVectors(read_resource(path, KIND))


@dataclass(frozen=True)
class VectorTokens:
    """What the matching by vectors needs of every token of a batch."""

    word: npt.NDArray[np.uint32]
    """Equal numbers: the same form in lower case."""
    row: npt.NDArray[np.uint32]
    """The vector in `matrix`, or `NO_VECTOR`."""
    weight: npt.NDArray[np.uint32]
    """How much the word tells, in 64ths: 8 − log10 of its occurrences in a thousand million words."""
    matrix: npt.NDArray[np.int8]
    """All vectors one after the other."""
    squares: npt.NDArray[np.uint32]
    """The square of the length of each vector."""
    dimensions: int

    @property
    def total_weights(self) -> float:
        """The sum of the weights of all tokens."""
        return int(self.weight.sum()) / _WEIGHT_UNIT


class WordsWithVectors:
    """The words of analysed texts with their vectors and weights; every word type is looked up once.

    A table of whole words is also asked for the lemma of a word that it does not have.
    """

    def __init__(self, vectors: WordVectors, frequencies: WordFrequencies | None) -> None:
        self.vectors = vectors
        self._tables = PerVocabulary(lambda _: _VectorsOfWords(vectors, weighted=frequencies is not None))
        self._words = word_tables(frequencies)

    def of(self, batch: AnalysedBatch) -> VectorTokens:
        """The arrays for the tokens of a batch."""
        with self._words.lock:
            words = self._words[batch.vocabulary]
            words.learn(batch)
        with self._tables.lock:  # the arrays must belong together
            table = self._tables[batch.vocabulary]
            table.learn(batch, words)
            return table.tokens(batch, words)


class _VectorsOfWords:
    """The vectors and weights of the words of a vocabulary, by number."""

    def __init__(self, vectors: WordVectors, *, weighted: bool) -> None:
        self._vectors, self._weighted = vectors, weighted
        self.word_row = GrowingArray(np.uint32)
        self.lemma_row = GrowingArray(np.uint32)
        self.weight = GrowingArray(np.uint32)
        self.matrix = GrowingArray(np.int8)
        self.squares = GrowingArray(np.uint32)

    def learn(self, batch: AnalysedBatch, words: WordTable) -> None:
        """Take in the words of a batch that are new; `words` knows them already."""
        lexicon = batch.vocabulary.lexicon
        known = len(self.weight)
        new = numbers_from(known, batch.word)
        if len(new):
            folded = words.folded.values[new]
            first = folded == new  # capitals change no vector: each form in small letters is looked up once
            rows = np.zeros(len(new), np.uint32)
            rows[first] = self._rows(self._vectors.word_rows(lexicon, new[first], len(self.squares)))
            self.word_row.put(known, rows)
            self.word_row.values[new] = self.word_row.values[folded]
            self.weight.put(
                known, self._weights(words.word_weight.values[new])
            )  # the last, which counts the words
        lemmas = numbers_from(len(self.lemma_row), batch.lemma)
        if len(lemmas) and not self._vectors.uses_pieces:
            self.lemma_row.extend(self._rows(self._vectors.lemma_rows(lexicon, lemmas, len(self.squares))))

    def tokens(self, batch: AnalysedBatch, words: WordTable) -> VectorTokens:
        """The arrays for the tokens of a batch that was learned."""
        row = self.word_row.values.take(batch.word)
        if not self._vectors.uses_pieces:
            row = np.where(row == NO_VECTOR, self.lemma_row.values.take(batch.lemma), row)
        return VectorTokens(
            words.folded.values.take(batch.word), row, self.weight.values.take(batch.word), self.matrix.values,
            self.squares.values, self._vectors.dimensions,
        )  # fmt: skip

    def _rows(self, looked_up: VectorRows) -> npt.NDArray[np.uint32]:
        """Take in the vectors of words; where each lies."""
        vectors, rows, squares = looked_up
        self.matrix.put(self._vectors.dimensions * len(self.squares), vectors)
        self.squares.extend(squares)  # the last, which counts the vectors
        return rows

    def _weights(self, weights: FloatArray) -> npt.NDArray[np.uint32]:
        """The weights of words by their frequencies, in 64ths."""
        if not self._weighted:
            return np.full(len(weights), _WEIGHT_UNIT, np.uint32)
        return np.maximum(np.rint(_WEIGHT_UNIT / _WEIGHT_STEPS * weights), 1).astype(np.uint32)
