"""TESLA-S (specification §10): a summary's content by unigrams and skip bigrams of equal words; the best of models."""

from __future__ import annotations

from typing import ClassVar

from tesla_eval.metrics.combinations import BestModel
from tesla_eval.metrics.feature_metric import FeatureMetric
from tesla_eval.metrics.features.ngrams import SkipBigramGroup


class TeslaS(FeatureMetric):
    """TESLA-S: how much of a model summary's content a summary has.

    >>> metric = TeslaS(lang="en")
    >>> models = ["The judge ordered Stiviano to pay.", "Stiviano must pay back $2.6 million."]
    >>> score = metric.sentence_score("A judge has ordered Stiviano to pay back the money.", models)
    >>> {name: round(value, 4) for name, value in score.features.items()}, round(score.score, 4)
    ({'s.1': 0.9052, 's.skip': 0.7771}, 0.8411)
    """

    id: ClassVar[str] = "tesla-s"
    groups = (SkipBigramGroup(),)
    combination = BestModel()
    accepts = frozenset({"analyser", "segmenter"})  # equal words only: synonyms play no part
    ignores = frozenset({"lemmas", "senses"})

    @property
    def shortcomings(self) -> list[str]:
        """Without a tagger every word weighs the same."""
        return [] if self.analysis.tagged else ["no tagger, so function words weigh as much as others"]


class TeslaSRecall(TeslaS):
    """TESLA-S's recall as a score of its own: F with α = 1, the mean of both recalls, the best of several models.

    >>> round(TeslaSRecall().sentence_score("A judge has ordered it.", ["The judge ordered it."]).score, 4)
    0.9028
    """

    id: ClassVar[str] = "tesla-s-recall"
    groups = (SkipBigramGroup(alpha=1.0),)
