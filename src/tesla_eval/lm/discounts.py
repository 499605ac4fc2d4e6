"""The discounts of modified Kneser–Ney (Chen & Goodman 1998, equation 26)."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["FALLBACK", "Discounts", "discounts"]

Discounts = tuple[float, float, float]
"""What is taken from the count of an n-gram that counts once, twice, three times or more."""

FALLBACK: Discounts = (0.5, 1.0, 1.5)
"""Where a text is too small or too odd for the formulas, as KenLM has it."""


def discounts(count_of_counts: Sequence[int]) -> Discounts | None:
    """D1, D2, D3+ from t1 .. t4, where t_k n-grams count k times; `None` where the formulas give nothing usable.

    >>> discounts([10, 5, 2, 1])  # Y = 1/2: D1 = 1 - 1/2, D2 = 2 - 3/2 * 2/5, D3+ = 3 - 2 * 1/2
    (0.5, 1.4, 2.0)
    >>> discounts([10, 0, 2, 1]) is None
    True
    """
    t1, t2, t3, t4 = count_of_counts
    if not (t1 and t2 and t3):
        return None
    y = t1 / (t1 + 2 * t2)
    found = (1 - 2 * y * t2 / t1, 2 - 3 * y * t3 / t2, 3 - 4 * y * t4 / t3)
    return found if all(0 <= value <= k for k, value in enumerate(found, 1)) else None
