"""Linear problems with the modified Huber loss, and the structure they share: Alternating Structure Optimization (§16).

Needs SciPy, which `pip install "tesla-eval[train]"` brings. No other module imports this one at its own import.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import UsageError

try:
    from scipy.sparse import issparse as is_sparse
    from scipy.sparse.linalg import svds
except ImportError as error:  # pragma: no cover
    raise UsageError(
        f"tesla_eval_papers.models.aso needs SciPy: pip install 'tesla-eval[train]' ({error})"
    ) from None

PENALTY = 1e-4
"""λ of specification §16."""
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


class PenalisedLoss:
    """Mean loss + λ‖w‖² of one problem, as a function of w followed by v; the weights are w + Θᵀv.

    With `importance`, one number per example, the mean is weighted. Problems over the same examples differ in `y` only.
    """

    def __init__(
        self,
        x: Any,
        y: FloatArray,
        penalty: float,
        structure: FloatArray | None = None,
        free: int = 0,
        importance: FloatArray | None = None,
    ) -> None:
        self.x, self.y, self.penalty = x, y, penalty
        self.share = None if importance is None else importance / importance.sum()
        self.structure = structure if structure is not None and len(structure) else None
        self.features = x.shape[1]
        self.penalised = self.features - free  # the last features, such as an intercept, have no penalty
        self.transposed = x.T.tocsr() if is_sparse(x) else x.T  # in the order of memory that products need
        theta = np.zeros((0, self.features)) if self.structure is None else self.structure
        self.shared = np.asarray(x[:, : theta.shape[1]] @ theta.T)
        self.size = self.features + len(theta)

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


class Minimum(NamedTuple):
    """Where a search ended."""

    u: FloatArray
    value: float
    iterations: int


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
            return Minimum(u, value, iteration)
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
    return Minimum(u, value, max_iter)


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
    tolerance: float = 1e-5,
    max_iter: int = 200,
    start: FloatArray | None = None,
    importance: FloatArray | None = None,
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
    minima = solve(x, labels, penalty, structure, 0, tolerance, max_iter, start, importance)
    weights = np.array([minimum.u for minimum in minima]).reshape(len(minima), x.shape[1])
    if kept is None:
        return weights
    whole = np.zeros((len(minima), size))
    whole[:, kept] = weights
    return whole


def solve(
    x: Any,
    labels: npt.ArrayLike,
    penalty: float,
    structure: FloatArray | None,
    free: int,
    tolerance: float,
    max_iter: int,
    start: FloatArray | None = None,
    importance: FloatArray | None = None,
) -> list[Minimum]:
    """The minimum of each problem."""
    problems = np.where(np.asarray(labels) > 0, 1.0, -1.0)
    minima = []
    objective = PenalisedLoss(x, problems[:, 0], penalty, structure, free, importance)
    for column in range(problems.shape[1]):
        objective.y = problems[:, column]
        minimum = minimise(objective, tolerance, max_iter, None if start is None else start[column])
        minima.append(minimum._replace(u=objective.weights(minimum.u)))
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
