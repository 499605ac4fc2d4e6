"""Linear classifiers over named features: whole-number weights, so that sums are exact on every machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval.arrays import Index
from tesla_eval.errors import UsageError
from tesla_eval.resources import text_array

__all__ = ["Classifier", "fit_classifier"]

WEIGHT_UNITS = 1000
"""A weight is stored as a multiple of 1/1000."""
_LARGEST = np.iinfo(np.int16).max
BIAS = ""
"""The name of the feature that every example has."""


@dataclass(frozen=True, eq=False)
class Classifier:
    """Labels, feature names, and one row of weights a feature, in thousandths."""

    labels: tuple[str, ...]
    rows: Mapping[str, int]
    weights: npt.NDArray[np.int16]

    def __post_init__(self) -> None:
        if self.weights.shape != (len(self.rows), len(self.labels)) or len(self.labels) < 2:
            raise ValueError("labels, features and weights do not fit each other")

    def scores(self, examples: Sequence[Iterable[str]]) -> Index:
        """The score of each label (column) for each example (row) in thousandths; unknown features count nothing."""
        find = self.rows.get
        bias = find(BIAS)
        ids: list[int] = []
        starts = np.zeros(len(examples), np.int64)
        for number, features in enumerate(examples):
            starts[number] = len(ids)
            if bias is not None:
                ids.append(bias)
            ids.extend(row for name in features if (row := find(name)) is not None)
        if not examples or not ids:
            return np.zeros((len(examples), len(self.labels)), np.int64)
        ends = np.append(starts[1:], len(ids))
        sums = np.zeros((len(ids) + 1, len(self.labels)), np.int64)
        np.cumsum(self.weights[np.array(ids, np.int64)], axis=0, dtype=np.int64, out=sums[1:])
        return np.asarray(sums[ends] - sums[starts])

    def predict(self, examples: Sequence[Iterable[str]]) -> list[str]:
        """The best label of each example; of equals the first."""
        return [self.labels[best] for best in np.argmax(self.scores(examples), axis=1).tolist()]

    def margins(self, examples: Sequence[Iterable[str]], label: str) -> list[int]:
        """By how much `label` is ahead of the best other one, in thousandths."""
        scores = self.scores(examples)
        own = self.labels.index(label)
        others = np.delete(scores, own, axis=1)
        ahead: list[int] = (scores[:, own] - others.max(axis=1)).tolist()
        return ahead

    def to_arrays(self, name: str) -> dict[str, npt.NDArray[Any]]:
        """The classifier as arrays of a resource file."""
        return {
            f"{name}.labels": text_array("\n".join(self.labels)),
            f"{name}.features": text_array("\n".join(self.rows)),
            f"{name}.weights": self.weights,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], name: str) -> Classifier:
        """The classifier that `to_arrays` wrote."""

        def lines(key: str) -> list[str]:
            return arrays[f"{name}.{key}"].tobytes().decode("utf-8").split("\n")

        return cls(
            labels=tuple(lines("labels")),
            rows={feature: row for row, feature in enumerate(lines("features"))},
            weights=arrays[f"{name}.weights"],
        )


def fit_classifier(
    examples: Sequence[Sequence[str]], labels: Sequence[str], *, rarest: int = 3, cost: float = 0.1
) -> Classifier:
    """Logistic regression, one label against the rest, over features of at least `rarest` examples.

    `cost` is the weight of the examples against the penalty on large weights. Needs scikit-learn.
    """
    logistic_regression = import_trainer("sklearn.linear_model").LogisticRegression
    counts = Counter(feature for features in examples for feature in set(features))
    names = sorted(feature for feature, count in counts.items() if count >= rarest)
    matrix = _incidence(examples, {feature: column for column, feature in enumerate(names)})
    truth = np.array(labels)
    classes = sorted(set(labels))
    columns = [np.zeros(len(names) + 1)] if len(classes) == 2 else []  # two labels: one decision
    for label in classes[len(columns) :]:
        model = logistic_regression(C=cost, solver="liblinear", random_state=0)
        model.fit(matrix, truth == label)
        columns.append(np.append(model.intercept_, model.coef_[0]))
    weights = np.rint(np.stack(columns, axis=1) * WEIGHT_UNITS)
    weights = np.clip(weights, -_LARGEST, _LARGEST).astype(np.int16)
    kept = np.flatnonzero(np.any(weights != 0, axis=1)).tolist()
    all_names = [BIAS, *names]
    return Classifier(tuple(classes), {all_names[old]: new for new, old in enumerate(kept)}, weights[kept])


def _incidence(examples: Sequence[Sequence[str]], columns: Mapping[str, int]) -> Any:
    """The sparse matrix of which example has which feature."""
    csr_matrix = import_trainer("scipy.sparse").csr_matrix
    indices: list[int] = []
    offsets = [0]
    for features in examples:
        indices.extend(sorted({columns[feature] for feature in features if feature in columns}))
        offsets.append(len(indices))
    return csr_matrix(
        (np.ones(len(indices)), np.array(indices, np.int64), np.array(offsets, np.int64)),
        shape=(len(examples), len(columns)),
    )


def import_trainer(module: str) -> Any:
    """A module of scikit-learn or SciPy, which only training needs."""
    try:
        return import_module(module)
    except ImportError as error:
        raise UsageError(f"training needs scikit-learn: pip install 'tesla-eval[train]' ({error})") from None
