"""Linear learners: from differences of features (or from scores) to one weight a feature.

All of them solve a convex problem with one optimum. The order of the pairs does not matter: they come sorted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from tesla_eval.errors import UsageError
from tesla_eval.metrics.feature_groups import FloatArray

__all__ = ["PAIRWISE", "fit_logistic", "fit_regression", "fit_svm"]

Learner: TypeAlias = Callable[[FloatArray, FloatArray, float], FloatArray]
"""Differences (better − worse) of standardised features, the weight of each pair, a penalty: to weights."""

_MOST_STEPS = 100
_STEP_TOLERANCE = 1e-10


def fit_logistic(differences: FloatArray, counts: FloatArray, penalty: float) -> FloatArray:
    """Bradley–Terry: the mean logistic loss of the pairs + penalty/2 · ‖w‖², by Newton's method.

    >>> fit_logistic(np.array([[1.0], [1.0], [-1.0]]), np.ones(3), 1e-9).round(3).tolist()
    [0.693]
    """
    share = counts / counts.sum()

    def objective(weights: FloatArray) -> float:
        return float(share @ np.logaddexp(0, -(differences @ weights)) + penalty / 2 * (weights @ weights))

    weights = np.zeros(differences.shape[1])
    value = objective(weights)
    for _ in range(_MOST_STEPS):
        margin = differences @ weights
        error = 0.5 - 0.5 * np.tanh(0.5 * margin)
        gradient = penalty * weights - differences.T @ (share * error)
        curvature = (differences * (share * error * (1 - error))[:, None]).T @ differences
        step = np.linalg.solve(curvature + penalty * np.eye(len(weights)), gradient)
        length = 1.0
        while (new := objective(weights - length * step)) > value and length > _STEP_TOLERANCE:
            length /= 2
        weights, value = weights - length * step, new
        if np.abs(length * step).max() < _STEP_TOLERANCE:
            break
    return weights


def fit_svm(differences: FloatArray, counts: FloatArray, penalty: float) -> FloatArray:
    """The linear ranking SVM (Joachims 2006): scikit-learn's LinearSVC on differences, squared hinge loss."""
    try:
        from sklearn.svm import LinearSVC
    except ImportError as error:
        raise UsageError("the ranking SVM needs scikit-learn: pip install 'tesla-eval[train]'") from error
    # Two classes: every other pair is turned round.
    sign = np.where(np.arange(len(differences)) % 2 == 0, 1.0, -1.0)
    share = counts / counts.sum()
    svm = LinearSVC(C=0.5 / penalty, dual=False, fit_intercept=False, tol=1e-6, max_iter=10_000)
    svm.fit(differences * sign[:, None], sign, sample_weight=share)
    return np.asarray(svm.coef_[0])


def fit_regression(
    features: FloatArray, scores: FloatArray, counts: FloatArray, penalty: float
) -> FloatArray:
    """Ridge regression of scores on standardised features: the mean squared error + penalty · ‖w‖².

    >>> fit_regression(np.array([[1.0], [-1.0]]), np.array([3.0, 1.0]), np.ones(2), 0.0).tolist()
    [1.0]
    """
    share = counts / counts.sum()
    centred = scores - share @ scores
    gram = (features * share[:, None]).T @ features
    return np.asarray(np.linalg.solve(gram + penalty * np.eye(len(gram)), features.T @ (share * centred)))


PAIRWISE: dict[str, Learner] = {"logistic": fit_logistic, "svm": fit_svm}
"""The pairwise learners by name."""
