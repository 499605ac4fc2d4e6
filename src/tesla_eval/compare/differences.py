"""What every feature contributes to a learned score, and to the difference between two systems (specification §8b).

Shares are parts of the linear score, before the scale: they add up exactly, and so do their means over a test set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from tesla_eval.arrays import ExactSum, FloatArray
from tesla_eval.errors import UsageError
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.combinations import Linear
from tesla_eval.metrics.feature_metric import FeatureMetric
from tesla_eval.metrics.groups import Feature
from tesla_eval.records import Signature
from tesla_eval.segments import References, check_references, mean_over_references

__all__ = ["Difference", "explain_difference"]


@dataclass(frozen=True)
class Difference:
    """Two systems against the same references: their scores, and each feature's share in the difference."""

    metric: str
    signature: Signature
    scores: tuple[float, float]
    features: tuple[Feature, ...]
    shares: FloatArray
    """Mean shares of both systems (2, features) in the linear score."""

    @property
    def linear(self) -> tuple[float, float]:
        """The linear scores of both: the sums of their shares."""
        first, second = (float(np.sum(row)) for row in self.shares)
        return first, second

    def by_feature(self) -> list[tuple[str, float, float, float]]:
        """Feature, share of the first, of the second, difference; the largest difference first."""
        return [(feature.name, a, b, difference) for feature, a, b, difference in self._rows()]

    def by_part(self) -> list[tuple[str, float, float, float]]:
        """The same, summed over the features that look at the same thing."""
        sums: dict[str, list[float]] = {}
        for feature, a, b, _ in self._rows():
            total = sums.setdefault(feature.label, [0.0, 0.0])
            total[0] += a
            total[1] += b
        return _by_difference([(part, a, b, a - b) for part, (a, b) in sums.items()])

    def _rows(self) -> list[tuple[Feature, float, float, float]]:
        shares = zip(self.features, *self.shares.tolist(), strict=True)
        return _by_difference([(feature, a, b, a - b) for feature, a, b in shares])

    def to_dict(self) -> dict[str, Any]:
        """The difference as plain data, ready for JSON."""
        keys = ("first", "second", "difference")
        return {
            "metric": self.metric, "signature": str(self.signature), "scores": list(self.scores),
            "linear": list(self.linear),
            "parts": [{"name": part, **dict(zip(keys, row, strict=True))} for part, *row in self.by_part()],
            "features": [
                {"name": feature.name, "part": feature.label, **dict(zip(keys, row, strict=True))}
                for feature, *row in self._rows()
            ],
        }  # fmt: skip


_Row = TypeVar("_Row", bound=tuple[Any, ...])


def _by_difference(rows: list[_Row]) -> list[_Row]:
    return sorted(rows, key=lambda row: -abs(row[3]))


def explain_difference(
    metric: Metric, first: Sequence[str], second: Sequence[str], references: References
) -> Difference:
    """Why one system scores higher than another, on one segment or on a whole test set.

    >>> from tesla_eval import TeslaX
    >>> difference = explain_difference(TeslaX("en"), ["A cat sat."], ["A dog sat."], [["The cat sat."]])
    >>> difference.scores[0] > difference.scores[1], round(sum(row[3] for row in difference.by_part()), 6) > 0
    (True, True)
    """
    if not (isinstance(metric, FeatureMetric) and isinstance(metric.combined, Linear)):
        raise UsageError(f"{metric.id} has no weights to explain a difference with; use -m x or -m f")
    scores, shares = [], []
    for hypotheses in (first, second):
        check_references(hypotheses, references)
        corpus = metric.corpus_score(hypotheses, references)
        scores.append(corpus.score)
        shares.append(_mean_shares(metric, metric.combined, hypotheses, references))
    return Difference(metric.id, corpus.signature, (scores[0], scores[1]), metric.features, np.stack(shares))


def _mean_shares(
    metric: FeatureMetric, combination: Linear, hypotheses: Sequence[str], references: References
) -> FloatArray:
    """The mean share of each feature over the segments, over the references that each has."""
    streams = []
    for stream in references:
        texts = ["" if text is None else text for text in stream]
        shares = combination.model.shares(metric.corpus_score(hypotheses, [texts]).features)
        shares[[index for index, text in enumerate(stream) if text is None]] = np.nan
        streams.append(shares)
    by_segment = mean_over_references(np.stack(streams))
    return np.array([_exact_mean(column) for column in by_segment.T])


def _exact_mean(values: FloatArray) -> float:
    total = ExactSum()
    total.add(values)
    return float(total) / len(values)
