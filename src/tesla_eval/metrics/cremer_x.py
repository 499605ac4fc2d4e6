"""CREMER-X (specification §12, beyond the papers): overall quality of a summary by a monotone model."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval.metrics.summary_parts import SummaryEvidence, SummaryParts

__all__ = ["CremerX"]


class CremerX(SummaryParts):
    """Overall quality of a summary: content of the models, support by the source if it is given, length.

    Better content, more support and a length nearer to that of the models never lower the score. Without sources the
    weight of support goes to the other parts.

    >>> metric = CremerX()
    >>> models = ["Tom stayed at home because he had a fever."]
    >>> score = metric.sentence_score("Tom had a fever. So he stayed at home.", models)
    >>> sorted(score.features), metric.sentence_score("", models).score
    (['content', 'length', 'support'], 0.0)
    """

    id: ClassVar[str] = "cremer-x"
    part_names = ("content", "support", "length")
    families = ("content", "support", "length")
    recall_weight = 1.0

    def parts(self, evidence: SummaryEvidence) -> FloatArray:
        """TESLA-S's recall; the precision of skip bigrams against the source, or of words where there are no pairs."""
        words, pairs = evidence.support.T
        missing = np.isnan(evidence.content)
        recalls = np.where(missing, 0.0, evidence.content).sum(axis=1)
        content = recalls / np.maximum((~missing).sum(axis=1), 1)
        return np.column_stack([content, np.where(np.isnan(pairs), words, pairs), evidence.length])
