"""Language models as features (SPEC §8): how likely the hypothesis is, whatever the reference says."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from tesla_eval.analysis import AnalysedBatch, Analysis, Pipeline
from tesla_eval.lm import LanguageModel, load_language_model
from tesla_eval.lm.model import TRIGRAM
from tesla_eval.metrics.feature_groups import FeatureGroup, FloatArray, Index
from tesla_eval.resources import find_resource

__all__ = ["LanguageModelGroup", "language_model_group"]

LOWEST = -15.0
"""SPEC §8: normalised scores are clipped to [−15, 0]."""


class LanguageModelGroup(FeatureGroup):
    """(1/L) · ln P of the hypothesis under each model: `lm.3gram`."""

    name = "lm"

    def __init__(self, models: Mapping[str, LanguageModel]) -> None:
        self._models = dict(models)
        self.feature_names = tuple(f"lm.{name}" for name in self._models)

    @property
    def signature(self) -> dict[str, str]:
        """The fingerprints of the models."""
        return {f"lm.{name}": model.fingerprint for name, model in self._models.items()}

    def prepare(self, batch: AnalysedBatch) -> _Lazily:
        """The scores of the texts, when they are asked for: those of references never are."""
        return _Lazily(self, batch)

    def compare(
        self, reference: Any, hypothesis: Any, reference_index: Index, hypothesis_index: Index
    ) -> FloatArray:
        """The scores of the hypotheses."""
        return np.asarray(hypothesis.scores[hypothesis_index])

    def explain(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> list[dict[str, Any]]:
        """The score under each model, and every word's ln P."""
        return [
            {
                "name": name, "value": float(value),
                "words": [{"word": word, "log_probability": log} for word, log in model.explain(hypothesis.texts[0])],
            }
            for name, value, model in zip(
                self.feature_names, self.scores(hypothesis)[0], self._models.values(), strict=True
            )
            if not np.isnan(value)
        ]  # fmt: skip

    def scores(self, batch: AnalysedBatch) -> FloatArray:
        """One row a text, one column a model; NaN where there is no word."""
        columns = [model.normalised(batch.texts) for model in self._models.values()]
        return np.clip(np.column_stack(columns), LOWEST, 0.0)


class _Lazily:
    def __init__(self, group: LanguageModelGroup, batch: AnalysedBatch) -> None:
        self._group, self._batch = group, batch

    @cached_property
    def scores(self) -> FloatArray:
        return self._group.scores(self._batch)


def language_model_group(analysis: Analysis) -> FeatureGroup | None:
    """The group with the language's trigram model; nothing where there is none or the user brings own analysis."""
    language = analysis.signature["lang"]
    if not isinstance(analysis, Pipeline) or find_resource(f"lm-{TRIGRAM}", language) is None:
        return None
    return LanguageModelGroup({TRIGRAM: load_language_model(language, TRIGRAM)})
