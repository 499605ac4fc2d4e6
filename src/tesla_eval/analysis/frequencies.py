"""Word frequency lists, for features that give rare words more weight than common ones (specification §8b)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from tesla_eval.errors import BuildError
from tesla_eval.resources import Resource, find_resource, read_resource, text_array

__all__ = ["WordFrequencies", "frequency_resource", "load_frequencies"]

KIND = "frequencies"
SHARED_LISTS = {"nn": "no", "sr": "hr"}
"""Languages that use the list of another one: the source counts both together."""

_HIGHEST_ZIPF = 8.0  # log10 of the occurrences in a thousand million words; `the` has 7.7
_STEPS = 25  # per unit of it, so that 8 bits suffice
_WEIGHT_STEPS = 2 * _STEPS  # per unit: a word that is not listed is half a unit rarer than the rarest that is


class WordFrequencies:
    """Words with their weights: 50 times (8 − log10 of the occurrences in a thousand million words).

    Weights are whole numbers, so that their sums are exact: the same to the last bit in whatever order words come.

    >>> en = load_frequencies("en")
    >>> en.weights(["the", "cat", "quaverings"]).tolist()
    [14.0, 160.0, 261.0]
    """

    def __init__(self, resource: Resource) -> None:
        self.fingerprint = resource.fingerprint
        levels = resource.arrays["levels"].astype(np.float64)
        weights = _WEIGHT_STEPS * _HIGHEST_ZIPF - _WEIGHT_STEPS // _STEPS * levels
        self._weights: dict[str, float] = dict(
            zip(resource.text("words").split("\n"), weights.tolist(), strict=True)
        )
        self.unlisted = float(weights.max()) + _WEIGHT_STEPS // 2

    def weights(self, words: Sequence[str]) -> npt.NDArray[np.float64]:
        """The weight of each word, given in small letters."""
        return np.array([self._weights.get(word, self.unlisted) for word in words], np.float64)


def frequency_resource(
    zipf: Mapping[str, float], language: str, *, sources: Sequence[str], licence: str, date: str
) -> Resource:
    """The list to store: words and log10 of their occurrences in a thousand million words."""
    words = sorted(zipf)
    if not words or not all(0 <= zipf[word] <= _HIGHEST_ZIPF for word in words):
        raise BuildError("a frequency list needs words with a level between 0 and 8")
    levels = np.array([round(_STEPS * zipf[word]) for word in words], np.uint8)
    return Resource(
        kind=KIND, language=language, sources=tuple(sources), licence=licence, date=date,
        arrays={"words": text_array("\n".join(words)), "levels": levels}, info={"words": len(words)},
    )  # fmt: skip


@cache
def load_frequencies(language: str) -> WordFrequencies | None:
    """The list of a language, `None` where there is none.

    >>> load_frequencies("nn").fingerprint == load_frequencies("no").fingerprint
    True
    """
    path = find_resource(KIND, language) or find_resource(KIND, SHARED_LISTS.get(language, language))
    return None if path is None else WordFrequencies(read_resource(path, KIND))
