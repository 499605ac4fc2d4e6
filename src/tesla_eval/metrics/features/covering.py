"""Units and their covering as a group of features (specification §9): TESLA-CELAB's view of two texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.errors import UsageError
from tesla_eval.language.analysis import Analysis
from tesla_eval.matching.bags.units import FUNCTION_UNITS, MAX_UNITS, NgramWeights, discount_units
from tesla_eval.matching.celab import ORDER, PRECISION_WEIGHT, CelabMatcher
from tesla_eval.matching.synonyms import UnitAnalysis
from tesla_eval.metrics.features import BoundGroup, Feature, FeatureGroup, GroupDetail, unspelled


@dataclass(frozen=True)
class CoveringGroup(FeatureGroup):
    """How much of both texts the matched n-grams cover: `coverage`, the optimum, with its parts `recall`, `precision`.

    `discount` multiplies the weight of an n-gram for each function character in it; `weights` is the user's own
    weight function (the paper's m(X)).
    """

    name: ClassVar[str] = "units"
    sections: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("order", "f", "discount", "weights", "max_units"), "§9"
    )

    order: int = ORDER
    f: float = PRECISION_WEIGHT
    discount: float = 1.0
    weights: NgramWeights | None = None
    max_units: int = unspelled(MAX_UNITS)

    def __post_init__(self) -> None:
        if self.max_units < 1:
            raise UsageError(f"max_units {self.max_units!r}: must be positive")
        if self.weights is not None and self.discount != 1:
            raise UsageError("weights and discount exclude each other: leave one of them out")

    def bind(self, analysis: Analysis) -> BoundGroup:
        """The matcher with the synonyms of the analysis."""
        assert isinstance(analysis, UnitAnalysis)
        return _BoundCovering(
            CelabMatcher(
                analysis.synonyms, order=self.order, precision_weight=self.f, weights=self._rule(analysis.language),
                max_units=self.max_units,
            )
        )  # fmt: skip

    def _rule(self, language: str) -> NgramWeights | None:
        if self.discount == 1:
            return self.weights
        if language not in FUNCTION_UNITS:
            known = ", ".join(sorted(FUNCTION_UNITS))
            raise UsageError(
                f"the function characters of {language!r} are not known (those of {known} are): "
                "pass your own function as `weights`"
            )
        return discount_units(FUNCTION_UNITS[language], self.discount)


class _BoundCovering(BoundGroup):
    features = tuple(
        Feature(name, CoveringGroup.name, name, "characters", name)
        for name in ("recall", "precision", "coverage")
    )

    def __init__(self, matcher: CelabMatcher) -> None:
        self._matcher = matcher

    def prepare(self, batch: Any) -> tuple[list[str], ...]:
        keys: tuple[list[str], ...] = batch.keys
        return keys

    def compare(
        self, reference: Any, hypothesis: Any, reference_index: Index, hypothesis_index: Index
    ) -> FloatArray:
        covering = self._matcher.match(reference, hypothesis, reference_index, hypothesis_index)
        return np.column_stack([covering.recall, covering.precision, covering.score])

    def explain(self, reference: Any, hypothesis: Any) -> GroupDetail:
        covering, detail = self._matcher.explain(self.prepare(reference)[0], self.prepare(hypothesis)[0])
        values = np.concatenate([covering.recall, covering.precision, covering.score])
        return self.detail(values)._replace(covering=detail)
