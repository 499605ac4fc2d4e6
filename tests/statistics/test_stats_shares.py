"""Pairwise percentages, share of best, score1 and score2, against counting by hand."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval import statistics
from tesla_eval.base.errors import UsageError

rankings = st.lists(st.lists(st.integers(1, 3), min_size=3, max_size=3), min_size=1, max_size=8)


def counted(tasks):
    wins, ties = np.zeros((2, 3, 3))
    for ranks in tasks:
        for i, j in combinations(range(3), 2):
            if ranks[i] == ranks[j]:
                ties[i, j] += 1
                ties[j, i] += 1
            else:
                better, worse = (i, j) if ranks[i] < ranks[j] else (j, i)
                wins[better, worse] += 1
    return wins, ties


@given(rankings)
def test_shares_are_what_counting_gives(tasks) -> None:
    wins, ties = counted(tasks)
    shares, one, two = (
        statistics.pairwise_shares(wins, ties),
        statistics.score1(wins, ties),
        statistics.score2(wins, ties),
    )
    for i in range(3):
        better = sum(ranks[i] < ranks[j] for ranks in tasks for j in range(3) if j != i)
        equal = sum(ranks[i] == ranks[j] for ranks in tasks for j in range(3) if j != i)
        assert two[i] == pytest.approx(better / (2 * len(tasks)))
        assert one[i] == pytest.approx((better + equal) / (2 * len(tasks)))
        for j in range(3):
            if i != j:
                assert shares[i, j] == pytest.approx(sum(ranks[i] < ranks[j] for ranks in tasks) / len(tasks))
    names = [f"s{k}" for k in range(3)] * len(tasks)
    numbers = np.repeat(np.arange(len(tasks)), 3).tolist()
    best = statistics.share_of_best(numbers, names, np.array(tasks).reshape(-1))
    for k in range(3):
        assert best[f"s{k}"] == pytest.approx(np.mean([ranks[k] == min(ranks) for ranks in tasks]))


@pytest.mark.parametrize(
    ("wins", "ties"), [([[0, 1]], [[0, 1]]), ([[0, 1], [0, 0]], [[0]]), (np.zeros((2, 2)), [[0, 1], [2, 0]])]
)
def test_tables_that_do_not_fit(wins, ties) -> None:
    with pytest.raises(UsageError):
        statistics.score1(wins, ties)


class TestCommand:
    @pytest.fixture
    def ranks(self, write):
        rows = ["lp\ttestset\tseg_id\ttask\tjudge\tsystem\trank"]
        rows += [
            f"de-en\tt\t{k}\tt{k}\tann\t{name}\t{rank}"
            for k in range(4)
            for name, rank in (("a", 1), ("b", 1 + k % 2))
        ]
        return write("r.tsv", rows)

    def test_shares_of_rankings(self, tesla, ranks) -> None:
        (report,) = json.loads(
            tesla("judge", "agree", "--rankings", ranks, "--shares", "--format", "json").out
        )["preferences"]
        assert [system["system"] for system in report["systems"]] == ["a", "b"]
        assert report["shares"] == {
            "best": [1.0, 0.5], "score1": [1.0, 0.5], "score2": [0.5, 0.0], "matrix": [[None, 0.5], [0.0, None]],
        }  # fmt: skip
        text = tesla("judge", "agree", "--rankings", ranks, "--shares").out
        assert "50.0% / 0.0%" in text
        assert "shares" not in tesla("judge", "agree", "--rankings", ranks, "--format", "json").out

    def test_shares_need_rankings(self, tesla, write) -> None:
        pairs = write("p", ["lp\ttestset\tseg_id\tsystem_better\tsystem_worse"])
        assert tesla("judge", "agree", "--pairs", pairs, "--shares").status == 2

    def test_meta_names_the_command(self, tesla, ranks) -> None:
        assert "tesla judge agree" in tesla("meta", "--rankings", ranks).err
