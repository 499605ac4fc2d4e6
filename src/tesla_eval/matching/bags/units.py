"""Units of a text (specification §9): characters of unspaced scripts, words of others; the weights of n-grams."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Sequence

import numpy as np

from tesla_eval._core import unit_spans, unit_surfaces
from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import UsageError
from tesla_eval.base.records import Unit
from tesla_eval.language.analysis.compounds import CompoundSplitter
from tesla_eval.language.analysis.tokenisers import checked, compose, raw_offsets, spans_of_words

MAX_UNITS = 5_000
"""The largest number of units of a text that TESLA-CELAB takes."""

NgramWeights = Callable[[Sequence[str]], FloatArray]
"""The paper's m(X): from a text's unit keys to a weight in [0, 1] for every start (row) and length from 1 (column)."""

FUNCTION_UNITS = {
    "ja": frozenset("のにたとてでしはがをなれもすかまらさだやせず"),
    "zh": frozenset(
        "的了着过地得吗呢吧啊们之其而且或和与及以于在从对被把向为是会能可也但因所则若虽这那此该他她它我你您"
    ),
}
"""Characters that in treebanks (Universal Dependencies) belong to function words more often than not."""


def split_units(text: str, *, pre_tokenized: bool = False) -> list[Unit]:
    """The units of `text` with their offsets; `pre_tokenized` takes what white space separates as it is.

    >>> [unit.surface for unit in split_units("ＧＰＴ-4 在 2023年!")]
    ['ＧＰＴ', '-', '4', '在', '2023', '年', '!']
    >>> [(unit.key, unit.start, unit.end) for unit in split_units("Ａ B。", pre_tokenized=True)]
    [('a', 0, 1), ('b。', 2, 4)]
    """
    text = checked(text)
    spans = spans_of_words(text, text.split()) if pre_tokenized else unit_spans(text)
    return [Unit(text[start:end], start, end, _KEYS[text[start:end]]) for start, end in spans]


def unit_keys(text: str, *, pre_tokenized: bool = False) -> list[str]:
    """The keys of the units of `text`: after NFKC and case folding.

    >>> unit_keys("Ａ型，STRASSE")
    ['a', '型', ',', 'strasse']
    """
    text = checked(text)
    return list(map(_KEYS.__getitem__, text.split() if pre_tokenized else unit_surfaces(text)))


class UnitSplitter:
    """Cuts texts into units: characters and words, the parts of compounds, or what white space separates.

    The paper's §5.1: in German the parts of a compound are to the compound what characters are to a Chinese word.

    >>> from tesla_eval.language.analysis.compounds import load_compound_splitter
    >>> UnitSplitter(load_compound_splitter("de")).keys("Regenschirme, bitte")
    ['regen', 'schirme', ',', 'bitte']
    """

    def __init__(self, compounds: CompoundSplitter | None = None, *, pre_tokenized: bool = False) -> None:
        self.pre_tokenized = pre_tokenized
        self._parts = None if compounds is None or pre_tokenized else _CompoundParts(compounds)

    def split(self, text: str) -> list[Unit]:
        """The units of `text` with their offsets."""
        units = split_units(text, pre_tokenized=self.pre_tokenized)
        if self._parts is None:
            return units
        return [
            Unit(unit.surface[start:end], unit.start + start, unit.start + end, key)
            for unit in units
            for key, start, end in self._parts[unit.surface]
        ]

    def keys(self, text: str) -> list[str]:
        """The keys of the units of `text`."""
        if self._parts is None:
            return unit_keys(text, pre_tokenized=self.pre_tokenized)
        return [key for surface in unit_surfaces(checked(text)) for key, _, _ in self._parts[surface]]

    def joined_key(self, word: str) -> str:
        """The key by which the n-gram of all units of `word` is looked up."""
        if self._parts is None and word.isalnum() and unicodedata.is_normalized("NFKC", word):
            folded = word.casefold()
            if folded == word:  # as most words of a dictionary
                return word
        return "".join(self.keys(word))


def discount_units(units: Collection[str], discount: float) -> NgramWeights:
    """The rule that an n-gram weighs `discount` for each of its units that is in `units`, as in specification §2.

    >>> discount_units({"的"}, 0.1)(["我", "的"])[:, :2].tolist()
    [[1.0, 0.1], [0.1, 0.1]]
    """
    if not 0 <= discount <= 1:
        raise UsageError(f"discount {discount!r}: must be between 0 and 1")
    discounted = frozenset(units)

    def weigh(keys: Sequence[str]) -> FloatArray:
        single = np.array([discount if key in discounted else 1.0 for key in keys])
        padded = np.concatenate([single, np.ones(_LONGEST)])
        return np.cumprod([padded[k : k + len(keys)] for k in range(_LONGEST)], axis=0).T

    return weigh


_LONGEST = 8  # the core's longest n-gram
_MOST_KEYS = 1 << 18
_INVISIBLE = dict.fromkeys(
    [*range(0x20), *range(0x7F, 0xA0), 0xAD, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070),
     *range(0xFE00, 0xFE10), 0xFEFF, *range(0xE0000, 0xE1000)]
)  # fmt: skip
"""Characters that the core passes over when it looks for units: they may lie inside one, but are no part of its key."""


class _Keys(dict[str, str]):
    """Surfaces to keys, each computed once; forgets all rather than grow without bound."""

    def __missing__(self, surface: str) -> str:
        if len(self) >= _MOST_KEYS:
            self.clear()
        folded = unicodedata.normalize("NFKC", surface.translate(_INVISIBLE)).casefold()
        key = self[surface] = unicodedata.normalize("NFKC", folded)
        return key


_KEYS = _Keys()

_Part = tuple[str, int, int]
"""Key, start and end of a part within its word."""


class _CompoundParts(dict[str, tuple[_Part, ...]]):
    """Words to their parts, each word split once; letters that only join two parts belong to neither."""

    def __init__(self, splitter: CompoundSplitter) -> None:
        self._splitter = splitter

    def __missing__(self, surface: str) -> tuple[_Part, ...]:
        if len(self) >= _MOST_KEYS:
            self.clear()
        word = compose(surface)
        spans = self._splitter.split(word)
        parts: tuple[_Part, ...] = ((_KEYS[surface], 0, len(surface)),)
        if len(spans) > 1:
            offsets = range(len(word) + 1) if word == surface else raw_offsets(surface).tolist()
            parts = tuple((_KEYS[word[start:end]], offsets[start], offsets[end]) for start, end in spans)
        self[surface] = parts
        return parts
