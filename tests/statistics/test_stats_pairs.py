"""Agreement on pairs: consistency, the WMT form of tau, accuracy, and its calibration for ties."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tesla_eval.base.errors import UsageError
from tesla_eval.statistics.pairs import (
    PairCounts,
    calibrated_accuracy,
    count_pairs,
    group_accuracy,
    pairs_within,
)

small = st.integers(0, 4).map(float)


@st.composite
def grouped_scores(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n = draw(st.integers(2, 14))
    columns = (draw(st.lists(kind, min_size=n, max_size=n)) for kind in (small, small, st.integers(0, 3)))
    human, metric, groups = (np.array(column) for column in columns)
    return human, metric, groups


def counted(human, metric, groups=None) -> PairCounts:
    """The pairs within groups, from scores."""
    h, m = np.asarray(human, float), np.asarray(metric, float)
    first, second = pairs_within(np.zeros(len(h)) if groups is None else groups)
    return count_pairs(h[first] - h[second], m[first] - m[second])


def test_by_hand_on_two_segments():
    # Segment 1: human 3 > 2 > 1, metric 0.5, 0.7, 0.5: (3,2) wrong, (3,1) metric tie, (2,1) right.
    # Segment 2: human 2 = 2 > 1, metric 0.9, 0.1, 0.3: human tie left out, right, wrong.
    human = [3, 2, 1, 2, 2, 1]
    metric = [0.5, 0.7, 0.5, 0.9, 0.1, 0.3]
    segments = [1, 1, 1, 2, 2, 2]
    counts = counted(human, metric, segments)
    assert counts == PairCounts(concordant=2, discordant=2, metric_ties=1)
    assert counts.consistency.value == 2 / 5
    assert counts.kendall_wmt.value == 0
    assert counts.accuracy.value == 2.5 / 5
    assert counts.accuracy.n == 5


@settings(deadline=None)
@given(scores=grouped_scores())
def test_pairs_within_are_all_unordered_pairs_of_a_group(scores):
    groups = scores[2]
    expected = {(i, j) for i, j in combinations(range(len(groups)), 2) if groups[i] == groups[j]}
    first, second = pairs_within(groups)
    assert len(first) == len(expected)
    assert {(int(min(p)), int(max(p))) for p in zip(first, second, strict=True)} == expected


@settings(deadline=None)
@given(scores=grouped_scores())
def test_statistics_hang_together(scores):
    human, metric, groups = scores
    counts = counted(human, metric, groups)
    results = [counts.consistency, counts.kendall_wmt, counts.accuracy]
    if not results[0].n:
        assert all(r.note == "no pair that humans tell apart" and math.isnan(r.value) for r in results)
        return
    right, tau, half = (r.value for r in results)
    assert right <= half
    assert half == pytest.approx((1 + tau) / 2)
    assert counted(human, -metric, groups).kendall_wmt.value == pytest.approx(-tau)


def test_pairs_without_a_score_are_left_out():
    assert count_pairs([1, 1, math.nan, 0], [0.5, math.nan, 1, math.nan]) == PairCounts(concordant=1)


def test_a_constant_metric_has_no_credit_but_half_accuracy():
    human = [1, 2, 3]
    counts = counted(human, [5, 5, 5])
    assert counts.consistency.value == 0
    assert counts.kendall_wmt.value == 0
    assert counts.accuracy.value == 0.5


class TestCalibration:
    """Deutsch et al. (2023): one epsilon, below which the metric is said to tie."""

    def test_no_epsilon_helps_where_humans_never_tie(self):
        # All six pairs of (1, 2, 3, 4) and (0, 2, 6, 8) are ordered alike.
        human, metric = np.array([1, 2, 3, 4]), np.array([0, 2, 6, 8])
        first, second = pairs_within(np.zeros(4))
        result = calibrated_accuracy(human[first] - human[second], metric[first] - metric[second])
        assert (result.value, result.epsilon, result.n) == (1.0, 0.0, 6)

    def test_epsilon_is_chosen_for_the_mean_over_segments(self):
        # Segment 1: pairs (human tie, gap 1), (human apart, right, gap 3); segment 2: (human tie, gap 2).
        # epsilon 0: (1/2 + 0)/2; 1: (2/2 + 0)/2; 2: (2/2 + 1)/2 = 1; 3: (1/2 + 1)/2.
        result = calibrated_accuracy(human=[0, 1, 0], metric=[1, 3, -2], groups=[1, 1, 2])
        assert (result.value, result.epsilon, result.groups) == (1.0, 2.0, 2)

    def test_the_smallest_of_equally_good_epsilons_wins(self):
        # epsilon 0: right, wrong; 1: right, right; 2: wrong, right.
        result = calibrated_accuracy(human=[1, 0], metric=[2, 1])
        assert (result.value, result.epsilon) == (1.0, 1.0)
        assert calibrated_accuracy(human=[1, 0], metric=[1, 1]).epsilon == 0.0

    def test_exact_metric_ties_are_ties_at_epsilon_zero(self):
        result = calibrated_accuracy(human=[0, 1, 1], metric=[0, 0, 4])
        assert (result.value, result.epsilon) == (pytest.approx(2 / 3), 0.0)

    @settings(deadline=None)
    @given(scores=grouped_scores())
    def test_equals_trying_every_epsilon(self, scores):
        human, metric, groups = scores
        first, second = pairs_within(groups)
        if not len(first):
            return
        h, m, g = human[first] - human[second], metric[first] - metric[second], groups[first]
        tried = {e: group_accuracy(h, m, g, e).mean() for e in [0.0, *np.unique(np.abs(m))]}
        best = max(tried.values())
        result = calibrated_accuracy(h, m, g)
        assert result.value == pytest.approx(best, abs=1e-12)
        assert result.epsilon == min(e for e, value in tried.items() if value >= best - 1e-12)

    def test_accuracy_within_a_group_by_hand(self):
        # Group a: gap 0.1 is a tie as humans say; gap -0.5 orders 1 wrongly. Group b: right.
        values = group_accuracy([0, 1, 1], [0.1, -0.5, 0.5], ["a", "a", "b"], epsilon=0.2)
        assert values.tolist() == [0.5, 1.0]

    def test_nothing_to_calibrate_is_said(self):
        result = calibrated_accuracy([math.nan], [1.0])
        assert math.isnan(result.value)
        assert result.note == "no pair with both scores"

    def test_bad_parameters_are_refused(self):
        with pytest.raises(UsageError, match="epsilon"):
            group_accuracy([1], [1], None, epsilon=-1)
        with pytest.raises(UsageError, match="one per pair"):
            calibrated_accuracy([1, 1], [1, 1], groups=[0])
