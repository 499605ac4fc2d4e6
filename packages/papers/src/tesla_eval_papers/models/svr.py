"""Support vector regression as data, and the models of PEM and CREMER over it. Prediction needs NumPy alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from itertools import repeat
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray, exponentials
from tesla_eval.base.errors import ResourceError
from tesla_eval.base.identity import Fingerprinted
from tesla_eval.base.resources import SUFFIX, UNSTATED, Provenance, Resource, read_resource
from tesla_eval.models.documents import load_trained

KERNELS = ("rbf", "linear", "poly")
_ARRAYS = ("means", "deviations", "vectors", "coefficients")
_ROWS_AT_ONCE = 64  # measured: what they need stays in the cache


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
            raise ValueError("the arrays of the regression do not match in shape")
        arrays = (self.means, self.deviations, self.vectors, self.coefficients)
        if not all(np.isfinite(array).all() for array in arrays) or not (self.deviations > 0).all():
            raise ValueError(
                "the regression contains numbers that are not finite, or deviations that are not positive"
            )
        if self.kernel not in KERNELS:
            raise ValueError(f"unknown kernel {self.kernel!r}")

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
            return exponentials(-self.gamma * total)
        if self.kernel == "linear":
            return total
        base = self.gamma * total + self.coef0
        return reduce(np.multiply, repeat(base, self.degree), np.ones_like(base))

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
        return cls(
            features=tuple(map(str, info["features"])),
            **{name: np.asarray(arrays[name], np.float64) for name in _ARRAYS},
            intercept=float(info["intercept"]), gamma=float(info["gamma"]), kernel=str(info["kernel"]),
            degree=int(info["degree"]), coef0=float(info["coef0"]),
        )  # fmt: skip


PEM = "pem"


@dataclass(frozen=True)
class PemModel(Fingerprinted):
    """From adequacy, fluency and dissimilarity to an overall score."""

    language: str
    regression: SupportVectorModel
    pivots: tuple[str, ...]
    language_model: str
    analysis: str = ""
    info: Mapping[str, Any] = field(default_factory=dict)
    """The result of cross-validation and the size of the data, for people to read."""

    def to_resource(self, provenance: Provenance = UNSTATED) -> Resource:
        """The model as it is stored."""
        told = {
            **self.regression.to_info(),
            "pivots": list(self.pivots),
            "lm": self.language_model,
            "training": dict(self.info),
        }
        return Resource(
            PEM, self.language, self.regression.to_arrays(), analysis=self.analysis,
            provenance=provenance, info=told,
        )  # fmt: skip


def read_pem_model(path: Path) -> PemModel:
    """The model in a file; `ResourceError`, naming the file, if it holds none."""
    resource = read_resource(path, PEM)
    try:
        return PemModel(
            language=resource.language,
            regression=SupportVectorModel.from_resource(resource.arrays, resource.info),
            pivots=tuple(str(pivot) for pivot in resource.info["pivots"]),
            language_model=str(resource.info["lm"]),
            analysis=resource.analysis,
            info=resource.info.get("training", {}),
        ).known_as(resource.fingerprint)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise ResourceError(
            f"{path}: is damaged or not a model of PEM ({error}); train it again with `tesla train pem`"
        ) from error


def load_pem_model(language: str, analysis: str = "", model: PemModel | str | Path | None = None) -> PemModel:
    """The given model, the one in a file, or the installed one; see `load_trained`."""
    return load_trained(
        PEM, model, language, analysis, read=read_pem_model, file=f"{PEM}{SUFFIX}",
        command=f"tesla train pem -l {language}",
    )  # fmt: skip


CREMER = "cremer"


def kernel_kind(kernel: str) -> str:
    """The file name of CREMER's model with this kernel, without the language.

    >>> kernel_kind("rbf"), kernel_kind("linear")
    ('cremer', 'cremer-linear')
    """
    return CREMER if kernel == "rbf" else f"{CREMER}-{kernel}"


CREMER_FEATURES = ("tesla-s", "dicomer")


@dataclass(frozen=True, eq=False)
class CremerModel(Fingerprinted):
    """The regression, the fingerprint of the DICOMER model that it was trained on, and the scale of its targets."""

    regression: SupportVectorModel
    dicomer: str = ""
    lowest: float = 1.0
    highest: float = 5.0

    def predict(self, rows: FloatArray) -> FloatArray:
        """The value of every row, within the range of the scores that were learned from."""
        return np.clip(self.regression.predict(rows), self.lowest, self.highest)

    def to_resource(
        self, language: str, provenance: Provenance = UNSTATED, *, info: dict[str, object] | None = None
    ) -> Resource:
        """The model as a resource file's content."""
        return Resource(
            CREMER, language, self.regression.to_arrays(), analysis=self.dicomer, provenance=provenance,
            info={
                **(info or {}),
                **self.regression.to_info(),
                "lowest": self.lowest,
                "highest": self.highest,
            },
        )  # fmt: skip

    @classmethod
    def from_resource(cls, resource: Resource) -> CremerModel:
        """The model that `to_resource` wrote; `ResourceError` if it is not a valid one."""
        try:
            regression = SupportVectorModel.from_resource(resource.arrays, resource.info)
            if regression.features != CREMER_FEATURES:
                raise ValueError(f"its features are {', '.join(regression.features)}")
            lowest, highest = float(resource.info["lowest"]), float(resource.info["highest"])
            if not -inf < lowest < highest < inf:
                raise ValueError("the range of scores is empty")
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise ResourceError(
                f"{resource.path}: is damaged ({error}); reinstall it, or train it with `tesla train cremer`"
            ) from error
        return cls(regression, resource.analysis, lowest, highest).known_as(resource.fingerprint)
