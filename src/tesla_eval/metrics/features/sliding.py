"""The group `sliding`: character n-grams that grow with the reference (specification §8b).

In a paragraph nearly all single characters and bigrams of any text find a partner, so that they measure its length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tesla_eval import _core
from tesla_eval.language.analysis import Analysis
from tesla_eval.matching.ngrams import RECALL_WEIGHT
from tesla_eval.metrics.features import BoundGroup, CoreGroup, Feature, FeatureGroup

_ORDERS = 3
_GROWTH = 2
_SHORT, _LONG = 250, 700
"""Characters of the reference, blanks included, between which n-grams become longer by `_GROWTH`."""


_GROUP = "sliding"
_FEATURES = tuple(
    Feature(f"slide.{n}", _GROUP, "slide", "characters", "slide") for n in range(1, _ORDERS + 1)
)


@dataclass(frozen=True)
class SlidingCharacterGroup(FeatureGroup):
    """F of n = 1, 2, 3 characters; of n + 2 where the reference is a paragraph; a mean of both between."""

    name: ClassVar[str] = _GROUP

    def bind(self, analysis: Analysis) -> BoundGroup:
        """The characters, whatever the analysis."""
        group = _core.SlidingGroup(_ORDERS, _GROWTH, _SHORT, _LONG, RECALL_WEIGHT)
        return CoreGroup(lambda _: group, _FEATURES)
