"""Specification §4: the optimum is exact, and the flow is worth it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from tesla_eval import _core
from tesla_eval.base.errors import UsageError
from tests.matching.given_transport import solve_transport
from tests.textbook import transport


def test_figure_1_of_the_paper() -> None:
    similarity = [[0.5, 0, 0], [0, 0.5, 0], [0, 1.0, 0], [0, 0, 1.0]]
    found = solve_transport([1.0, 0.8, 0.2, 0.1], [1.0, 0.8, 0.1], similarity)
    assert found.objective == 1.1
    assert found.weights[np.nonzero(similarity)].tolist() == [1.0, 0.6, 0.2, 0.1]


sizes = st.integers(1, 9)
decimal_weights = st.sampled_from([0.001, 0.01, 0.1, 0.2, 1.0, 2.0])
similarities = st.sampled_from([0, 0, 0.5, 0.75, 1])


@st.composite
def problems(draw: st.DrawFn, weights: st.SearchStrategy[float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows, columns = draw(sizes), draw(sizes)
    x = np.array(draw(st.lists(weights, min_size=rows, max_size=rows)))
    y = np.array(draw(st.lists(weights, min_size=columns, max_size=columns)))
    s = np.array(draw(st.lists(similarities, min_size=rows * columns, max_size=rows * columns)), np.float64)
    return x, y, s.reshape(rows, columns)


def check_optimum(x: np.ndarray, y: np.ndarray, s: np.ndarray) -> None:
    found = solve_transport(x.tolist(), y.tolist(), s)
    assert found.objective == pytest.approx(transport(x, y, s), abs=1e-9)
    w = found.weights
    assert (w >= 0).all()
    assert (w.sum(axis=1) <= x + 1e-12).all()
    assert (w.sum(axis=0) <= y + 1e-12).all()
    assert (w * s).sum() == pytest.approx(found.objective, abs=1e-12)


@given(problems(decimal_weights))
def test_whole_numbers_reach_the_optimum_of_highs(problem: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    check_optimum(*problem)


@given(problems(st.floats(0.001, 5.0)))
def test_doubles_reach_the_optimum_of_highs(problem: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    check_optimum(*problem)


@given(problems(st.just(1.0)))
def test_unit_weights_are_the_assignment_of_maxsim(
    problem: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    x, y, s = problem
    rows, columns = linear_sum_assignment(s, maximize=True)
    assert solve_transport(x.tolist(), y.tolist(), s).objective == pytest.approx(
        s[rows, columns].sum(), abs=1e-12
    )


@settings(max_examples=20)
@given(st.integers(30, 120), st.integers(0, 10_000))
def test_larger_problems_reach_the_optimum_of_highs(size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    s = rng.integers(0, 7, (size, size)) / 6 * (rng.random((size, size)) < 0.1)
    x, y = (rng.choice([0.001, 0.01, 0.1, 1.0], size) for _ in range(2))
    check_optimum(x, y, s)


def test_wrong_shapes_and_signs_are_refused() -> None:
    with pytest.raises(UsageError, match="shape"):
        solve_transport([1.0], [1.0, 1.0], [[1.0]])
    with pytest.raises(UsageError, match="negative"):
        solve_transport([-1.0], [1.0], [[1.0]])
    for bad in (float("nan"), float("inf")):
        with pytest.raises(UsageError, match="finite"):
            solve_transport([1.0], [bad], [[1.0]])
    for bad in (-0.5, 1.5, 5000.000001, float("nan")):
        with pytest.raises(UsageError, match="between 0 and 1"):
            solve_transport([1.0], [1.0], [[bad]])


@pytest.mark.parametrize("gain", [-1, 1 << 31, (1 << 32) + 1])
def test_gains_that_the_core_has_no_room_for_are_refused(gain: int) -> None:
    one, zero = np.ones(1, np.int64), np.zeros(1, np.int64)
    with pytest.raises(ValueError, match="gain"):
        _core.solve_transport(one, one, zero, zero, np.array([gain]))
