"""Bags of pivot n-grams (specification §6): the confusion network of a text's translations, and the n-grams in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tesla_eval import _core
from tesla_eval.analysis.batch import AnalysedBatch
from tesla_eval.analysis.conllu import UNIVERSAL_TAGS
from tesla_eval.bags.ngrams import FUNCTION_WORD_DISCOUNT, exact_discount, too_long
from tesla_eval.errors import UsageError
from tesla_eval.pivot import LEAST_PROBABILITY, PhraseTable

__all__ = [
    "LEAST_NGRAM_PROBABILITY",
    "LEAST_PROBABILITY",
    "PivotFeature",
    "PivotNetwork",
    "PivotNgram",
    "PivotSegment",
    "PivotTranslation",
    "build_pivot_bags",
    "pivot_network",
]

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
    exact = exact_discount(discount)
    with too_long():
        return _core.PivotBags(
            batch.vocabulary.lexicon, table.core, _tokens(batch), named, exact, least_probability,
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
    found = tuple(
        PivotSegment(start, end, tuple(map(_translation, options))) for start, end, options in segments
    )
    return PivotNetwork(found, tuple(tuple(map(_ngram, bag)) for bag in ngrams))


def _translation(option: tuple[float, list[tuple[str, int, bool]]]) -> PivotTranslation:
    probability, words = option
    lemmas, tags, function = zip(*words, strict=True)
    return PivotTranslation(probability, lemmas, tuple(UNIVERSAL_TAGS[tag] for tag in tags), function)


def _ngram(entry: tuple[tuple[tuple[str, int], ...], int, float]) -> PivotNgram:
    words, functions, probability = entry
    lemmas, tags = zip(*words, strict=True)
    return PivotNgram(lemmas, tuple(UNIVERSAL_TAGS[tag] for tag in tags), functions, probability)
