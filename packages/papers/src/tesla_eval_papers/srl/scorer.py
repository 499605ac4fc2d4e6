"""Linear scores of text features, kept as hashed features with 16-bit weights."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval.base.resources import byte_planes, from_byte_planes, text_array

WEIGHT_UNITS = 1000
"""Weights are stored in thousandths."""


def feature_key(feature: str) -> int:
    """The 32-bit hash of a feature."""
    return zlib.crc32(feature.encode("utf-8"))


@dataclass(frozen=True, eq=False)
class Scorer:
    """Labels and, for each known feature, one weight per label, in thousandths.

    >>> scorer = Scorer.from_weights(["yes"], ["a", "b"], np.array([[0.5], [-2.0]]))
    >>> scorer.scores([["a", "a", "b"], ["c"]]).tolist()
    [[-1000], [0]]
    """

    labels: tuple[str, ...]
    keys: npt.NDArray[np.uint32]
    """Ascending."""
    weights: npt.NDArray[np.int16]

    def __post_init__(self) -> None:
        if self.weights.shape != (len(self.keys), len(self.labels)) or not self.labels:
            raise ValueError("labels, features and weights do not fit each other")
        if len(self.keys) and not (np.diff(self.keys.astype(np.int64)) > 0).all():
            raise ValueError("the features do not ascend")

    @classmethod
    def from_weights(
        cls,
        labels: Sequence[str],
        features: Sequence[str],
        weights: npt.NDArray[np.float64],
        *,
        smallest: int = 1,
    ) -> Scorer:
        """The scorer of weights (features × labels); weights below `smallest` thousandths are dropped.

        Where two features have one key, their weights are added.
        """
        rounded = np.clip(np.rint(weights * WEIGHT_UNITS), -32767, 32767).astype(np.int64)
        rounded[np.abs(rounded) < smallest] = 0
        keys = np.array([feature_key(feature) for feature in features], np.uint32)
        unique, places = np.unique(keys, return_inverse=True)
        summed = np.zeros((len(unique), len(labels)), np.int64)
        np.add.at(summed, places, rounded)
        kept = np.flatnonzero(summed.any(axis=1))
        return cls(tuple(labels), unique[kept], np.clip(summed[kept], -32767, 32767).astype(np.int16))

    def scores(self, examples: Sequence[Sequence[str]]) -> npt.NDArray[np.int64]:
        """The score of each label (column) for each example (row), in thousandths; unknown features count nothing."""
        lengths = np.array([len(features) for features in examples], np.int64)
        flat = np.array([feature_key(name) for features in examples for name in features], np.uint32)
        result = np.zeros((len(examples), len(self.labels)), np.int64)
        if not len(flat) or not len(self.keys):
            return result
        places = np.minimum(np.searchsorted(self.keys, flat), len(self.keys) - 1)
        known = self.keys[places] == flat
        rows = np.repeat(np.arange(len(examples)), lengths)[known]
        np.add.at(result, rows, self.weights[places[known]].astype(np.int64))
        return result

    def to_arrays(self, name: str) -> dict[str, npt.NDArray[Any]]:
        """The arrays of a resource: sparse, because most weights are 0."""
        rows, columns = np.nonzero(self.weights)
        return {
            f"{name}.labels": text_array("\n".join(self.labels)),
            f"{name}.keys": byte_planes(np.diff(self.keys, prepend=np.uint32(0))),
            f"{name}.lengths": np.bincount(rows, minlength=len(self.keys)).astype(np.uint8),
            f"{name}.columns": columns.astype(np.uint8),
            f"{name}.values": self.weights[rows, columns].astype(np.int16),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], name: str) -> Scorer:
        """The scorer that `to_arrays` wrote; `LookupError` or `ValueError` if there is none."""
        labels = tuple(arrays[f"{name}.labels"].tobytes().decode("utf-8").split("\n"))
        keys = np.cumsum(from_byte_planes(arrays[f"{name}.keys"]).astype(np.uint64))
        if len(keys) and int(keys[-1]) > 0xFFFFFFFF:
            raise ValueError("the features do not ascend")
        lengths = arrays[f"{name}.lengths"].astype(np.int64)
        columns, values = arrays[f"{name}.columns"], arrays[f"{name}.values"]
        if len(lengths) != len(keys) or not lengths.sum() == len(columns) == len(values):
            raise ValueError("features and weights differ in number")
        if len(columns) and int(columns.max()) >= len(labels):
            raise ValueError("a weight belongs to no label")
        weights = np.zeros((len(keys), len(labels)), np.int16)
        weights[np.repeat(np.arange(len(keys)), lengths), columns] = values
        return cls(labels, keys.astype(np.uint32), weights)
