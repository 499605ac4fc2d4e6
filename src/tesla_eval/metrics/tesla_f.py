"""TESLA-F (specification §8): TESLA-M's features, pivots and a language model, weighted as human rankings taught."""

from __future__ import annotations

from typing import ClassVar

from tesla_eval.metrics.combinations import LinearWithLanguageModels
from tesla_eval.metrics.feature_metric import FeatureMetric
from tesla_eval.metrics.features.lm import LanguageModelGroup
from tesla_eval.metrics.features.ngrams import NgramGroup
from tesla_eval.metrics.features.pivots import PivotGroup


class TeslaF(FeatureMetric):
    """TESLA-F: the linear combination of TESLA-B's F-measures and a language model that agrees best with rankings.

    The score is scaled so that the smallest possible value is 0 and the largest 1; `scaled=False` gives the raw score
    of the ranking model. The weights say which language models are features.
    """

    id: ClassVar[str] = "tesla-f"
    groups = (NgramGroup(), PivotGroup(), LanguageModelGroup())
    combination = LinearWithLanguageModels()
