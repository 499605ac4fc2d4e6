"""Tests of significance between two role labellers, worked out by hand."""

from __future__ import annotations

import pytest

from research.srl_tests import compare
from tesla_eval_papers.srl.evaluation import RoleCounts


def test_significance() -> None:
    gold = [("ARG0", 0, 1), ("ARG1", 1, 2), ("ARG2", 2, 3)]
    first, second = RoleCounts(), RoleCounts()
    for number in range(10):
        first.add((number,), gold, [(0, 1), (1, 2), (2, 3)], gold, gold)
        second.add((number,), gold, [(0, 1), (5, 6)], gold, gold)
    test = compare(first, second, "identification")
    assert (test.only_first, test.only_second) == (30, 0)  # two missed and one too many, ten times
    assert test.mcnemar_p == pytest.approx(2 / 2**30)
    # 30 right and 0 wrong against 10 right and 30 wrong.
    assert test.chi_square == pytest.approx(70 * (30 * 30) ** 2 / (30 * 40 * 40 * 30))
    same = compare(first, first, "combined")
    assert (same.chi_square, same.mcnemar_p) == (0, 1)
