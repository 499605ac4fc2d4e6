"""PEM-X (specification §13): how good is a paraphrase, from 1 to 5, by parts that people can follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval.language.analysis import Analysis, Pipeline
from tesla_eval.metrics.combinations import Combination
from tesla_eval.metrics.feature_metric import FeatureMetric
from tesla_eval.metrics.features import FeatureGroup, unspelled
from tesla_eval_papers.metrics.combinations import ParaphraseModel
from tesla_eval_papers.metrics.features.adequacy import AdequacyGroup, FluencyShareGroup, OverlapGroup
from tesla_eval_papers.models.pem_x import PemXModel, load_pem_x_model


@dataclass(frozen=True)
class CappedByAdequacy(ParaphraseModel):
    """1 + 4 · adequacy · fluency · novelty: each factor is at most 1, so that no score is above its adequacy.

    Novelty falls from 1 to the share of a copy as the overlap rises from `fully_novel` to 1. `model` is a model or its
    file; by default the installed one of the language.
    """

    sections: ClassVar[Mapping[str, str]] = {"model": "§13"}

    model: PemXModel | str | Path | None = unspelled(None)  # noqa: RUF009  # makes a field, which is allowed

    @property
    def loaded(self) -> PemXModel:
        """The model that `load` found."""
        assert isinstance(self.model, PemXModel)
        return self.model

    def load(self, metric: str, analysis: Analysis, own_analysis: bool) -> Combination:
        """With the model for the language; refuses one that was trained with another analysis."""
        assert isinstance(analysis, Pipeline)
        model = load_pem_x_model(analysis.language, analysis.lemma_fingerprint, self.model)
        return replace(self, model=model)

    def choose(self, groups: Sequence[FeatureGroup]) -> Sequence[FeatureGroup]:
        """The groups with the weights and the language model of the model."""
        settings = {AdequacyGroup: self.loaded, FluencyShareGroup: self.loaded.language_model}
        return [
            replace(group, model=settings[type(group)]) if type(group) in settings else group  # type: ignore[type-var]
            for group in groups
        ]

    def score(self, rows: FloatArray) -> FloatArray:
        """The scores of rows of adequacy, fluency and overlap; a part that does not exist counts as 0."""
        model = self.loaded
        adequacy, fluency, overlap = np.clip(np.nan_to_num(rows, nan=0.0), 0.0, 1.0).T
        new = np.minimum(1.0, (1 - overlap) / (1 - model.fully_novel))
        novelty = model.copy_share + (1 - model.copy_share) * new
        return np.asarray(self.lowest + (self.highest - self.lowest) * (adequacy * fluency * novelty))


class PemX(FeatureMetric):
    """PEM-X: the references are originals, the hypotheses their paraphrases.

    >>> metric = PemX(lang="en")
    >>> score = metric.sentence_score("It started raining.", ["It began to rain."])
    >>> sorted(score.features)
    ['adequacy', 'fluency', 'overlap']
    >>> metric.sentence_score("", ["It began to rain."]).score
    1.0
    """

    id: ClassVar[str] = "pem-x"
    summary: ClassVar[str] = "quality of a paraphrase; finds contradictions, never above its adequacy"
    scale: ClassVar[str] = "1..5"
    languages: ClassVar[str] = "en"
    task: ClassVar[str] = "paraphrases"
    groups = (AdequacyGroup(), FluencyShareGroup(), OverlapGroup())
    combination = CappedByAdequacy()
    accepts = frozenset[str]()
