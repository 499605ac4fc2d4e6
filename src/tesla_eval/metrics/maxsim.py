"""MaxSim, TESLA's predecessor (Chan and Ng 2008), as far as the papers describe it (specification §3, §4)."""

from __future__ import annotations

from typing import ClassVar

from tesla_eval.metrics.combinations import Mean
from tesla_eval.metrics.feature_metric import FeatureMetric
from tesla_eval.metrics.features.ngrams import NgramGroup


class MaxSim(FeatureMetric):
    """MaxSim: maximum bipartite matching of n-grams, each of weight 1, by lemma, synonym and part of speech.

    >>> round(MaxSim("en").sentence_score("The cats sat on a mat.", ["The cat sat on the mat."]).score, 4)
    0.9111
    """

    id: ClassVar[str] = "maxsim"
    groups = (NgramGroup(similarities=("ms",), discount=1.0),)
    combination = Mean()
