"""Bags against bags: the exact optimum, precision, recall and F (specification §4), and the flow that reaches it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from tesla_eval import _core
from tesla_eval.analysis.batch import AnalysedBatch
from tesla_eval.arrays import FloatArray, Index
from tesla_eval.bags import NgramFeature, exact_discount
from tesla_eval.records import Link, MatchDetail

__all__ = ["RECALL_WEIGHT", "Matches", "explain_feature", "match_characters", "match_pairs"]

RECALL_WEIGHT = 0.8
"""specification §4: α of the F-measure."""


@dataclass(frozen=True)
class Matches:
    """Precision, recall and F: one row per pair of texts, one column per feature; NaN where it does not exist."""

    precision: FloatArray
    recall: FloatArray
    f: FloatArray


_AnyBags = TypeVar("_AnyBags", _core.Bags, _core.PivotBags)


def match_pairs(
    reference: _AnyBags, hypothesis: _AnyBags, reference_index: Index,
    hypothesis_index: Index, alpha: float = RECALL_WEIGHT,
) -> Matches:  # fmt: skip
    """Match text `reference_index[k]` with text `hypothesis_index[k]`, for every k, under all features of the bags."""
    return Matches(*_core.match(reference, hypothesis, reference_index, hypothesis_index, alpha))


def match_characters(
    reference: _core.CharacterBags, hypothesis: _core.CharacterBags, reference_index: Index,
    hypothesis_index: Index, max_order: int, alpha: float = RECALL_WEIGHT,
) -> Matches:  # fmt: skip
    """Match the characters of pairs of texts, as `match_pairs` does; the columns are n = 1, 2, ... `max_order`.

    >>> import numpy as np
    >>> from tesla_eval.bags import build_character_bags
    >>> first = np.zeros(1, np.int64)
    >>> bags = build_character_bags(["a cab"]), build_character_bags(["ab"])
    >>> match_characters(*bags, first, first, 2).recall.tolist()
    [[0.5, 0.3333333333333333]]
    """
    found = _core.match_characters(reference, hypothesis, reference_index, hypothesis_index, max_order, alpha)
    return Matches(*found)


def explain_feature(
    reference: AnalysedBatch,
    hypothesis: AnalysedBatch,
    feature: NgramFeature,
    discount: float,
    alpha: float = RECALL_WEIGHT,
) -> MatchDetail:
    """One feature between the only texts of two batches, with its flow; NaN for the measures where it does not exist.

    The measures are those of `match_pairs`, to the last bit.
    """
    solved = _core.explain(
        reference.vocabulary.lexicon, feature.core_tokens(reference), feature.core_tokens(hypothesis),
        *feature.core_name, exact_discount(discount), alpha,
    )  # fmt: skip
    weight_unit, gain_unit = solved["weight_unit"], solved["gain_unit"]
    precision, recall, f = solved["measures"]
    return MatchDetail(
        name=feature.name, similarity=feature.similarity, n=feature.n, gap=feature.gap,
        precision=precision, recall=recall, f=f,
        objective=solved["objective"] / (gain_unit * weight_unit),
        reference_weight=solved["reference_weight"] / weight_unit,
        hypothesis_weight=solved["hypothesis_weight"] / weight_unit,
        flow=tuple(
            Link(feature.span(i), feature.span(j), gain / gain_unit, amount / weight_unit)
            for i, j, gain, amount in solved["flow"].tolist()
        ),
    )  # fmt: skip
