"""Lists of word frequencies: rare words weigh more (specification §8b)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from tesla_eval._core import WordWeights
from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.resources import Kind, Resource, interpreting

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
    lists = Kind(KIND, WordFrequencies)
    return lists.load(language) or lists.load(SHARED_LISTS.get(language, language))
