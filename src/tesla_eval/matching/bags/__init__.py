"""Tokens and characters to weighted bags, texts to units."""

from tesla_eval.matching.bags.ngrams import (
    FUNCTION_WORD_DISCOUNT,
    IDENTITY,
    LONGEST_CHARACTER_NGRAM,
    SYNONYMY,
    NgramFeature,
    PivotFeature,
    build_bags,
    build_character_bags,
    build_pivot_bags,
    exact_discount,
    pivot_network,
)
from tesla_eval.matching.bags.units import FUNCTION_UNITS, NgramWeights, Unit, UnitSplitter, discount_units

__all__ = [
    "FUNCTION_UNITS",
    "FUNCTION_WORD_DISCOUNT",
    "IDENTITY",
    "LONGEST_CHARACTER_NGRAM",
    "SYNONYMY",
    "NgramFeature",
    "NgramWeights",
    "PivotFeature",
    "Unit",
    "UnitSplitter",
    "build_bags",
    "build_character_bags",
    "build_pivot_bags",
    "discount_units",
    "exact_discount",
    "pivot_network",
]
