"""Units of a text (SPEC §9): characters of unspaced scripts, words of others; and what n-grams of them weigh."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tesla_eval._core import unit_spans, unit_surfaces
from tesla_eval.errors import UsageError

__all__ = ["FUNCTION_UNITS", "NgramWeights", "Unit", "discount_units", "split_units", "unit_keys"]

NgramWeights = Callable[[Sequence[str]], npt.NDArray[np.float64]]
"""The paper's m(X): from a text's unit keys to a weight in [0, 1] for every start (row) and length from 1 (column)."""

FUNCTION_UNITS = {
    "ja": frozenset("のにたとてでしはがをなれもすかまらさだやせず"),
    "zh": frozenset(
        "的了着过地得吗呢吧啊们之其而且或和与及以于在从对被把向为是会能可也但因所则若虽这那此该他她它我你您"
    ),
}
"""Characters that in treebanks (Universal Dependencies) belong to function words more often than not."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit: as it stands in the raw text, and the key by which units are compared."""

    surface: str
    start: int
    end: int
    key: str

    def to_dict(self) -> dict[str, object]:
        """The unit as SPEC §17 writes tokens."""
        return {"surface": self.surface, "start": self.start, "end": self.end, "key": self.key}


def split_units(text: str, *, pre_tokenized: bool = False) -> list[Unit]:
    """The units of `text` with their offsets; `pre_tokenized` takes what white space separates as it is.

    >>> [unit.surface for unit in split_units("ＧＰＴ-4 在 2023年!")]
    ['ＧＰＴ', '-', '4', '在', '2023', '年', '!']
    >>> [(unit.key, unit.start, unit.end) for unit in split_units("Ａ B。", pre_tokenized=True)]
    [('a', 0, 1), ('b。', 2, 4)]
    """
    spans = _word_spans(text) if pre_tokenized else unit_spans(text)
    return [Unit(text[start:end], start, end, _KEYS[text[start:end]]) for start, end in spans]


def unit_keys(text: str, *, pre_tokenized: bool = False) -> list[str]:
    """The keys of the units of `text`: after NFKC and case folding.

    >>> unit_keys("Ａ型，STRASSE")
    ['a', '型', ',', 'strasse']
    """
    return list(map(_KEYS.__getitem__, text.split() if pre_tokenized else unit_surfaces(text)))


def discount_units(units: Collection[str], discount: float) -> NgramWeights:
    """The rule that an n-gram weighs `discount` for each of its units that is in `units`, as in SPEC §2.

    >>> discount_units({"的"}, 0.1)(["我", "的"])[:, :2].tolist()
    [[1.0, 0.1], [0.1, 0.1]]
    """
    if not 0 <= discount <= 1:
        raise UsageError(f"discount {discount!r}: must be between 0 and 1")
    discounted = frozenset(units)

    def weigh(keys: Sequence[str]) -> npt.NDArray[np.float64]:
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


def _word_spans(text: str) -> list[tuple[int, int]]:
    spans = []
    end = 0
    for word in text.split():
        start = text.index(word, end)
        end = start + len(word)
        spans.append((start, end))
    return spans
