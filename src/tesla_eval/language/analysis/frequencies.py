"""Lists of word frequencies: rare words weigh more (specification §8b), and compounds are split (specification §1).

The parts of a compound are those with the highest geometric mean of frequencies (Koehn & Knight 2003). Frequencies are
kept as hundredths of their decimal logarithm, whole numbers, so that means are compared exactly. Letters that only
join two parts (the s of Aktion-s-plan) belong to neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from tesla_eval._core import WordWeights
from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.identity import name_of
from tesla_eval.base.resources import Resource, find_resource, interpreting, read_resource

KIND = "frequencies"
SHARED_LISTS = {"nn": "no", "sr": "hr"}
"""Languages that use the list of another language, because the source counts both together."""

HIGHEST_ZIPF = 8.0  # log10 of the occurrences in a thousand million words; `the` has 7.7
STEPS = 25  # per unit of it, so that 8 bits suffice
_WEIGHT_STEPS = 2 * STEPS  # per unit: a word that is not listed is half a unit rarer than the rarest that is


class WordFrequencies:
    """Words with their weights: 50 times (8 − log10 of the occurrences in a thousand million words).

    Weights are whole numbers, so that their sums are exact: the same to the last bit in whatever order words come.

    >>> en = load_frequencies("en")
    >>> en.weights(["the", "cat", "quaverings"]).tolist(), "cat" in en, "quaverings" in en
    ([14.0, 160.0, 261.0], True, False)
    """

    def __init__(self, resource: Resource) -> None:
        self.fingerprint = resource.fingerprint
        with interpreting(resource):
            levels = resource.arrays["levels"].ravel().astype(np.uint8, casting="safe")
            weights = _WEIGHT_STEPS * HIGHEST_ZIPF - _WEIGHT_STEPS // STEPS * levels.astype(np.float64)
            self.unlisted = float(weights.max(initial=0.0)) + _WEIGHT_STEPS // 2
            self.core = WordWeights(resource.text("words"), weights, self.unlisted)

    def weights(self, words: Sequence[str]) -> FloatArray:
        """The weight of each word, given in small letters."""
        return self.core.of(words)

    def __contains__(self, word: str) -> bool:
        """Whether the list has a word, given in small letters."""
        return float(self.weights([word])[0]) < self.unlisted


@cache
def load_frequencies(language: str) -> WordFrequencies | None:
    """The list of a language, `None` if it has none.

    >>> load_frequencies("nn").fingerprint == load_frequencies("no").fingerprint
    True
    """
    path = find_resource(KIND, language) or find_resource(KIND, SHARED_LISTS.get(language, language))
    return None if path is None else WordFrequencies(read_resource(path, KIND))


COMPOUNDS = "compounds"
SHORTEST_PART = 3  # specification §1
FILLERS = ("", "e", "n", "s", "en", "er", "es")  # specification §1; "" first: ties drop nothing
_LONGEST_WORD = 80  # code points: longer words are hostile, and the search takes the square of the length

Span = tuple[int, int]


class _Tail(NamedTuple):
    """The best way to cut the rest of a word into a given number of parts."""

    level: int
    end: int
    next_start: int


class CompoundSplitter:
    """Splits words into parts that a list of frequencies (as levels, see above) knows.

    >>> levels = {"aktion": 479, "plan": 487, "akt": 416, "ion": 335, "aktionsplan": 330}
    >>> CompoundSplitter(levels).split("Aktionsplan"), CompoundSplitter(levels).split("Aktion")
    (((0, 6), (7, 11)), ((0, 6),))
    """

    def __init__(
        self, levels: Mapping[str, int], fillers: Sequence[str] = FILLERS, fingerprint: str = ""
    ) -> None:
        self.fingerprint = fingerprint or name_of((levels, fillers))
        self._levels = levels
        self._fillers = tuple(fillers)
        self._longest = max(map(len, levels), default=0)

    @classmethod
    def from_resource(cls, resource: Resource) -> CompoundSplitter:
        """The splitter of a stored list."""
        with interpreting(resource):
            words, levels = resource.text("words").split("\n"), resource.arrays["levels"].ravel().tolist()
            fillers = resource.info.get("fillers", FILLERS)
            return cls(dict(zip(words, levels, strict=True)), fillers, resource.fingerprint)

    def split(self, word: str) -> tuple[Span, ...]:
        """The spans of the parts, in code points; a word that is not split is one span.

        Of equal means the one with fewer parts wins, then the longer first part, then fewer dropped letters.
        """
        text = word.lower()
        whole = ((0, len(word)),)
        if len(text) != len(word) or not 2 * SHORTEST_PART <= len(word) <= _LONGEST_WORD:
            return whole
        tails = self._tails(text)
        parts = 0
        for count, tail in sorted(tails[0].items()):
            if not parts or tail.level * parts > tails[0][parts].level * count:
                parts = count
        return tuple(_spans(tails, parts)) or whole

    def _tails(self, text: str) -> list[dict[int, _Tail]]:
        """For every position, by number of parts, the best way to cut the text from there to its end."""
        tails: list[dict[int, _Tail]] = [{} for _ in range(len(text) + 1)]
        for start in range(len(text) - SHORTEST_PART, -1, -1):
            best = tails[start]
            # Longer first parts and fewer dropped letters come first and keep their place on equal terms.
            for end in range(min(len(text), start + self._longest), start + SHORTEST_PART - 1, -1):
                level = self._levels.get(text[start:end])
                if level is None:
                    continue
                if end == len(text):
                    best[1] = _Tail(level, end, end)
                    continue
                for filler in self._fillers:
                    if text.startswith(filler, end):
                        next_start = end + len(filler)
                        for parts, tail in tails[next_start].items():
                            if parts + 1 not in best or level + tail.level > best[parts + 1].level:
                                best[parts + 1] = _Tail(level + tail.level, end, next_start)
        return tails


def _spans(tails: list[dict[int, _Tail]], parts: int) -> Iterator[Span]:
    start = 0
    for left in range(parts, 0, -1):
        tail = tails[start][left]
        yield start, tail.end
        start = tail.next_start


def load_compound_splitter(language: str) -> CompoundSplitter | None:
    """The splitter of a language that has a list, `None` for the others."""
    path = find_resource(COMPOUNDS, language)
    return None if path is None else CompoundSplitter.from_resource(read_resource(path, COMPOUNDS))
