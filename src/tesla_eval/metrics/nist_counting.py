"""NIST's counts (Doddington 2002): n-grams weighted by their information in the references of a whole corpus."""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tesla_eval.base.arrays import FloatArray

Words = Sequence[str]
_BETA = math.log(0.5) / math.log(1.5) ** 2
"""The penalty is ½ where the system has two thirds of the reference's words."""


class Information(NamedTuple):
    """The weight of every n-gram of some references, in bits."""

    weights: Mapping[tuple[str, ...], float]
    fingerprint: str

    @classmethod
    def of(cls, references: Iterable[Words], longest: int) -> Information:
        """Info(w1 … wn) = log2 of count(w1 … wn-1) / count(w1 … wn); single words against all words."""
        counts: Counter[tuple[str, ...]] = Counter()
        total = checksum = 0
        for words in references:
            total += len(words)
            checksum = zlib.crc32("\0".join([*words, "\n"]).encode(), checksum)
            for n in range(1, longest + 1):
                counts.update(_ngrams(words, n))
        weights = {
            ngram: math.log((counts[ngram[:-1]] if len(ngram) > 1 else total) / count, 2)
            for ngram, count in counts.items()
        }
        return cls(weights, f"{checksum:08x}")


def _ngrams(words: Words, n: int) -> Iterable[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(n)), strict=False)


def count_segment(
    hypothesis: Words, references: Sequence[Words], longest: int, information: Information
) -> list[float]:
    """Information of the matches by order, n-grams by order, words of the references and of the system.

    Every order takes the reference under which its precision is highest; lengths are summed over the orders.
    """
    matched, ngrams, reference_words = [], [], 0
    for n in range(1, longest + 1):
        counts = Counter(_ngrams(hypothesis, n))
        total = max(len(hypothesis) - n + 1, 0)
        candidates = []
        for words in references:
            common = counts & Counter(_ngrams(words, n))
            value = math.fsum(information.weights[ngram] * count for ngram, count in common.items())
            candidates.append((value / total if total else 0.0, value, len(words)))
        _, value, length = max(candidates)
        matched.append(value)
        ngrams.append(float(total))
        reference_words += length
    return [*matched, *ngrams, float(reference_words), float(longest * len(hypothesis))]


def nist_of_sums(sums: FloatArray) -> FloatArray:
    """NIST of (..., statistics of `count_segment`, summed over segments)."""
    longest = (sums.shape[-1] - 2) // 2
    matched, ngrams = sums[..., :longest], sums[..., longest : 2 * longest]
    reference_words, system_words = sums[..., -2], sums[..., -1]
    precision = np.divide(matched, ngrams, out=np.zeros_like(matched), where=ngrams > 0).sum(axis=-1)
    ratio = np.divide(
        system_words, reference_words, out=np.ones_like(system_words), where=reference_words > 0
    )
    short = (ratio > 0) & (ratio < 1)
    penalty = np.exp(_BETA * np.log(np.where(short, ratio, 1.0)) ** 2)
    return np.asarray(precision * np.where(ratio > 0, penalty, 0.0))
