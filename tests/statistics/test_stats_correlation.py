"""Correlations: equal to SciPy's with and without ties, and NaN with a reason where none exists."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from tesla_eval.base.errors import UsageError
from tesla_eval.statistics.correlation import ROW_STATISTICS, kendall, midranks, pearson, spearman

CORRELATIONS = {
    "pearson": (pearson, scipy_stats.pearsonr),
    "spearman": (spearman, scipy_stats.spearmanr),
    "kendall": (kendall, scipy_stats.kendalltau),
}

tied = st.integers(-3, 3).map(float)
untied = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 3))


@st.composite
def two_vectors(
    draw: st.DrawFn, values: st.SearchStrategy[float] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    values = values if values is not None else draw(st.sampled_from([tied, untied]))
    n = draw(st.integers(2, 40))
    x = np.array(draw(st.lists(values, min_size=n, max_size=n)))
    y = np.array(draw(st.lists(values, min_size=n, max_size=n)))
    assume(np.ptp(x) > 0 and np.ptp(y) > 0)
    return x, y


@pytest.mark.parametrize("name", CORRELATIONS)
@settings(deadline=None)
@given(vectors=two_vectors())
def test_equals_scipy(name, vectors):
    ours, theirs = CORRELATIONS[name]
    assert ours(*vectors).value == pytest.approx(theirs(*vectors).statistic, abs=1e-9)


@pytest.mark.parametrize("name", CORRELATIONS)
@pytest.mark.parametrize("levels", [2, 50, 10**9], ids=["many ties", "some ties", "no ties"])
def test_equals_scipy_on_thousands_of_points(name, levels):
    ours, theirs = CORRELATIONS[name]
    rng = np.random.default_rng(5)
    x = rng.integers(0, levels, 5003)
    y = x + rng.integers(0, levels, 5003)
    result = ours(x, y)
    assert result.value == pytest.approx(theirs(x, y).statistic, abs=1e-9)
    assert result.n == 5003


def test_kendall_by_hand_with_ties():
    # Points (1,1) (2,3) (2,2) (3,3): 1-2, 1-3, 1-4, 3-4 are concordant, 2-3 tied in x, 2-4 tied in y.
    assert kendall([1, 2, 2, 3], [1, 3, 2, 3]).value == pytest.approx(4 / math.sqrt(5 * 5))


def test_midranks_share_the_mean_of_tied_places():
    assert midranks([7, 3, 7, 1, 7]).tolist() == [4, 2, 4, 1, 4]


@pytest.mark.parametrize("name", CORRELATIONS)
@settings(deadline=None)
@given(vectors=two_vectors())
def test_is_symmetric_bounded_and_odd(name, vectors):
    x, y = vectors
    correlation, _ = CORRELATIONS[name]
    value = correlation(x, y).value
    assert -1 <= value <= 1
    assert correlation(y, x).value == pytest.approx(value, abs=1e-12)
    assert correlation(x, -y).value == pytest.approx(-value, abs=1e-12)
    assert correlation(x, x).value == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("name", ["spearman", "kendall"])
@settings(deadline=None)
@given(vectors=two_vectors(tied))
def test_rank_correlations_see_only_the_order(name, vectors):
    x, y = vectors
    correlation, _ = CORRELATIONS[name]
    assert correlation(x, np.exp(y)).value == pytest.approx(correlation(x, y).value, abs=1e-12)


@settings(deadline=None)
@given(vectors=two_vectors(), scale=st.floats(1e-3, 1e3), shift=st.floats(-10, 10))
def test_pearson_ignores_scale_and_shift(vectors, scale, shift):
    x, y = vectors
    assume(np.ptp(x) > 0.1)
    assert pearson(scale * x + shift, y).value == pytest.approx(pearson(x, y).value, abs=1e-6)


@pytest.mark.parametrize("size", [1e-320, 1e-160, 1e160, 1e307])
def test_pearson_neither_overflows_nor_underflows(size):
    assert pearson(np.array([1.0, 2.0, 4.0]) * size, [1, 2, 4]).value == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("points", [3, 10, 100])
def test_pearson_sees_small_differences_of_large_values(points):
    x = np.arange(points)
    y = 1e6 + 1e-9 * x
    expected = pytest.approx(pearson(x, y - 1e6).value, abs=1e-14)  # the difference is exact
    assert pearson(x, y).value == expected
    assert ROW_STATISTICS["pearson"](x, y[None])[0] == expected


@pytest.mark.parametrize("name", CORRELATIONS)
@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ([], [], "two observations are needed, there are 0"),
        ([1.0], [2.0], "two observations are needed, there are 1"),
        ([1, 1, 1], [1, 2, 3], "the first side is constant"),
        ([1, 2, 3], [0.1, 0.1, 0.1], "the second side is constant"),
        ([1, math.nan, 3], [1, 2, 3], "1 of 3 observations are not finite"),
        ([1, 2, 3], [1, math.inf, math.nan], "2 of 3 observations are not finite"),
    ],
)
def test_what_does_not_exist_is_nan_with_the_reason(name, first, second, reason):
    result = CORRELATIONS[name][0](first, second)
    assert math.isnan(result.value)
    assert result.n == len(first)
    assert result.note == reason


@pytest.mark.parametrize("name", CORRELATIONS)
def test_lengths_that_differ_are_named(name):
    with pytest.raises(UsageError, match=r"the first has 2 values, the second 3"):
        CORRELATIONS[name][0]([1, 2], [1, 2, 3])


@pytest.mark.parametrize("name", CORRELATIONS)
@settings(deadline=None)
@given(first=two_vectors(tied), data=st.data())
def test_rows_are_vectors_side_by_side(name, first, data):
    human, metric = first
    other = np.array(data.draw(st.lists(tied, min_size=len(human), max_size=len(human))))
    values = ROW_STATISTICS[name](human, np.stack([metric, other]))
    for value, row in zip(values, [metric, other], strict=True):
        assert value == pytest.approx(CORRELATIONS[name][0](human, row).value, abs=1e-9, nan_ok=True)


@settings(deadline=None)
@given(vectors=two_vectors(tied))
def test_rows_of_pair_statistics_count_pairs(vectors):
    human, metric = vectors
    signs = [
        (np.sign(human[i] - human[j]) * np.sign(metric[i] - metric[j]))
        for i, j in combinations(range(len(human)), 2)
        if human[i] != human[j]
    ]
    n, right, wrong = len(signs), signs.count(1), signs.count(-1)
    assert ROW_STATISTICS["consistency"](human, metric) == pytest.approx(right / n)
    assert ROW_STATISTICS["kendall_wmt"](human, metric) == pytest.approx((right - wrong) / n)
    assert ROW_STATISTICS["accuracy"](human, metric) == pytest.approx((right + (n - right - wrong) / 2) / n)


@pytest.mark.parametrize("name", ROW_STATISTICS)
def test_a_row_with_a_missing_system_is_nan(name):
    values = ROW_STATISTICS[name](
        np.array([1.0, 2.0, 3.0]), np.array([[1.0, math.nan, 3.0], [1.0, 2.0, 3.0]])
    )
    assert math.isnan(values[0])
    assert values[1] == pytest.approx(1)
