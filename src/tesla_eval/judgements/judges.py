"""Judges: a table of their scores, and how far they agree, from scores or from rankings."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.errors import InputError
from tesla_eval.judgements.nouns import EvalSet, Key, Rankings, columns_of, labels
from tesla_eval.statistics.agreements import Agreement, agreement
from tesla_eval.statistics.pairs import pairs_within
from tesla_eval.texts.lines import parse_number, read_headed_rows

_REQUIRED = ("item", "system", "judge", "score")
_OPTIONAL = {"lp": "-", "testset": "ratings", "criterion": ""}
OUTCOMES = 3  # better, worse, tied (2011 paper, section 4)
UNTIED_OUTCOMES = 2  # better or worse (CELAB paper, section 4.2)


@dataclass(frozen=True)
class Ratings:
    """Scores by judges, one row per score; a judge who scored an output twice has two rows."""

    source: str
    criterion: str = ""
    items: list[str] = field(default_factory=list)
    systems: list[str] = field(default_factory=list)
    judges: list[str] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.scores)

    def means(self, outputs: EvalSet) -> FloatArray:
        """The mean over judges as a table (systems, segments) of `outputs`; each judge counts once."""
        systems = {name: place for place, name in enumerate(outputs.systems)}
        segments = {name: place for place, name in enumerate(outputs.segments)}
        by_judge: dict[tuple[int, int], dict[str, list[float]]] = {}
        rows = zip(self.items, self.systems, self.judges, self.scores, self.lines, strict=True)
        for item, system, judge, score, line in rows:
            if system not in systems or item not in segments:
                missing = f"system {system}" if system not in systems else f"segment {item}"
                raise InputError(
                    f"{self.source}, line {line}: {missing} has no output for {outputs.lp} {outputs.testset}"
                )
            by_judge.setdefault((systems[system], segments[item]), {}).setdefault(judge, []).append(score)
        table = np.full((len(systems), len(segments)), math.nan)
        for place, scores in by_judge.items():
            table[place] = math.fsum(math.fsum(own) / len(own) for own in scores.values()) / len(scores)
        return table


def read_ratings(path: str) -> dict[Key, dict[str, Ratings]]:
    """The scores of a table by test set and criterion.

    The header names the columns in any order: `item system judge score`, and optionally `lp testset criterion`.
    """
    rows: dict[Key, dict[str, list[tuple[str, str, str, float, int]]]] = {}
    for number, (place, cells) in enumerate(read_headed_rows(path, _REQUIRED, _OPTIONAL), start=2):
        row = _OPTIONAL | cells
        group = rows.setdefault((row["lp"], row["testset"]), {}).setdefault(row["criterion"], [])
        score = parse_number(row["score"], place)
        group.append((row["item"], row["system"], row["judge"], score, number))
    return {
        key: {name: Ratings(path, name, *columns_of(group)) for name, group in by_criterion.items()}
        for key, by_criterion in rows.items()
    }


def rankings_of(ratings: Ratings) -> Rankings:
    """The order that each judge's scores give the outputs of an item; a judge's second scores are a ranking apart.

    >>> ratings = Ratings("file", "", ["9"] * 3, ["a", "b", "c"], ["ann"] * 3, [2.0, 5.0, 2.0], [2, 3, 4])
    >>> rankings_of(ratings).ranks
    [2, 1, 2]
    """
    times: dict[tuple[str, str, str], int] = {}
    tasks: list[str] = []
    for key in zip(ratings.items, ratings.systems, ratings.judges, strict=True):
        times[key] = times.get(key, 0) + 1
        tasks.append(f"{key[0]}\t{key[2]}\t{times[key]}")
    by_task: dict[str, set[float]] = {}
    for task, score in zip(tasks, ratings.scores, strict=True):
        by_task.setdefault(task, set()).add(score)
    return Rankings(
        ratings.source, list(ratings.items), tasks, list(ratings.judges), list(ratings.systems),
        [1 + sum(other > score for other in by_task[task]) for task, score in zip(tasks, ratings.scores, strict=True)],
        list(ratings.lines),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Judgements:
    """Pairs of outputs as they were judged: what was compared, by whom, and the outcome (-1, 0 or 1)."""

    item: Index
    judge: npt.NDArray[np.str_]
    outcome: npt.NDArray[np.int64]

    @classmethod
    def of(cls, rankings: Rankings) -> Judgements:
        """Every pair of outputs of every ranking, the two systems in alphabetical order."""
        first, second = pairs_within(rankings.tasks)
        systems, ranks = np.array(rankings.systems, str), np.array(rankings.ranks, np.int64)
        turned = systems[first] > systems[second]
        low, high = np.where(turned, (second, first), (first, second))
        items = labels(np.array(rankings.segments, str)[low], systems[low], systems[high])
        return cls(items, np.array(rankings.judges, str)[low], np.sign(ranks[low] - ranks[high]))

    def untied(self) -> Judgements:
        """The same without judgements that found both outputs equally good."""
        kept = self.outcome != 0
        return Judgements(self.item[kept], self.judge[kept], self.outcome[kept])


def annotator_agreement(rankings: Rankings, *, same_judge: bool = False, ties: bool = True) -> Agreement:
    """P(A) and kappa over all judges, or of each judge with themselves.

    P(E) is 1/3 (better, worse, tied); without `ties` tied judgements are left out and P(E) is 1/2.
    """
    judged = Judgements.of(rankings) if ties else Judgements.of(rankings).untied()
    return agreement(
        judged.item, judged.outcome, judged.judge,
        outcomes=OUTCOMES if ties else UNTIED_OUTCOMES, same_judge=same_judge,
    )  # fmt: skip


@dataclass(frozen=True)
class JudgePair:
    """How far two judges agree on pairs of outputs that both compared; `untied` leaves ties out."""

    first: str
    second: str
    agreement: Agreement
    untied: Agreement


def judge_pairs(rankings: Rankings) -> list[JudgePair]:
    """Every two judges who compared the same pair of outputs, by name (CELAB's table 1)."""
    judged = Judgements.of(rankings)
    with_ties, without = _counted(judged), _counted(judged.untied())
    return [
        JudgePair(
            *pair,
            Agreement.of(*counts, OUTCOMES),
            Agreement.of(*without.get(pair, (0, 0)), UNTIED_OUTCOMES),
        )
        for pair, counts in sorted(with_ties.items())
    ]


def _counted(judged: Judgements) -> dict[tuple[str, str], tuple[int, int]]:
    """For each pair of judges: the same outcomes, and all pairs of judgements."""
    first, second = pairs_within(judged.item)
    names, judge = np.unique(judged.judge, return_inverse=True)
    low, high = np.minimum(judge[first], judge[second]), np.maximum(judge[first], judge[second])
    same = judged.outcome[first] == judged.outcome[second]
    apart = low != high
    keys, place = np.unique(low[apart] * len(names) + high[apart], return_inverse=True)
    total = np.bincount(place, minlength=len(keys))
    agreed = np.bincount(place, same[apart], len(keys))
    return {
        (str(names[key // len(names)]), str(names[key % len(names)])): (int(a), int(n))
        for key, a, n in zip(keys.tolist(), agreed.tolist(), total.tolist(), strict=True)
    }
