"""A metric over existing groups of features: the mean of the F-measures of lemmas, n = 1, 2, 3."""

from tesla_eval import FeatureMetric
from tesla_eval.metrics.combinations import Mean
from tesla_eval.metrics.features.ngrams import NgramGroup


class LemmaF(FeatureMetric):
    """Word n-grams matched by lemma alone."""

    id = "lemma-f"
    groups = (NgramGroup(similarities=("lem",)),)
    combination = Mean()
