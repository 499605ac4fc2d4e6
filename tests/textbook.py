"""Slow, plain versions of the specification's formulas, to check the fast ones against."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

from tesla_eval import Token

Ngram = tuple[Token, ...]


def unigram_similarity(name: str, x: Token, y: Token) -> float:
    """Specification §3."""
    if name == "ms":
        if x.lemma == y.lemma:
            return 1.0
        return (bool(set(x.senses) & set(y.senses)) + (x.pos == y.pos)) / 2
    return float(x.lemma == y.lemma if name == "lem" else x.pos == y.pos)


def similarity(name: str, x: Ngram, y: Ngram) -> float:
    """Specification §3: 0 if any position has similarity 0, otherwise the mean over the positions."""
    parts = [unigram_similarity(name, a, b) for a, b in zip(x, y, strict=True)]
    return 0.0 if 0 in parts else sum(parts) / len(parts)


def bag(
    tokens: list[Token], n: int, discount: float = 0.1
) -> dict[tuple[tuple[str, str], ...], tuple[Ngram, float]]:
    """Specification §2: n-grams by lemma and tag, with their weights summed."""
    weights: dict[tuple[tuple[str, str], ...], float] = defaultdict(float)
    example: dict[tuple[tuple[str, str], ...], Ngram] = {}
    for i in range(len(tokens) - n + 1):
        ngram = tuple(tokens[i : i + n])
        key = tuple((token.lemma, token.pos) for token in ngram)
        weights[key] += discount ** sum(token.function for token in ngram)
        example[key] = ngram
    return {key: (example[key], weight) for key, weight in weights.items()}


def transport(x: np.ndarray, y: np.ndarray, s: np.ndarray) -> float:
    """Specification §4 with SciPy's HiGHS."""
    rows, columns = np.nonzero(s)
    if not len(rows):
        return 0.0
    k = np.arange(len(rows))
    shape = (len(x) + len(y), len(k))
    constraints = coo_array(
        (np.ones(2 * len(k)), (np.concatenate([rows, len(x) + columns]), np.tile(k, 2))), shape
    )
    found = linprog(-s[rows, columns], A_ub=constraints.tocsr(), b_ub=np.concatenate([x, y]), method="highs")
    assert found.status == 0
    return float(-found.fun)


def f_measure(
    name: str,
    n: int,
    reference: list[Token],
    hypothesis: list[Token],
    discount: float = 0.1,
    alpha: float = 0.8,
) -> tuple[float, float]:
    """The optimum and F of specification §4; NaN where specification §5 says that the feature does not exist."""
    if n > max(len(reference), len(hypothesis)):
        return float("nan"), float("nan")
    x, y = bag(reference, n, discount), bag(hypothesis, n, discount)
    wx, wy = (np.array([weight for _, weight in side.values()]) for side in (x, y))
    s = np.array([[similarity(name, a, b) for b, _ in y.values()] for a, _ in x.values()]).reshape(
        len(x), len(y)
    )
    best = transport(wx, wy, s) if s.size else 0.0
    if best == 0:
        return 0.0, 0.0
    p, r = best / wy.sum(), best / wx.sum()
    return best, p * r / (alpha * p + (1 - alpha) * r)


def tesla_m(reference: list[Token], hypothesis: list[Token]) -> float:
    """Specification §5 for one reference, where at least one side has a token."""
    values = [f_measure(name, n, reference, hypothesis)[1] for name in ("ms", "pos") for n in (1, 2, 3)]
    there = [value for value in values if not np.isnan(value)]
    return sum(there) / len(there)


def word_shape(form: str) -> tuple[bool, bool]:
    """Whether a word has a digit, and whether it counts as one that begins with a capital."""
    if form == form.lower() and form.isalpha():
        return False, False
    return any(map(str.isdigit, form)), form[:1].isupper()
