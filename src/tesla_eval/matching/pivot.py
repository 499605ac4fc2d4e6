"""Pivot n-grams matched by name: which met, how much they carried, for which phrases (specification §17)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from tesla_eval.analysis.batch import AnalysedBatch
from tesla_eval.bags.pivot import PivotFeature, PivotNetwork, PivotNgram, PivotTranslation, pivot_network
from tesla_eval.pivot import PhraseTable
from tesla_eval.records import PivotDetail, PivotLink, PivotPhrase, PivotValue, Token

__all__ = ["explain_pivot_feature", "explain_segments", "explain_shared", "shared_ngrams"]

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
    for same in ("words",) if similarity == "lem" else ("words", "tags"):
        offers: dict[Any, list[int]] = defaultdict(list)
        for j, ngram in enumerate(hypothesis):
            offers[
                ngram.tags if same == "tags" else (ngram.words, ngram.tags if similarity == "pos" else ())
            ].append(j)
        for i, ngram in enumerate(reference):
            key = ngram.tags if same == "tags" else (ngram.words, ngram.tags if similarity == "pos" else ())
            for j in offers.get(key, ()):
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
