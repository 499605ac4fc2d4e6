"""From raw rankings to preferences, annotator agreement and expected wins."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tesla_eval import stats
from tesla_eval.meta.judgements import Preferences, Rankings

__all__ = ["annotator_agreement", "expected_wins", "preferences_of", "win_table"]


def preferences_of(rankings: Rankings) -> Preferences:
    """Every pair of one task whose ranks differ, as a preference for the lower rank; ties are dropped.

    >>> rankings = Rankings("file", ["9"] * 3, ["t"] * 3, ["ann"] * 3, ["a", "b", "c"], [1, 2, 2], [2, 3, 4])
    >>> found = preferences_of(rankings)
    >>> list(zip(found.better, found.worse))
    [('a', 'b'), ('a', 'c')]
    """
    result = Preferences(rankings.source)
    for first, second in _untied_pairs(rankings):
        better, worse = (first, second) if rankings.ranks[first] < rankings.ranks[second] else (second, first)
        result.segments.append(rankings.segments[better])
        result.better.append(rankings.systems[better])
        result.worse.append(rankings.systems[worse])
        result.lines.append(rankings.lines[better])
    return result


def annotator_agreement(rankings: Rankings, *, same_judge: bool = False) -> stats.Agreement:
    """P(A) and kappa over pairs of outputs ranked twice: by two judges, or twice by one with `same_judge`.

    Each pair of outputs of a task is a judgement with three outcomes: better, worse, tied.
    """
    first, second = stats.pairs_within(rankings.tasks)
    systems, ranks = np.array(rankings.systems), np.array(rankings.ranks)
    outcome = np.sign(ranks[first] - ranks[second])
    # The two systems may stand in either order: turn the outcome to the alphabetical one.
    turned = systems[first] > systems[second]
    low, high = np.where(turned, (second, first), (first, second))
    items = _labels(np.array(rankings.segments)[low], systems[low], systems[high])
    judges = np.array(rankings.judges)[low]
    return stats.agreement(items, np.where(turned, -outcome, outcome), judges, same_judge=same_judge)


def win_table(preferences: Preferences) -> tuple[tuple[str, ...], stats.FloatArray]:
    """The systems in alphabetical order, and [i, j]: how often system i was preferred to j."""
    systems = tuple(sorted({*preferences.better, *preferences.worse}))
    place = {name: i for i, name in enumerate(systems)}
    table = np.zeros((len(systems), len(systems)))
    np.add.at(table, ([place[n] for n in preferences.better], [place[n] for n in preferences.worse]), 1)
    return systems, table


def expected_wins(preferences: Preferences) -> dict[str, float]:
    """For every system the mean over its opponents of wins / (wins + losses)."""
    systems, table = win_table(preferences)
    return dict(zip(systems, stats.expected_wins(table).tolist(), strict=True))


def _untied_pairs(rankings: Rankings) -> Iterator[tuple[int, int]]:
    first, second = stats.pairs_within(rankings.tasks)
    ranks = np.array(rankings.ranks)
    untied = ranks[first] != ranks[second]
    return zip(first[untied].tolist(), second[untied].tolist(), strict=True)


def _labels(*columns: npt.NDArray[np.generic]) -> npt.NDArray[np.int64]:
    """One whole number per distinct row of the columns."""
    codes = np.stack([np.unique(column, return_inverse=True)[1] for column in columns])
    return np.unique(codes, axis=1, return_inverse=True)[1].reshape(-1)
