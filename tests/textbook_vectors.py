"""specification §8b, `vec`, word by word and in fractions: slow and plain, to check the core against."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np

from tests import textbook

RECALL_WEIGHT = 0.8
HALF, THREE_TENTHS = Fraction(1, 2), Fraction(3, 10)


@dataclass(frozen=True)
class Word:
    """A token: its lower-cased form, its lemma, its vector (if it has one), its weight in 64ths."""

    form: int
    lemma: int
    vector: tuple[int, ...] | None
    weight: int


SIGNS = re.compile(r"[^\w\s]|_")
IDEOGRAPHS = re.compile(r"([\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ffff])")


def prepared(word: str, strips_accents: bool, in_pieces: bool) -> str:
    """A word as a table of vectors is asked for it: regular expressions over the whole word, as BERT cuts."""
    word = word.lower()
    if strips_accents:
        decomposed = unicodedata.normalize("NFD", word)
        word = "".join(c for c in decomposed if unicodedata.category(c) != "Mn")
    return IDEOGRAPHS.sub(r" \1 ", SIGNS.sub(" ", word)) if in_pieces else word


def rescaled(x: Word, y: Word, threshold: Fraction) -> Fraction:
    """The similarity of two words above a threshold, rounded down to 16ths."""
    best = Fraction(0)
    for k in range(1, 17):
        needed = threshold + (1 - threshold) * Fraction(k, 16)
        if at_least(x, y, needed):
            best = Fraction(k, 16)
    return best


def at_least(x: Word, y: Word, needed: Fraction) -> bool:
    """Whether the similarity of two words reaches a positive value: no root is taken, nothing is rounded."""
    if x.form == y.form or (x.lemma == y.lemma and needed <= Fraction(9, 10)):
        return True
    if x.vector is None or y.vector is None:
        return False
    product, squares = dot(x.vector, y.vector), dot(x.vector, x.vector) * dot(y.vector, y.vector)
    return product > 0 and squares > 0 and product**2 >= needed**2 * squares


def steps(x: Word, y: Word) -> int:
    """The similarity in 160ths, rounded down."""
    return max(k for k in range(161) if k == 0 or at_least(x, y, Fraction(k, 160)))


def dot(x: Sequence[int], y: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(x, y, strict=True))


def best_partner(x: Sequence[Word], y: Sequence[Word], threshold: Fraction) -> tuple[float, float]:
    """Precision and recall where every word takes its best partner; NaN where neither side has a word."""
    return share(y, x, threshold, empty=not x), share(x, y, threshold, empty=not y)


def share(side: Sequence[Word], other: Sequence[Word], threshold: Fraction, *, empty: bool) -> float:
    if not side:
        return float("nan") if empty else 0.0
    gained = sum(a.weight * max((rescaled(a, b, threshold) for b in other), default=0) for a in side)
    return float(gained / sum(a.weight for a in side))


def flow(x: Sequence[Word], y: Sequence[Word], n: int) -> tuple[float, float]:
    """Precision and recall of the flow between n-grams at .3; NaN where neither side has an n-gram."""
    left, right = ([side[i : i + n] for i in range(len(side) - n + 1)] for side in (x, y))
    if not left and not right:
        return float("nan"), float("nan")
    if not left or not right:
        return 0.0, 0.0
    weights = [
        np.array([sum(word.weight for word in gram) for gram in side], float) for side in (left, right)
    ]
    s = np.array([[float(ngram_similarity(a, b)) for b in right] for a in left])
    best = textbook.transport(*weights, s)
    return best / weights[1].sum(), best / weights[0].sum()


def ngram_similarity(x: Sequence[Word], y: Sequence[Word]) -> Fraction:
    parts = [rescaled(a, b, THREE_TENTHS) for a, b in zip(x, y, strict=True)]
    return Fraction(0) if 0 in parts else sum(parts, Fraction(0)) / len(parts)


def features(x: Sequence[Word], y: Sequence[Word]) -> list[tuple[float, float, float]]:
    """Precision, recall and F of the four problems; x is the reference."""
    pairs = [best_partner(x, y, Fraction(0)), best_partner(x, y, HALF), flow(x, y, 1), flow(x, y, 2)]
    return [(p, r, f_measure(p, r)) for p, r in pairs]


def f_measure(p: float, r: float) -> float:
    return 0.0 if p == 0 or r == 0 else p * r / (RECALL_WEIGHT * p + (1 - RECALL_WEIGHT) * r)


def length(vector: Sequence[int]) -> int:
    """The length of a vector, rounded down."""
    return isqrt(dot(vector, vector))
