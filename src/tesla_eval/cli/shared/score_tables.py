"""Tables of segment scores, as `tesla score --format tsv --segments` prints them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.metrics.comparison import SystemTable
from tesla_eval.texts.lines import LineReader

_HEADER = ["system", "segment", "metric", "score"]
_LOWER_IS_BETTER = frozenset({"ter", "wer", "cer"})


def read_score_table(
    path: str, systems: Sequence[str] = (), metrics: Sequence[str] = ()
) -> list[SystemTable]:
    """A table for each metric of the file, or of those named; a score that is missing or no number is an error.

    A system's score is the mean of its segments' scores: the file has no more than these.
    """
    scores = _read_scores(path)
    all_systems, all_segments, all_metrics = (dict.fromkeys(key[i] for key in scores) for i in range(3))
    chosen_systems = _choose(path, "system", systems, list(all_systems))
    chosen_metrics = _choose(path, "metric", metrics, list(all_metrics))
    tables = []
    for metric in chosen_metrics:
        table = np.empty((len(all_segments), len(chosen_systems)))
        for row, segment in enumerate(all_segments):
            for column, system in enumerate(chosen_systems):
                if (system, segment, metric) not in scores:
                    raise InputError(f"{path}: no {metric} score of system {system} for segment {segment}")
                table[row, column] = scores[system, segment, metric]
        tables.append(SystemTable(metric, tuple(chosen_systems), table, metric not in _LOWER_IS_BETTER))
    return tables


def _read_scores(path: str) -> dict[tuple[str, str, str], float]:
    reader = LineReader(path)
    lines = iter(reader)
    if next(lines, "").split("\t") != _HEADER:
        raise InputError(
            f"{reader.name}, line 1: the header should be {' '.join(_HEADER)}, separated by tabs"
        )
    scores: dict[tuple[str, str, str], float] = {}
    for number, line in enumerate(lines, start=2):
        fields = line.split("\t")
        if len(fields) != len(_HEADER):
            raise InputError(f"{reader.name}, line {number}: {len(fields)} fields instead of {len(_HEADER)}")
        system, segment, metric, text = fields
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise InputError(f"{reader.name}, line {number}: score {text!r} is not a number")
        if (system, segment, metric) in scores:
            raise InputError(
                f"{reader.name}, line {number}: a second {metric} score of {system}, segment {segment}"
            )
        scores[system, segment, metric] = value
    if not scores:
        raise InputError(f"{reader.name}: holds no scores")
    return scores


def _choose(path: str, what: str, wanted: Sequence[str], present: list[str]) -> list[str]:
    for name in wanted:
        if name not in present:
            raise UsageError(f"{path}: no {what} {name!r}; there are {', '.join(present)}")
    return list(wanted) or present
