"""TESLA-X (specification §8b, beyond the papers): words, characters and lengths, weighted as human rankings taught."""

from __future__ import annotations

from typing import ClassVar

from tesla_eval.metrics.combinations import Linear
from tesla_eval.metrics.feature_metric import FeatureMetric
from tesla_eval.metrics.features.guards import GuardGroup
from tesla_eval.metrics.features.lm import FluencyGroup
from tesla_eval.metrics.features.ngrams import CharacterGroup, NgramGroup, SlidingCharacterGroup, TagGroup
from tesla_eval.metrics.features.pivots import PivotGroup
from tesla_eval.metrics.features.surface import SurfaceGroup
from tesla_eval.metrics.features.vectors import VectorGroup

_MEASURES = ("r", "f")
"""Precision adds nothing to recall and F where a year is left out."""


class TeslaX(FeatureMetric):
    """TESLA-X: words, characters, similar words and surface evidence, weighted as human judgements taught.

    Agreement with the reference can only help and penalties can only hurt: a copy of the reference scores 1.

    >>> TeslaX("en").sentence_score("The same text.", ["The same text."]).score
    1.0
    """

    id: ClassVar[str] = "tesla-x"
    groups = (
        NgramGroup(similarities=("syn", "lem"), measures=_MEASURES),
        TagGroup(),
        CharacterGroup(measures=_MEASURES),
        SlidingCharacterGroup(),
        SurfaceGroup(),
        GuardGroup(),
        VectorGroup(measures=_MEASURES),
        FluencyGroup(),
        PivotGroup(measures=_MEASURES),
    )
    combination = Linear()
