"""Scores of the outputs of a test set by any function, for studies that have no metric object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tesla_eval.base.errors import UsageError
from tesla_eval.judgements.meta.join import choose_outputs
from tesla_eval.judgements.nouns import EvalSet, FloatTable

Scorer: TypeAlias = Callable[[Sequence[str], Sequence[Sequence[str | None]]], npt.ArrayLike]
"""N hypotheses and K streams of N references (None: missing) to N scores, NaN where a score is missing."""


def score_outputs(
    outputs: EvalSet,
    scorer: Scorer,
    *,
    segments: npt.NDArray[np.bool_] | None = None,
    all_references: bool = False,
) -> FloatTable:
    """Scores (systems, segments) of the outputs in the chosen segments, by default all, in one call.

    The first reference that a segment has is used, unless `all_references`. Cells without an output, and
    those not chosen, are NaN.
    """
    chosen = choose_outputs(outputs, segments, all_references=all_references)
    table = np.full(outputs.human.shape, np.nan)
    if not chosen.hypotheses:
        return table
    scores = np.asarray(scorer(chosen.hypotheses, chosen.references), dtype=np.float64)
    if scores.shape != (len(chosen.hypotheses),):
        raise UsageError(
            f"the metric gave scores of shape {scores.shape} for {len(chosen.hypotheses)} outputs"
        )
    table[chosen.cells] = scores
    return table
