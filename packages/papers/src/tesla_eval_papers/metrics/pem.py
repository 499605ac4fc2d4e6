"""PEM (specification §13): how good is a paraphrase, from 1 to 5, given adequacy, fluency and dissimilarity."""

from __future__ import annotations

from typing import ClassVar

from tesla_eval.language.analysis import Analyser, Analysis, Pipeline, load_stems
from tesla_eval.metrics.feature_metric import FeatureMetric
from tesla_eval_papers.metrics.combinations import Regression
from tesla_eval_papers.metrics.features.paraphrases import ParaphraseGroup


class Pem(FeatureMetric):
    """PEM: the references are originals, the hypotheses their paraphrases.

    >>> metric = Pem(lang="en")
    >>> score = metric.sentence_score("It began to rain.", ["It started raining."])
    >>> sorted(score.features)
    ['adequacy', 'dissimilarity', 'fluency']
    >>> metric.sentence_score("", ["It started raining."]).score
    1.0
    """

    id: ClassVar[str] = "pem"
    summary: ClassVar[str] = "quality of a paraphrase"
    scale: ClassVar[str] = "1..5"
    languages: ClassVar[str] = "en"
    groups = (ParaphraseGroup(),)
    combination = Regression()
    accepts = frozenset[str]()
    ignores = frozenset({"senses"})
    shortcomings: ClassVar[list[str]] = []
    """It needs no tags and no synonyms."""

    def make_analysis(
        self, lang: str, analyser: Analyser | Pipeline | None, synonyms: str | None
    ) -> Analysis:
        """Stems and punctuation."""
        return load_stems(lang)
