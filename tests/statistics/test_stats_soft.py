"""Soft pairwise accuracy: 1 - |p_human - p_metric| over system pairs, p from one-sided paired permutation."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tesla_eval.base.errors import UsageError
from tesla_eval.statistics.pairs import better_p_values, soft_accuracy, wins_p_values


def test_p_values_by_hand():
    # Differences 2, 1, 1 sum to 4. Of the sums +-2 +-1 +-1 only 4 reaches 4: 1/8. All reach -4: 1.
    p = better_p_values([[3, 3, 3], [1, 2, 2]])
    assert p[0, 1] == 1 / 8
    assert p[1, 0] == 1


def test_soft_accuracy_by_hand():
    # p-values are 0.2, 0 and 0.7 apart: (0.8 + 1 + 0.3) / 3.
    human = [[math.nan, 0.1, 0.5], [math.nan] * 2 + [0.9], [math.nan] * 3]
    metric = [[math.nan, 0.3, 0.5], [math.nan] * 2 + [0.2], [math.nan] * 3]
    result = soft_accuracy(human, metric)
    assert result.value == pytest.approx(0.7)
    assert result.n == 3


def test_from_segment_scores_to_the_statistic_by_hand():
    # Human differences 1, 1: of four exchanges one reaches 2. Metric differences 1, 0: two of four reach 1.
    human, metric = better_p_values([[2, 2], [1, 1]]), better_p_values([[5, 3], [4, 3]])
    assert (human[0, 1], metric[0, 1]) == (0.25, 0.5)
    assert soft_accuracy(human, metric).value == 0.75


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=1, max_size=8))
def test_p_values_equal_enumeration(cells):
    scores = np.array(cells, dtype=float).T
    difference = scores[0] - scores[1]
    sums = [np.dot(signs, difference) for signs in product([1, -1], repeat=len(difference))]
    p = better_p_values(scores, permutations=256)
    if difference.any():
        assert p[0, 1] == np.mean(np.array(sums) >= difference.sum())
        assert p[1, 0] == np.mean(np.array(sums) <= difference.sum())


def test_sampled_p_values_approach_enumerated_ones():
    rng = np.random.default_rng(3)
    scores = rng.random((3, 12)) + np.array([[0.0], [0.1], [0.2]])
    exact = better_p_values(scores, permutations=4096)
    sampled = better_p_values(scores, permutations=4000, seed=7)
    assert np.nanmax(np.abs(exact - sampled)) < 4 * math.sqrt(0.25 / 4000)
    assert not np.array_equal(exact, sampled, equal_nan=True)


def test_a_metric_that_agrees_with_humans_completely_has_1_its_reverse_less_than_half():
    rng = np.random.default_rng(1)
    human = better_p_values(rng.normal(size=(5, 300)) + np.arange(5)[:, None] * 0.2)
    assert soft_accuracy(human, human).value == 1
    assert soft_accuracy(human, human.T).value < 0.5


def test_two_systems_with_the_same_scores_are_even():
    p = better_p_values([[1, 2, 3], [1, 2, 3], [4, 5, 6]])
    assert p[0, 1] == p[1, 0] == 0.5


def test_pairs_are_compared_on_common_segments_only():
    nan = math.nan
    complete = better_p_values([[3, 5, 4], [1, 2, 2]])
    gaps = better_p_values([[3, 5, 4, nan, 9], [1, 2, 2, 7, nan]])
    assert gaps[0, 1] == complete[0, 1]


def test_systems_without_common_segments_have_no_p_value():
    nan = math.nan
    p = better_p_values([[1, nan], [nan, 2], [1, 1]])
    assert math.isnan(p[0, 1])
    result = soft_accuracy(p, p)
    assert result.n == 2
    assert result.note == "1 of 3 system pairs have no p-value"


def test_one_system_or_no_segment_is_stated():
    for scores in (np.ones((1, 4)), np.ones((3, 0))):
        p = better_p_values(scores)
        result = soft_accuracy(p, p)
        assert math.isnan(result.value)
        assert result.note == "no pair of systems has p-values from both sides"


def test_preferences_are_a_sign_test():
    # 3 wins of 4: P(X >= 3) = 5/16, P(X >= 1) = 15/16; so do judgements written as segment scores 1 and 0.
    p = wins_p_values([[0, 3], [1, 0]])
    assert (p[0, 1], p[1, 0]) == (5 / 16, 15 / 16)
    assert better_p_values([[1, 1, 1, 0], [0, 0, 0, 1]])[0, 1] == p[0, 1]


def test_shapes_must_fit():
    with pytest.raises(UsageError, match="square"):
        soft_accuracy(np.ones((2, 2)), np.ones((3, 3)))
