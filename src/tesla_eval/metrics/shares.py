"""What every feature contributes to a learned score, and to the difference between two systems (SPEC §8b).

Shares are parts of the linear score, before the scale: they add up exactly, and so do their means over a test set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tesla_eval.metrics.base import References, check_references, mean_over_references
from tesla_eval.metrics.exact_sum import ExactSum
from tesla_eval.metrics.feature_groups import FloatArray
from tesla_eval.metrics.learned import LearnedMetric
from tesla_eval.records import Signature

__all__ = ["Difference", "explain_difference", "part_of"]

_PARTS = {
    "ms": "words and synonyms", "lem": "lemmas", "pos": "parts of speech", "chr": "characters",
    "content": "content words", "function": "function words", "rareword": "rare words", "rarelemma": "rare words",
    "number": "numbers and names", "capital": "numbers and names", "foreign": "foreign letters",
    "lcs": "word order", "fragments": "word order", "order": "word order", "chunks": "word order",
    "length": "length", "punct": "punctuation", "lm": "language model",
}  # fmt: skip


def part_of(feature: str) -> str:
    """What a feature looks at, in words.

    >>> part_of("content.r"), part_of("ms.2.p"), part_of("fr.lem.1")
    ('content words', 'words and synonyms', 'pivot fr')
    """
    head = feature.partition(".")[0]
    return _PARTS.get(head, f"pivot {head}")


@dataclass(frozen=True)
class Difference:
    """Two systems against the same references: their scores, and each feature's share in the difference."""

    metric: str
    signature: Signature
    scores: tuple[float, float]
    features: tuple[str, ...]
    shares: FloatArray
    """Mean shares of both systems (2, features) in the linear score."""

    @property
    def linear(self) -> tuple[float, float]:
        """The linear scores of both: the sums of their shares."""
        first, second = (float(np.sum(row)) for row in self.shares)
        return first, second

    def by_feature(self) -> list[tuple[str, float, float, float]]:
        """Feature, share of the first, of the second, difference; what made the difference first."""
        rows = [(name, a, b, a - b) for name, a, b in zip(self.features, *self.shares.tolist(), strict=True)]
        return sorted(rows, key=lambda row: -abs(row[3]))

    def by_part(self) -> list[tuple[str, float, float, float]]:
        """The same, summed over the features that look at the same thing."""
        sums: dict[str, list[float]] = {}
        for name, a, b, _ in self.by_feature():
            total = sums.setdefault(part_of(name), [0.0, 0.0])
            total[0] += a
            total[1] += b
        rows = [(part, a, b, a - b) for part, (a, b) in sums.items()]
        return sorted(rows, key=lambda row: -abs(row[3]))

    def to_dict(self) -> dict[str, Any]:
        """The difference as plain data, ready for JSON."""
        keys = ("first", "second", "difference")
        return {
            "metric": self.metric, "signature": str(self.signature), "scores": list(self.scores),
            "linear": list(self.linear),
            "parts": [{"name": row[0], **dict(zip(keys, row[1:], strict=True))} for row in self.by_part()],
            "features": [
                {"name": row[0], "part": part_of(row[0]), **dict(zip(keys, row[1:], strict=True))}
                for row in self.by_feature()
            ],
        }  # fmt: skip


def explain_difference(
    metric: LearnedMetric, first: Sequence[str], second: Sequence[str], references: References
) -> Difference:
    """Why one system scores higher than another, on one segment or on a whole test set.

    >>> from tesla_eval import TeslaX
    >>> found = explain_difference(TeslaX("en"), ["A cat sat."], ["A dog sat."], [["The cat sat."]])
    >>> found.scores[0] > found.scores[1], round(sum(row[3] for row in found.by_part()), 6) > 0
    (True, True)
    """
    scores, shares = [], []
    for hypotheses in (first, second):
        check_references(hypotheses, references)
        found = metric.corpus_score(hypotheses, references)
        scores.append(found.score)
        shares.append(_mean_shares(metric, hypotheses, references))
    return Difference(
        metric.id, metric.get_signature(), (scores[0], scores[1]), metric.feature_names, np.stack(shares)
    )


def _mean_shares(metric: LearnedMetric, hypotheses: Sequence[str], references: References) -> FloatArray:
    """Of each feature the mean share over the segments, over the references that each has."""
    streams = []
    for stream in references:
        texts = ["" if text is None else text for text in stream]
        shares = metric.model.shares(metric.corpus_score(hypotheses, [texts]).features)
        shares[[index for index, text in enumerate(stream) if text is None]] = np.nan
        streams.append(shares)
    by_segment = mean_over_references(np.stack(streams))
    return np.array([_exact_mean(column) for column in by_segment.T])


def _exact_mean(values: FloatArray) -> float:
    total = ExactSum()
    total.add(values)
    return float(total) / len(values)
