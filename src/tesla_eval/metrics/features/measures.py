"""Precision, recall and F of matching problems as features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tesla_eval import _core
from tesla_eval.base.arrays import FloatArray
from tesla_eval.language.analysis import AnalysedBatch
from tesla_eval.matching.matcher import Matches
from tesla_eval.metrics.features import FIRST, Feature

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


def explained_measures(
    group: _core.FeatureGroup, reference: AnalysedBatch, hypothesis: AnalysedBatch, measures: Sequence[str]
) -> tuple[FloatArray, list[tuple[float, float, float]]]:
    """The features of the only texts of two batches, and of each problem all of `MEASURES`, which `group` gives."""
    row = group.prepare(reference.core).compare(group.prepare(hypothesis.core), FIRST, FIRST)[0]
    by_name = dict(zip(MEASURES, np.split(row, len(MEASURES)), strict=True))
    chosen = np.concatenate([by_name[measure] for measure in measures or MEASURES[-1:]])
    return chosen, list(zip(*(column.tolist() for column in by_name.values()), strict=True))


def measured_columns(matches: Matches, measures: Sequence[str]) -> FloatArray:
    """F, or the chosen measures, of all matching problems."""
    if not measures:
        return matches.f
    by_name = {"p": matches.precision, "r": matches.recall, "f": matches.f}
    return np.concatenate([by_name[measure] for measure in measures], axis=1)
