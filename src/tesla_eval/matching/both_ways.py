"""All pairs of one set of texts with each unordered pair solved once.

The optimum of a matching problem does not depend on which text is the reference: exchanging the sides exchanges
precision and recall, and only F has to be computed twice. The results equal those of `match_pairs` to the last bit.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from tesla_eval import _core
from tesla_eval.matching.ngrams import RECALL_WEIGHT, Matches

Index = npt.NDArray[np.int64]
_AnyBags = TypeVar("_AnyBags", _core.Bags, _core.PivotBags)


def unordered_pairs(texts: int) -> tuple[Index, Index]:
    """Every pair of texts once, each text with itself too.

    >>> [side.tolist() for side in unordered_pairs(2)]
    [[0, 0, 1], [0, 1, 1]]
    """
    first, second = np.triu_indices(texts)
    return first.astype(np.int64), second.astype(np.int64)


def match_both_ways(
    texts: _AnyBags, first: Index, second: Index, alpha: float = RECALL_WEIGHT
) -> tuple[Matches, Matches]:
    """Match text `first[k]` with text `second[k]`: with the first as reference, then with the second as reference."""
    return _both(_core.match_both_ways(texts, first, second, alpha))


def match_characters_both_ways(
    texts: _core.CharacterBags, first: Index, second: Index, max_order: int, alpha: float = RECALL_WEIGHT
) -> tuple[Matches, Matches]:
    """The same for the characters of texts; the columns are n = 1, 2, ... `max_order`.

    >>> from tesla_eval.matching.bags import build_character_bags
    >>> bags = build_character_bags(["a cab", "ab"])
    >>> forth, back = match_characters_both_ways(bags, np.array([0]), np.array([1]), 2)
    >>> forth.recall.tolist(), back.precision.tolist()
    ([[0.5, 0.3333333333333333]], [[0.5, 0.3333333333333333]])
    """
    return _both(_core.match_characters_both_ways(texts, first, second, max_order, alpha))


def _both(
    measures: tuple[
        npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]
    ],
) -> tuple[Matches, Matches]:
    precision, recall, f, exchanged_f = measures
    return Matches(precision, recall, f), Matches(recall, precision, exchanged_f)
