"""Annotators, preferences, many comparisons, effect sizes."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from tesla_eval.base.errors import UsageError
from tesla_eval.statistics.agreements import agreement, expected_wins, kappa, sign_test
from tesla_eval.statistics.multiple import enough_resamples, holm, rank_clusters
from tesla_eval.statistics.resampling import paired_effect


class TestKappa:
    """P(E) = 1 / outcomes (2011 paper, table 5)."""

    @pytest.mark.parametrize(
        ("p_agree", "expected"),
        [(0.6846, 0.5269), (0.6124, 0.4185), (0.3973, 0.0960)],
        ids=["fr", "es", "de"],
    )
    def test_the_papers_table(self, p_agree, expected):
        assert kappa(p_agree, outcomes=3) == pytest.approx(expected, abs=1.01e-4)

    def test_ends_of_the_scale(self):
        assert kappa(1.0) == 1
        assert kappa(1 / 3) == pytest.approx(0, abs=1e-15)

    def test_one_outcome_cannot_be_disagreed_about(self):
        with pytest.raises(UsageError, match="at least 2"):
            kappa(1.0, outcomes=1)


class TestAgreement:
    items = ("s1", "s1", "s1", "s2", "s2", "s3")
    labels = ("<", "<", ">", "=", "=", "<")
    judges = ("ann", "bob", "ann", "ann", "bob", "bob")

    def test_between_judges_by_hand(self):
        # s1: ann< bob< agree, bob< ann> do not; s2: agree; s3 was judged once.
        result = agreement(self.items, self.labels, self.judges)
        assert (result.p_agree, result.n) == (2 / 3, 3)
        assert result.kappa == pytest.approx(0.5)

    def test_of_a_judge_with_herself_by_hand(self):
        result = agreement(self.items, self.labels, self.judges, same_judge=True)
        assert (result.p_agree, result.n) == (0, 1)

    @settings(deadline=None)
    @given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2)), max_size=14))
    def test_equals_counting_pairs(self, rows):
        pairs = [(a, b) for a, b in combinations(rows, 2) if a[0] == b[0] and a[2] != b[2]]
        items, labels, judges = zip(*rows, strict=True) if rows else ((), (), ())
        result = agreement(np.array(items, int), np.array(labels, int), np.array(judges, int))
        assert result.n == len(pairs)
        if pairs:
            assert result.p_agree == pytest.approx(np.mean([a[1] == b[1] for a, b in pairs]))
        else:
            assert result.note == "no item was judged twice"
            assert math.isnan(result.kappa)

    def test_what_does_not_fit_is_refused(self):
        with pytest.raises(UsageError, match="2 items, 1 judgements"):
            agreement([1, 2], ["<"])
        with pytest.raises(UsageError, match="2 judgements, 1 judges"):
            agreement([1, 2], ["<", "<"], ["ann"])
        with pytest.raises(UsageError, match="needs the judges"):
            agreement([1], ["<"], same_judge=True)


class TestSignTest:
    @settings(deadline=None)
    @given(st.integers(0, 400), st.integers(0, 400))
    def test_equals_scipys_binomial_test(self, wins, losses):
        if wins + losses:
            expected = scipy_stats.binomtest(wins, wins + losses).pvalue
            assert sign_test(wins, losses).p_value == pytest.approx(expected, rel=1e-9)

    def test_large_counts_neither_overflow_nor_lose_digits(self):
        expected = scipy_stats.binomtest(50_400, 100_000).pvalue
        assert sign_test(50_400, 49_600).p_value == pytest.approx(expected, rel=1e-9)
        assert sign_test(90_000, 10_000).p_value == 0.0

    def test_the_2011_papers_table_7(self):
        """200 sentences, 4 judges: 29.1 % against 52.1 % differ at p = 0.01, 7.6 % against 8.8 % do not."""
        assert sign_test(round(0.291 * 800), round(0.521 * 800)).p_value < 0.01
        assert sign_test(round(0.076 * 800), round(0.088 * 800)).p_value > 0.01

    def test_nothing_untied_is_stated(self):
        result = sign_test(0, 0)
        assert math.isnan(result.p_value)
        assert result.note == "no pair is untied"

    def test_negative_counts_are_refused(self):
        with pytest.raises(UsageError, match="negative"):
            sign_test(-1, 3)


class TestExpectedWins:
    def test_by_hand(self):
        # a beats b 3:1 and c 1:1 -> (0.75 + 0.5) / 2; b and c never met.
        assert expected_wins([[0, 3, 1], [1, 0, 0], [1, 0, 0]]).tolist() == [0.625, 0.25, 0.5]

    def test_a_system_that_nobody_judged_has_none(self):
        values = expected_wins([[9, 2, 0], [0, 9, 0], [0, 0, 9]])
        assert values[:2].tolist() == [1, 0]
        assert math.isnan(values[2])


class TestEnoughResamples:
    @given(comparisons=st.integers(1, 5000), alpha=st.floats(1e-3, 0.5))
    def test_a_difference_that_no_draw_reaches_stays_far_below_the_level(self, comparisons, alpha):
        drawn = enough_resamples(comparisons, alpha)
        assert holm([1 / (drawn + 1)] * comparisons).max() <= alpha / 20

    def test_a_number_that_cannot_reach_the_level_names_the_one_that_can(self):
        with pytest.raises(UsageError, match="at least 1559, or leave the number out"):
            enough_resamples(78, 0.05, 1558)
        assert enough_resamples(78, 0.05, 1559) == 1559
        assert holm([1 / 1560] * 78).max() <= 0.05 < holm([1 / 1559] * 78).max()


class TestHolm:
    def test_by_hand(self):
        # Sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1, then never decreasing.
        assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])

    @settings(deadline=None)
    @given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
    def test_lies_between_the_raw_value_and_bonferroni_and_keeps_the_order(self, p_values):
        p = np.array(p_values)
        adjusted = holm(p)
        assert (adjusted >= p).all()
        assert (adjusted <= np.minimum(1, p * len(p)) + 1e-15).all()
        assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()

    def test_nan_is_no_comparison(self):
        result = holm([[math.nan, 0.02], [0.03, math.nan]])
        assert result[0, 1] == 0.04
        assert result[1, 0] == 0.04
        assert np.isnan(np.diag(result)).all()

    def test_what_is_no_probability_is_refused(self):
        with pytest.raises(UsageError, match="between 0 and 1"):
            holm([1.2])


class TestRanks:
    #         a      b      c      d
    apart = np.array([[0, 0, 1, 1], [0, 0, 0, 1], [1, 0, 0, 1], [1, 1, 1, 0]], dtype=bool)
    scores = (0.9, 0.7, 0.5, 0.1)

    def test_a_line_needs_everything_above_to_differ_from_everything_below(self):
        # b and c are not apart, so no line between them although a and c are.
        assert rank_clusters(self.scores, self.apart).tolist() == [1, 1, 1, 2]
        # Neighbours that are apart are not enough: the best is not apart from the last.
        neighbours = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0]], dtype=bool)
        assert rank_clusters([3, 2, 1], neighbours).tolist() == [1, 1, 1]

    def test_the_order_of_the_candidates_does_not_matter(self):
        order = [2, 0, 3, 1]
        shuffled = rank_clusters(np.take(self.scores, order), self.apart[np.ix_(order, order)])
        assert shuffled.tolist() == [1, 1, 2, 1]

    def test_nothing_apart_is_one_cluster_everything_apart_is_a_ranking(self):
        assert rank_clusters([3, 1, 2], np.zeros((3, 3))).tolist() == [1, 1, 1]
        assert rank_clusters([3, 1, 2], np.ones((3, 3))).tolist() == [1, 3, 2]

    def test_what_cannot_be_ranked_is_refused(self):
        with pytest.raises(UsageError, match="without a score"):
            rank_clusters([1, math.nan], np.zeros((2, 2)))
        with pytest.raises(UsageError, match="2 by 2"):
            rank_clusters([1, 2], np.zeros((3, 3)))


class TestEffect:
    def test_by_hand(self):
        # Differences 1, 0, 2, 1: mean 1, variance 2/3; better on 3 of 4, tied on 1.
        effect = paired_effect([5, 6, 9, 8], [4, 6, 7, 7])
        assert effect.cohen_d == pytest.approx(1 / math.sqrt(2 / 3))
        assert effect.superiority == 0.875

    def test_reversed_sides_reverse_it(self):
        rng = np.random.default_rng(2)
        x, y = rng.random(50), rng.random(50)
        there, back = paired_effect(x, y), paired_effect(y, x)
        assert there.cohen_d == -back.cohen_d
        assert there.superiority == pytest.approx(1 - back.superiority)

    def test_equal_systems_have_none(self):
        assert paired_effect([1, 2], [1, 2]).cohen_d == 0
        assert paired_effect([1, 2], [1, 2]).superiority == 0.5

    def test_what_does_not_exist_is_stated(self):
        constant = paired_effect([2, 3], [1, 2])
        assert math.isnan(constant.cohen_d)
        assert "does not vary" in constant.note
        assert paired_effect([math.nan], [1.0]).note == "no segment has both scores"
