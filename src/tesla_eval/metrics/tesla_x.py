"""TESLA-X (SPEC §8b, beyond the papers): words, characters and lengths, weighted as human rankings taught."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tesla_eval.analysis import Analysis
from tesla_eval.bags import NgramFeature
from tesla_eval.metrics.feature_groups import MEASURES, CharacterGroup, FeatureGroup, NgramGroup
from tesla_eval.metrics.learned import GroupMaker, LearnedMetric
from tesla_eval.metrics.lm_group import language_model_group
from tesla_eval.metrics.pivot_group import pivot_group
from tesla_eval.metrics.surface_group import SurfaceGroup

__all__ = ["TeslaX"]


def _target_group(analysis: Analysis) -> FeatureGroup:
    features = [NgramFeature(similarity, n) for similarity in ("ms", "pos", "lem") for n in (1, 2, 3)]
    return NgramGroup(features, measures=MEASURES)


def _character_group(analysis: Analysis) -> FeatureGroup:
    return CharacterGroup()


def _pivot_group(analysis: Analysis) -> FeatureGroup | None:
    return pivot_group(analysis, MEASURES)


class TeslaX(LearnedMetric):
    """TESLA-X: precision, recall and F of word and character n-grams in one ranking model."""

    id: ClassVar[str] = "tesla-x"
    key: ClassVar[str] = "x"
    group_makers: ClassVar[Mapping[str, GroupMaker]] = {
        "target": _target_group,
        "chars": _character_group,
        "surface": SurfaceGroup,
        "pivots": _pivot_group,
        "lm": language_model_group,
    }
