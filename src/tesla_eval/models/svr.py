"""Support vector regression as data: support vectors, coefficients, kernel. Prediction needs NumPy alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval.arrays import FloatArray

__all__ = ["SupportVectorModel"]

KERNELS = ("rbf", "linear", "poly")
_ARRAYS = ("means", "deviations", "vectors", "coefficients")
_ROWS_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class SupportVectorModel:
    """f(x) = Σ coefficient_i · K(x, vector_i) + intercept, over standardised features.

    K is exp(−γ‖x − v‖²), x·v, or (γ x·v + coef0)^degree. Sums run in one order, so that a row has the same value in
    every batch.

    >>> model = SupportVectorModel(
    ...     features=("a",), means=np.zeros(1), deviations=np.ones(1), vectors=np.array([[0.0]]),
    ...     coefficients=np.array([2.0]), intercept=1.0, gamma=0.5,
    ... )
    >>> model.predict(np.array([[0.0]])).tolist()
    [3.0]
    """

    features: tuple[str, ...]
    means: FloatArray
    deviations: FloatArray
    vectors: FloatArray
    coefficients: FloatArray
    intercept: float
    gamma: float
    kernel: str = "rbf"
    degree: int = 3
    coef0: float = 0.0

    def __post_init__(self) -> None:
        count = len(self.features)
        shapes = (self.means.shape, self.deviations.shape, self.vectors.shape, self.coefficients.shape)
        if shapes != ((count,), (count,), (len(self.coefficients), count), (len(self.coefficients),)):
            raise ValueError("the arrays of the regression do not fit each other")
        arrays = (self.means, self.deviations, self.vectors, self.coefficients)
        if not all(np.isfinite(array).all() for array in arrays) or not (self.deviations > 0).all():
            raise ValueError("the regression holds numbers that are none")
        if self.kernel not in KERNELS:
            raise ValueError(f"there is no kernel {self.kernel!r}")

    def predict(self, rows: FloatArray) -> FloatArray:
        """The value of every row of features."""
        standard = (rows - self.means) / self.deviations
        values = np.empty(len(rows))
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            values[part] = (self._kernel(standard[part]) * self.coefficients).sum(axis=1) + self.intercept
        return values

    def _kernel(self, rows: FloatArray) -> FloatArray:
        """K of every row with every vector, feature after feature: no matrix product, whose rounding varies."""
        total = np.zeros((len(rows), len(self.vectors)))
        for column in range(len(self.features)):
            x, v = rows[:, column, None], self.vectors[:, column]
            total += (x - v) ** 2 if self.kernel == "rbf" else x * v
        if self.kernel == "rbf":
            return np.asarray(np.exp(-self.gamma * total))
        return (
            total if self.kernel == "linear" else np.asarray((self.gamma * total + self.coef0) ** self.degree)
        )

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays of a resource."""
        return {name: getattr(self, name) for name in _ARRAYS}

    def to_info(self) -> dict[str, Any]:
        """What else a resource must say."""
        return {
            "features": list(self.features), "intercept": self.intercept, "gamma": self.gamma, "kernel": self.kernel,
            "degree": self.degree, "coef0": self.coef0,
        }  # fmt: skip

    @classmethod
    def from_resource(cls, arrays: Any, info: Any) -> SupportVectorModel:
        """The model that `to_arrays` and `to_info` tell; `LookupError`, `TypeError` or `ValueError` if they do not."""
        names: Sequence[Any] = info["features"]
        return cls(
            features=tuple(str(name) for name in names),
            **{
                name: np.asarray(arrays[name], np.float64)
                for name in _ARRAYS
            },
            intercept=float(info["intercept"]), gamma=float(info["gamma"]), kernel=str(info["kernel"]),
            degree=int(info["degree"]), coef0=float(info["coef0"]),
        )  # fmt: skip
