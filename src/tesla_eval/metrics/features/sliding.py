"""The group `sliding`: character n-grams that grow with the reference (specification §8b).

In a paragraph nearly all single characters and bigrams of any text find a partner, so that they measure its length.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tesla_eval._core import CharacterBags
from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.language.analysis import AnalysedBatch, Analysis
from tesla_eval.matching import RECALL_WEIGHT, match_characters
from tesla_eval.matching.bags import build_character_bags
from tesla_eval.matching.both_ways import match_characters_both_ways
from tesla_eval.metrics.features import FIRST, BoundGroup, Feature, FeatureGroup, GroupDetail

_ORDERS = 3
_GROWTH = 2
_SHORT, _LONG = 250, 700
"""Characters of the reference, blanks included, between which n-grams become longer by `_GROWTH`."""


@dataclass(frozen=True)
class SlidingCharacterGroup(FeatureGroup):
    """F of n = 1, 2, 3 characters; of n + 2 where the reference is a paragraph; a mean of both between."""

    name: ClassVar[str] = "sliding"

    def bind(self, analysis: Analysis) -> BoundGroup:
        """The characters, whatever the analysis."""
        return _BoundSliding()


class _Texts(NamedTuple):
    bags: CharacterBags
    lengths: Index


class _BoundSliding(BoundGroup):
    features = tuple(
        Feature(f"slide.{n}", SlidingCharacterGroup.name, "slide", "characters", "slide")
        for n in range(1, _ORDERS + 1)
    )

    def prepare(self, batch: AnalysedBatch) -> _Texts:
        """The characters of each text, and their number."""
        return _Texts(build_character_bags(batch), np.array([len(text) for text in batch.composed], np.int64))

    def compare(
        self, reference: Any, hypothesis: Any, reference_index: Index, hypothesis_index: Index
    ) -> FloatArray:
        matches = match_characters(
            reference.bags,
            hypothesis.bags,
            reference_index,
            hypothesis_index,
            _ORDERS + _GROWTH,
            RECALL_WEIGHT,
        )
        return _slid(matches.f, reference.lengths[reference_index])

    def compare_both_ways(self, texts: Any, first: Index, second: Index) -> tuple[FloatArray, FloatArray]:
        forth, back = match_characters_both_ways(texts.bags, first, second, _ORDERS + _GROWTH, RECALL_WEIGHT)
        return _slid(forth.f, texts.lengths[first]), _slid(back.f, texts.lengths[second])

    def explain(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> GroupDetail:
        from tesla_eval.base.explanations import ValueDetail  # not before something is explained

        values = self.compare(self.prepare(reference), self.prepare(hypothesis), FIRST, FIRST)[0]
        named = zip(self.features, values.tolist(), strict=True)
        return GroupDetail(
            values, tuple(ValueDetail(name=one.name, value=value) for one, value in named if not isnan(value))
        )


def _slid(f: FloatArray, lengths: Index) -> FloatArray:
    """F of n-grams whose order depends on the length of the reference; exactly 1 where all orders have 1."""
    short, long = f[:, :_ORDERS], f[:, _GROWTH:]
    share = np.clip((lengths - _SHORT) / (_LONG - _SHORT), 0.0, 1.0)[:, None]
    return np.where(share > 0, short + share * (long - short), short)
