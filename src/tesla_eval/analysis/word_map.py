"""Numbers for word types that somebody else than the analysis gives: each type is asked about once a vocabulary."""

from __future__ import annotations

import threading
from collections.abc import Callable
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tesla_eval.analysis.batch import AnalysedBatch, Vocabulary

__all__ = ["WordMap"]


class WordMap:
    """The words of analysed texts by numbers of one's own.

    >>> from tesla_eval.analysis import load_pipeline
    >>> (batch,) = load_pipeline("en").analyse(["Two tall trees"])
    >>> WordMap(len).of(batch).tolist()
    [3, 4, 5]
    """

    def __init__(self, number_of: Callable[[str], int]) -> None:
        self._number_of = number_of
        self._known: WeakKeyDictionary[Vocabulary, npt.NDArray[np.uint32]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def of(self, batch: AnalysedBatch) -> npt.NDArray[np.uint32]:
        """The number of every word of the batch."""
        if not len(batch.word):
            return np.zeros(0, np.uint32)
        with self._lock:
            known = self._known.get(batch.vocabulary, np.zeros(0, np.uint32))
            if int(batch.word.max()) >= len(known):
                lexicon = batch.vocabulary.lexicon
                forms = lexicon.forms(np.arange(len(known), lexicon.word_count, dtype=np.uint32))
                known = np.concatenate(
                    [known, np.array([self._number_of(form) for form in forms], np.uint32)]
                )
                self._known[batch.vocabulary] = known
        return known[batch.word]
