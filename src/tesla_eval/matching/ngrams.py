"""Bags against bags: the exact optimum, precision, recall and F (specification §4), and the flow that reaches it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from tesla_eval import _core
from tesla_eval.analysis.batch import AnalysedBatch
from tesla_eval.bags import NgramFeature, exact_discount

__all__ = ["RECALL_WEIGHT", "Flow", "Matches", "explain_feature", "match_characters", "match_pairs"]

RECALL_WEIGHT = 0.8
"""Specification §4: α of the F-measure."""


@dataclass(frozen=True)
class Matches:
    """Precision, recall and F: one row a pair of texts, one column a feature; NaN where it does not exist."""

    precision: npt.NDArray[np.float64]
    recall: npt.NDArray[np.float64]
    f: npt.NDArray[np.float64]


_AnyBags = TypeVar("_AnyBags", _core.Bags, _core.PivotBags)


def match_pairs(
    reference: _AnyBags, hypothesis: _AnyBags, reference_index: npt.NDArray[np.int64],
    hypothesis_index: npt.NDArray[np.int64], alpha: float = RECALL_WEIGHT,
) -> Matches:  # fmt: skip
    """Match text `reference_index[k]` with text `hypothesis_index[k]`, for every k, under all features of the bags."""
    return Matches(*_core.match(reference, hypothesis, reference_index, hypothesis_index, alpha))


def match_characters(
    reference: _core.CharacterBags, hypothesis: _core.CharacterBags, reference_index: npt.NDArray[np.int64],
    hypothesis_index: npt.NDArray[np.int64], max_order: int, alpha: float = RECALL_WEIGHT,
) -> Matches:  # fmt: skip
    """Match the characters of pairs of texts, as `match_pairs` does; the columns are n = 1, 2, ... `max_order`.

    >>> from tesla_eval.bags import build_character_bags
    >>> only = np.zeros(1, np.int64)
    >>> bags = build_character_bags(["a cab"]), build_character_bags(["ab"])
    >>> match_characters(*bags, only, only, 2).recall.tolist()
    [[0.5, 0.3333333333333333]]
    """
    found = _core.match_characters(reference, hypothesis, reference_index, hypothesis_index, max_order, alpha)
    return Matches(*found)


@dataclass(frozen=True)
class Flow:
    """One feature of one pair: the optimum, and how much each n-gram occurrence sends to each other one."""

    feature: NgramFeature
    objective: float
    reference_weight: float
    hypothesis_weight: float
    entries: tuple[tuple[int, int, float, float], ...]
    """Row of the n-gram in the reference and in the hypothesis (see `NgramFeature.span`), similarity, weight."""

    def to_dict(self, precision: float, recall: float, f: float) -> dict[str, Any]:
        """The feature as specification §17 writes it."""
        span = self.feature.span
        gap = {"gap": self.feature.gap} if self.feature.gap else {}
        return {
            "name": self.feature.name, "similarity": self.feature.similarity, "n": self.feature.n, **gap,
            "precision": precision, "recall": recall, "f": f, "objective": self.objective,
            "reference_weight": self.reference_weight, "hypothesis_weight": self.hypothesis_weight,
            "flow": [
                {"reference": [*span(i)], "hypothesis": [*span(j)], "similarity": similarity, "weight": weight}
                for i, j, similarity, weight in self.entries
            ],
        }  # fmt: skip


def explain_feature(
    reference: AnalysedBatch, hypothesis: AnalysedBatch, feature: NgramFeature, discount: float
) -> Flow:
    """The flow of one feature between the only text of `reference` and the only text of `hypothesis`."""
    found = _core.explain(
        reference.vocabulary.lexicon, feature.core_tokens(reference), feature.core_tokens(hypothesis),
        *feature.core_name, exact_discount(discount),
    )  # fmt: skip
    weight_unit, gain_unit = found["weight_unit"], found["gain_unit"]
    return Flow(
        feature=feature,
        objective=found["objective"] / (gain_unit * weight_unit),
        reference_weight=found["reference_weight"] / weight_unit,
        hypothesis_weight=found["hypothesis_weight"] / weight_unit,
        entries=tuple(
            (i, j, gain / gain_unit, amount / weight_unit) for i, j, gain, amount in found["flow"].tolist()
        ),
    )
