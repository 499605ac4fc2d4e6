"""Corpus BLEU, chrF and TER of summed statistics, for many sums at once.

sacreBLEU computes these of one sum at a time. A bootstrap asks for them of thousands of resamples, so the formulas of
its defaults stand here once more, over arrays: the last axis holds the statistics in sacreBLEU's order. Tests hold
them to sacreBLEU's own numbers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tesla_eval.metrics.base import Metric

__all__ = ["corpus_score_of_sums"]

FloatArray = npt.NDArray[np.float64]
_CHRF_BETA = 2.0


def corpus_score_of_sums(metric: Metric) -> Callable[[FloatArray], FloatArray] | None:
    """How `metric` scores a corpus from the sum of its segments' statistics, or None if it averages segments.

    >>> from tesla_eval.metrics import create_metric
    >>> corpus_score_of_sums(create_metric("ter", "en"))(np.array([[1.0, 4.0], [3.0, 4.0]]))
    array([25., 75.])
    """
    return _FORMULAS.get(metric.id)


def bleu_of_sums(sums: FloatArray) -> FloatArray:
    """BLEU of (..., lengths of system and reference, matches by order, n-grams by order), smoothing `exp`."""
    system, reference = sums[..., 0], sums[..., 1]
    orders = (sums.shape[-1] - 2) // 2
    matches, ngrams = sums[..., 2 : 2 + orders], sums[..., 2 + orders :]
    # The k-th order without a match counts as 1 / 2^k of a match.
    smoothed = np.where(matches > 0, matches, 0.5 ** np.cumsum(matches == 0, axis=-1))
    exists = (ngrams > 0).all(axis=-1) & (matches > 0).any(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_precision = np.log(smoothed / ngrams).mean(axis=-1)
        log_brevity = np.minimum(0.0, 1 - reference / system)
        return np.asarray(np.where(exists, 100 * np.exp(log_precision + log_brevity), 0.0))


def chrf_of_sums(sums: FloatArray) -> FloatArray:
    """chrF of (..., for each order: n-grams of the system, of the reference, matches)."""
    triples = sums.reshape(*sums.shape[:-1], -1, 3)
    system, reference, matches = np.moveaxis(triples, -1, 0)
    counted = (system > 0) & (reference > 0)
    orders = np.maximum(counted.sum(axis=-1), 1)
    precision, recall = (
        np.divide(matches, side, out=np.zeros_like(matches), where=counted).sum(axis=-1) / orders
        for side in (system, reference)
    )
    factor = _CHRF_BETA**2
    weighted = factor * precision + recall
    product = (1 + factor) * precision * recall
    return np.asarray(100 * np.divide(product, weighted, out=np.zeros_like(product), where=weighted > 0))


def ter_of_sums(sums: FloatArray) -> FloatArray:
    """TER of (..., edits, length of the reference)."""
    edits, length = sums[..., 0], sums[..., 1]
    return np.asarray(100 * np.divide(edits, length, out=(edits > 0).astype(np.float64), where=length > 0))


_FORMULAS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "bleu": bleu_of_sums,
    "bleu-char": bleu_of_sums,
    "chrf": chrf_of_sums,
    "chrf++": chrf_of_sums,
    "ter": ter_of_sums,
}
