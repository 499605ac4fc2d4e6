"""Bags of word n-grams (specification §2) and of character n-grams (specification §8b)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from tesla_eval._core import Bags, CharacterBags, Discount, TextTooLongError, Tokens
from tesla_eval.analysis.batch import AnalysedBatch
from tesla_eval.analysis.tokenisers import compose, not_a_text
from tesla_eval.errors import InputError, UsageError

__all__ = [
    "FUNCTION_WORD_DISCOUNT",
    "IDENTITY",
    "LONGEST_CHARACTER_NGRAM",
    "SYNONYMY",
    "NgramFeature",
    "build_bags",
    "build_character_bags",
    "exact_discount",
    "too_long",
]

FUNCTION_WORD_DISCOUNT = 0.1
"""Specification §2: an n-gram's weight for every function word in it."""

IDENTITY = "identity"
"""Equal lower-cased surface forms (specification §10)."""

SYNONYMY = "syn"
"""1 for equal lemmas, ½ for a shared sense (specification §8b): `ms` of words without tags."""

_CORE_NAMES = {IDENTITY: "lem", SYNONYMY: "ms"}

_LARGEST_DENOMINATOR = (
    10_000  # so that weights of trigrams, summed over a million words, stay whole 64-bit numbers
)


@dataclass(frozen=True)
class NgramFeature:
    """One matching problem: n-grams of n words under `ms`, `lem`, `pos` (specification §3) or `identity`.

    `identity` compares lower-cased surface forms (specification §10); only it has skip bigrams, of two words with up
    to `gap` others between them. `label` is the feature's name where it is not that of the similarity.
    """

    similarity: str
    n: int
    gap: int = 0
    label: str = ""

    def __post_init__(self) -> None:
        if self.gap and (self.similarity != IDENTITY or self.n != 2):
            raise UsageError("only bigrams under identity may have gaps")

    @property
    def name(self) -> str:
        """The feature's name in outputs, such as `ms.2`."""
        return self.label or f"{self.similarity}.{self.n}"

    @property
    def core_name(self) -> tuple[str, int]:
        """The same as the core knows it: identity is equality of whatever stands in the place of lemmas."""
        if self.gap:
            return "skip", self.gap
        return _CORE_NAMES.get(self.similarity, self.similarity), self.n

    def core_tokens(self, batch: AnalysedBatch) -> Tokens:
        """The arrays of the batch that the n-grams are made of."""
        if self.similarity == SYNONYMY:
            return batch.untagged_tokens
        return batch.surface_tokens if self.similarity == IDENTITY else batch.core_tokens

    def span(self, row: int) -> tuple[int, int]:
        """The tokens [start, end) of the n-gram that the core calls `row`; a skip bigram is the two at its ends."""
        if not self.gap:
            return row, row + self.n
        start, between = divmod(row, self.gap + 1)
        return start, start + between + 2


@lru_cache(maxsize=64)
def exact_discount(discount: float) -> Discount:
    """The discount as the fraction that its decimal digits say.

    >>> exact_discount(0.1) is not None
    True
    """
    fraction = Fraction(str(discount)) if 0 < discount <= 1 else Fraction(0)
    if not fraction or fraction.denominator > _LARGEST_DENOMINATOR:
        raise UsageError(f"discount {discount!r}: must be above 0, at most 1, with at most four decimals")
    return Discount(fraction.numerator, fraction.denominator)


def build_bags(batch: AnalysedBatch, features: Sequence[NgramFeature], discount: float) -> Bags:
    """The bags of every text of the batch, one for each feature; features compare surface forms all, or none."""
    # Lemmas are the same with and without tags, so they go with either.
    telling = [feature for feature in features if feature.similarity != "lem"] or list(features)
    tokens = {id(chosen): chosen for chosen in (feature.core_tokens(batch) for feature in telling)}
    if len(tokens) > 1 or (telling[0].similarity == IDENTITY and len(telling) < len(features)):
        raise UsageError("features of surface forms, of tagged and of untagged words need bags of their own")
    (chosen,) = tokens.values()
    named = [feature.core_name for feature in features]
    exact = exact_discount(discount)
    with too_long():
        return Bags(batch.vocabulary.lexicon, chosen, named, exact)


@contextmanager
def too_long() -> Iterator[None]:
    """Texts with more words than the core has room for as an error of the input."""
    try:
        yield
    except TextTooLongError as error:
        raise InputError(f"{error}: split it into segments") from error


LONGEST_CHARACTER_NGRAM = 6
"""Specification §8b: n-grams of one to six characters."""


def build_character_bags(texts: Sequence[str]) -> CharacterBags:
    """The character n-grams of every text.

    >>> len(build_character_bags(["A text.", "Another."]))
    2
    """
    try:
        return CharacterBags([compose(text) for text in texts])
    except UnicodeEncodeError as error:
        raise not_a_text(error) from error
