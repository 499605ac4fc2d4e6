"""The modified Huber linear classifier and Alternating Structure Optimization as scikit-learn estimators (§16).

Needs scikit-learn: `pip install "tesla-eval[train]"`. No other module imports this one at its own import.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tesla_eval.base.errors import UsageError

try:
    from scipy.sparse import csc_matrix, hstack
    from scipy.sparse import issparse as is_sparse
    from scipy.sparse.linalg import svds
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils import column_or_1d
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:  # pragma: no cover
    raise UsageError(
        f"tesla_eval.models.aso needs scikit-learn 1.6 or later: pip install 'tesla-eval[train]' ({error})"
    ) from None

__all__ = [
    "PENALTY",
    "ASOClassifier",
    "ModifiedHuberClassifier",
    "fit_problems",
    "loss_and_slope",
    "shared_structure",
]

PENALTY = 1e-4
"""λ of specification §16."""
FloatArray = npt.NDArray[np.float64]
_MOST_EXACT_PROBLEMS = 256  # more are decomposed by Lanczos iterations


def loss_and_slope(margins: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The modified Huber loss of margins p·y, and its derivative.

    >>> loss_and_slope(np.array([-2.0, 0.0, 1.0]))
    (array([8., 1., 0.]), array([-4., -2., -0.]))
    """
    slack = np.maximum(1.0 - margins, 0.0)
    linear = margins < -1.0
    loss = np.where(linear, -4.0 * margins, slack * slack)
    return loss, np.where(linear, -4.0, -2.0 * slack)


def turned(x: Any) -> Any:
    """The transposed matrix, in the order of memory that products with it need."""
    return x.T.tocsr() if is_sparse(x) else x.T


class PenalisedLoss:
    """Mean loss + λ‖w‖² of one problem, as a function of w followed by v; the weights are w + Θᵀv.

    `shared` is XΘᵀ, `transposed` the matrix of `turned`; several problems over the same examples share both. With
    `importance`, one number per example, the mean is weighted.
    """

    def __init__(
        self,
        x: Any,
        y: FloatArray,
        penalty: float,
        structure: FloatArray | None = None,
        free: int = 0,
        *,
        shared: FloatArray | None = None,
        transposed: Any = None,
        importance: FloatArray | None = None,
    ) -> None:
        self.x, self.y, self.penalty = x, y, penalty
        self.share = None if importance is None else importance / importance.sum()
        self.structure = structure if structure is not None and len(structure) else None
        self.features = x.shape[1]
        self.penalised = self.features - free  # the last features, such as an intercept, have no penalty
        self.transposed = turned(x) if transposed is None else transposed
        self.shared = shared_outputs(x, self.structure) if shared is None else shared
        self.size = self.features + self.shared.shape[1]

    def outputs(self, parameters: FloatArray) -> FloatArray:
        """The predictions p of all examples."""
        outputs = self.x @ parameters[: self.features]
        if self.structure is not None:
            outputs = outputs + self.shared @ parameters[self.features :]
        return np.asarray(outputs)

    def weights(self, parameters: FloatArray) -> FloatArray:
        """u = w + Θᵀv."""
        u = parameters[: self.features].copy()
        if self.structure is not None:
            u[: self.structure.shape[1]] += parameters[self.features :] @ self.structure
        return u

    def _backwards(self, values: FloatArray) -> FloatArray:
        """The transposed matrix of all parameters times one value per example."""
        own = self.transposed @ values
        return np.concatenate([own, values @ self.shared]) if self.structure is not None else np.asarray(own)

    def _mean(self, loss: FloatArray) -> float:
        return float(loss.mean() if self.share is None else self.share @ loss)

    def value(self, parameters: FloatArray) -> float:
        """The objective."""
        loss, _ = loss_and_slope(self.y * self.outputs(parameters))
        w = parameters[: self.penalised]
        return self._mean(loss) + self.penalty * float(w @ w)

    def gradient(self, parameters: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """The objective, its gradient, and the curvature of the loss of each example."""
        margins = self.y * self.outputs(parameters)
        loss, slope = loss_and_slope(margins)
        w = parameters[: self.penalised]
        pull = self.y * slope
        gradient = self._backwards(pull / len(self.y) if self.share is None else pull * self.share)
        gradient[: self.penalised] += 2.0 * self.penalty * w
        share = 1.0 / len(self.y) if self.share is None else self.share
        curvature = np.where((margins >= -1.0) & (margins < 1.0), 2.0 * share, 0.0)
        return self._mean(loss) + self.penalty * float(w @ w), gradient, curvature

    def product(self, curvature: FloatArray, direction: FloatArray) -> FloatArray:
        """The Hessian times a direction."""
        second = self._backwards(curvature * self.outputs(direction))
        second[: self.penalised] += 2.0 * self.penalty * direction[: self.penalised]
        return second


def shared_outputs(x: Any, structure: FloatArray | None) -> FloatArray:
    """XΘᵀ, one column per row of Θ."""
    if structure is None or not len(structure):
        return np.zeros((x.shape[0], 0))
    return np.asarray(x[:, : structure.shape[1]] @ structure.T)


class Minimum(NamedTuple):
    """Where a search ended."""

    u: FloatArray
    value: float
    iterations: int
    converged: bool


def minimise(
    objective: PenalisedLoss, tolerance: float, max_iter: int, start: FloatArray | None = None
) -> Minimum:
    """Newton steps in a trust region (Lin, Weng & Keerthi 2008), until the gradient is `tolerance` of that at zero."""
    u = np.zeros(objective.size)
    value, gradient, curvature = objective.gradient(u)
    first = norm = float(np.linalg.norm(gradient))
    if start is not None:
        u[: len(start)] = start
        value, gradient, curvature = objective.gradient(u)
        norm = float(np.linalg.norm(gradient))
    radius = max(first, 1.0)
    stalled = 0
    for iteration in range(max_iter):
        if norm <= tolerance * first or norm == 0.0 or stalled > 3:
            return Minimum(u, value, iteration, True)
        step, predicted = _trust_region_step(
            partial(objective.product, curvature), gradient, radius, tolerance=min(0.1, norm / first)
        )
        reduction = value - objective.value(u + step)
        ratio = reduction / predicted if predicted > 0 else 0.0
        length = float(np.linalg.norm(step))
        if ratio < 0.25:
            radius = 0.25 * length
        elif ratio > 0.75:
            radius = max(radius, 2.0 * length)
        if ratio > 1e-4:
            u = u + step
            value, gradient, curvature = objective.gradient(u)
            norm = float(np.linalg.norm(gradient))
        # Below the precision of numbers nothing more can be won.
        stalled = stalled + 1 if predicted <= 1e-15 * max(abs(value), 1.0) else 0
        if radius < 1e-14:
            break
    return Minimum(u, value, max_iter, norm <= max(tolerance * first, 1e-9))


def _trust_region_step(
    product: Callable[[FloatArray], FloatArray], gradient: FloatArray, radius: float, tolerance: float
) -> tuple[FloatArray, float]:
    """Steihaug's conjugate gradients: the step, and by how much the quadratic model falls."""
    step = np.zeros_like(gradient)
    residual = -gradient
    direction = residual.copy()
    squared = float(residual @ residual)
    limit = tolerance * float(np.linalg.norm(gradient))
    for _ in range(min(2 * len(gradient) + 10, 250)):
        bent = product(direction)
        curvature = float(direction @ bent)
        if curvature <= 0.0:
            step = step + _to_border(step, direction, radius) * direction
            break
        alpha = squared / curvature
        longer = step + alpha * direction
        if float(np.linalg.norm(longer)) >= radius:
            step = step + _to_border(step, direction, radius) * direction
            break
        step = longer
        residual = residual - alpha * bent
        new = float(residual @ residual)
        if new <= limit * limit:
            break
        direction = residual + (new / squared) * direction
        squared = new
    predicted = -float(gradient @ step) - 0.5 * float(step @ product(step))
    return step, predicted


def _to_border(step: FloatArray, direction: FloatArray, radius: float) -> float:
    a, b = float(direction @ direction), float(step @ direction)
    c = float(step @ step) - radius * radius
    return (-b + float(np.sqrt(max(b * b - a * c, 0.0)))) / a if a > 0 else 0.0


def fit_problems(
    x: Any,
    labels: npt.ArrayLike,
    penalty: float = PENALTY,
    structure: FloatArray | None = None,
    *,
    without: npt.NDArray[np.intp] | None = None,
    free: int = 0,
    tolerance: float = 1e-5,
    max_iter: int = 200,
    start: FloatArray | None = None,
    importance: FloatArray | None = None,
    after_problem: Callable[[int], object] = lambda number: None,
) -> FloatArray:
    """One weight vector (row) per binary problem, a column of `labels`: positive numbers are 1, others −1.

    `structure` is Θ. The search begins at the rows of `start`. The columns `without` are not used: their weights are 0.
    `importance` weighs the examples.

    >>> fit_problems(np.array([[1.0], [-1.0]]), [[1], [0]]).round(3)
    array([[1.]])
    """
    kept = None
    if without is not None and len(without):
        kept = np.setdiff1d(np.arange(x.shape[1]), without)
        x, size = x[:, kept], x.shape[1]
    if start is not None and kept is not None:
        start = start[:, kept]
    minima = _solve(
        x, labels, penalty, structure, free, tolerance, max_iter, start, importance, after_problem
    )
    weights = np.array([minimum.u for minimum in minima]).reshape(len(minima), x.shape[1])
    if kept is None:
        return weights
    whole = np.zeros((len(minima), size))
    whole[:, kept] = weights
    return whole


def _solve(
    x: Any,
    labels: npt.ArrayLike,
    penalty: float,
    structure: FloatArray | None,
    free: int,
    tolerance: float,
    max_iter: int,
    start: FloatArray | None = None,
    importance: FloatArray | None = None,
    after_problem: Callable[[int], object] = lambda number: None,
) -> list[Minimum]:
    """The minimum of each problem."""
    problems = np.where(np.asarray(labels) > 0, 1.0, -1.0)
    minima = []
    transposed, shared = turned(x), shared_outputs(x, structure)
    for column in range(problems.shape[1]):
        objective = PenalisedLoss(
            x, problems[:, column], penalty, structure, free, shared=shared, transposed=transposed,
            importance=importance,
        )  # fmt: skip
        minimum = minimise(objective, tolerance, max_iter, None if start is None else start[column])
        minima.append(minimum._replace(u=objective.weights(minimum.u)))
        after_problem(column)
    return minima


def shared_structure(weights: npt.ArrayLike, dimensions: int) -> FloatArray:
    """Θ: the first `dimensions` left singular vectors of U, whose columns are the rows of `weights`, as rows.

    There are fewer where the weights span fewer dimensions. The largest entry of a row is positive.

    >>> shared_structure([[3.0, 0.0], [1.0, 0.0]], 2)
    array([[1., 0.]])
    """
    u = np.asarray(weights, np.float64)
    count, size = u.shape
    dimensions = min(dimensions, count, size)
    if dimensions == 0 or not u.any():
        return np.zeros((0, size))
    if count <= _MOST_EXACT_PROBLEMS or dimensions >= min(u.shape) - 1:
        _, values, rows = np.linalg.svd(u, full_matrices=False)
    else:
        start = np.ones(min(u.shape)) / np.sqrt(min(u.shape))
        _, values, rows = svds(u, k=dimensions, v0=start)
        values, rows = values[::-1], rows[::-1]
    rank = int(np.sum(values > values[0] * max(u.shape) * np.finfo(float).eps))
    theta = rows[: min(dimensions, rank)]
    signs = np.sign(theta[np.arange(len(theta)), np.abs(theta).argmax(axis=1)])
    return np.ascontiguousarray(theta * signs[:, None])


class ModifiedHuberClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Linear classifier with the modified Huber loss: mean loss + penalty · ‖u‖².

    Two labels make one problem, more labels one problem per label against the rest. A label matrix (one column of 0 and
    1 per problem) makes several problems at once, and `predict` returns such a matrix.

    >>> model = ModifiedHuberClassifier().fit([[1.0], [2.0], [-1.0]], ["b", "b", "a"])
    >>> model.predict([[3.0], [-3.0]]).tolist(), model.coef_.shape
    (['b', 'a'], (1, 1))
    """

    def __init__(
        self,
        penalty: float = PENALTY,
        *,
        fit_intercept: bool = False,
        tolerance: float = 1e-6,
        max_iter: int = 200,
    ) -> None:
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.tolerance = tolerance
        self.max_iter = max_iter

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn's checks may expect."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any) -> ModifiedHuberClassifier:  # noqa: N803
        """Learn from examples (rows of X) and their labels, or from a label matrix."""
        X, problems = self._validated(X, y)  # noqa: N806
        self._fit_targets(X, problems, None)
        return self

    def _validated(self, X: Any, y: Any) -> tuple[Any, FloatArray]:  # noqa: N803
        X, y = validate_data(  # noqa: N806
            self, X, y, accept_sparse="csr", dtype=np.float64, multi_output=True, y_numeric=False
        )
        self.label_matrix_ = y.ndim == 2 and y.shape[1] > 1
        if self.penalty < 0 or not np.isfinite(self.penalty):
            raise ValueError(f"penalty must be a number of at least 0, not {self.penalty!r}")
        if self.label_matrix_:
            self.classes_ = np.array([0, 1])
            return X, np.where(np.asarray(y, np.float64) > 0, 1.0, -1.0)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"Classifier can't train when only one class is present: {self.classes_.tolist()}"
            )
        own = np.arange(1, 2) if len(self.classes_) == 2 else np.arange(len(self.classes_))
        return X, np.where(numbers[:, None] == own, 1.0, -1.0)

    def _fit_targets(self, X: Any, problems: FloatArray, structure: FloatArray | None) -> None:  # noqa: N803
        matrix, free = X, 0
        if self.fit_intercept:
            ones = np.ones((X.shape[0], 1))
            matrix, free = (
                (hstack([X, csc_matrix(ones)]).tocsr() if is_sparse(X) else np.hstack([X, ones])),
                1,
            )
        minima = _solve(matrix, problems, self.penalty, structure, free, self.tolerance, self.max_iter)
        weights = np.array([minimum.u for minimum in minima])
        self.n_iter_ = max(1, *(minimum.iterations for minimum in minima))
        self.coef_ = weights[:, : X.shape[1]]
        self.intercept_ = weights[:, X.shape[1]] if free else np.zeros(len(weights))

    def decision_function(self, X: Any) -> FloatArray:  # noqa: N803
        """The scores: one per example for two labels, else one column per problem."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)  # noqa: N806
        scores = np.asarray(X @ self.coef_.T) + self.intercept_
        return np.asarray(scores[:, 0] if scores.shape[1] == 1 and not self.label_matrix_ else scores)

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: N803
        """The label of each example; for a label matrix 1 where a problem's score is positive."""
        scores = self.decision_function(X)
        if self.label_matrix_:
            return (scores > 0).astype(int)
        chosen = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[chosen])


class ASOClassifier(ModifiedHuberClassifier):
    """Alternating Structure Optimization: what auxiliary problems share helps to solve the target problems.

    `auxiliary` is a label matrix with one column per auxiliary problem over the same examples (positive: yes). With
    `None` the targets are their own auxiliary problems. `structure` gives Θ directly. With `dimensions` = 0 the
    classifier is `ModifiedHuberClassifier`.

    After `fit`, `structure_` is Θ, `shared_` is v, `own_` is w, and `coef_` = w + Θᵀv.
    """

    def __init__(
        self,
        auxiliary: Any = None,
        dimensions: int = 20,
        penalty: float = PENALTY,
        *,
        structure: Any = None,
        fit_intercept: bool = False,
        tolerance: float = 1e-6,
        max_iter: int = 200,
    ) -> None:
        super().__init__(penalty, fit_intercept=fit_intercept, tolerance=tolerance, max_iter=max_iter)
        self.auxiliary = auxiliary
        self.dimensions = dimensions
        self.structure = structure

    def fit(self, X: Any, y: Any) -> ASOClassifier:  # noqa: N803
        """Learn Θ from the auxiliary problems, then the target problems with it."""
        X, problems = self._validated(X, y)  # noqa: N806
        if self.dimensions < 0:
            raise ValueError(f"dimensions must be at least 0, not {self.dimensions!r}")
        if self.structure is not None:
            theta = np.asarray(self.structure, np.float64)[: self.dimensions]
            if theta.ndim != 2 or theta.shape[1] != X.shape[1]:
                raise ValueError(f"structure has {theta.shape[-1]} columns, X has {X.shape[1]}")
        elif self.dimensions == 0:
            theta = np.zeros((0, X.shape[1]))
        else:
            labels = problems if self.auxiliary is None else np.asarray(self.auxiliary)
            if labels.ndim != 2 or len(labels) != X.shape[0]:
                raise ValueError(
                    f"auxiliary has the shape {labels.shape}, but there are {X.shape[0]} examples"
                )
            weights = fit_problems(X, labels, self.penalty, tolerance=self.tolerance, max_iter=self.max_iter)
            theta = shared_structure(weights, self.dimensions)
        self._fit_targets(X, problems, theta)
        self.structure_ = theta
        self.shared_ = self.coef_ @ theta.T
        self.own_ = self.coef_ - self.shared_ @ theta
        return self
