"""How often each system is preferred: pairwise percentages, share of best, score1 and score2 of WMT 2011."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import UsageError
from tesla_eval.statistics.estimate import ratio


def pairwise_shares(wins: npt.ArrayLike, ties: npt.ArrayLike) -> FloatArray:
    """[i, j]: the share of the comparisons of i and j in which i was preferred; NaN where there were none.

    `wins[i, j]` counts preferences for i over j, `ties[i, j]` comparisons without a preference.

    >>> pairwise_shares([[0, 3], [1, 0]], [[0, 4], [4, 0]])
    array([[  nan, 0.375],
           [0.125,   nan]])
    """
    won, tied = _tables(wins, ties)
    return ratio(won, won + won.T + tied)


def score1(wins: npt.ArrayLike, ties: npt.ArrayLike) -> FloatArray:
    """For each system the share of its pairwise comparisons in which it was better or equal (TESLA at WMT 2011, §6.2).

    >>> score1([[0, 3], [1, 0]], [[0, 4], [4, 0]])
    array([0.875, 0.625])
    """
    won, tied = _tables(wins, ties)
    return ratio((won + tied).sum(axis=1), (won + won.T + tied).sum(axis=1))


def score2(wins: npt.ArrayLike, ties: npt.ArrayLike) -> FloatArray:
    """For each system the share of its pairwise comparisons in which it was strictly better (WMT 2011, §6.2).

    >>> score2([[0, 3], [1, 0]], [[0, 4], [4, 0]])
    array([0.375, 0.125])
    """
    won, tied = _tables(wins, ties)
    return ratio(won.sum(axis=1), (won + won.T + tied).sum(axis=1))


def share_of_best(
    tasks: Sequence[Hashable], systems: Sequence[str], ranks: npt.ArrayLike
) -> dict[str, float]:
    """How often each system is the best, alone or with others, of the tasks in which it was ranked; 1 is the best rank.

    >>> share_of_best(["t", "t", "u", "u"], ["a", "b", "a", "b"], [1, 2, 1, 1])
    {'a': 1.0, 'b': 0.5}
    """
    values = np.asarray(ranks, np.float64)
    if not len(tasks) == len(systems) == len(values):
        raise UsageError(
            f"{len(tasks)} tasks, {len(systems)} systems and {len(values)} ranks: not the same number"
        )
    number: dict[Hashable, int] = {}
    task = np.array([number.setdefault(name, len(number)) for name in tasks], np.int64)
    least = np.full(len(number), np.inf)
    np.minimum.at(least, task, values)
    names, place = np.unique(np.asarray(systems, dtype=str), return_inverse=True)
    best = np.bincount(place, values == least[task], len(names))
    return dict(zip(names.tolist(), (best / np.bincount(place, minlength=len(names))).tolist(), strict=True))


def _tables(wins: npt.ArrayLike, ties: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    won, tied = np.array(wins, np.float64), np.array(ties, np.float64)
    if won.ndim != 2 or won.shape[0] != won.shape[1] or won.shape != tied.shape:
        raise UsageError(
            f"wins of shape {won.shape} and ties of shape {tied.shape}: both must be square and alike"
        )
    if not np.array_equal(tied, tied.T):
        raise UsageError("ties must be the same both ways")
    np.fill_diagonal(won, 0)
    np.fill_diagonal(tied, 0)
    return won, tied
