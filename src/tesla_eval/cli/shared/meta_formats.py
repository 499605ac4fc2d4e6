"""What `tesla meta` prints and writes: text, JSON, TSV, plots, and score files for mt-metrics-eval."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import combinations, groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import click
import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval.cli.shared.outputs import tsv_lines
from tesla_eval.cli.shared.terminal import aligned, visible
from tesla_eval.judgements.meta.evaluate import Result
from tesla_eval.judgements.meta.join import Joined
from tesla_eval.judgements.meta.plots import dimension_lines, write_drawing
from tesla_eval.judgements.meta.run import SetComparison, Study
from tesla_eval.judgements.meta.significance import MetricComparison
from tesla_eval.judgements.wmt import write_score_file
from tesla_eval.metrics.results import json_number
from tesla_eval.report.human import bars, scatter

DIMENSIONS = (("segment", "pearson"), ("system", "pearson"))
_COLUMNS = ("lp", "testset", "metric", "level", "statistic", "value", "n", "note")


def _text(study: Study) -> Iterator[str]:
    for test_set, (_, rows) in zip(
        study.test_sets, groupby(study.results, attrgetter("lp", "testset")), strict=True
    ):
        segments = f"{test_set.segments_used} of {test_set.segments} segments"
        others = [kind for kind in test_set.human_scores if kind != test_set.human_score]
        choice = f" (--human-score takes {' or '.join(map(visible, others))})" if others else ""
        judged = f"human system scores: {visible(test_set.human_score)}{choice}"
        yield f"{visible(test_set.lp)} {visible(test_set.testset)}: {test_set.systems} systems, {segments}; {judged}"
        yield from _table(list(rows))
        yield ""
    for kind, averaged in groupby(study.averages, lambda result: result.testset):
        count = sum(kind in ("", test_set.protocol) for test_set in study.test_sets)
        yield f"average over {count} test sets" + (f" with judgements of the kind {kind}" if kind else "")
        yield from _table(list(averaged))
        yield ""
    for of_set in study.comparisons:
        yield from _comparison_text(of_set)
        yield ""
    yield from study.signatures


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
        rows.append(
            [level, statistic, *(shown_statistic(by_metric[metric].value) for metric in metrics), span]
        )
    if len(rows) > 1:
        yield from aligned(rows, numeric=range(2, len(metrics) + 3), keys=2)
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


def _comparison_text(of_set: SetComparison) -> Iterator[str]:
    comparison = of_set.comparison
    level = f"{100 * (1 - comparison.alpha):g} % interval"
    head = f"{visible(of_set.lp)} {visible(of_set.testset)}: metrics by {comparison.level} {comparison.statistic}"
    yield (
        f"{head} (p: paired permutation that the row's metric is better, Holm-corrected, at most "
        f"{comparison.resamples} resamples)"
    )
    order = _best_first(comparison)
    names = [comparison.metrics[i] for i in order]
    rows = [["cluster", "metric", "value", level, *(f"p > {name}" for name in names)]]
    for i in order:
        interval = f"{shown_statistic(comparison.low[i])} to {shown_statistic(comparison.high[i])}"
        p_values = ["" if i == j else shown_p(comparison.adjusted[i, j]) for j in order]
        cluster = str(comparison.clusters[i] or "-")
        rows.append(
            [cluster, comparison.metrics[i], shown_statistic(comparison.values[i]), interval, *p_values]
        )
    yield from aligned(rows, numeric=range(2, len(rows[0])), keys=2)


def _json(study: Study) -> Iterator[str]:
    yield "{" + f'"signatures": {_dumps(study.signatures)},'
    yield f'"test_sets": {_dumps([asdict(test_set) for test_set in study.test_sets])},'
    for name, results in (("results", study.results), ("averages", study.averages)):
        yield f'"{name}": ['
        for i, result in enumerate(results):
            yield _dumps(result.to_dict()) + ("," if i + 1 < len(results) else "")
        yield "],"
    yield f'"significance": {_dumps([_comparison_dict(of_set) for of_set in study.comparisons])}' + "}"


def _comparison_dict(of_set: SetComparison) -> dict[str, Any]:
    comparison = of_set.comparison
    order = _best_first(comparison)

    def numbers(place: int | tuple[int, int], **tables: FloatArray) -> dict[str, float | None]:
        return {name: json_number(float(table[place])) for name, table in tables.items()}

    metrics = [
        {
            "metric": comparison.metrics[i],
            **numbers(i, value=comparison.values, low=comparison.low, high=comparison.high),
            "cluster": comparison.clusters[i] or None,
        }
        for i in order
    ]
    tests = {"wins": comparison.wins, "p_value": comparison.p_values, "p_holm": comparison.adjusted}
    pairs = [
        {"better": comparison.metrics[i], "worse": comparison.metrics[j], **numbers((i, j), **tests)}
        for i, j in combinations(order, 2)
    ]
    head = {"lp": of_set.lp, "testset": of_set.testset}
    own = {key: getattr(comparison, key) for key in ("level", "statistic", "alpha", "resamples")}
    return {**head, **own, "metrics": metrics, "pairs": pairs}


def _tsv(study: Study) -> Iterator[str]:
    for signature in study.signatures:  # the columns are fixed, so they go aside
        click.echo(signature, err=True)
    rows = [result.to_dict() for result in (*study.results, *study.averages)]
    cells = ([row.get(column) for column in _COLUMNS] for row in rows)
    yield from tsv_lines([_COLUMNS, *(["" if cell is None else cell for cell in row] for row in cells)])


def _best_first(comparison: MetricComparison) -> list[int]:
    order: list[int] = np.argsort(-np.nan_to_num(comparison.values, nan=-math.inf), kind="stable").tolist()
    return order


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def shown_statistic(value: float) -> str:
    """A statistic with four digits; a dash where there is none."""
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


def draw_plots(joined: Joined, comparisons: Iterable[SetComparison], folder: Path, file_format: str) -> None:
    """A scatter plot for each metric, where an error rate is better further down, and bars for each comparison."""
    key = joined.outputs.key
    for metric, scores in joined.metrics.items():
        values = scores.system_scores(joined.used) * (1 if scores.higher_is_better else -1)
        rows = zip(joined.outputs.systems, joined.human_systems.tolist(), values.tolist(), strict=True)
        points = [row for row in rows if not (math.isnan(row[1]) or math.isnan(row[2]))]
        title = f"{' '.join(key)}: {metric} and human scores of {len(points)} systems"
        drawing = scatter(points, title, joined.score_type, metric)
        write_drawing(drawing, folder / _file_name(*key, metric, file_format))
    for of_set in comparisons:
        name = _file_name(*key, of_set.comparison.level, of_set.comparison.statistic, file_format)
        write_drawing(bars(_comparison_dict(of_set)), folder / name)


def draw_dimensions(study: Study, folder: Path | None, file_format: str) -> None:
    """One picture of all test sets, where there are several: the dimensions of summaries, or language pairs."""
    if folder is not None and len(study.test_sets) > 1:
        for level, statistic in DIMENSIONS:
            drawing = dimension_lines(study.results, level, statistic)
            write_drawing(drawing, folder / _file_name("all", level, statistic, file_format))


def write_scores(
    joined: Joined, folder: Path, reference: str, reference_free: Collection[str] = ()
) -> list[str]:
    """The scores of all outputs, segments and systems, higher is better, as mt-metrics-eval wants them.

    `reference_free` names the metrics that used no reference. A reference is not scored against itself. A system that
    lacks a segment cannot stand in such a file; it is left out. Gives back the names of those.
    """
    outputs = joined.outputs
    home = folder / re.sub(
        r"[^\w.+-]|^\.+", "_", outputs.testset
    )  # nothing that could lead out of the folder
    everything = np.ones(len(outputs.segments), bool)
    missing: dict[str, None] = {}
    for name, scores in joined.metrics.items():
        complete = [bool(row.all()) for row in np.isfinite(scores.segments)]
        missing.update(
            dict.fromkeys(s for s, whole in zip(outputs.systems, complete, strict=True) if not whole)
        )
        used = [] if name in reference_free else [reference]
        against = outputs.reference_names if used == ["all"] else used
        kept = [
            whole and system not in against for system, whole in zip(outputs.systems, complete, strict=True)
        ]
        systems = [s.replace(" ", "_") for s, written in zip(outputs.systems, kept, strict=True) if written]
        by_segment = dict(zip(systems, scores.oriented[kept].tolist(), strict=True))
        by_system = scores.system_scores(everything)[kept][:, None].tolist()
        write_score_file(home, outputs.lp, name, used, by_segment)
        write_score_file(
            home, outputs.lp, name, used, dict(zip(systems, by_system, strict=True)), level="sys"
        )
    return list(missing)


def _file_name(*parts: str) -> str:
    """The parts with dots between them, and nothing that could lead out of a folder."""
    return ".".join(re.sub(r"[^\w+-]", "_", part) for part in parts)
