"""TESLA-M (specification §5): the mean of six F-measures, n = 1, 2, 3 under the similarities `ms` and `pos`."""

from __future__ import annotations

from typing import ClassVar

from tesla_eval.metrics.combinations import Mean
from tesla_eval.metrics.feature_metric import FeatureMetric
from tesla_eval.metrics.features.ngrams import NgramGroup


class TeslaM(FeatureMetric):
    """TESLA-M: word n-grams matched by lemma, synonym and part of speech.

    >>> metric = TeslaM(lang="en")
    >>> round(metric.sentence_score("The cats sat on a mat.", ["The cat sat on the mat."]).score, 4)
    0.6495
    >>> metric.sentence_score("The same text.", ["The same text."]).score
    1.0
    """

    id: ClassVar[str] = "tesla-m"
    groups = (NgramGroup(),)
    combination = Mean()
