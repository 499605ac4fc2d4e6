"""Precision, recall and F of matching problems as features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval.matching.ngrams import Matches
from tesla_eval.metrics.features import Feature

MEASURES = ("p", "r", "f")
"""Precision, recall and F of one matching problem as features of their own (specification §8b)."""


def measured_features(problems: Sequence[Feature], measures: Sequence[str]) -> tuple[Feature, ...]:
    """The columns that `measured_columns` gives: F alone under the problems' names, or measure by measure."""
    if not measures:
        return tuple(problems)
    return tuple(
        replace(problem, name=f"{problem.name}.{measure}", family=f"{problem.family}.{measure}")
        for measure in measures
        for problem in problems
    )


def measured_columns(matches: Matches, measures: Sequence[str]) -> FloatArray:
    """F, or the chosen measures, of all matching problems."""
    if not measures:
        return matches.f
    by_name = {"p": matches.precision, "r": matches.recall, "f": matches.f}
    return np.concatenate([by_name[measure] for measure in measures], axis=1)
