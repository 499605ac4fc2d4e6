"""The modified Huber classifier and ASO (specification §16) as scikit-learn estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_matrix, hstack
from scipy.sparse import issparse as is_sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from tesla_eval.base.arrays import FloatArray
from tesla_eval_papers.models.aso import PENALTY, fit_problems, shared_structure, solve


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
        matrix, free = X, int(self.fit_intercept)
        if free:
            ones = np.ones((X.shape[0], 1))
            matrix = hstack([X, csc_matrix(ones)]).tocsr() if is_sparse(X) else np.hstack([X, ones])
        minima = solve(matrix, problems, self.penalty, structure, free, self.tolerance, self.max_iter)
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

    `fit` takes the auxiliary problems; without them the targets are their own. With `dimensions` = 0 the classifier is
    `ModifiedHuberClassifier`.

    After `fit`, `structure_` is Θ, `shared_` is v, `own_` is w, and `coef_` = w + Θᵀv.
    """

    def __init__(
        self,
        dimensions: int = 20,
        penalty: float = PENALTY,
        *,
        fit_intercept: bool = False,
        tolerance: float = 1e-6,
        max_iter: int = 200,
    ) -> None:
        super().__init__(penalty, fit_intercept=fit_intercept, tolerance=tolerance, max_iter=max_iter)
        self.dimensions = dimensions

    def fit(self, X: Any, y: Any, auxiliary: Any = None) -> ASOClassifier:  # noqa: N803
        """Learn Θ from the auxiliary problems, then the target problems with it.

        `auxiliary` is a label matrix: one row per example, one column per problem (positive: yes). Cross-validation
        cuts it as it cuts X: `cross_val_score(model, X, y, params={"auxiliary": auxiliary})`.
        """
        X, problems = self._validated(X, y)  # noqa: N806
        if self.dimensions < 0:
            raise ValueError(f"dimensions must be at least 0, not {self.dimensions!r}")
        theta = np.zeros((0, X.shape[1]))
        if self.dimensions:
            labels = problems if auxiliary is None else np.asarray(auxiliary)
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
