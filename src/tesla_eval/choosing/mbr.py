"""Minimum Bayes risk: of all candidates the one that agrees best, by a metric, with all the others.

Each candidate is a hypothesis and, weighted by how likely it is, a pseudo-reference. Equal texts are compared once.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from tesla_eval.base.arrays import FloatArray, exponentials
from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.choosing.nbest import CandidateList
from tesla_eval.choosing.rerank import model_scores
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.scoring import map_texts
from tesla_eval.metrics.segments import distinct_texts, texts_of

_ROWS_AT_ONCE = 1024  # hypotheses that are compared with all pseudo-references at once
_LONGEST_NGRAM = 3


@dataclass(frozen=True)
class MbrOptions:
    """`scale`: a pseudo-reference weighs exp(scale × its model score); 0 makes all equal.

    `top_k`: only the candidates that agree best with the aggregate of all are compared one by one.
    `aggregate`: agreement with the aggregate alone decides, and the metric is not asked.
    `weights`: feature weights that make the model score, instead of the decoder's own.
    """

    scale: float = 0.0
    top_k: int | None = None
    aggregate: bool = False
    weights: dict[str, float] | None = None

    def __post_init__(self) -> None:
        if self.weights is not None and self.scale == 0:
            raise UsageError(
                "feature weights make model scores, which do not count at scale 0",
                hint="add --scale 1 (in Python scale=1.0), or leave out the weights",
            )

    @property
    def signature(self) -> dict[str, str]:
        """The settings of the choice, apart from the metric; `weights` is a checksum of names and values in order.

        >>> MbrOptions(scale=0.5, weights={"lm": 1.0}).signature
        {'mbr': 'exact', 'scale': '0.5', 'weights': '63035897'}
        """
        how = {
            "mbr": "aggregate" if self.aggregate else "exact" if self.top_k is None else f"top-{self.top_k}"
        }
        if self.scale:
            how["scale"] = repr(float(self.scale)).removesuffix(".0")
        if self.weights is not None:
            how["weights"] = f"{zlib.crc32(repr(list(self.weights.items())).encode()):08x}"
        return how


@dataclass(frozen=True)
class Risked:
    """The candidates of a segment with their expected scores (NaN: not compared), and the number of the best."""

    segment: int
    texts: tuple[str, ...]
    expected: FloatArray
    best: int

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        scores = [None if math.isnan(score) else score for score in self.expected.tolist()]
        return {
            "segment": self.segment,
            "best": self.best,
            "candidates": list(self.texts),
            "expected": scores,
        }


def mbr(
    metric: Metric | None, lists: Iterable[CandidateList], options: MbrOptions, workers: int = 1
) -> Iterator[Risked]:
    """The choice of every segment, in order; `workers` segments at a time. An aggregate needs no metric."""
    return map_texts(lambda candidates: _choose(metric, candidates, options), lists, workers)


def _choose(metric: Metric | None, candidates: CandidateList, options: MbrOptions) -> Risked:
    expected = expected_scores(
        metric,
        candidates.texts,
        _posterior(candidates, options),
        top_k=options.top_k,
        aggregate=options.aggregate,
    )
    lower_is_better = not options.aggregate and metric is not None and not metric.higher_is_better
    better = -expected if lower_is_better else expected
    return Risked(candidates.segment, candidates.texts, expected, int(np.nanargmax(better)))


def _posterior(candidates: CandidateList, options: MbrOptions) -> FloatArray | None:
    if options.scale == 0:
        return None
    scores = options.scale * model_scores(candidates, options.weights)
    return exponentials(scores - scores.max())


def expected_scores(
    metric: Metric | None,
    texts: Sequence[str],
    weights: FloatArray | None = None,
    *,
    top_k: int | None = None,
    aggregate: bool = False,
) -> FloatArray:
    """For every text the weighted mean of its scores against all texts, itself among them.

    >>> from tesla_eval.metrics import create_metric
    >>> expected_scores(create_metric("chrf", "en"), ["a cat", "a cat", "dogs"]).round(2)
    array([66.67, 66.67, 33.33])
    """
    texts = texts_of(texts)
    if not texts:
        raise InputError("there are no candidates to choose from")
    share = np.ones(len(texts)) if weights is None else np.asarray(weights, np.float64)
    distinct, place = distinct_texts(texts)
    mass = np.bincount(place, share) / share.sum()
    if aggregate:
        return np.asarray(agreement_with_aggregate(distinct, mass)[place])
    if metric is None:
        raise UsageError("without a metric, candidates can be compared by their aggregate alone")
    if top_k is None or top_k >= len(distinct):
        return np.asarray(_means(_matrices(metric, distinct), mass)[place])
    agreement = agreement_with_aggregate(distinct, mass)
    chosen = np.sort(np.argsort(-agreement, kind="stable")[:top_k])
    expected = np.full(len(distinct), np.nan)
    expected[chosen] = _means([metric.pairwise([distinct[k] for k in chosen.tolist()], distinct)], mass)
    return np.asarray(expected[place])


def _matrices(metric: Metric, texts: list[str]) -> Iterator[FloatArray]:
    """The scores of all texts against all, some rows at a time."""
    if len(texts) <= _ROWS_AT_ONCE:
        yield metric.pairwise(texts, texts)
        return
    for start in range(0, len(texts), _ROWS_AT_ONCE):
        yield metric.pairwise(texts[start : start + _ROWS_AT_ONCE], texts)


def _means(matrices: Iterable[FloatArray], mass: FloatArray) -> FloatArray:
    # Without BLAS, whose sums depend on the number of threads.
    return np.concatenate([(matrix * mass).sum(axis=1) for matrix in matrices])


def agreement_with_aggregate(texts: Sequence[str], mass: FloatArray) -> FloatArray:
    """F between the n-grams of each text and the expected n-grams under `mass`: linear in the number of texts.

    The n-grams are of 1 to 3 words, or of characters in texts without spaces; a fast stand-in for comparing all pairs.

    >>> agreement_with_aggregate(["a cat sat", "a cat", "dogs bark"], np.ones(3) / 3).round(2)
    array([0.58, 0.4 , 0.2 ])
    """
    spaced = any(" " in text for text in texts)
    units = [text.lower().split() if spaced else list(text.lower()) for text in texts]
    total = np.zeros(len(texts))
    for n in range(1, _LONGEST_NGRAM + 1):
        number: dict[tuple[str, ...], int] = {}
        rows = [
            [
                number.setdefault(gram, len(number))
                for gram in zip(*(words[k:] for k in range(n)), strict=False)
            ]
            for words in units
        ]
        owner = np.repeat(np.arange(len(texts)), [len(row) for row in rows])
        keys = np.fromiter(chain.from_iterable(rows), np.int64, len(owner))
        if not len(keys):
            continue
        cells, counts = np.unique(owner * len(number) + keys, return_counts=True)
        row, column = np.divmod(cells, len(number))
        expected = np.bincount(column, counts * mass[row], len(number))
        overlap = np.bincount(row, np.minimum(counts, expected[column]), len(texts))
        sizes = np.bincount(row, counts, len(texts))
        total += 2 * overlap / np.maximum(sizes + expected.sum(), 1e-300)
    return total / _LONGEST_NGRAM
