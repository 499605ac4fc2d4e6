"""Training DICOMER: a linear ranking SVM on lists of texts with scores, one list per topic (specification §11)."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from tesla_eval.base.errors import BuildError
from tesla_eval.base.parallel import NO_PROGRESS, Progress
from tesla_eval_papers.discourse.document import Document
from tesla_eval_papers.discourse.relation_parser import Parser
from tesla_eval_papers.discourse.roles import CoherenceModel, Variant, features_of

PERMUTATIONS = 20
"""Lin et al. (2011): a text is compared with 20 permutations of its sentences."""
RAREST = 10
"""Lengths with fewer training texts take the typical score of others."""
LONGEST = 12
"""All texts with at least this many sentences count as one length."""


@dataclass(frozen=True)
class RankedText:
    """One text of a list: its features and how good it is; only the order within the list matters."""

    features: Mapping[str, float]
    score: float
    sentences: int = 1


def train_coherence(
    lists: Sequence[Sequence[RankedText]], variant: Variant, *, cost: float | None = None, parser: str = ""
) -> CoherenceModel:
    """Weights that put the better of two texts of a list first; pairs of equal score are left out.

    As the paper's SVM-light does by default: hinge loss, all pairs alike, and `cost` 1/m², where m is the mean length
    of a difference of two texts. Needs scikit-learn.
    """
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.svm import LinearSVC

    all_texts = [text for texts in lists for text in texts]
    if not any(text.features for text in all_texts):
        raise BuildError("the texts have no transitions of roles; give texts of several sentences")
    vectorizer = DictVectorizer()
    matrix = vectorizer.fit_transform([text.features for text in all_texts])
    matrix.sort_indices()
    differences = _differences(matrix, lists)
    if cost is None:
        cost = float(1 / np.mean(np.sqrt(differences.multiply(differences).sum(axis=1))) ** 2)
    # Two classes: every other pair is turned round.
    sign = np.where(np.arange(differences.shape[0]) % 2 == 0, 1.0, -1.0)
    svm = LinearSVC(
        loss="hinge", dual=True, C=cost, fit_intercept=False, tol=1e-5, max_iter=20_000, random_state=0
    )
    svm.fit(differences.multiply(sign[:, None]).tocsr(), sign)
    weights = dict(zip(vectorizer.feature_names_, svm.coef_[0].tolist(), strict=True))
    model = CoherenceModel(variant, weights, 0.0, 1.0)
    scores = [model.ranking(text.features) for text in all_texts]
    return replace(
        model, lowest=min(scores), highest=max(scores), parser=parser,
        typical=_typical_scores([text.sentences for text in all_texts], scores),
        info={"lists": len(lists), "texts": len(scores), "pairs": len(sign), "cost": cost},
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


def _differences(matrix: Any, lists: Sequence[Sequence[RankedText]]) -> Any:
    """Better − worse of all pairs of unequal texts of a list, one row per pair."""
    pairs: list[tuple[int, int]] = []
    begin = 0
    for texts in lists:
        pairs.extend(
            (begin + i, begin + j) if texts[i].score > texts[j].score else (begin + j, begin + i)
            for i, j in combinations(range(len(texts)), 2)
            if texts[i].score != texts[j].score
        )
        begin += len(texts)
    if not pairs:
        raise BuildError("no list has two texts with different scores, so there is nothing to learn")
    if len(pairs) < 2:
        raise BuildError("one pair of texts is too few to learn from; give more texts or lists")
    better, worse = zip(*pairs, strict=True)
    return matrix[list(better)] - matrix[list(worse)]


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
