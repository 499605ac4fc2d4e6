"""Teaching CREMER: support vector regression from (TESLA-S, DICOMER) to human scores of summaries (SPEC §12)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval.meta.summaries import SummarySet
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.cremer import FEATURES, CremerModel
from tesla_eval.training.svr import Grid, fit_support_vectors

__all__ = ["GRIDS", "cremer_rows", "train_cremer"]

FloatArray = npt.NDArray[np.float64]

_EPSILON = (0.1, 0.3)
GRIDS = {
    "linear": Grid(cost=(0.01, 0.1, 1.0), gamma=(1.0,), epsilon=_EPSILON, kernel="linear"),
    "poly": Grid(cost=(0.01, 0.1, 1.0), gamma=(0.3, 1.0), epsilon=_EPSILON, kernel="poly"),
    "rbf": Grid(cost=(0.1, 1.0, 10.0), gamma=(0.03, 0.1, 0.3, 1.0), epsilon=_EPSILON, kernel="rbf"),
}
"""What is tried for each kernel."""


def cremer_rows(
    summaries: SummarySet,
    human: FloatArray,
    content: Metric,
    coherence: Metric,
    *,
    advance: Callable[[int], None] = lambda done: None,
) -> tuple[FloatArray, FloatArray, list[int]]:
    """For every scored summary its two features, its human score, and the number of its topic."""
    streams = summaries.reference_streams
    rows, targets, topics = [], [], []
    for system, texts in enumerate(summaries.hypotheses):
        there = [k for k, text in enumerate(texts) if text is not None and not np.isnan(human[system, k])]
        chosen = [text for k in there if (text := texts[k]) is not None]
        if chosen:
            first = content.score_segments(chosen, [[stream[k] for k in there] for stream in streams]).scores
            rows.append(np.stack([first, coherence.score_segments(chosen, ()).scores], axis=1))
            targets.append(human[system, there])
            topics.extend(there)
        advance(len(texts))
    return np.concatenate(rows), np.concatenate(targets), topics


def train_cremer(
    rows: FloatArray,
    targets: FloatArray,
    topics: Sequence[int],
    *,
    kernel: str = "rbf",
    folds: int = 5,
    dicomer: str = "",
    advance: Callable[[int], object] = lambda done: None,
) -> tuple[CremerModel, dict[str, Any]]:
    """The regression whose parameters predict held-out topics best, and what the search found."""
    fit = fit_support_vectors(FEATURES, rows, targets, topics, GRIDS[kernel], folds=folds, progress=advance)
    info = {**fit.parameters, "pearson": fit.correlation, "summaries": len(rows), "topics": len(set(topics))}
    return CremerModel(fit.model, dicomer), info
