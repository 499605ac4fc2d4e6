"""Compounds are split into their parts by a list of word frequencies (specification §1).

The parts of a compound are those with the highest geometric mean of frequencies (Koehn & Knight 2003). Frequencies are
kept as hundredths of their decimal logarithm, whole numbers, so that means are compared exactly. Letters that only
join two parts (the s of Aktion-s-plan) belong to neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tesla_eval.base.identity import name_of
from tesla_eval.base.resources import Kind, Resource, interpreting

KIND = "compounds"
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
    return Kind(KIND, CompoundSplitter.from_resource).load(language)
