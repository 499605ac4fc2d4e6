"""Which rows of a table can be scored, for data frames and for the engines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tesla_eval.base.errors import UsageError
from tesla_eval.metrics.base import Metric
from tesla_eval.texts.columns import MISSING

__all__ = ["check_missing", "complete_rows", "has_text"]


def check_missing(missing: str) -> None:
    """Raise an error for an unknown policy for missing texts."""
    if missing not in MISSING:
        raise UsageError(f"missing={missing!r}: write 'error', 'null' or 'skip'")


def complete_rows(
    metric: Metric,
    hypotheses: Sequence[str | None],
    references: Sequence[Sequence[str | None]],
    sources: Sequence[str | None] | None,
) -> npt.NDArray[np.bool_]:
    """The rows that have what the metric reads: a text, at least one reference, a source."""
    complete = has_text(hypotheses)
    if metric.needs_references and references:
        complete &= np.logical_or.reduce([has_text(stream) for stream in references])
    if metric.uses_source and sources is not None:
        complete &= has_text(sources)
    return complete


def has_text(texts: Sequence[str | None]) -> npt.NDArray[np.bool_]:
    """Whether each text is there; None is a missing one.

    >>> has_text(["a", None, ""]).tolist()
    [True, False, True]
    """
    if None not in texts:
        return np.ones(len(texts), bool)
    return np.array([text is not None for text in texts], bool)
