"""How PEM and PEM-X combine their features: models that give a score from 1 to 5 (specification §13)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import ResourceError
from tesla_eval.language.analysis import Analysis, Pipeline
from tesla_eval.metrics.combinations import Combination, Layout
from tesla_eval.metrics.features import BoundGroup, FeatureGroup, unspelled
from tesla_eval_papers.models.pem_x import PemXModel
from tesla_eval_papers.models.svr import PemModel, load_pem_model


class ParaphraseModel(Combination):
    """From 1 to 5, by a model that was trained with the groups as they are declared (specification §13)."""

    lowest: ClassVar[float] = 1.0
    highest: ClassVar[float] = 5.0
    equal_texts: ClassVar[float] = 1.0
    fixes_groups: ClassVar[bool] = True

    @property
    @abstractmethod
    def loaded(self) -> PemModel | PemXModel:
        """The model that `load` found."""

    @property
    def signature(self) -> dict[str, str]:
        """The fingerprint of the model."""
        return {"model": self.loaded.fingerprint}


@dataclass(frozen=True)
class Regression(ParaphraseModel):
    """PEM's support vector regression; its model chooses pivots and language model."""

    sections: ClassVar[Mapping[str, str]] = {"pivots": "§6", "model": "§13"}

    model: PemModel | str | Path | None = unspelled(None)  # noqa: RUF009  # makes a field, which is allowed
    pivots: Sequence[str] | None = unspelled(None)
    """Pivot languages in the place of those that the model was trained with."""

    @property
    def loaded(self) -> PemModel:
        """The model that `load` found."""
        assert self.model is not None and not isinstance(self.model, str | Path)
        return self.model

    def load(self, metric: str, analysis: Analysis, own_analysis: bool) -> Combination:
        """With the model for the language; refuses one that was trained with another analysis."""
        assert isinstance(analysis, Pipeline)
        model = load_pem_model(analysis.language, analysis.lemma_fingerprint, self.model)
        return replace(self, model=model)

    def choose(self, groups: Sequence[FeatureGroup]) -> Sequence[FeatureGroup]:
        """The groups with the pivots and the language model that the model was trained with."""
        settings = {
            "pivots": tuple(self.pivots or self.loaded.pivots),
            "language_model": self.loaded.language_model,
        }
        return [replace(group, **settings) for group in groups]  # type: ignore[type-var]  # dataclasses by contract

    def over(self, groups: Sequence[BoundGroup]) -> Layout:
        """The features, which must be those that the model was trained with."""
        layout = super().over(groups)
        if self.loaded.regression.features != tuple(feature.name for feature in layout.features):
            raise ResourceError(
                "pem: the model was trained with other features; make it anew with `tesla train pem`"
            )
        return layout

    def score(self, rows: FloatArray) -> FloatArray:
        """The regression's value, within the scale."""
        return np.clip(self.loaded.regression.predict(rows), self.lowest, self.highest)
