"""TESLA-X (specification §8b, beyond the papers): words, characters and lengths, weighted as human rankings taught."""

from __future__ import annotations

from typing import ClassVar

from tesla_eval.metrics.combinations import Linear
from tesla_eval.metrics.feature_metric import FeatureMetric
from tesla_eval.metrics.groups import MEASURES
from tesla_eval.metrics.groups.lm import FluencyGroup
from tesla_eval.metrics.groups.ngrams import CharacterGroup, NgramGroup
from tesla_eval.metrics.groups.pivots import PivotGroup
from tesla_eval.metrics.groups.surface import SurfaceGroup
from tesla_eval.metrics.groups.vectors import VectorGroup

__all__ = ["TeslaX"]


class TeslaX(FeatureMetric):
    """TESLA-X: precision, recall and F of word and character n-grams in one ranking model."""

    id: ClassVar[str] = "tesla-x"
    groups = (
        NgramGroup(similarities=("syn", "lem"), measures=MEASURES),
        CharacterGroup(),
        SurfaceGroup(),
        VectorGroup(),
        FluencyGroup(),
        PivotGroup(measures=MEASURES),
    )
    combination = Linear()
