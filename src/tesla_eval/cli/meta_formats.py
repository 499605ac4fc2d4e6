"""What `tesla meta` prints of metrics against humans: text, JSON, TSV."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

import click
import numpy as np

from tesla_eval.cli.terminal import aligned, visible
from tesla_eval.meta import MetricComparison, Result
from tesla_eval.meta.study import SetComparison, Study

__all__ = ["META_FORMATS", "shown_p"]

_COLUMNS = ("lp", "testset", "metric", "level", "statistic", "value", "n", "note")


def _text(study: Study) -> Iterator[str]:
    for test_set, (_, rows) in zip(study.test_sets, groupby(study.results, _set_of), strict=True):
        segments = f"{test_set.segments_used} of {test_set.segments} segments"
        judged = f"human system scores: {test_set.human_score}"
        yield f"{visible(test_set.lp)} {visible(test_set.testset)}: {test_set.systems} systems, {segments}; {judged}"
        yield from _table(list(rows))
        yield ""
    if study.averages:
        yield f"average over {len(study.test_sets)} test sets"
        yield from _table(study.averages)
        yield ""
    for found in study.comparisons:
        yield from _comparison_text(found)
        yield ""
    yield from study.signatures


def _set_of(result: Result) -> tuple[str, str]:
    return result.lp, result.testset


def _table(results: Sequence[Result]) -> Iterator[str]:
    """Statistics down, metrics across; what no metric has is left out, and the reason given once."""
    metrics = list(dict.fromkeys(result.metric for result in results))
    cells: dict[tuple[str, str], dict[str, Result]] = {}
    for result in results:
        cells.setdefault((result.level, result.statistic), {})[result.metric] = result
    rows = [["", "", *metrics, "n"]]
    for (level, statistic), by_metric in cells.items():
        if all(math.isnan(result.value) for result in by_metric.values()):
            continue
        counts = sorted({result.n for result in by_metric.values()})
        span = str(counts[0]) if len(counts) == 1 else f"{counts[0]}-{counts[-1]}"
        rows.append([level, statistic, *(_shown(by_metric[metric].value) for metric in metrics), span])
    if len(rows) > 1:
        yield from aligned(rows, numeric=range(2, len(metrics) + 3))
    yield from _notes(results, len(metrics))


def _notes(results: Sequence[Result], metrics: int) -> Iterator[str]:
    """Every note once, with the statistics (and metrics, unless it is all of them) that it is about."""
    about: dict[str, dict[str, list[str]]] = {}
    for result in results:
        if result.note:
            statistic = f"{result.level} {result.statistic}"
            about.setdefault(result.note, {}).setdefault(statistic, []).append(result.metric)
    for note, statistics in about.items():
        names = [
            statistic if len(of) == metrics else f"{statistic} ({', '.join(of)})"
            for statistic, of in statistics.items()
        ]
        yield f"  {', '.join(names)}: {note}"


def _comparison_text(found: SetComparison) -> Iterator[str]:
    comparison = found.comparison
    level = f"{100 * (1 - comparison.alpha):g} % interval"
    head = (
        f"{visible(found.lp)} {visible(found.testset)}: metrics by {comparison.level} {comparison.statistic}"
    )
    yield f"{head} (p: paired permutation that the row's metric is better, Holm-corrected)"
    order = _best_first(comparison)
    names = [comparison.metrics[i] for i in order]
    rows = [["cluster", "metric", "value", level, *(f"p > {name}" for name in names)]]
    for i in order:
        interval = f"{_shown(comparison.low[i])} to {_shown(comparison.high[i])}"
        p_values = ["" if i == j else shown_p(comparison.adjusted[i, j]) for j in order]
        cluster = str(comparison.clusters[i] or "-")
        rows.append([cluster, comparison.metrics[i], _shown(comparison.values[i]), interval, *p_values])
    yield from aligned(rows, numeric=range(2, len(rows[0])))


def _json(study: Study) -> Iterator[str]:
    yield "{" + f'"signatures": {_dumps(study.signatures)},'
    yield f'"test_sets": {_dumps([asdict(test_set) for test_set in study.test_sets])},'
    for name, results in (("results", study.results), ("averages", study.averages)):
        yield f'"{name}": ['
        for i, result in enumerate(results):
            yield _dumps(result.to_dict()) + ("," if i + 1 < len(results) else "")
        yield "],"
    yield f'"significance": {_dumps([_comparison_dict(found) for found in study.comparisons])}' + "}"


def _comparison_dict(found: SetComparison) -> dict[str, Any]:
    comparison = found.comparison
    metrics = [
        {
            "metric": comparison.metrics[i],
            "value": _number(comparison.values[i]),
            "low": _number(comparison.low[i]),
            "high": _number(comparison.high[i]),
            "cluster": comparison.clusters[i] or None,
        }
        for i in _best_first(comparison)
    ]
    pairs = [
        {
            "better": comparison.metrics[i],
            "worse": comparison.metrics[j],
            "wins": _number(comparison.wins[i, j]),
            "p_value": _number(comparison.p_values[i, j]),
            "p_holm": _number(comparison.adjusted[i, j]),
        }
        for place, i in enumerate(_best_first(comparison))
        for j in _best_first(comparison)[place + 1 :]
    ]
    head = {"lp": found.lp, "testset": found.testset, "level": comparison.level}
    return {
        **head,
        "statistic": comparison.statistic,
        "alpha": comparison.alpha,
        "metrics": metrics,
        "pairs": pairs,
    }


def _tsv(study: Study) -> Iterator[str]:
    for signature in study.signatures:  # the columns are fixed, so they go aside
        click.echo(signature, err=True)
    yield "\t".join(_COLUMNS)
    for result in (*study.results, *study.averages):
        row = {**result.to_dict(), "value": "" if math.isnan(result.value) else repr(result.value)}
        yield "\t".join(str(row.get(column, "")) for column in _COLUMNS)


def _best_first(comparison: MetricComparison) -> list[int]:
    order: list[int] = np.argsort(-np.nan_to_num(comparison.values, nan=-math.inf), kind="stable").tolist()
    return order


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _shown(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"


def shown_p(value: float) -> str:
    """A p-value in a few characters; what was not tested is empty.

    >>> shown_p(0.04), shown_p(0.0001), shown_p(float("nan"))
    ('0.040', '<0.001', '')
    """
    if math.isnan(value):
        return ""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


META_FORMATS: dict[str, Callable[[Study], Iterator[str]]] = {"json": _json, "text": _text, "tsv": _tsv}
