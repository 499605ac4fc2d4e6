"""TESLA-B (specification §7): TESLA-M's features and, for every pivot language, six F-measures of pivot n-grams."""

from __future__ import annotations

from typing import ClassVar

from tesla_eval.metrics.combinations import HalvedMean
from tesla_eval.metrics.feature_metric import FeatureMetric
from tesla_eval.metrics.features.ngrams import NgramGroup
from tesla_eval.metrics.features.pivots import PivotGroup


class TeslaB(FeatureMetric):
    """TESLA-B: TESLA-M, and what two texts have in common when they are looked at in other languages.

    `pivots` are codes of languages with an installed phrase table, or tables; by default all that are installed.

    >>> metric = TeslaB(lang="en", pivots=["fr"])
    >>> metric.sentence_score("The same text.", ["The same text."]).score
    1.0
    """

    id: ClassVar[str] = "tesla-b"
    groups = (NgramGroup(), PivotGroup())
    combination = HalvedMean()
