"""What a metric returns: scores of segments and of a system, and the explanation of a score."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tesla_eval.base.records import Signature

if TYPE_CHECKING:
    from tesla_eval.base.arrays import FloatArray, Index
    from tesla_eval.base.explanations import ReferenceExplanation


@dataclass(frozen=True)
class SegmentScores:
    """The scores of N segments, their features (N × F), and statistics that add up, if the metric has them."""

    scores: FloatArray
    features: FloatArray
    statistics: FloatArray | None = None

    @staticmethod
    def concatenate(parts: Sequence[SegmentScores]) -> SegmentScores:
        """The parts, one after the other."""
        if len(parts) == 1:
            return parts[0]
        statistics = [part.statistics for part in parts if part.statistics is not None]
        return SegmentScores(
            np.concatenate([part.scores for part in parts]),
            np.concatenate([part.features for part in parts]),
            np.concatenate(statistics) if statistics else None,
        )

    def part(self, span: slice | Index) -> SegmentScores:
        """Some of the segments."""
        statistics = None if self.statistics is None else self.statistics[span]
        return SegmentScores(self.scores[span], self.features[span], statistics)


@dataclass(frozen=True, init=False)
class Score:
    """The score of one segment with its named features; a feature that does not exist is NaN."""

    metric: str
    score: float
    features: Mapping[str, float]
    signature: Signature

    def __init__(
        self, metric: str, score: float, features: Mapping[str, float], signature: Signature
    ) -> None:
        # What a frozen dataclass generates takes twice as long, and every segment scored alone makes one.
        vars(self).update(metric=metric, score=score, features=features, signature=signature)

    def __str__(self) -> str:
        return f"{self.metric} = {self.score:.4f} ({self.signature})"

    def to_dict(self) -> dict[str, Any]:
        """The score as plain data, ready for JSON: a feature that does not exist is None."""
        return {
            **_head(self),
            "features": {name: json_number(value) for name, value in self.features.items()},
        }

    def _repr_html_(self) -> str:
        """A notebook's view: the score and its features."""
        from tesla_eval.drawing import score_html

        return score_html(self.metric, self.score, str(self.signature), self.features)


@dataclass(frozen=True, repr=False)
class CorpusScore:
    """The score of a system and of each of its segments, with features: one row per segment, one column per name."""

    metric: str
    score: float
    segments: FloatArray
    features: FloatArray
    feature_names: tuple[str, ...]
    signature: Signature

    def __str__(self) -> str:
        return f"{self.metric} = {self.score:.4f} ({self.signature})"

    def __repr__(self) -> str:
        return f"CorpusScore(metric={self.metric!r}, score={self.score!r}, {len(self.segments)} segments)"

    def to_dict(self) -> dict[str, Any]:
        """The scores as plain data, ready for JSON; without the features, which are arrays."""
        return {**_head(self), "segments": [json_number(value) for value in self.segments.tolist()]}

    def _repr_html_(self) -> str:
        """A notebook's view: the score and the mean of each feature over the segments that have it."""
        from tesla_eval.drawing import score_html

        columns = zip(self.feature_names, self.features.T.tolist(), strict=True)
        means = {
            name: _mean([value for value in column if not math.isnan(value)]) for name, column in columns
        }
        return score_html(self.metric, self.score, str(self.signature), means, len(self.segments))


@dataclass(frozen=True)
class Explanation:
    """A score with everything that produced it; `to_dict` gives specification §17."""

    metric: str
    signature: Signature
    score: float
    hypothesis: str
    references: tuple[ReferenceExplanation, ...] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain data, ready for JSON."""
        return {
            "metric": self.metric,
            "signature": str(self.signature),
            "score": self.score,
            "references": [reference.to_dict() for reference in self.references],
        }

    def _repr_html_(self) -> str:
        """A notebook's view: the links between the words, and the way from them to the score."""
        from tesla_eval.drawing import explanation_html

        return explanation_html(self.drawn_data())

    def drawn_data(self, feature: str | None = None) -> dict[str, Any]:
        """What the script of the pictures needs (`tesla_eval.drawing`); `feature` is the one that is drawn first."""
        from tesla_eval.drawing import drawn_data

        return drawn_data(self.to_dict(), self.hypothesis, self.references, feature)


def _head(score: Score | CorpusScore) -> dict[str, Any]:
    return {
        "metric": score.metric,
        "score": json_number(score.score),
        "signature": str(score.signature),
    }


def json_number(value: float) -> float | None:
    """The number, or None for NaN, which JSON does not have."""
    return None if math.isnan(value) else value


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan
