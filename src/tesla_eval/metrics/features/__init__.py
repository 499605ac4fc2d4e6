"""Groups of features: what a metric sees in two texts (specification §5–§10, §13). They do not depend on weights.

A `FeatureGroup` is a declaration: a frozen dataclass whose fields are parameters of the metric. Bound to an analysis
it becomes a `BoundGroup`, which prepares every text of a batch once and then compares pairs of them: one row per pair,
one column per feature, NaN for a feature that does not exist.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import isnan
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from tesla_eval import _core
from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.language.analysis import AnalysedBatch, Analysis
from tesla_eval.language.analysis.batch import PerVocabulary, Vocabulary

if TYPE_CHECKING:
    from tesla_eval.base.explanations import CoveringDetail, FeatureDetail

__all__ = [
    "BoundGroup",
    "CoreGroup",
    "Feature",
    "FeatureGroup",
    "GroupDetail",
    "fixed",
    "options_of",
    "spelled_options",
    "unspelled",
]

_Evidence = Mapping[str, Mapping[str, Any]]
"""By the name of a feature what an explanation shows of it beside its value."""
FIRST = np.zeros(1, np.int64)
"""The index of the only text of a batch."""


@dataclass(frozen=True)
class Feature:
    """One column of a group, with everything that others need to know about it."""

    name: str
    group: str
    kind: str
    """What `--without` calls it: all features of a kind are left out together."""
    label: str
    """What the feature measures, in words."""
    family: str = ""
    """Features of one family replace each other where one does not exist: a measure of n-grams of other lengths."""
    low: float = 0.0
    high: float = 1.0
    more_is_better: bool = True


class GroupDetail(NamedTuple):
    """The features of one pair, and what produced them."""

    values: FloatArray
    features: tuple[FeatureDetail, ...]
    covering: CoveringDetail | None = None


class BoundGroup(ABC):
    """A group ready to compare texts of one analysis."""

    features: tuple[Feature, ...]

    @property
    def signature(self) -> Mapping[str, str]:
        """The fingerprints of the resources that the group reads."""
        return {}

    def restricted(self, names: Collection[str]) -> BoundGroup:
        """A group that computes at least the features `names`, so that unused features cost no time."""
        return self

    @abstractmethod
    def prepare(self, batch: AnalysedBatch) -> Any:
        """What the group needs of the texts of a batch, made once."""

    @abstractmethod
    def compare(
        self, reference: Any, hypothesis: Any, reference_index: Index, hypothesis_index: Index
    ) -> FloatArray:
        """The features of text `reference_index[k]` and text `hypothesis_index[k]`, for every k (pairs × features)."""

    def compare_segments(
        self, references: Sequence[AnalysedBatch], hypothesis: AnalysedBatch, present: Sequence[Index]
    ) -> list[FloatArray]:
        """For each stream of references: `compare` its texts `present[k]` with the hypotheses of the same indices.

        The indices ascend. Some groups override this, so that they need not keep prepared texts.
        """
        y = self.prepare(hypothesis)
        return [
            self.compare(self.prepare(side), y, index, index)
            for side, index in zip(references, present, strict=True)
        ]

    def compare_both_ways(self, texts: Any, first: Index, second: Index) -> tuple[FloatArray, FloatArray]:
        """`compare` with the first of each pair as the reference, and with the second; some groups solve it once."""
        return self.compare(texts, texts, first, second), self.compare(texts, texts, second, first)

    def explain(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> GroupDetail:
        """The features between the only texts of two batches, with what produced those that exist; here the values."""
        values = self.compare(self.prepare(reference), self.prepare(hypothesis), FIRST, FIRST)[0]
        return self.detail(values)

    def detail(self, values: FloatArray, evidence: _Evidence = MappingProxyType({})) -> GroupDetail:
        """The features that exist with their values, and what else there is to show of each."""
        from tesla_eval.base.explanations import ValueDetail  # not before something is explained

        named = zip((feature.name for feature in self.features), values.tolist(), strict=True)
        details = (
            ValueDetail(name=name, value=value, **evidence.get(name, {}))
            for name, value in named
            if not isnan(value)
        )
        return GroupDetail(values, tuple(details))

    def explain_words(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> FeatureDetail | None:
        """The first of those features that links words by more than their parts of speech, where that is cheap."""
        return None


class CoreGroup(BoundGroup):
    """A group that the core computes: `make` makes its object of the core for the words of a vocabulary."""

    signature: Mapping[str, str] = MappingProxyType({})

    def __init__(
        self, make: Callable[[Vocabulary], _core.FeatureGroup], features: Sequence[Feature],
        fingerprints: Mapping[str, str] = MappingProxyType({}),
    ) -> None:  # fmt: skip
        self.core = PerVocabulary(make)
        self.features = tuple(features)
        self.signature = fingerprints

    def prepare(self, batch: AnalysedBatch) -> _core.PreparedTexts:
        """The texts as the core keeps them."""
        return self.core[batch.vocabulary].prepare(batch.core)

    def compare(
        self, reference: _core.PreparedTexts, hypothesis: _core.PreparedTexts, reference_index: Index,
        hypothesis_index: Index,
    ) -> FloatArray:  # fmt: skip
        """The features of pairs of prepared texts."""
        return reference.compare(hypothesis, reference_index, hypothesis_index)

    def compare_segments(
        self, references: Sequence[AnalysedBatch], hypothesis: AnalysedBatch, present: Sequence[Index]
    ) -> list[FloatArray]:
        """The same as `compare`, without keeping prepared texts."""
        group = self.core[hypothesis.vocabulary]
        return group.compare_segments([batch.core for batch in references], hypothesis.core, list(present))

    def compare_both_ways(
        self, texts: _core.PreparedTexts, first: Index, second: Index
    ) -> tuple[FloatArray, FloatArray]:
        """Each pair solved once: the optimum of a matching problem does not depend on which text is the reference."""
        return texts.compare_both_ways(first, second)


class FeatureGroup(ABC):
    """The declaration of a group; subclasses are frozen dataclasses."""

    name: ClassVar[str]
    """What models and signatures call it."""
    sections: ClassVar[Mapping[str, str]] = {}
    """The section of the specification that each option belongs to."""

    @abstractmethod
    def bind(self, analysis: Analysis) -> BoundGroup | None:
        """The group for an analysis, or nothing where the language lacks what the group needs."""

    def advice(self, language: str) -> str:
        """What to tell a user whose language lacks what the group needs."""
        return f"the features {self.name!r} are not available for language {language!r}"


def fixed(default: Any) -> Any:
    """A dataclass field of the declaration that is not an option of the metric."""
    return field(default=default, metadata={"option": False})


def unspelled(default: Any) -> Any:
    """A dataclass field whose value is not in the signature.

    It only refuses some input, or it chooses models or tables, whose fingerprints are in the signature.
    """
    return field(default=default, metadata={"signature": False})


def spelled_options(declaration: FeatureGroup | object) -> frozenset[str]:
    """The options whose values the signature spells."""
    return frozenset(
        one.name
        for one in fields(declaration)  # type: ignore[arg-type]  # a dataclass by contract
        if one.metadata.get("option", True) and one.metadata.get("signature", True)
    )


def options_of(declaration: FeatureGroup | object) -> dict[str, Any]:
    """The options that a group or combination offers, with the values it has."""
    return {
        one.name: getattr(declaration, one.name)
        for one in fields(declaration)  # type: ignore[arg-type]  # a dataclass by contract
        if one.metadata.get("option", True)
    }
