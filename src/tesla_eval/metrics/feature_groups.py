"""The groups of features that learned metrics are made of (SPEC §8, §8b): what each sees in two texts.

A group prepares every text of a batch once and then compares pairs of them, a row a pair and a column a feature; NaN
marks a feature that does not exist. Groups know nothing of weights. To add one (pivots, language models), write a class
of the same shape and name it where a metric lists its groups.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tesla_eval.analysis import AnalysedBatch, Analysis
from tesla_eval.bags import (
    FUNCTION_WORD_DISCOUNT,
    LONGEST_CHARACTER_NGRAM,
    NgramFeature,
    build_bags,
    build_character_bags,
)
from tesla_eval.matching import RECALL_WEIGHT, Matches, explain_feature, match_characters, match_pairs

__all__ = [
    "MEASURES",
    "CharacterGroup",
    "FeatureGroup",
    "FeatureSet",
    "FloatArray",
    "Index",
    "NgramGroup",
    "measured_columns",
    "measured_names",
]

FloatArray = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

MEASURES = ("p", "r", "f")
"""Precision, recall and F of one matching problem as features of their own (SPEC §8b)."""


class FeatureGroup(ABC):
    """Features that stand and fall together."""

    name: ClassVar[str]
    """What models and signatures call it."""
    feature_names: tuple[str, ...]

    @property
    def signature(self) -> dict[str, str]:
        """What it adds to a metric's signature: fingerprints of what it reads, parameters that differ."""
        return {}

    def restricted(self, names: Collection[str]) -> FeatureGroup:
        """A group that computes at least the features `names`: what a model does not ask for need not cost time."""
        return self

    @abstractmethod
    def prepare(self, batch: AnalysedBatch) -> Any:
        """Whatever the group needs of the texts of a batch, made once."""

    @abstractmethod
    def compare(
        self, reference: Any, hypothesis: Any, reference_index: Index, hypothesis_index: Index
    ) -> FloatArray:
        """The features of text `reference_index[k]` and text `hypothesis_index[k]`, for every k (pairs, features)."""

    @abstractmethod
    def explain(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> list[dict[str, Any]]:
        """The features between the only text of each side as SPEC §17 writes them, with flows where there are any."""


class NgramGroup(FeatureGroup):
    """Word n-grams as TESLA-M matches them: `ms.1` (its F), or with `measures` `ms.1.p`, `ms.1.r`, `ms.1.f`."""

    name = "target"

    def __init__(
        self,
        features: Sequence[NgramFeature],
        *,
        measures: Sequence[str] = (),
        discount: float = FUNCTION_WORD_DISCOUNT,
        alpha: float = RECALL_WEIGHT,
    ) -> None:
        self._features = tuple(features)
        self._measures = tuple(measures)
        self._discount, self._alpha = discount, alpha
        self.feature_names = measured_names([feature.name for feature in features], measures)

    def restricted(self, names: Collection[str]) -> FeatureGroup:
        """The group without the matching problems that no name belongs to."""
        kept = [
            feature
            for feature in self._features
            if not set(measured_names([feature.name], self._measures)).isdisjoint(names)
        ]
        return NgramGroup(kept, measures=self._measures, discount=self._discount, alpha=self._alpha)

    def prepare(self, batch: AnalysedBatch) -> Any:
        """The bags of the texts."""
        return build_bags(batch, self._features, self._discount)

    def compare(
        self, reference: Any, hypothesis: Any, reference_index: Index, hypothesis_index: Index
    ) -> FloatArray:
        """F, or the measures wished for, of every n-gram feature."""
        found = match_pairs(reference, hypothesis, reference_index, hypothesis_index, self._alpha)
        return measured_columns(found, self._measures)

    def explain(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> list[dict[str, Any]]:
        """Each n-gram feature with the flow that reaches its optimum."""
        only = np.zeros(1, np.int64)
        found = match_pairs(self.prepare(reference), self.prepare(hypothesis), only, only, self._alpha)
        return [
            explain_feature(reference, hypothesis, feature, self._discount).to_dict(
                *_measures_of(found, column)
            )
            for column, feature in enumerate(self._features)
            if not np.isnan(found.f[0, column])
        ]


class CharacterGroup(FeatureGroup):
    """Character n-grams of the raw text without white space: `chr.1.p` … `chr.6.f`."""

    name = "chars"

    def __init__(
        self,
        *,
        max_order: int = LONGEST_CHARACTER_NGRAM,
        measures: Sequence[str] = MEASURES,
        alpha: float = RECALL_WEIGHT,
    ) -> None:
        self._max_order, self._measures, self._alpha = max_order, tuple(measures), alpha
        self._problems = [f"chr.{n}" for n in range(1, max_order + 1)]
        self.feature_names = measured_names(self._problems, measures)

    def prepare(self, batch: AnalysedBatch) -> Any:
        """The character bags of the texts."""
        return build_character_bags(batch.texts)

    def compare(
        self, reference: Any, hypothesis: Any, reference_index: Index, hypothesis_index: Index
    ) -> FloatArray:
        """The measures of every order."""
        found = match_characters(
            reference, hypothesis, reference_index, hypothesis_index, self._max_order, self._alpha
        )
        return measured_columns(found, self._measures)

    def explain(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> list[dict[str, Any]]:
        """Precision, recall and F of every order; of single characters nobody wants to see the flow."""
        only = np.zeros(1, np.int64)
        found = match_characters(
            self.prepare(reference), self.prepare(hypothesis), only, only, self._max_order, self._alpha
        )
        measured = [(name, _measures_of(found, column)) for column, name in enumerate(self._problems)]
        return [
            {"name": name, "similarity": "identity", "n": n, "precision": p, "recall": r, "f": f}
            for n, (name, (p, r, f)) in enumerate(measured, 1)
            if not np.isnan(f)
        ]


class FeatureSet:
    """Several groups over one analysis: texts in, a matrix of named features out."""

    def __init__(self, groups: Sequence[FeatureGroup], analysis: Analysis) -> None:
        self.groups, self.analysis = tuple(groups), analysis
        self.names = tuple(name for group in groups for name in group.feature_names)
        self.group_of = {name: group.name for group in groups for name in group.feature_names}

    @property
    def signature(self) -> dict[str, str]:
        """The analysis, the groups, and what these add."""
        added: dict[str, str] = {}
        for group in self.groups:
            added |= group.signature
        return {**self.analysis.signature, "groups": "+".join(group.name for group in self.groups), **added}

    def prepare(self, batch: AnalysedBatch) -> list[Any]:
        """What every group needs of the texts of a batch."""
        return [group.prepare(batch) for group in self.groups]

    def compare(
        self, reference: list[Any], hypothesis: list[Any], reference_index: Index, hypothesis_index: Index
    ) -> FloatArray:
        """The features of pairs of prepared texts: one row a pair, the columns are `names`."""
        return np.column_stack([
            group.compare(x, y, reference_index, hypothesis_index)
            for group, x, y in zip(self.groups, reference, hypothesis, strict=True)
        ])  # fmt: skip

    def explain(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> list[dict[str, Any]]:
        """The features between the only text of each side as SPEC §17 writes them, each with its group."""
        return [
            {**entry, "group": group.name}
            for group in self.groups
            for entry in group.explain(reference, hypothesis)
        ]


def measured_names(problems: Sequence[str], measures: Sequence[str]) -> tuple[str, ...]:
    """The names of the columns that `measured_columns` gives: measure by measure."""
    return tuple(f"{name}.{measure}" for measure in measures for name in problems) or tuple(problems)


def measured_columns(found: Matches, measures: Sequence[str]) -> FloatArray:
    """F, or the measures wished for, of all matching problems."""
    if not measures:
        return found.f
    by_name: Mapping[str, FloatArray] = {"p": found.precision, "r": found.recall, "f": found.f}
    return np.concatenate([by_name[measure] for measure in measures], axis=1)


def _measures_of(found: Matches, column: int) -> tuple[float, float, float]:
    return float(found.precision[0, column]), float(found.recall[0, column]), float(found.f[0, column])
