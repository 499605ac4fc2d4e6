"""Linear classifiers over named features: whole-number weights, so that sums are exact on every machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import Index

WEIGHT_UNITS = 1000
"""A weight is stored as a multiple of 1/1000."""
BIAS = ""
"""The name of the feature that every example has."""


@dataclass(frozen=True, eq=False)
class Classifier:
    """Labels, feature names, and one row of weights per feature, in thousandths."""

    labels: tuple[str, ...]
    rows: Mapping[str, int]
    weights: npt.NDArray[np.int16]

    def __post_init__(self) -> None:
        if self.weights.shape != (len(self.rows), len(self.labels)) or len(self.labels) < 2:
            raise ValueError("labels, features and weights do not match in number")

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

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], name: str) -> Classifier:
        """The classifier of that name in the arrays of a resource file."""

        def lines(key: str) -> list[str]:
            return arrays[f"{name}.{key}"].tobytes().decode("utf-8").split("\n")

        return cls(
            labels=tuple(lines("labels")),
            rows={feature: row for row, feature in enumerate(lines("features"))},
            weights=arrays[f"{name}.weights"],
        )
