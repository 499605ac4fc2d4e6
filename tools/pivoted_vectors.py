"""Word vectors for a language without published ones: a word means what its translations mean.

The vector of a lemma is the mean of the vectors of the pivot phrases that a phrase table gives for it, each with its
probability; a phrase has the mean of the vectors of its words, rare words counting more.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tesla_eval.base.errors import BuildError
from tesla_eval.language.analysis.frequencies import WordFrequencies, load_frequencies
from tesla_eval.language.analysis.vectors import WordVectors, load_vectors
from tesla_eval.language.pivot import PhraseTable
from tesla_eval.training.vectors import Embeddings

__all__ = ["pivoted_embeddings"]

_FINE = 2.0**20  # steps per unit: sums of so many of them are exact in any order


def pivoted_embeddings(table: PhraseTable) -> Embeddings:
    """The lemmas of a phrase table with vectors from those of its pivot language.

    >>> from tesla_eval.language.pivot import load_phrase_table
    >>> embeddings = pivoted_embeddings(load_phrase_table("de", "en"))
    >>> "arzt" in embeddings.entries, "Arzt" in embeddings.entries
    (True, False)
    """
    vectors = load_vectors(table.pivot)
    if vectors is None:
        raise BuildError(
            f"there are no word vectors for the pivot language {table.pivot!r}; make them with "
            f"`tesla train vectors -l {table.pivot}`"
        )
    lemmas = [word for word in table.words() if any(map(str.isalpha, word))]
    options = [table.look_up([lemma]) for lemma in lemmas]
    pivot_words = sorted({word for phrases in options for phrase, _ in phrases for word in phrase})
    weighted = _weighted(pivot_words, vectors, load_frequencies(table.pivot))
    number = {word: i for i, word in enumerate(pivot_words)}
    sums = np.zeros((len(lemmas), weighted.shape[1]))
    for row, phrases in enumerate(options):
        for phrase, probability in phrases:
            direction = weighted[[number[word] for word in phrase]].sum(axis=0)
            length = float(np.sqrt(np.square(direction).sum()))
            if length > 0:
                sums[row] += np.rint(_FINE * probability * direction / length)
    usable = np.flatnonzero(np.any(sums != 0, axis=1)).tolist()
    return Embeddings([lemmas[row] for row in usable], (sums[usable] / _FINE).astype(np.float32))


def _weighted(
    words: list[str], vectors: WordVectors, frequencies: WordFrequencies | None
) -> npt.NDArray[np.float64]:
    """The vectors of the words, as long as the words are rare."""
    known = vectors.look_up(words).astype(np.float64)
    length = np.sqrt(np.square(known).sum(axis=1))
    weights = np.ones(len(words)) if frequencies is None else frequencies.weights(words)
    scaled: npt.NDArray[np.float64] = known * (weights / np.maximum(length, 1.0))[:, None]
    return scaled
