"""Tables of segment scores, as `tesla score --format tsv --segments` prints them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.metrics.comparison import SystemTable
from tesla_eval.texts.lines import parse_number, read_headed_rows

_HEADER = ("system", "segment", "metric", "score")
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
    scores: dict[tuple[str, str, str], float] = {}
    for place, row in read_headed_rows(path, _HEADER):
        system, segment, metric = key = (row["system"], row["segment"], row["metric"])
        if key in scores:
            raise InputError(f"{place}: a second {metric} score of {system}, segment {segment}")
        scores[key] = parse_number(row["score"], place)
    if not scores:
        raise InputError(f"{path}: holds no scores")
    return scores


def _choose(path: str, what: str, wanted: Sequence[str], present: list[str]) -> list[str]:
    for name in wanted:
        if name not in present:
            raise UsageError(f"{path}: no {what} {name!r}; there are {', '.join(present)}")
    return list(wanted) or present
