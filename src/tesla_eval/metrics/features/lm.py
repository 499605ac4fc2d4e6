"""Language models as features (specification §8): how likely the hypothesis is, whatever the reference says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.resources import find_resource
from tesla_eval.language.analysis import AnalysedBatch, Analysis, Pipeline
from tesla_eval.language.lm import TRIGRAM, LanguageModel, load_language_model
from tesla_eval.metrics.features import FIRST, BoundGroup, Feature, FeatureGroup, GroupDetail, fixed

LOWEST = -15.0
"""specification §8: normalised scores are clipped to [−15, 0]."""
WORST = 3.0
"""specification §8b: from this loss per word on, the penalty is 1."""


@dataclass(frozen=True)
class LanguageModelGroup(FeatureGroup):
    """(1/L) · ln P of the hypothesis under each of the language's models: `lm.3gram`, `lm.NAME`."""

    name: ClassVar[str] = "lm"

    models: tuple[str, ...] = fixed((TRIGRAM,))

    def bind(self, analysis: Analysis) -> LanguageModelScores | None:
        """The group, unless the language lacks a model or the user brings an own analysis."""
        language = analysis.signature["lang"]
        installed = all(find_resource(f"lm-{name}", language) for name in self.models)
        if not isinstance(analysis, Pipeline) or not installed:
            return None
        return LanguageModelScores({name: load_language_model(language, name) for name in self.models})


class LanguageModelScores(BoundGroup):
    """The normalised scores of hypotheses under some models."""

    def __init__(self, models: Mapping[str, LanguageModel]) -> None:
        self._models = dict(models)
        self.features = tuple(
            Feature(f"lm.{name}", "lm", "lm", "language model", f"lm.{name}", LOWEST, 0.0)
            for name in self._models
        )

    @property
    def signature(self) -> dict[str, str]:
        """The fingerprints of the models."""
        return {f"lm.{name}": model.fingerprint for name, model in self._models.items()}

    def prepare(self, batch: AnalysedBatch) -> _Lazily:
        """The texts; they are scored on demand, since those of references are never needed."""
        return _Lazily(self, batch)

    def compare(
        self, reference: Any, hypothesis: Any, reference_index: Index, hypothesis_index: Index
    ) -> FloatArray:
        """The scores of the hypotheses."""
        return np.asarray(hypothesis.scores[hypothesis_index])

    def explain(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> GroupDetail:
        """The score under each model, and every word's ln P."""
        words = {f"lm.{name}": {"words": self.words(name, hypothesis)} for name in self._models}
        return self.detail(self.scores(hypothesis)[0], words)

    def words(self, name: str, batch: AnalysedBatch) -> tuple[tuple[str, float], ...]:
        """Every word of the only text of a batch with its ln P under a model."""
        return tuple(self._models[name].explain(batch.texts[0]))

    def scores(self, batch: AnalysedBatch) -> FloatArray:
        """One row per text, one column per model; NaN where there is no word."""
        columns = [model.normalised(batch.texts) for model in self._models.values()]
        return np.clip(np.column_stack(columns), LOWEST, 0.0)


@dataclass(frozen=True)
class FluencyGroup(FeatureGroup):
    """How much less likely the hypothesis is than the reference, per word: 0 if it is not, 1 from `WORST` on."""

    name: ClassVar[str] = "fluency"

    model: str = fixed(TRIGRAM)

    def bind(self, analysis: Analysis) -> BoundGroup | None:
        """The group, where the language has a model."""
        scores = LanguageModelGroup((self.model,)).bind(analysis)
        return None if scores is None else _BoundFluency(scores, self.model)


class _BoundFluency(BoundGroup):
    features = (Feature("fluency", "fluency", "fluency", "fluency", "fluency", more_is_better=False),)

    def __init__(self, scores: LanguageModelScores, model: str) -> None:
        self._scores, self._model = scores, model

    @property
    def signature(self) -> dict[str, str]:
        return self._scores.signature

    def prepare(self, batch: AnalysedBatch) -> FloatArray:
        return self._scores.scores(batch)[:, 0]

    def compare(
        self, reference: FloatArray, hypothesis: FloatArray, reference_index: Index, hypothesis_index: Index
    ) -> FloatArray:
        loss = reference[reference_index] - hypothesis[hypothesis_index]
        return np.asarray(np.clip(loss / WORST, 0.0, 1.0)[:, None])

    def explain(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> GroupDetail:
        row = self.compare(self.prepare(reference), self.prepare(hypothesis), FIRST, FIRST)[0]
        return self.detail(row, {"fluency": {"words": self._scores.words(self._model, hypothesis)}})


class _Lazily:
    def __init__(self, group: LanguageModelScores, batch: AnalysedBatch) -> None:
        self._group, self._batch = group, batch

    @cached_property
    def scores(self) -> FloatArray:
        return self._group.scores(self._batch)
