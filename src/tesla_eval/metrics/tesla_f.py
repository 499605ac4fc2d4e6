"""TESLA-F (SPEC §8): TESLA-M's features, pivots and a language model, weighted as human rankings taught."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from tesla_eval.analysis import Analyser, Analysis, Pipeline
from tesla_eval.bags import NgramFeature
from tesla_eval.metrics.feature_groups import FeatureGroup, FloatArray, NgramGroup
from tesla_eval.metrics.learned import GroupMaker, LearnedMetric
from tesla_eval.metrics.lm_group import language_model_group
from tesla_eval.metrics.pivot_group import pivot_group
from tesla_eval.models import LinearModel

__all__ = ["TeslaF"]


def _target_group(analysis: Analysis) -> FeatureGroup:
    """SPEC §5: the six F-measures of TESLA-M."""
    return NgramGroup([NgramFeature(similarity, n) for similarity in ("ms", "pos") for n in (1, 2, 3)])


class TeslaF(LearnedMetric):
    """TESLA-F: the linear combination of TESLA-B's F-measures and a language model that agrees best with rankings.

    The score is scaled so that the smallest possible value is 0 and the largest 1; `scaled=False` gives the raw score
    of the ranking model.
    """

    id: ClassVar[str] = "tesla-f"
    key: ClassVar[str] = "f"
    group_makers: ClassVar[Mapping[str, GroupMaker]] = {
        "target": _target_group,
        "pivots": pivot_group,
        "lm": language_model_group,
    }

    def __init__(
        self,
        lang: str = "en",
        *,
        scaled: bool = True,
        weights: LinearModel | str | Path | None = None,
        analyser: Analyser | Pipeline | None = None,
        synonyms: str | None = None,
        workers: int = 1,
    ) -> None:
        super().__init__(lang, weights=weights, analyser=analyser, synonyms=synonyms, workers=workers)
        self.scaled = scaled
        if not scaled:
            self._parameters["scaled"] = "no"

    def score_features(self, features: FloatArray) -> FloatArray:
        """The scores of rows of features, scaled or raw."""
        return super().score_features(features) if self.scaled else self.model.linear(features)
