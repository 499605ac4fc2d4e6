"""Bags of n-grams: of words (specification §2), of characters (§8b), and of pivot words (§6).

Pivot n-grams lie in the confusion network of a text's translations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from tesla_eval import _core
from tesla_eval._core import BagRecipe, Discount
from tesla_eval.base.errors import UsageError
from tesla_eval.language.analysis.batch import AnalysedBatch
from tesla_eval.language.analysis.conllu import UNIVERSAL_TAGS
from tesla_eval.language.pivot import LEAST_PROBABILITY, PhraseTable

FUNCTION_WORD_DISCOUNT = 0.1
"""Specification §2: an n-gram's weight for every function word in it."""

IDENTITY = "identity"
"""Equal lower-cased surface forms (specification §10)."""

SYNONYMY = "syn"
"""1 for equal lemmas, ½ for a shared sense (specification §8b): `ms` of words without tags."""

_FORMS = {IDENTITY: "surface", SYNONYMY: "untagged"}
_CORE_NAMES = {IDENTITY: "lem", SYNONYMY: "ms"}

_LARGEST_DENOMINATOR = 10_000
"""So that weights of trigrams, summed over a million words, stay whole 64-bit numbers."""


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
            raise UsageError("only bigrams that are compared by identity may have gaps")

    @property
    def name(self) -> str:
        """The feature's name in outputs, such as `ms.2`."""
        return self.label or f"{self.similarity}.{self.n}"

    @property
    def core_name(self) -> tuple[str, int]:
        """The same as the core knows it: identity compares whatever is stored as the lemma."""
        if self.gap:
            return "skip", self.gap
        return _CORE_NAMES.get(self.similarity, self.similarity), self.n

    @property
    def form(self) -> str:
        """Which form of words the n-grams are made of: `lemma`, `untagged` (without tags) or `surface`."""
        return _FORMS.get(self.similarity, "lemma")


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


@lru_cache(maxsize=64)
def bag_recipe(features: tuple[NgramFeature, ...], discount: float) -> tuple[str, BagRecipe]:
    """Which form of words all features compare, and what the core makes of them."""
    # Lemmas are the same with and without tags, so they go with either.
    telling = [feature for feature in features if feature.similarity != "lem"] or list(features)
    forms = {feature.form for feature in telling}
    if len(forms) > 1 or (telling[0].similarity == IDENTITY and len(telling) < len(features)):
        raise UsageError("features of surface forms, of tagged and of untagged words need bags of their own")
    return telling[0].form, BagRecipe([feature.core_name for feature in features], exact_discount(discount))


LONGEST_CHARACTER_NGRAM = 6
"""Specification §8b: n-grams of one to six characters."""


LEAST_NGRAM_PROBABILITY = 0.01
"""Specification §6: n-grams with this summed probability or less are dropped."""


@dataclass(frozen=True)
class PivotFeature:
    """One matching problem: pivot n-grams under `lem` or `pos`; `pooled` takes those of 1 to n words in one bag."""

    pivot: str
    similarity: str
    n: int
    pooled: bool = False

    @property
    def name(self) -> str:
        """The feature's name in outputs, such as `fr.lem.2`."""
        return f"{self.pivot}.{self.similarity}.{self.n}"


def build_pivot_bags(
    batch: AnalysedBatch,
    table: PhraseTable,
    features: Sequence[PivotFeature],
    *,
    discount: float = FUNCTION_WORD_DISCOUNT,
    least_probability: float = LEAST_PROBABILITY,
    least_ngram_probability: float = LEAST_NGRAM_PROBABILITY,
) -> _core.PivotBags:
    """The pivot bags of every text of the batch, one for each feature; `match_pairs` matches them like any bags."""
    check_least_probability(table, least_probability)
    named = [(feature.similarity, 1 if feature.pooled else feature.n, feature.n) for feature in features]
    return _core.PivotBags(
        batch.vocabulary.lexicon, table.core, _tokens(batch), named, exact_discount(discount), least_probability,
        least_ngram_probability,
    )  # fmt: skip


def check_least_probability(table: PhraseTable, least_probability: float) -> None:
    """Refuse a limit below the one that the table was pruned with: what it asks for is not there."""
    if least_probability < table.min_probability:
        raise UsageError(
            f"pivot phrases with a probability above {least_probability:g} were asked for, but the phrase table "
            f"{table.resource.path or ''} was pruned at {table.min_probability:g}; rebuild it with "
            f"--prune COUNT {least_probability:g}"
        )


def _tokens(batch: AnalysedBatch) -> _core.PivotTokens:
    return _core.PivotTokens(batch.offsets, batch.lemma, batch.universal, batch.function)


class PivotTranslation(NamedTuple):
    """A pivot phrase: Pr(f | p), its words, their universal tags, and which of them are function words."""

    probability: float
    words: tuple[str, ...]
    tags: tuple[str, ...]
    function: tuple[bool, ...]


class PivotSegment(NamedTuple):
    """A phrase of the text, as a span of tokens, and its translations, the most probable first."""

    start: int
    end: int
    translations: tuple[PivotTranslation, ...]


class PivotNgram(NamedTuple):
    """An n-gram of the network: words, universal tags, function words in it, summed probability."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    functions: int
    probability: float


@dataclass(frozen=True)
class PivotNetwork:
    """The confusion network of one text: segments in series, translations in parallel; and its n-grams by length."""

    segments: tuple[PivotSegment, ...]
    ngrams: tuple[tuple[PivotNgram, ...], ...]


def pivot_network(
    batch: AnalysedBatch,
    table: PhraseTable,
    longest: int,
    *,
    least_probability: float = LEAST_PROBABILITY,
    least_ngram_probability: float = LEAST_NGRAM_PROBABILITY,
) -> PivotNetwork:
    """The network of the only text of a batch, with its n-grams of 1 to `longest` words."""
    check_least_probability(table, least_probability)
    segments, ngrams = _core.explain_pivot(
        batch.vocabulary.lexicon,
        table.core,
        _tokens(batch),
        longest,
        least_probability,
        least_ngram_probability,
    )
    phrases = tuple(
        PivotSegment(start, end, tuple(map(_translation, options))) for start, end, options in segments
    )
    return PivotNetwork(phrases, tuple(tuple(map(_ngram, bag)) for bag in ngrams))


def _translation(option: tuple[float, list[tuple[str, int, bool]]]) -> PivotTranslation:
    probability, words = option
    lemmas, tags, function = zip(*words, strict=True)
    return PivotTranslation(probability, lemmas, tuple(UNIVERSAL_TAGS[tag] for tag in tags), function)


def _ngram(entry: tuple[tuple[tuple[str, int], ...], int, float]) -> PivotNgram:
    words, functions, probability = entry
    lemmas, tags = zip(*words, strict=True)
    return PivotNgram(lemmas, tuple(UNIVERSAL_TAGS[tag] for tag in tags), functions, probability)
