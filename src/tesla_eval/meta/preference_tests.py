"""Which system do people prefer? Sign tests over all pairs of systems, and how far the judges agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tesla_eval import stats
from tesla_eval.judgements.nouns import (
    Key,
    Preferences,
    Rankings,
    annotator_agreement,
    preferences_of,
    win_table,
)

__all__ = [
    "PreferenceReport",
    "PreferenceShares",
    "PreferenceTest",
    "RankedSystem",
    "preference_report",
    "preference_reports",
]


@dataclass(frozen=True)
class RankedSystem:
    """A system with its mean share of wins over opponents, and its wins and losses."""

    system: str
    expected_wins: float
    wins: int
    losses: int


@dataclass(frozen=True)
class PreferenceTest:
    """How often one system was preferred to another; ties are known from rankings only and take no part in the test."""

    first: str
    second: str
    wins: int
    losses: int
    ties: int | None
    p_value: float
    adjusted: float


@dataclass(frozen=True)
class PreferenceShares:
    """Shares of the systems, in the order of the report (from rankings only, because ties count).

    `best`: the share of rankings in which a system is best. `score1`, `score2`: the share of its pairwise comparisons
    in which it is better or equal, and strictly better. `matrix[i][j]`: how often system i was preferred to system j.
    """

    best: tuple[float, ...]
    score1: tuple[float, ...]
    score2: tuple[float, ...]
    matrix: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class PreferenceReport:
    """What the judges of one test set said: agreement (from rankings only), systems best first, all pairs tested."""

    lp: str
    testset: str
    between_judges: stats.Agreement | None
    within_judges: stats.Agreement | None
    systems: tuple[RankedSystem, ...]
    tests: tuple[PreferenceTest, ...]
    shares: PreferenceShares | None = None


def preference_reports(
    rankings: Mapping[Key, Rankings], preferences: Mapping[Key, Preferences]
) -> list[PreferenceReport]:
    """A report for each test set that has rankings or else preferences."""
    return [preference_report(key, ranked) for key, ranked in rankings.items()] + [
        preference_report(key, pairs) for key, pairs in preferences.items() if key not in rankings
    ]


def preference_report(key: Key, judged: Rankings | Preferences) -> PreferenceReport:
    """Agreement, expected wins and sign tests with Holm's correction, as far as the judgements tell."""
    rankings = judged if isinstance(judged, Rankings) else None
    preferences = preferences_of(judged) if isinstance(judged, Rankings) else judged
    names, wins = win_table(preferences)
    expected = stats.expected_wins(wins)
    order = np.argsort(-np.nan_to_num(expected, nan=-1.0), kind="stable").tolist()
    systems = tuple(
        RankedSystem(names[i], float(expected[i]), int(wins[i].sum()), int(wins[:, i].sum())) for i in order
    )
    pairs = list(combinations(order, 2))
    tests = [stats.sign_test(int(wins[i, j]), int(wins[j, i])) for i, j in pairs]
    adjusted = stats.holm([test.p_value for test in tests]).tolist()
    ties = None if rankings is None else _tie_counts(rankings)
    return PreferenceReport(
        *key,
        between_judges=annotator_agreement(rankings) if rankings else None,
        within_judges=annotator_agreement(rankings, same_judge=True) if rankings else None,
        systems=systems,
        tests=tuple(
            PreferenceTest(
                names[i], names[j], test.wins, test.losses,
                None if ties is None else ties.get(frozenset((names[i], names[j])), 0), test.p_value, p,
            )
            for (i, j), test, p in zip(pairs, tests, adjusted, strict=True)
        ),
        shares=None if rankings is None else _shares(rankings, [system.system for system in systems]),
    )  # fmt: skip


def _shares(rankings: Rankings, systems: list[str]) -> PreferenceShares:
    place = {name: k for k, name in enumerate(systems)}
    wins, ties = np.zeros((2, len(systems), len(systems)))
    preferences = preferences_of(rankings)
    np.add.at(wins, ([place[s] for s in preferences.better], [place[s] for s in preferences.worse]), 1)
    for pair, count in _tie_counts(rankings).items():
        if len(pair) == 2 and pair <= place.keys():
            i, j = (place[name] for name in pair)
            ties[i, j] = ties[j, i] = count
    best = stats.share_of_best(rankings.tasks, rankings.systems, rankings.ranks)
    return PreferenceShares(
        tuple(best[name] for name in systems),
        tuple(stats.score1(wins, ties).tolist()),
        tuple(stats.score2(wins, ties).tolist()),
        tuple(map(tuple, stats.pairwise_shares(wins, ties).tolist())),
    )


def _tie_counts(rankings: Rankings) -> dict[frozenset[str], int]:
    """How often two systems shared a rank of one task."""
    first, second = stats.pairs_within(rankings.tasks)
    ranks = np.array(rankings.ranks)
    counts: dict[frozenset[str], int] = {}
    for a, b in np.stack([first, second], axis=1)[ranks[first] == ranks[second]].tolist():
        pair = frozenset((rankings.systems[a], rankings.systems[b]))
        counts[pair] = counts.get(pair, 0) + 1
    return counts
