"""Soft pairwise accuracy (Thompson et al. 2024): is a metric as sure about pairs of systems as humans are?

For systems i, j the confidence is the p-value of a one-sided paired permutation test that i is better than j.
The statistic is 1 - |p_human - p_metric|, averaged over pairs: near 1 where both are sure of the same order
or both are unsure, 0 where they are sure of opposite orders.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tesla_eval.arrays import FloatArray
from tesla_eval.errors import UsageError
from tesla_eval.stats.agreement import binomial_upper_tail
from tesla_eval.stats.draws import DEFAULT_RESAMPLES, DEFAULT_SEED, exchange_masks
from tesla_eval.stats.estimate import Estimate, as_array, undefined

__all__ = ["better_p_values", "soft_accuracy", "wins_p_values"]

# A permuted sum that differs from the observed one by less than this share of all differences equals it.
_SAME = 1e-10


def better_p_values(
    scores: npt.ArrayLike, *, permutations: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
) -> FloatArray:
    """[i, j] is the p-value of "system i is better than j" from segment scores (systems, segments).

    Scores of the two systems are exchanged in random segments; the p-value is the share of permutations in
    which the difference is at least the one observed; two systems with the same scores have 1/2. A pair is
    compared on the segments that have a score (not NaN) for both; without one its p-value is NaN, as is the
    diagonal.

    >>> better_p_values([[3, 5, 4], [1, 2, 2]])  # all 8 exchanges: one reaches +7, all reach -7
    array([[  nan, 0.125],
           [1.   ,   nan]])
    """
    table = as_array(scores, "scores", 2)
    systems, segments = table.shape
    first, second = np.triu_indices(systems, k=1)
    p_values = np.full((systems, systems), math.nan)
    if not (len(first) and segments):
        return p_values
    difference = table[first] - table[second]
    shared = ~np.isnan(difference)
    difference = np.where(shared, difference, 0.0)  # adds nothing to a sum, whichever way it is exchanged
    observed = difference.sum(axis=1)
    same = _SAME * np.abs(difference).sum(axis=1)
    reached, reversed_reached, drawn = np.zeros(len(first)), np.zeros(len(first)), 0
    for keep in exchange_masks(segments, permutations, seed):
        permuted = (2 * keep - 1) @ difference.T
        reached += (permuted >= observed - same).sum(axis=0)
        reversed_reached += (-permuted >= -observed - same).sum(axis=0)
        drawn += len(keep)
    known, differ = shared.any(axis=1), difference.any(axis=1)
    for places, hits in (((first, second), reached), ((second, first), reversed_reached)):
        p_values[places] = np.where(known, np.where(differ, hits / drawn, 0.5), math.nan)
    return p_values


def wins_p_values(wins: npt.ArrayLike) -> FloatArray:
    """[i, j] is the p-value of "system i is better than j" from a table of pairwise wins (systems, systems).

    This is the same permutation test for judgements that are only preferences: exchanging the two systems of
    a judgement flips its winner, so the p-value is the upper tail of a binomial with probability 1/2.

    >>> wins_p_values([[0, 3], [1, 0]])
    array([[   nan, 0.3125],
           [0.9375,    nan]])
    """
    table = as_array(wins, "wins", 2)
    p_values = np.full(table.shape, math.nan)
    for i, j in zip(*np.nonzero(table + table.T), strict=True):
        if i != j:
            p_values[i, j] = binomial_upper_tail(int(table[i, j]), int(table[i, j] + table[j, i]))
    return p_values


def soft_accuracy(human: npt.ArrayLike, metric: npt.ArrayLike) -> Estimate:
    """Mean of 1 - |p_human - p_metric| over system pairs i < j; pairs without both p-values are left out.

    >>> soft_accuracy([[np.nan, 0.1], [0.9, np.nan]], [[np.nan, 0.4], [0.6, np.nan]])
    Estimate(value=0.7, n=1, note='')
    """
    h, m = as_array(human, "human", 2), as_array(metric, "metric", 2)
    if h.shape != m.shape or h.shape[0] != h.shape[1]:
        raise UsageError(f"two square tables of p-values are needed, got shapes {h.shape} and {m.shape}")
    pairs = np.triu_indices(len(h), k=1)
    closeness = 1 - np.abs(h[pairs] - m[pairs])
    known = closeness[~np.isnan(closeness)]
    if not len(known):
        return undefined(0, "no pair of systems has p-values from both sides")
    left_out = len(closeness) - len(known)
    note = f"{left_out} of {len(closeness)} system pairs have no p-value" if left_out else ""
    return Estimate(float(known.mean()), len(known), note)
