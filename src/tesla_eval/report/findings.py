"""Errors at a glance: what the links of a whole test set say about each system.

A word of the reference is lost as far as no link carries it: its weight less similarity × weight of its links. Words
of the hypothesis without a partner are counted the same way, as added.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from tesla_eval.drawing.picture import Picture, picture_of

__all__ = ["CLASSES", "LENGTHS", "Findings", "length_bin"]

CLASSES = ("name", "number", "noun", "verb", "adjective", "adverb", "other")
"""The classes of words that segments can be filtered by; a segment's lost classes are a sum of powers of two."""
_CLASS_OF = {
    "PROPN": "name", "NUM": "number", "NOUN": "noun", "VERB": "verb", "ADJ": "adjective", "ADV": "adverb",
}  # fmt: skip
LENGTHS = (5, 10, 15, 20, 30, 40)
"""Upper ends of the bins of reference lengths, in words."""
_MOST = 40
_EXAMPLES = 8
_LEAST_COST = 0.25
_SHORTEST_UNTRANSLATED = 4


def length_bin(length: int) -> int:
    """The bin of a reference of so many words.

    >>> [length_bin(n) for n in (1, 5, 6, 1000)]
    [0, 0, 1, 6]
    """
    return sum(length > end for end in LENGTHS)


@dataclass
class _Tally:
    """How often something happened, what it cost, and in which segments first."""

    shown: str
    cost: float = 0.0
    count: int = 0
    segments: list[int] = field(default_factory=list)

    def add(self, segment: int, cost: float = 1.0) -> None:
        self.cost += cost
        self.count += 1
        if len(self.segments) < _EXAMPLES and segment not in self.segments[-1:]:
            self.segments.append(segment)

    def to_dict(self) -> dict[str, Any]:
        return {
            "text": self.shown,
            "cost": round(self.cost, 6),
            "count": self.count,
            "segments": self.segments,
        }


class Findings:
    """What is found in the outputs of one system, segment by segment."""

    def __init__(self, universal: Callable[[str], str]) -> None:
        self._universal = universal
        self._tallies: dict[str, dict[str, _Tally]] = {
            name: {} for name in ("lost", "names", "added", "synonyms", "untranslated")
        }
        self._lengths: Counter[tuple[int, str]] = Counter()
        self.classes: list[int] = []
        """For every segment the classes of its lost words."""
        self.reference_lengths: list[int] = []

    def add(self, segment: int, detail: Mapping[str, Any], source: str | None) -> None:
        """Take in the explanation of a segment against one reference."""
        reference, hypothesis = detail.get("reference", ()), detail.get("hypothesis", ())
        self.reference_lengths.append(len(reference))
        picture = picture_of(detail)
        self.classes.append(0 if picture is None else self._add_losses(segment, detail, picture))
        place = length_bin(len(reference))
        self._lengths.update(
            {
                (place, "segments"): 1,
                (place, "reference"): len(reference),
                (place, "hypothesis"): len(hypothesis),
            }
        )
        self._add_untranslated(segment, reference, hypothesis, source)

    def _add_losses(self, segment: int, detail: Mapping[str, Any], picture: Picture) -> int:
        lost_classes = 0
        for place, cost in _uncarried(detail["reference"], [(tie.reference, tie) for tie in picture.ties]):
            for text, lemma, kind in self._described(detail["reference"], place):
                if kind != "function":
                    self._tally("lost", lemma, text).add(segment, cost)
                    lost_classes |= 1 << CLASSES.index(kind)
                if kind in ("name", "number"):
                    self._tally("names", lemma, text).add(segment, cost)
        for place, cost in _uncarried(detail["hypothesis"], [(tie.hypothesis, tie) for tie in picture.ties]):
            for text, lemma, kind in self._described(detail["hypothesis"], place):
                if kind != "function":
                    self._tally("added", lemma, text).add(segment, cost)
        for tie in picture.ties:
            if tie.kind == "synonym":
                pair = [
                    _joined(detail[side][slice(*span)])
                    for side, span in (("reference", tie.reference), ("hypothesis", tie.hypothesis))
                ]
                self._tally("synonyms", "\n".join(pair).casefold(), " → ".join(pair)).add(segment)
        return lost_classes

    def _described(self, tokens: Sequence[Mapping[str, Any]], span: range) -> Iterable[tuple[str, str, str]]:
        """The text, the lemma and the class of the word (or the run of units) that was not carried."""
        first = tokens[span[0]]
        text = _joined([tokens[place] for place in span])
        if not any(c.isalnum() for c in text):
            return
        if first.get("function"):
            yield text, first["lemma"], "function"
        elif "pos" in first:
            kind = _CLASS_OF.get(self._universal(first["pos"]), "other")
            yield text, first["lemma"], "number" if text.isdigit() else kind
        else:
            yield text, text.casefold(), "number" if any(c.isdigit() for c in text) else "other"

    def _add_untranslated(
        self, segment: int, reference: Sequence[Any], hypothesis: Sequence[Any], source: str | None
    ) -> None:
        """Words that stand in the source and not in the reference; words in a script that the reference lacks."""
        expected = {token["surface"].casefold() for token in reference}
        scripts = {script for token in reference for script in _scripts(token["surface"])}
        in_source = set() if source is None else {word.casefold() for word in _words(source)}
        for token in hypothesis:
            word = token["surface"].casefold()
            if word in expected or not word.isalpha():
                continue
            copied = word in in_source and len(word) >= _SHORTEST_UNTRANSLATED and not token.get("function")
            if copied or (scripts and not scripts.intersection(_scripts(word))):
                self._tally("untranslated", word, token["surface"]).add(segment)

    def _tally(self, name: str, key: str, shown: str) -> _Tally:
        return self._tallies[name].setdefault(key, _Tally(shown))

    def to_dict(self) -> dict[str, Any]:
        """The largest of everything, as plain data."""
        tables = {
            name: [tally.to_dict() for tally in sorted(of.values(), key=lambda t: (-t.cost, t.shown))[:_MOST]]
            for name, of in self._tallies.items()
        }
        lengths = [
            {key: self._lengths[place, key] for key in ("segments", "reference", "hypothesis")}
            for place in range(len(LENGTHS) + 1)
        ]
        return {**tables, "lengths": lengths}


def _uncarried(
    tokens: Sequence[Mapping[str, Any]], ties: Sequence[tuple[Any, Any]]
) -> list[tuple[range, float]]:
    """The words that links do not carry wholly, with what is missing; units without a partner as runs."""
    if tokens and "pos" not in tokens[0]:
        matched = {place for span, _ in ties for place in range(*span)}
        alone = [place for place in range(len(tokens)) if place not in matched]
        runs = groupby(enumerate(alone), key=lambda pair: pair[1] - pair[0])
        spans = [[place for _, place in run] for _, run in runs]
        return [(range(places[0], places[-1] + 1), float(len(places))) for places in spans]
    carried, used = [0.0] * len(tokens), [0.0] * len(tokens)
    for span, tie in ties:
        carried[span[0]] += tie.similarity * tie.weight
        used[span[0]] += tie.weight
    costs = []
    for place, token in enumerate(tokens):
        weight = 0.1 if token["function"] else 1.0
        # Weights by frequency may be above 1: then the share that is carried counts.
        cost = weight * (1 - carried[place] / max(weight, used[place]))
        if cost >= _LEAST_COST:
            costs.append((range(place, place + 1), cost))
    return costs


def _joined(tokens: Sequence[Mapping[str, Any]]) -> str:
    parts, end = [], tokens[0]["start"]
    for token in tokens:
        parts += [" " if token["start"] > end else "", token["surface"]]
        end = token["end"]
    return "".join(parts)


def _words(text: str) -> list[str]:
    return "".join(c if c.isalpha() else " " for c in text).split()


def _scripts(word: str) -> set[str]:
    """The scripts of the letters, by the first words of their Unicode names: LATIN, CYRILLIC, CJK …"""
    return {unicodedata.name(c, "?").partition(" ")[0] for c in word if c.isalpha()}
