"""Antonyms: a small table of pairs of words with opposite meanings, numbered so that whole batches can be looked up."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

import numpy as np

from tesla_eval.base.arrays import Index
from tesla_eval.base.resources import Kind, Resource, interpreting

ANTONYMS = "antonyms"
_NEGATIVE_PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non")


class AntonymTable:
    """The words that have an antonym, numbered from 1, and the antonyms of each.

    >>> table = load_antonyms("en")
    >>> table.number("hot") > 0, table.number("house")
    (True, 0)
    >>> table.antonyms("unhappy"), table.antonyms("house")
    (('euphoric', 'happy'), ())
    >>> table.is_negative("unhappy"), table.is_negative("happy")
    (True, False)
    """

    def __init__(self, resource: Resource, more: Collection[frozenset[str]] = ()) -> None:
        self.fingerprint = resource.fingerprint
        with interpreting(resource):
            self.words = tuple(resource.text("words").split("\n"))
            first, second = (resource.arrays[name].astype(np.int64).ravel() for name in ("first", "second"))
            if len(first) != len(second) or not len(first):
                raise ValueError("it has no pairs, or the halves of its pairs do not match")
            if min(first.min(), second.min()) < 1 or max(first.max(), second.max()) > len(self.words):
                raise ValueError("a pair names a word that does not exist")
        known = frozenset(self.words)
        self.words = (*self.words, *sorted({word for pair in more for word in pair} - known))
        self._numbers = {word: number for number, word in enumerate(self.words, 1)}
        added = np.array([[self._numbers[word] for word in sorted(pair)] for pair in more], np.int64).reshape(
            -1, 2
        )
        first, second = np.append(first, added[:, 0]), np.append(second, added[:, 1])
        halves = np.concatenate([first, second]), np.concatenate([second, first])
        one, other = np.unique(halves, axis=1)
        self.opposites: Index = other
        """The numbers of all antonyms, word by word."""
        self.ends: Index = np.searchsorted(one, np.arange(len(self.words) + 2))
        """Those of word number n are `opposites[ends[n] : ends[n + 1]]`."""

    def number(self, word: str) -> int:
        """The number of a word in small letters; 0 if it has no antonym."""
        return self._numbers.get(word, 0)

    def antonyms(self, word: str) -> tuple[str, ...]:
        """The antonyms of a word, in alphabetical order."""
        number = self.number(word)
        if not number:
            return ()
        return tuple(
            self.words[other - 1]
            for other in self.opposites[self.ends[number] : self.ends[number + 1]].tolist()
        )

    def is_negative(self, word: str) -> bool:
        """Whether a word negates its antonym, or its stem, by its form: `unhappy`, `useless`."""
        return word.endswith("less") or any(
            word.startswith(_NEGATIVE_PREFIXES) and word.endswith(other) and len(word) - len(other) <= 3
            for other in self.antonyms(word)
        )


@cache
def load_antonyms(language: str, more: frozenset[frozenset[str]] = frozenset()) -> AntonymTable | None:
    """The user's own or the shipped table of a language with more pairs, `None` if it has none."""
    return Kind(ANTONYMS, lambda resource: AntonymTable(resource, more)).load(language)
