"""Training DICOMER: a linear ranking SVM on lists of texts with scores, one list per topic (specification §11)."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import BuildError
from tesla_eval.base.parallel import NO_PROGRESS, Progress
from tesla_eval.language.discourse.document import Document
from tesla_eval.language.discourse.parser import Parser
from tesla_eval.language.discourse.roles import CoherenceModel, Variant, features_of

PERMUTATIONS = 20
"""Lin et al. (2011): a text is compared with 20 permutations of its sentences."""
COST = 0.001
RAREST = 10
"""Features that occur in fewer texts are left out; lengths with fewer texts take the typical score of others."""
LONGEST = 12
"""All texts with at least this many sentences count as one length."""


@dataclass(frozen=True)
class RankedText:
    """One text of a list: its features and how good it is; only the order within the list matters."""

    features: Mapping[str, float]
    score: float
    sentences: int = 1


def train_coherence(
    lists: Sequence[Sequence[RankedText]],
    variant: Variant,
    *,
    emphasis: Sequence[float] | None = None,
    cost: float = COST,
    rarest: int = RAREST,
    parser: str = "",
    info: Mapping[str, Any] | None = None,
) -> CoherenceModel:
    """Weights that put the better of two texts of a list first; pairs of equal score are left out.

    Every list weighs the same, or as much as `emphasis` says. Features are divided by the root of their standard
    deviation: between raw probabilities, where frequent transitions drown the others, and equal footing, where rare
    ones do. Needs scikit-learn.
    """
    from sklearn.svm import LinearSVC

    counts = Counter(name for texts in lists for text in texts for name in text.features)
    names = sorted(name for name, count in counts.items() if count >= rarest)
    if not names:
        raise BuildError(f"no feature occurs in {rarest} or more texts; give more texts")
    matrix = _matrix([text for texts in lists for text in texts], names)
    means = np.asarray(matrix.mean(axis=0)).ravel()
    squares = np.asarray(matrix.multiply(matrix).mean(axis=0)).ravel()
    spread = np.sqrt(np.maximum(squares - means**2, 0.0))
    scale = 1 / np.sqrt(np.where(spread > 0, spread, 1.0))
    differences, share = _differences(
        matrix.multiply(scale).tocsr(), lists, [1.0] * len(lists) if emphasis is None else emphasis
    )
    # Two classes: every other pair is turned round.
    sign = np.where(np.arange(len(share)) % 2 == 0, 1.0, -1.0)
    svm = LinearSVC(C=cost, fit_intercept=False, dual=False, tol=1e-5, max_iter=5000)
    svm.fit(differences.multiply(sign[:, None]).tocsr(), sign, sample_weight=share)
    weights = svm.coef_[0] * scale
    model = CoherenceModel(variant, dict(zip(names, weights.tolist(), strict=True)), 0.0, 1.0)
    all_texts = [text for texts in lists for text in texts]
    scores = [model.score(text.features) for text in all_texts]
    model = replace(model, typical=_typical_scores([text.sentences for text in all_texts], scores))
    relative = [score - model.expected(text.sentences) for score, text in zip(scores, all_texts, strict=True)]
    return replace(
        model, lowest=min(relative), highest=max(relative), parser=parser,
        info={**(info or {}), "lists": len(lists), "texts": len(scores), "pairs": len(share), "cost": cost},
    )  # fmt: skip


def _typical_scores(lengths: Sequence[int], scores: Sequence[float]) -> tuple[float, ...]:
    """The mean score of texts by their number of sentences; a length with few texts takes that of the nearest.

    >>> _typical_scores([1] * 10 + [2] * 3, [0.5] * 13)[:2]
    (0.5, 0.5)
    """
    by_length: dict[int, list[float]] = {}
    for length, score in zip(lengths, scores, strict=True):
        by_length.setdefault(min(max(1, length), LONGEST), []).append(score)
    known = {length: math.fsum(some) / len(some) for length, some in by_length.items() if len(some) >= RAREST}
    if not known:
        return (math.fsum(scores) / len(scores),)
    return tuple(
        known[min(known, key=lambda other: (abs(other - length), other))] for length in range(1, LONGEST + 1)
    )


def matched_in_length(lists: Sequence[Sequence[RankedText]]) -> list[list[RankedText]]:
    """The lists cut into texts with the same number of sentences, so that length cannot be learned.

    >>> one, two, three = (RankedText({}, float(k), sentences) for k, sentences in enumerate((2, 2, 3)))
    >>> [[text.score for text in texts] for texts in matched_in_length([[one, two, three]])]
    [[0.0, 1.0]]
    """
    cut: list[list[RankedText]] = []
    for texts in lists:
        by_length: dict[int, list[RankedText]] = {}
        for text in texts:
            by_length.setdefault(text.sentences, []).append(text)
        cut.extend(part for _, part in sorted(by_length.items()) if len({text.score for text in part}) > 1)
    return cut


def _matrix(texts: Sequence[RankedText], names: Sequence[str]) -> Any:
    from scipy.sparse import csr_matrix

    columns = {name: column for column, name in enumerate(names)}
    values: list[float] = []
    indices: list[int] = []
    offsets = [0]
    for text in texts:
        known = sorted((columns[name], value) for name, value in text.features.items() if name in columns)
        indices.extend(column for column, _ in known)
        values.extend(value for _, value in known)
        offsets.append(len(indices))
    return csr_matrix((values, indices, offsets), shape=(len(texts), len(names)))


def _differences(
    matrix: Any, lists: Sequence[Sequence[RankedText]], emphasis: Sequence[float]
) -> tuple[Any, FloatArray]:
    """Better − worse of all pairs of unequal texts of a list, and the weight of each, by list; the mean weight is 1."""
    better: list[int] = []
    worse: list[int] = []
    share: list[float] = []
    begin = 0
    for texts, weight in zip(lists, emphasis, strict=True):
        pairs = [
            (i, j) if texts[i].score > texts[j].score else (j, i)
            for i, j in combinations(range(len(texts)), 2)
            if texts[i].score != texts[j].score
        ]
        better.extend(begin + i for i, _ in pairs)
        worse.extend(begin + j for _, j in pairs)
        share.extend([weight / max(1, len(pairs))] * len(pairs))
        begin += len(texts)
    if not share:
        raise BuildError("no list has two texts with different scores, so there is nothing to learn")
    weights = np.array(share)
    return matrix[better] - matrix[worse], weights * (len(weights) / weights.sum())


def scored_lists(
    parser: Parser, lists: Sequence[Sequence[tuple[Document, float]]], variants: Sequence[Variant]
) -> dict[Variant, list[list[RankedText]]]:
    """Lists of documents with scores as lists of ranked texts, for each variant."""
    ranked: dict[Variant, list[list[RankedText]]] = {variant: [] for variant in variants}
    for texts in lists:
        features = [features_of(document, parser.parse(document), variants) for document, _ in texts]
        for variant in variants:
            ranked[variant].append(
                [
                    RankedText(each[variant], score, len(document))
                    for each, (document, score) in zip(features, texts, strict=True)
                ]
            )
    return ranked


def permutations_of(length: int, seed: str, count: int = PERMUTATIONS) -> list[list[int]]:
    """`count` orders of `length` sentences other than the original one; the same for the same seed.

    A text of less than two sentences has none. Short texts have few orders: they repeat.
    """
    original = list(range(length))
    generator = random.Random(seed)
    orders: list[list[int]] = []
    while length > 1 and len(orders) < count:
        order = generator.sample(original, length)
        if order != original:
            orders.append(order)
    return orders


def permuted_lists(
    parser: Parser,
    documents: Mapping[str, Document],
    variants: Sequence[Variant],
    *,
    progress: Progress = NO_PROGRESS,
) -> dict[Variant, list[list[RankedText]]]:
    """For each document (by name) a list: itself with score 1 and permutations of its sentences with score 0."""
    progress.stage("permuting (documents)", len(documents))
    lists: dict[Variant, list[list[RankedText]]] = {variant: [] for variant in variants}
    for name, document in documents.items():
        orders = [list(range(len(document))), *permutations_of(len(document), name)]
        parses = parser.parse_orders(document, orders)
        texts = [
            features_of(document.reordered(order), relations, variants)
            for order, relations in zip(orders, parses, strict=True)
        ]
        for variant in variants:
            lists[variant].append(
                [
                    RankedText(text[variant], float(not number), len(document))
                    for number, text in enumerate(texts)
                ]
            )
        progress.advance(1)
    return lists
