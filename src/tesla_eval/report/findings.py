"""Errors at a glance: what the links of a whole test set say about each system.

A word of the reference is lost as far as no link carries it: its weight less similarity × weight of its links. Words
of the hypothesis without a partner are counted the same way, as added.
"""

from __future__ import annotations

import math
import unicodedata
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from typing import Any

from tesla_eval.base.records import Span
from tesla_eval.drawing.picture import Tie, ties_of
from tesla_eval.language.analysis.frequencies import WordFrequencies
from tesla_eval.matching.bags.ngram_bags import FUNCTION_WORD_DISCOUNT

CLASSES = (
    "name", "number", "noun", "verb", "adjective", "adverb", "other", "untranslated", "dropped", "inserted", "repeated",
)  # fmt: skip
"""What segments can be filtered by, lost words first; what a segment has is a sum of powers of two."""
_CLASS_OF = {
    "PROPN": "name", "NUM": "number", "NOUN": "noun", "VERB": "verb", "ADJ": "adjective", "ADV": "adverb",
}  # fmt: skip
WORD_CLASSES = (*CLASSES[:7], "function")
"""What words are told apart by."""
LENGTHS = (5, 10, 15, 20, 30, 40)
"""Upper ends of the bins of reference lengths, in words."""
_MOST = 40
_EXAMPLES = 8
_LEAST_COST = 0.25
_SHORTEST_UNTRANSLATED = 4
_SHORTEST_RUN = {"word": 4, "unit": 6}
"""From how many words or characters on a stretch without any match counts as dropped or inserted."""
_LONGEST_REPETITION = 4


def word_places(tokens: Sequence[Mapping[str, Any]], universal: Callable[[str], str]) -> list[int]:
    """For each word where it begins and ends in its text, and the place of its class in `WORD_CLASSES`, in one list."""
    return [
        value
        for token in tokens
        for value in (token["start"], token["end"], WORD_CLASSES.index(_class_of(token, universal)))
    ]


def _class_of(token: Mapping[str, Any], universal: Callable[[str], str]) -> str:
    if token.get("function"):
        return "function"
    if "pos" not in token:
        return "number" if any(c.isdigit() for c in token["surface"]) else "other"
    return "number" if token["surface"].isdigit() else _CLASS_OF.get(universal(token["pos"]), "other")


@dataclass
class _Tally:
    """What something cost, and how it was written first in each segment; segments come in any order."""

    forms: dict[int, str] = field(default_factory=dict)
    costs: list[float] = field(default_factory=list)

    def add(self, segment: int, form: str, cost: float = 1.0) -> None:
        self.forms.setdefault(segment, form)
        self.costs.append(cost)


class Findings:
    """What is found in the outputs of one system, segment by segment."""

    def __init__(
        self, universal: Callable[[str], str], segments: int, known_words: WordFrequencies | None = None
    ) -> None:
        self._universal = universal
        self._known_words = known_words
        """Words of the outputs' language."""
        self._tallies: dict[str, defaultdict[str, _Tally]] = {
            name: defaultdict(_Tally)
            for name in (
                "names", "numbers", "untranslated", "dropped", "inserted", "repeated", "lost", "added", "synonyms",
            )
        }  # fmt: skip
        self._occurrences: Counter[str] = Counter()
        """How often each content word stands in the references."""
        self._lengths: Counter[tuple[int, str]] = Counter()
        self.classes = [0] * segments
        """For every segment the classes of its lost words."""
        self.losses: list[list[int]] = [[] for _ in range(segments)]
        """For every segment the places of lost words, each followed by its cost in percent."""
        self.reference_lengths = [0] * segments

    def add(self, segment: int, detail: Mapping[str, Any], source: str | None) -> None:
        """Take in the explanation of a segment against one reference; segments come in any order."""
        reference, hypothesis = detail.get("reference", ()), detail.get("hypothesis", ())
        self.reference_lengths[segment] = len(reference)
        ties = ties_of(detail)
        if ties is not None:
            self._add_losses(segment, detail, ties)
        place = bisect_left(LENGTHS, len(reference))
        self._lengths.update(
            {
                (place, "segments"): 1,
                (place, "reference"): len(reference),
                (place, "hypothesis"): len(hypothesis),
            }
        )
        self._occurrences.update(token["lemma"] for token in reference if token.get("function") is False)
        self._add_untranslated(segment, reference, hypothesis, source)
        self._add_repetitions(segment, reference, hypothesis)

    def _add_losses(self, segment: int, detail: Mapping[str, Any], ties: Sequence[Tie]) -> None:
        for side, what in (("reference", "lost"), ("hypothesis", "added")):
            tokens = detail[side]
            for place, cost in _uncarried(tokens, [(getattr(tie, side), tie) for tie in ties]):
                if what == "lost":
                    share = round(100 * cost / len(place))
                    self.losses[segment] += [number for lost in place for number in (lost, share)]
                text = _joined([tokens[k] for k in place])  # of a word, or of a run of units
                if not any(c.isalnum() for c in text):
                    continue
                lemma = tokens[place[0]].get("lemma", text.casefold())
                kind = _class_of({**tokens[place[0]], "surface": text}, self._universal)
                if kind != "function":
                    self._tallies[what][lemma].add(segment, text, cost)
                if what == "lost" and kind != "function":
                    self.classes[segment] |= 1 << CLASSES.index(kind)
                if what == "lost" and kind in ("name", "number"):
                    self._tallies[f"{kind}s"][lemma].add(segment, text, cost)
        for tie in ties:
            if tie.kind == "synonym":
                pair = [
                    _joined(detail[side][slice(*span)])
                    for side, span in (("reference", tie.reference), ("hypothesis", tie.hypothesis))
                ]
                self._tallies["synonyms"]["\n".join(pair).casefold()].add(segment, " → ".join(pair))
        sides = detail["reference"], detail["hypothesis"]
        self._add_stretches(segment, "dropped", *sides, [tie.reference for tie in ties])
        self._add_stretches(segment, "inserted", *sides[::-1], [tie.hypothesis for tie in ties])

    def _add_stretches(
        self, segment: int, kind: str, tokens: Sequence[Any], others: Sequence[Any], spans: Iterable[Span]
    ) -> None:
        """Long stretches of one text without any match, if it is longer than the other by as much as half of them."""
        least = _SHORTEST_RUN["word" if tokens and "pos" in tokens[0] else "unit"]
        matched = {place for span in spans for place in range(*span)}
        for run in _runs(place for place in range(len(tokens)) if place not in matched):
            if len(run) >= least and 2 * (len(tokens) - len(others)) >= len(run):
                text = _joined([tokens[place] for place in run])
                self._add_kind(segment, kind, text.casefold(), text)

    def _add_repetitions(self, segment: int, reference: Sequence[Any], hypothesis: Sequence[Any]) -> None:
        """Words that follow themselves at once, alone or as a group, where the reference does not repeat them."""
        words = [token["surface"].casefold() for token in hypothesis]
        if len(set(words)) == len(words):
            return
        expected = [token["surface"].casefold() for token in reference]
        for n in range(1, _LONGEST_REPETITION + 1):
            for start in [k for k, (x, y) in enumerate(zip(words, words[n:], strict=False)) if x == y]:
                group = words[start : start + n]
                if group != words[start + n : start + 2 * n] or not all(map(str.isalpha, group)):
                    continue
                if any(len(word) > 1 for word in group) and not _has_run(expected, group * 2):
                    self._add_kind(
                        segment, "repeated", " ".join(group), _joined(hypothesis[start : start + 2 * n])
                    )

    def _add_kind(self, segment: int, kind: str, key: str, text: str) -> None:
        self._tallies[kind][key].add(segment, text)
        self.classes[segment] |= 1 << CLASSES.index(kind)

    def _add_untranslated(
        self, segment: int, reference: Sequence[Any], hypothesis: Sequence[Any], source: str | None
    ) -> None:
        """Words of the source that neither reference nor language has; words in a script the reference lacks."""
        expected, scripts = _reference_words(tuple(token["surface"] for token in reference))
        in_source = set() if source is None else {word.casefold() for word in _words(source)}
        for token in hypothesis:
            word = token["surface"].casefold()
            if word in expected or not word.isalpha():
                continue
            copied = word in in_source and len(word) >= _SHORTEST_UNTRANSLATED and not token.get("function")
            if copied and self._known_words is not None:  # German and English share `warm`
                copied = token["surface"].lower() not in self._known_words
            if copied or (scripts and not scripts.intersection(_scripts(word))):
                self._add_kind(segment, "untranslated", word, token["surface"])

    def to_dict(self) -> dict[str, Any]:
        """The largest of everything, as plain data; `totals` has the number of cases and of segments of each kind."""
        tables: dict[str, Any] = {}
        for name, tallies in self._tallies.items():
            costs = {key: round(math.fsum(tally.costs), 6) for key, tally in tallies.items()}
            # Words that are common and mostly right, such as "said", come last.
            ranks = {
                key: -costs[key]
                * (len(tally.costs) / max(len(tally.costs), self._occurrences[key]) if name == "lost" else 1)
                for key, tally in tallies.items()
            }
            chosen = sorted(tallies, key=lambda key: (ranks[key], key))[:_MOST]
            tables[name] = [
                {"text": forms[min(forms)], "cost": costs[key], "count": len(tallies[key].costs),
                 "segments": sorted(forms)[:_EXAMPLES]}
                for key in chosen for forms in [tallies[key].forms]
            ]  # fmt: skip
        tables["totals"] = {
            name: {
                "count": sum(len(tally.costs) for tally in tallies.values()),
                "segments": len({segment for tally in tallies.values() for segment in tally.forms}),
            }
            for name, tallies in self._tallies.items()
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
        return [(run, float(len(run))) for run in _runs(k for k in range(len(tokens)) if k not in matched)]
    carried, used = [0.0] * len(tokens), [0.0] * len(tokens)
    for span, tie in ties:
        carried[span[0]] += tie.similarity * tie.weight
        used[span[0]] += tie.weight
    costs = []
    for place, token in enumerate(tokens):
        weight = FUNCTION_WORD_DISCOUNT if token["function"] else 1.0
        # Weights by frequency may be above 1: then the share that is carried counts.
        cost = weight * (1 - carried[place] / max(weight, used[place]))
        if cost >= _LEAST_COST:
            costs.append((range(place, place + 1), cost))
    return costs


def _runs(places: Iterable[int]) -> list[range]:
    """Ascending places as stretches without a gap.

    >>> _runs([1, 2, 5])
    [range(1, 3), range(5, 6)]
    """
    groups = groupby(enumerate(places), key=lambda pair: pair[1] - pair[0])
    runs = [[place for _, place in group] for _, group in groups]
    return [range(run[0], run[-1] + 1) for run in runs]


def _has_run(words: list[str], run: list[str]) -> bool:
    """Whether these words follow each other somewhere.

    >>> _has_run(["the", "hello"], ["he", "he"]), _has_run(["he", "he"], ["he", "he"])
    (False, True)
    """
    return any(words[start : start + len(run)] == run for start in range(len(words) - len(run) + 1))


def _joined(tokens: Sequence[Mapping[str, Any]]) -> str:
    parts, end = [], tokens[0]["start"]
    for token in tokens:
        parts += [" " if token["start"] > end else "", token["surface"]]
        end = token["end"]
    return "".join(parts)


def _words(text: str) -> list[str]:
    return "".join(c if c.isalpha() else " " for c in text).split()


@lru_cache(maxsize=16)
def _reference_words(surfaces: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """The words of a reference and their scripts: the same for the outputs of all systems."""
    scripts = frozenset(script for surface in surfaces for script in _scripts(surface))
    return frozenset(map(str.casefold, surfaces)), scripts


@lru_cache(maxsize=1 << 16)
def _scripts(word: str) -> set[str]:
    """The scripts of the letters, by the first words of their Unicode names: LATIN, CYRILLIC, CJK …"""
    return {unicodedata.name(c, "?").partition(" ")[0] for c in word if c.isalpha()}
