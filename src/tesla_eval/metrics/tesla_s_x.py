"""TESLA-S with the source (specification §10, beyond the papers): content against the models, support by the source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval.matching import RECALL_WEIGHT
from tesla_eval.metrics.segments import References
from tesla_eval.metrics.summary_parts import SummaryEvidence, SummaryParts
from tesla_eval.metrics.tesla_s_source import needed_sources

__all__ = ["TeslaSX"]


class TeslaSX(SummaryParts):
    """TESLA-S and `s-source` in one score: how much of the models a summary has, and how much the source supports.

    >>> metric = TeslaSX()
    >>> source = "On Monday a storm hit the coast of Spain. Many roads were closed."
    >>> good = metric.sentence_score("A storm hit Spain.", ["Spain was hit by a storm."], source)
    >>> wrong = metric.sentence_score("A kangaroo hit Spain.", ["Spain was hit by a storm."], source)
    >>> good.score > wrong.score
    True
    """

    id: ClassVar[str] = "tesla-s-x"
    part_names = ("s.1", "s.skip", "source.1", "source.skip")
    families = ("content", "content", "support", "support")
    recall_weight = RECALL_WEIGHT

    def gather(
        self, hypotheses: Sequence[str], references: References, sources: Sequence[str] | None
    ) -> SummaryEvidence:
        """As for any metric of parts; the sources are needed."""
        return super().gather(hypotheses, references, needed_sources(self.id, hypotheses, sources))

    def parts(self, evidence: SummaryEvidence) -> FloatArray:
        """The four measures as they are."""
        return np.column_stack([evidence.content, evidence.support])
