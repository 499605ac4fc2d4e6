"""Scored segments of several systems as a table that can be resampled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tesla_eval.metrics import Metric
from tesla_eval.metrics.baselines import corpus_score_of_sums
from tesla_eval.metrics.results import SegmentScores

if TYPE_CHECKING:
    from tesla_eval.metrics.comparison import SystemTable

__all__ = ["system_table"]


def system_table(
    name: str, metric: Metric, systems: Sequence[str], scored: Sequence[SegmentScores]
) -> SystemTable:
    """The systems under one metric, with the statistics of corpus scores where the metric has them."""
    from tesla_eval.metrics.comparison import SystemTable  # takes time to import: only when asked for

    statistics = [part.statistics for part in scored if part.statistics is not None]
    return SystemTable(
        name,
        tuple(systems),
        np.stack([part.scores for part in scored], axis=1),
        metric.higher_is_better,
        np.stack(statistics, axis=1) if statistics else None,
        corpus_score_of_sums(metric),
    )
