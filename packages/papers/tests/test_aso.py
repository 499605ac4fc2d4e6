"""The modified Huber loss and ASO (§16): derivatives, optima, structure."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize as scipy_minimise
from scipy.sparse import csr_matrix

from tesla_eval_papers.models.aso import (
    PenalisedLoss,
    fit_problems,
    loss_and_slope,
    shared_structure,
)


def small_problem(seed: int, n: int = 40, p: int = 6) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, p))
    y = np.where(x @ random.normal(size=p) + random.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return x, y


def textbook_objective(x, y, w, v, theta, penalty) -> float:
    """specification §16, word by word."""
    total = 0.0
    for row, label in zip(x, y, strict=True):
        margin = (w + theta.T @ v) @ row * label
        total += -4 * margin if margin < -1 else (1 - margin) ** 2 if margin < 1 else 0.0
    return total / len(y) + penalty * w @ w


def orthonormal(seed: int, h: int, p: int) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(p, h)))[0].T


@given(st.floats(-5, 5))
def test_the_loss_is_the_paper_s_and_continuous(margin: float) -> None:
    (loss,), (slope,) = loss_and_slope(np.array([margin]))
    expected = -4 * margin if margin < -1 else (1 - margin) ** 2 if margin < 1 else 0.0
    assert loss == pytest.approx(expected, abs=1e-12)
    around, _ = loss_and_slope(np.array([margin - 1e-6, margin + 1e-6]))
    assert slope == pytest.approx((around[1] - around[0]) / 2e-6, abs=1e-4)


@pytest.mark.parametrize("h", [0, 3])
@pytest.mark.parametrize("free", [0, 1])
def test_the_gradient_equals_finite_differences(h: int, free: int) -> None:
    x, y = small_problem(3)
    theta = orthonormal(1, h, x.shape[1]) if h else None
    x = np.hstack([x, np.ones((len(x), free))])
    objective = PenalisedLoss(csr_matrix(x), y, 0.01, theta, free)
    u = np.random.default_rng(5).normal(size=objective.size)
    assert objective.size == x.shape[1] + h
    value, gradient, _ = objective.gradient(u)
    assert value == objective.value(u)
    for k in range(objective.size):
        step = np.zeros(objective.size)
        step[k] = 1e-6
        difference = (objective.value(u + step) - objective.value(u - step)) / 2e-6
        assert gradient[k] == pytest.approx(difference, abs=1e-6)


def test_importance_is_as_good_as_repetition() -> None:
    """An example of importance 3 counts as three examples; the derivative stays exact."""
    x, y = small_problem(4)
    importance = np.resize([1.0, 3.0, 2.0], len(y))
    theta = orthonormal(2, 2, x.shape[1])
    repeated = np.repeat(np.arange(len(y)), importance.astype(int))
    weighted = fit_problems(x, y[:, None], 0.01, theta, importance=importance, tolerance=1e-10)
    expected = fit_problems(x[repeated], y[repeated, None], 0.01, theta, tolerance=1e-10)
    np.testing.assert_allclose(weighted, expected, atol=1e-7)
    objective = PenalisedLoss(x, y, 0.01, theta, importance=importance)
    u = np.random.default_rng(5).normal(size=objective.size)
    value, gradient, _ = objective.gradient(u)
    assert value == objective.value(u)
    step = 1e-6 * np.eye(objective.size)
    differences = [(objective.value(u + s) - objective.value(u - s)) / 2e-6 for s in step]
    np.testing.assert_allclose(gradient, differences, atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_the_optimum_equals_a_general_solver_s(seed: int) -> None:
    x, y = small_problem(seed)
    p, h, penalty = x.shape[1], 2, 0.01
    theta = orthonormal(seed, h, p)

    def both(parameters: np.ndarray) -> float:
        return textbook_objective(x, y, parameters[:p], parameters[p:], theta, penalty)

    general = scipy_minimise(both, np.zeros(p + h), method="BFGS", options={"gtol": 1e-9, "maxiter": 5000})
    (weights,) = fit_problems(x, y[:, None], penalty, theta, tolerance=1e-10)
    shared = theta @ weights  # w itself has no part in the shared space
    ours = textbook_objective(x, y, weights - theta.T @ shared, shared, theta, penalty)
    assert ours <= general.fun + 1e-9
    assert ours == pytest.approx(general.fun, rel=1e-6)
    expected = general.x[:p] + theta.T @ general.x[p:]
    np.testing.assert_allclose(weights, expected, atol=2e-3)


def test_truncated_decomposition_of_many_problems_equals_the_exact_one() -> None:
    weights = np.random.default_rng(0).normal(size=(300, 40)) * np.geomspace(1, 1e-3, 40)
    theta = shared_structure(weights, 5)
    _, _, exact = np.linalg.svd(weights, full_matrices=False)
    np.testing.assert_allclose(np.abs(np.sum(theta * exact[:5], axis=1)), 1.0, atol=1e-8)
    np.testing.assert_allclose(theta @ theta.T, np.eye(5), atol=1e-10)


def test_columns_left_out_have_no_weight() -> None:
    x, y = small_problem(17)
    weights = fit_problems(csr_matrix(x), (y > 0)[:, None], without=np.array([0, 5]))
    assert weights[0, 0] == weights[0, 5] == 0
    np.testing.assert_allclose(weights[0, 1:5], fit_problems(x[:, 1:5], (y > 0)[:, None])[0], atol=1e-9)


def test_the_package_does_not_import_scikit_learn() -> None:
    code = "import sys, tesla_eval, tesla_eval.models; assert not {'sklearn', 'scipy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
