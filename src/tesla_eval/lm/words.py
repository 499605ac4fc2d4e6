"""Text as a language model reads it (SPEC §8): lower-cased tokens with punctuation kept, as numbers."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tesla_eval.analysis import AnalysedBatch, Pipeline, Vocabulary

__all__ = [
    "SENTENCE_END",
    "SENTENCE_START",
    "SPECIAL_WORDS",
    "UNKNOWN",
    "WordNumbers",
    "analysis_fingerprint",
    "read_words",
]

UNKNOWN, SENTENCE_START, SENTENCE_END = "<unk>", "<s>", "</s>"
SPECIAL_WORDS = (UNKNOWN, SENTENCE_START, SENTENCE_END)
"""The first words of every vocabulary; the core knows them by their numbers."""

_TOKENS_VERSION = 1  # to be raised when the tokeniser cuts ordinary text in another way


def analysis_fingerprint(pipeline: Pipeline) -> str:
    """What decides which words a model sees: the tokeniser, and what cuts words out of longer ones."""
    parts = {"tokens": str(_TOKENS_VERSION), **pipeline.signature}
    return "|".join(
        f"{name}:{parts[name]}" for name in ("tokens", "lang", "segmenter", "compounds") if name in parts
    )


def read_words(pipeline: Pipeline, chunks: Iterable[Sequence[str]]) -> Iterator[AnalysedBatch]:
    """The texts as a model reads them, a batch a chunk."""
    for chunk in chunks:
        yield pipeline.analyse(chunk, keep_punctuation=True)[0]


class WordNumbers:
    """The numbers that a vocabulary gives to the words of analysed texts; each word type is looked up once."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self._numbers = numbers
        self._known: WeakKeyDictionary[Vocabulary, npt.NDArray[np.uint32]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def of(self, batch: AnalysedBatch) -> npt.NDArray[np.uint32]:
        """The number of every word of the batch; 0 for a word that the vocabulary does not have."""
        if not len(batch.word):
            return np.zeros(0, np.uint32)
        with self._lock:
            known = self._known.get(batch.vocabulary, np.zeros(0, np.uint32))
            if int(batch.word.max()) >= len(known):
                lexicon = batch.vocabulary.lexicon
                forms = lexicon.forms(np.arange(len(known), lexicon.word_count, dtype=np.uint32))
                new = [self._numbers.get(form.lower(), 0) for form in forms]
                known = np.concatenate([known, np.array(new, np.uint32)])
                self._known[batch.vocabulary] = known
        return known[batch.word]
