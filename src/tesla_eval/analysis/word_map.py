"""What somebody else than the analysis knows of word types, by their numbers: each is asked about once a vocabulary."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tesla_eval.analysis.batch import AnalysedBatch, Vocabulary

__all__ = ["GrowingArray", "WordMap", "numbers_from"]

Number = TypeVar("Number", bound=np.generic)


class GrowingArray(Generic[Number]):
    """An array to which more is added again and again, at a cost that on the whole is that of what is added.

    One thread adds at a time; others may read: what they were given stays as it was.

    >>> squares = GrowingArray(np.uint32)
    >>> squares.extend([0, 1]), squares.extend([4])
    (None, None)
    >>> len(squares), squares.values.tolist()
    (3, [0, 1, 4])
    """

    def __init__(self, dtype: type[Number]) -> None:
        self._room: npt.NDArray[Number] = np.empty(0, dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def values(self) -> npt.NDArray[Number]:
        """What was added so far."""
        return self._room[: self._size]

    def extend(self, values: npt.ArrayLike) -> None:
        """Add some more."""
        more = np.asarray(values, self._room.dtype)
        size = self._size + len(more)
        if size > len(self._room):
            room = np.empty(max(size, 2 * len(self._room)), self._room.dtype)
            room[: self._size] = self.values
            self._room = room
        self._room[self._size : size] = more
        self._size = size


class WordMap:
    """The words of analysed texts by numbers of one's own.

    >>> from tesla_eval.analysis import load_pipeline
    >>> (batch,) = load_pipeline("en").analyse(["Two tall trees"])
    >>> WordMap(len).of(batch).tolist()
    [3, 4, 5]
    """

    def __init__(self, number_of: Callable[[str], int]) -> None:
        self._number_of = number_of
        self._known: WeakKeyDictionary[Vocabulary, GrowingArray[np.uint32]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def of(self, batch: AnalysedBatch) -> npt.NDArray[np.uint32]:
        """The number of every word of the batch."""
        with self._lock:
            known = self._known.setdefault(batch.vocabulary, GrowingArray(np.uint32))
            forms = batch.vocabulary.lexicon.forms(numbers_from(len(known), batch.word))
            known.extend([self._number_of(form) for form in forms])
        return known.values[batch.word]


def numbers_from(first: int, used: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """The numbers from `first` to the highest that is used.

    >>> numbers_from(2, np.array([4, 0], np.uint32)).tolist(), numbers_from(0, np.empty(0, np.uint32)).tolist()
    ([2, 3, 4], [])
    """
    return np.arange(first, int(used.max()) + 1 if len(used) else 0, dtype=np.uint32)
