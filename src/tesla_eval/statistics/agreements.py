"""Annotators and preferences: agreement, kappa, the sign test, expected wins."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.errors import UsageError
from tesla_eval.statistics.estimate import as_array, known_means, ratio

PREFERENCE_OUTCOMES = 3  # A is better, B is better, no preference (2011 paper, section 4)


def kappa(p_agree: float, outcomes: int = PREFERENCE_OUTCOMES) -> float:
    """(P(A) - P(E)) / (1 - P(E)) with P(E) = 1 / outcomes, as in the papers and the WMT workshops.

    >>> round(kappa(0.6846), 4)
    0.5269
    """
    if outcomes < 2:
        raise UsageError(f"outcomes: chance agreement needs at least 2, got {outcomes}")
    by_chance = 1 / outcomes
    return (p_agree - by_chance) / (1 - by_chance)


@dataclass(frozen=True)
class Agreement:
    """P(A), kappa, and the pairs of judgements they rest on; NaN with a note where there is none."""

    p_agree: float
    kappa: float
    n: int
    outcomes: int
    note: str = ""

    @classmethod
    def of(cls, same: int, total: int, outcomes: int) -> Agreement:
        """From counts of pairs of judgements: those that are the same, and all."""
        if not total:
            return cls(math.nan, math.nan, 0, outcomes, "no item was judged twice")
        return cls(same / total, kappa(same / total, outcomes), total, outcomes)


def agreement(
    items: npt.ArrayLike,
    judgements: npt.ArrayLike,
    judges: npt.ArrayLike | None = None,
    *,
    outcomes: int = PREFERENCE_OUTCOMES,
    same_judge: bool = False,
) -> Agreement:
    """How often two judgements of one item are the same: by two judges, or twice by one with `same_judge`.

    An item is whatever was judged (for rankings: a segment with two of its systems), a judgement any label.
    Without `judges` every two judgements of an item are compared.

    >>> agreement(items=[1, 1, 2, 2, 2], judgements=["<", "<", "<", "=", "="], judges=list("ababc"))
    Agreement(p_agree=0.5, kappa=0.25, n=4, outcomes=3, note='')
    """
    item, label = _codes(items, "items"), _codes(judgements, "judgements")
    if len(item) != len(label):
        raise UsageError(f"one judgement per item is needed: {len(item)} items, {len(label)} judgements")
    same, total = _pairs_in(item, label), _pairs_in(item)
    if judges is not None:
        judge = _codes(judges, "judges")
        if len(judge) != len(item):
            raise UsageError(
                f"one judge per judgement is needed: {len(item)} judgements, {len(judge)} judges"
            )
        own_same, own_total = _pairs_in(item, judge, label), _pairs_in(item, judge)
        same, total = (own_same, own_total) if same_judge else (same - own_same, total - own_total)
    elif same_judge:
        raise UsageError("same_judge needs the judges of the judgements")
    return Agreement.of(same, total, outcomes)


@dataclass(frozen=True)
class SignTest:
    """Wins and losses, and the probability of a split at least as uneven if both sides were equally good."""

    wins: int
    losses: int
    p_value: float
    note: str = ""


def sign_test(wins: int, losses: int) -> SignTest:
    """Two-sided exact sign test; ties are left out.

    >>> sign_test(wins=8, losses=1).p_value
    0.0390625
    """
    if wins < 0 or losses < 0:
        raise UsageError(f"counts cannot be negative: {wins} wins, {losses} losses")
    if not wins + losses:
        return SignTest(0, 0, math.nan, "no pair is untied")
    return SignTest(wins, losses, min(1.0, 2 * binomial_upper_tail(max(wins, losses), wins + losses)))


def expected_wins(wins: npt.ArrayLike) -> FloatArray:
    """Mean over opponents of wins / (wins + losses), from a table [i, j] of how often i beat j.

    Opponents a system was never compared with are left out; a system without any has NaN.

    >>> expected_wins([[0, 3, 1], [1, 0, 0], [1, 0, 0]])
    array([0.625, 0.25 , 0.5  ])
    """
    table = as_array(wins, "wins", 2)
    if table.shape[0] != table.shape[1]:
        raise UsageError(f"a square table of wins is needed, got shape {table.shape}")
    table = np.where(np.eye(len(table), dtype=bool), 0.0, table)
    return known_means(ratio(table, table + table.T), axis=1)


def binomial_upper_tail(successes: int, trials: int) -> float:
    """P(X >= successes) for `trials` fair coin tosses.

    >>> binomial_upper_tail(2, 3)
    0.5
    """
    # Probabilities relative to the largest one, by the ratio of neighbours: no factorial to overflow.
    middle = trials // 2
    above = np.arange(middle, trials)
    below = np.arange(middle, 0, -1)
    upper = np.cumprod((trials - above) / (above + 1))
    lower = np.cumprod(below / (trials - below + 1))
    relative = np.concatenate([lower[::-1], [1.0], upper])
    return float(min(1.0, math.fsum(relative[max(successes, 0) :]) / math.fsum(relative)))


def _codes(labels: npt.ArrayLike, name: str) -> Index:
    array = np.asarray(labels)
    if array.ndim != 1:
        raise UsageError(f"{name}: a vector is needed, got an array of shape {array.shape}")
    return np.unique(array, return_inverse=True)[1]


def _pairs_in(*keys: Index) -> int:
    """How many pairs of rows agree in all `keys`."""
    _, sizes = np.unique(np.stack(keys), axis=1, return_counts=True)
    return int((sizes * (sizes - 1) // 2).sum())
