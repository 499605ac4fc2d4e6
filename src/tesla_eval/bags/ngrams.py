"""Bags of word n-grams (SPEC §2): what is matched, and how much each part of it weighs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tesla_eval._core import Bags, Discount
from tesla_eval.analysis.batch import AnalysedBatch
from tesla_eval.errors import UsageError

__all__ = ["FUNCTION_WORD_DISCOUNT", "NgramFeature", "build_bags", "exact_discount"]

FUNCTION_WORD_DISCOUNT = 0.1
"""SPEC §2: an n-gram's weight for every function word in it."""

_LARGEST_DENOMINATOR = (
    10_000  # so that weights of trigrams, summed over a million words, stay whole 64-bit numbers
)


@dataclass(frozen=True)
class NgramFeature:
    """One matching problem: n-grams of n words under a similarity of SPEC §3 (`ms`, `lem`, `pos`)."""

    similarity: str
    n: int

    @property
    def name(self) -> str:
        """The feature's name in outputs, such as `ms.2`."""
        return f"{self.similarity}.{self.n}"


def exact_discount(discount: float) -> Discount:
    """The discount as the fraction that its decimal digits say.

    >>> exact_discount(0.1) is not None
    True
    """
    fraction = Fraction(str(discount))
    if not 0 < fraction <= 1 or fraction.denominator > _LARGEST_DENOMINATOR:
        raise UsageError(f"discount {discount!r}: must be above 0, at most 1, with at most four decimals")
    return Discount(fraction.numerator, fraction.denominator)


def build_bags(batch: AnalysedBatch, features: Sequence[NgramFeature], discount: float) -> Bags:
    """The bags of every text of the batch, one for each feature."""
    named = [(feature.similarity, feature.n) for feature in features]
    return Bags(batch.vocabulary.lexicon, batch.core_tokens, named, exact_discount(discount))
