"""Judges who score the same things: correlation of each two of them, and of each with the mean of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.errors import UsageError
from tesla_eval.statistics.correlation import pearson
from tesla_eval.statistics.estimate import Estimate, known_means, ratio

OTHERS = "mean of the others"


@dataclass(frozen=True)
class JudgeCorrelation:
    """Pearson's r of two judges, or of one with the mean of the others, over the outputs that both scored.

    `system` compares the means of the systems over these outputs.
    """

    first: str
    second: str
    sentence: Estimate
    system: Estimate


def judge_correlations(
    items: Sequence[str], systems: Sequence[str], judges: Sequence[str], scores: npt.ArrayLike
) -> tuple[list[JudgeCorrelation], list[JudgeCorrelation]]:
    """Each two judges, and each judge with the mean of the others (PEM's table 1); a judge's repeats are averaged.

    >>> pairs, others = judge_correlations(
    ...     ["1", "1", "2", "2"] * 2, ["s", "t"] * 4, ["ann"] * 4 + ["bob"] * 4, [1, 2, 3, 5, 2, 2, 4, 5])
    >>> round(pairs[0].sentence.value, 4), pairs[0].sentence.n, round(others[1].system.value, 4)
    (0.9434, 4, 1.0)
    """
    values = np.asarray(scores, np.float64)
    if not len(items) == len(systems) == len(judges) == len(values):
        raise UsageError(
            f"{len(items)} items, {len(systems)} systems, {len(judges)} judges and {len(values)} scores: "
            "not the same number"
        )
    names, table, system = _table(items, systems, judges, values)
    pairs = [
        _correlation(names[a], names[b], table[a], table[b], system)
        for a, b in combinations(range(len(names)), 2)
    ]
    others = [
        _correlation(name, OTHERS, table[a], known_means(np.delete(table, a, axis=0), axis=0), system)
        for a, name in enumerate(names if len(names) > 1 else ())
    ]
    return pairs, others


def _table(
    items: Sequence[str], systems: Sequence[str], judges: Sequence[str], values: FloatArray
) -> tuple[list[str], FloatArray, Index]:
    """Judges by name, [judge, output] the mean score or NaN, and the system of each output."""
    names, row = np.unique(np.array(judges, str), return_inverse=True)
    outputs: dict[tuple[str, str], int] = {}
    place = np.array(
        [outputs.setdefault(key, len(outputs)) for key in zip(items, systems, strict=True)], np.int64
    )
    sums, counts = np.zeros((2, len(names), len(outputs)))
    np.add.at(sums, (row, place), values)
    np.add.at(counts, (row, place), 1)
    system = np.unique(np.array([name for _, name in outputs], str), return_inverse=True)[1]
    return names.tolist(), ratio(sums, counts), system


def _correlation(first: str, second: str, x: FloatArray, y: FloatArray, system: Index) -> JudgeCorrelation:
    both = ~np.isnan(x) & ~np.isnan(y)
    x, y, of = x[both], y[both], system[both]
    counts = np.bincount(of)
    present = np.flatnonzero(counts)
    means = [np.bincount(of, side)[present] / counts[present] for side in (x, y)]
    return JudgeCorrelation(first, second, pearson(x, y), pearson(*means))
