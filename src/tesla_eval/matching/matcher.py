"""Bags against bags (specification §4): the exact optimum, precision, recall and F, and the flow that reaches it.

Pivot n-grams match by name; their explanation says which met, and for which phrases (specification §17).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from tesla_eval import _core
from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.records import Token
from tesla_eval.language.analysis.batch import AnalysedBatch
from tesla_eval.language.pivot import PhraseTable
from tesla_eval.matching.bags.ngram_bags import (
    NgramFeature,
    PivotFeature,
    PivotNetwork,
    PivotNgram,
    PivotTranslation,
    exact_discount,
    pivot_network,
)

if TYPE_CHECKING:
    from tesla_eval.base.explanations import MatchDetail, PivotDetail, PivotPhrase, PivotValue

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


def explain_feature(
    reference: AnalysedBatch,
    hypothesis: AnalysedBatch,
    feature: NgramFeature,
    discount: float,
    alpha: float = RECALL_WEIGHT,
) -> MatchDetail:
    """Match the single texts of two batches under one feature, with the flow; NaN if the texts lack the feature.

    The measures are those of `match_pairs`, to the last bit.
    """
    from tesla_eval.base.explanations import Link, MatchDetail  # not before something is explained

    x, y = (side.words_as(feature.form) for side in (reference, hypothesis))
    solved = _core.explain(
        reference.vocabulary.lexicon, x, y, *feature.core_name, exact_discount(discount), alpha,
    )  # fmt: skip
    weight_unit, gain_unit = solved["weight_unit"], solved["gain_unit"]
    precision, recall, f = solved["measures"]
    rows = solved["flow"].T.tolist() if len(solved["flow"]) else [[], [], [], []]
    # The core names an n-gram by its first token; a skip bigram by that and by how many words lie between.
    spans = (
        [
            (start, start + between + 2) if feature.gap else (row, row + feature.n)
            for row in side
            for start, between in [divmod(row, feature.gap + 1)]
        ]
        for side in rows[:2]
    )
    return MatchDetail(
        name=feature.name, similarity=feature.similarity, n=feature.n, gap=feature.gap,
        precision=precision, recall=recall, f=f,
        objective=solved["objective"] / (gain_unit * weight_unit),
        reference_weight=solved["reference_weight"] / weight_unit,
        hypothesis_weight=solved["hypothesis_weight"] / weight_unit,
        flow=tuple(
            Link(x, y, gain / gain_unit, amount / weight_unit)
            for x, y, gain, amount in zip(*spans, *rows[2:], strict=True)
        ),
    )  # fmt: skip


_Flow = list[tuple[int, int, float]]
"""N-gram of the reference, n-gram of the hypothesis, weight."""


def explain_pivot_feature(
    reference: PivotNetwork,
    hypothesis: PivotNetwork,
    feature: PivotFeature,
    discount: float,
    measures: tuple[float, float, float],
) -> PivotDetail:
    """One feature with the flow between its n-grams, which go by their text; `measures` are P, R and F."""
    from tesla_eval.base.explanations import PivotDetail, PivotLink  # not before something is explained

    sides = reference.ngrams[feature.n - 1], hypothesis.ngrams[feature.n - 1]
    weights = [_weights(side, discount) for side in sides]
    flow = _flow(sides[0], sides[1], weights[0], weights[1], feature.similarity)
    precision, recall, f = measures
    return PivotDetail(
        name=feature.name, pivot=feature.pivot, similarity=feature.similarity, n=feature.n,
        precision=precision, recall=recall, f=f,
        objective=sum(amount for _, _, amount in flow),
        reference_weight=sum(weights[0]), hypothesis_weight=sum(weights[1]),
        flow=tuple(
            PivotLink(" ".join(sides[0][i].words), " ".join(sides[1][j].words), amount) for i, j, amount in flow
        ),
    )  # fmt: skip


def _weights(ngrams: Sequence[PivotNgram], discount: float) -> list[float]:
    return [ngram.probability * discount**ngram.functions for ngram in ngrams]


def _flow(
    reference: Sequence[PivotNgram], hypothesis: Sequence[PivotNgram], reference_weights: Sequence[float],
    hypothesis_weights: Sequence[float], similarity: str,
) -> _Flow:  # fmt: skip
    """The flow of a closed form: n-grams of the same class meet, those of the same words before all others."""
    left = [list(reference_weights), list(hypothesis_weights)]
    flow: _Flow = []
    classes: list[Callable[[PivotNgram], Any]] = [lambda ngram: ngram.words]
    if similarity == "pos":
        classes = [lambda ngram: (ngram.words, ngram.tags), lambda ngram: ngram.tags]
    for class_of in classes:
        offers: dict[Any, list[int]] = defaultdict(list)
        for j, ngram in enumerate(hypothesis):
            offers[class_of(ngram)].append(j)
        for i, ngram in enumerate(reference):
            for j in offers.get(class_of(ngram), ()):
                amount = min(left[0][i], left[1][j])
                if amount > 0:
                    flow.append((i, j, amount))
                    left[0][i] -= amount
                    left[1][j] -= amount
    return sorted(flow)


def explain_segments(
    network: PivotNetwork, tokens: Sequence[Token], matched: Mapping[str, float], discount: float
) -> tuple[PivotPhrase, ...]:
    """The phrases of a text with their translations, and how much of the match each translation carried.

    `matched` is the weight that each pivot word sent or received; where several translations hold the word, each has
    the share that its probability gives it.
    """
    from tesla_eval.base.explanations import PivotPhrase  # not before something is explained

    total: dict[str, float] = defaultdict(float)
    for ngram in network.ngrams[0]:
        total[ngram.words[0]] += ngram.probability * discount**ngram.functions

    def carried(translation: PivotTranslation) -> float:
        return sum(
            matched[word] * translation.probability * discount**function / total[word]
            for word, function in zip(translation.words, translation.function, strict=True)
            if word in matched
        )

    return tuple(
        PivotPhrase(
            (segment.start, segment.end),
            " ".join(token.surface for token in tokens[segment.start : segment.end]),
            tuple((" ".join(t.words), t.probability, carried(t)) for t in segment.translations),
        )
        for segment in network.segments
    )


def explain_shared(
    table: PhraseTable, x: AnalysedBatch, y: AnalysedBatch, longest: int, value: float
) -> PivotValue:
    """The pivot F1 of one language with the pivot n-grams that both texts have, and the phrases they come from."""
    from tesla_eval.base.explanations import PivotLink, PivotValue  # not before something is explained

    networks = [pivot_network(side, table, longest) for side in (x, y)]
    shared = shared_ngrams(*networks)
    words = {" ".join(ngram): weight for ngram, weight in shared if len(ngram) == 1}
    return PivotValue(
        pivot=table.pivot,
        value=value,
        flow=tuple(PivotLink(" ".join(ngram), " ".join(ngram), weight) for ngram, weight in shared),
        segments={
            name: explain_segments(network, side.tokens(0), words, discount=1.0)
            for name, network, side in zip(("reference", "hypothesis"), networks, (x, y), strict=True)
        },
    )


def shared_ngrams(x: PivotNetwork, y: PivotNetwork) -> list[tuple[tuple[str, ...], float]]:
    """The pivot n-grams that both texts have with the weight they share, the longest and heaviest first."""
    mine, other = map(_summed_weights, (x, y))
    common = [(words, min(weight, other[words])) for words, weight in mine.items() if words in other]
    return sorted(common, key=lambda item: (-len(item[0]), -item[1], item[0]))


def _summed_weights(network: PivotNetwork) -> dict[tuple[str, ...], float]:
    """The weight of every pivot n-gram; under identity those with the same words are one, whatever their tags."""
    weights: dict[tuple[str, ...], float] = defaultdict(float)
    for bag in network.ngrams:
        for ngram in bag:
            weights[ngram.words] += ngram.probability
    return weights
