"""Fitting support vector regression with scikit-learn: grid search by cross-validation that keeps groups together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval.errors import UsageError
from tesla_eval.models.svr import SupportVectorModel

__all__ = ["Fit", "Grid", "fit_support_vectors", "group_folds"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Grid:
    """The parameters that are tried, all combinations."""

    cost: tuple[float, ...] = (10.0, 30.0)
    gamma: tuple[float, ...] = (0.1, 0.3)
    epsilon: tuple[float, ...] = (0.3, 0.5)
    kernel: str = "rbf"
    scales: tuple[float, ...] = ()
    """How much each standardised feature counts in a distance; empty: all alike."""

    @property
    def size(self) -> int:
        """How many combinations there are."""
        return len(self.cost) * len(self.gamma) * len(self.epsilon)


@dataclass(frozen=True)
class Fit:
    """A fitted model with what the search found."""

    model: SupportVectorModel
    parameters: dict[str, float]
    correlation: float
    """Pearson's r of predictions with targets over the held-out folds, for the parameters chosen."""
    held_out: FloatArray
    """These predictions: every row's by the model that did not learn from its group."""


def group_folds(groups: Sequence[str | int], folds: int) -> npt.NDArray[np.int64]:
    """The fold of every row: rows of a group go together, groups in order of appearance are dealt out in turn.

    >>> group_folds(["a", "a", "b", "c", "b"], 2).tolist()
    [0, 0, 1, 0, 1]
    """
    order = {group: place % folds for place, group in enumerate(dict.fromkeys(groups))}
    return np.array([order[group] for group in groups], np.int64)


def fit_support_vectors(
    features: Sequence[str],
    rows: FloatArray,
    targets: FloatArray,
    groups: Sequence[str | int],
    grid: Grid | None = None,
    *,
    folds: int = 5,
    progress: Callable[[int], object] = lambda done: None,
) -> Fit:
    """The regression from standardised `rows` to `targets` whose parameters predict held-out groups best."""
    grid = grid or Grid()
    means, deviations = rows.mean(axis=0), rows.std(axis=0)
    deviations = np.where(deviations > 0, deviations, 1.0) / (grid.scales or 1.0)
    standard = (rows - means) / deviations
    fold = group_folds(groups, folds)
    if len(set(fold.tolist())) < folds:
        raise UsageError(f"{folds} folds need at least {folds} groups of rows")
    found: list[tuple[float, dict[str, float], FloatArray]] = []
    for cost, gamma, epsilon in product(grid.cost, grid.gamma, grid.epsilon):
        parameters = {"C": cost, "gamma": gamma, "epsilon": epsilon}
        predicted = np.empty(len(rows))
        for held in range(folds):
            learner = _learner(grid.kernel, parameters).fit(standard[fold != held], targets[fold != held])
            predicted[fold == held] = learner.predict(standard[fold == held])
        found.append((float(np.corrcoef(predicted, targets)[0, 1]), parameters, predicted))
        progress(1)
    correlation, parameters, predicted = max(found, key=lambda item: item[0])
    learner = _learner(grid.kernel, parameters).fit(standard, targets)
    model = SupportVectorModel(
        features=tuple(features), means=means, deviations=deviations, vectors=learner.support_vectors_,
        coefficients=learner.dual_coef_[0], intercept=float(learner.intercept_[0]), gamma=parameters["gamma"],
        kernel=grid.kernel,
    )  # fmt: skip
    return Fit(model, parameters, correlation, predicted)


def _learner(kernel: str, parameters: dict[str, float]) -> Any:
    try:
        from sklearn.svm import SVR
    except ImportError as error:
        raise UsageError('training needs scikit-learn: pip install "tesla-eval[train]"') from error
    return SVR(kernel=kernel, **parameters)
