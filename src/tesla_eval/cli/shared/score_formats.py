"""What `tesla score` prints: text, JSON, TSV, CSV, LaTeX, Markdown, and the score files of mt-metrics-eval."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import click

from tesla_eval.base.errors import UsageError
from tesla_eval.base.records import signature_line
from tesla_eval.cli.shared.outputs import (
    csv_lines,
    latex_table,
    markdown_table,
    proper_name,
    tsv_lines,
)
from tesla_eval.cli.shared.terminal import aligned, note, visible, width
from tesla_eval.metrics.registry import digits
from tesla_eval.metrics.scoring import Scored
from tesla_eval.texts.compression import short_names, without_suffix


@dataclass(frozen=True)
class Intervals:
    """Confidence intervals by system and metric, and how they were drawn."""

    ends: tuple[tuple[tuple[float, float], ...], ...]
    level: float
    resamples: int
    seed: int


@dataclass(frozen=True)
class Results:
    """Scores by system and metric; `segments(system, metric)` reads the segments' scores, if they were asked for.

    `names` are those of the segments, where they have any: the topics of summaries.
    """

    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    signatures: tuple[str, ...]
    scores: tuple[tuple[float, ...], ...]
    segments: Callable[[int, int], Iterator[float]] | None = None
    names: tuple[str, ...] | None = None
    segment_signatures: tuple[str, ...] = ()
    """The signatures of the segments' scores, as many as `signatures`."""
    intervals: Intervals | None = None
    reference_name: str = "ref"
    lower_is_better: frozenset[str] = frozenset()
    """The metrics whose best score is the lowest."""
    parts: Callable[[int, int], dict[str, Any] | None] = lambda system, metric: None
    """What makes up a system's score under a metric, where the metric tells."""

    @classmethod
    def of(cls, scored: Scored, systems: Sequence[str], **others: Any) -> Results:
        """The system scores under these names of the systems; `others` are the fields that tell more."""
        return cls(
            tuple(systems),
            tuple(one.name for one in scored.metrics),
            tuple(str(scored.signature(place)) for place in range(len(scored.metrics))),
            scored.scores,
            lower_is_better=frozenset(one.name for one in scored.metrics if not one.metric.higher_is_better),
            parts=scored.parts,
            **others,
        )

    def best(self, metric: int) -> set[int]:
        """The systems with the best score under a metric; none if there is nothing to be better than."""
        scores = [self.sign(self.metrics[metric]) * row[metric] for row in self.scores]
        known = [score for score in scores if not math.isnan(score)]
        if len(known) < 2 or min(known) == max(known):
            return set()
        return {place for place, score in enumerate(scores) if score == max(known)}

    def sign(self, metric: str) -> int:
        """1 if a higher score is better, else -1."""
        return -1 if metric in self.lower_is_better else 1

    @property
    def signature_lines(self) -> list[str]:
        """One line per metric; where segments were scored with other settings, one more for those."""
        lines = list(map(signature_line, self.metrics, self.signatures))
        if self.segments is not None:
            pairs = zip(self.metrics, self.segment_signatures, self.signatures, strict=True)
            lines += [f"{signature_line(m, own)}  (segments)" for m, own, corpus in pairs if own != corpus]
        return lines

    def segment_name(self, segment: int) -> str:
        """The name of a segment, or its number from 1."""
        return str(segment + 1) if self.names is None else self.names[segment]

    def rows(self) -> Iterator[tuple[int, int, tuple[float, ...]]]:
        """System, segment (from 0) and the segment's score under each metric."""
        assert self.segments is not None
        for system in range(len(self.systems)):
            columns = [self.segments(system, metric) for metric in range(len(self.metrics))]
            for segment, scores in enumerate(zip(*columns, strict=True)):
                yield system, segment, scores


def _shown(metric: str, score: float) -> str:
    return f"{score:.{digits(metric)}f}"


def _text(results: Results) -> Iterator[str]:
    names = [visible(system) for system in results.systems]
    numeric = range(1, len(results.metrics) + 2)
    if results.segments is not None:
        # Column widths from the widest name and number: the rows themselves may be millions.
        columns = max(8, *map(len, results.metrics))
        wide = max(map(width, ("system", *names)))
        label = max(8, *map(width, results.names or ("",)))
        yield "  ".join(
            [f"{'system':<{wide}}", f"{'segment':>{label}}", *(f"{m:>{columns}}" for m in results.metrics)]
        )
        for system, segment, scores in results.rows():
            cells = [f"{_shown(m, s):>{columns}}" for m, s in zip(results.metrics, scores, strict=True)]
            name = visible(results.segment_name(segment))
            left, right = wide - width(names[system]), label - width(name)
            yield "  ".join([names[system] + " " * left, " " * right + name, *cells])
        yield ""
    table = [["system", *results.metrics]]
    for i, (name, scores) in enumerate(zip(names, results.scores, strict=True)):
        cells = list(map(_shown, results.metrics, scores))
        if results.intervals is not None:
            ends = [
                ", ".join(_shown(metric, end) for end in both)
                for metric, both in zip(results.metrics, results.intervals.ends[i], strict=True)
            ]
            cells = [f"{cell} [{both}]" for cell, both in zip(cells, ends, strict=True)]
        table.append([name, *cells])
    yield from aligned(table, numeric, keys=1)
    if results.intervals is not None:
        yield f"[ ]: {_drawn(results.intervals)}"
    yield ""
    yield from results.signature_lines


def _drawn(intervals: Intervals) -> str:
    return f"{100 * intervals.level:g} % interval, {intervals.resamples} resamples, seed {intervals.seed}"


def _json(results: Results) -> Iterator[str]:
    """One object, written piece by piece: segments may be many."""
    signatures: dict[str, dict[str, object]] = {
        metric: {"signature": signature}
        for metric, signature in zip(results.metrics, results.signatures, strict=True)
    }
    for metric, own in zip(results.metrics, results.segment_signatures, strict=False):
        if results.segments is not None and own != signatures[metric]["signature"]:
            signatures[metric]["segment_signature"] = own
    if results.intervals is not None:
        drawn = results.intervals
        for entry in signatures.values():
            entry["interval"] = {"level": drawn.level, "resamples": drawn.resamples, "seed": drawn.seed}
    topics = "" if results.names is None else f'"topics": {json.dumps(results.names, ensure_ascii=False)}, '
    yield f'{{"metrics": {json.dumps(signatures, ensure_ascii=False)}, {topics}"systems": ['
    for i, system in enumerate(results.systems):
        cells = {metric: _json_cell(results, i, k) for k, metric in enumerate(results.metrics)}
        comma = "," if i + 1 < len(results.systems) else ""
        yield json.dumps({"system": system, "metrics": cells}, ensure_ascii=False) + comma
    yield "]}"


def _json_cell(results: Results, system: int, metric: int) -> dict[str, Any]:
    cell = {"score": results.scores[system][metric], **(results.parts(system, metric) or {})}
    if results.intervals is not None:
        cell["low"], cell["high"] = results.intervals.ends[system][metric]
    if results.segments is not None:
        cell["segments"] = list(results.segments(system, metric))
    return cell


def _rows(results: Results) -> Iterator[list[str]]:
    """A row for each score, under a header, without the signatures of segments."""
    if results.segments is not None:
        yield ["system", "segment", "metric", "score"]
        for place, segment, scores in results.rows():
            for metric, score in zip(results.metrics, scores, strict=True):
                yield [results.systems[place], results.segment_name(segment), metric, repr(score)]
        return
    ends = [] if results.intervals is None else ["low", "high"]
    yield ["system", "metric", "score", *ends, "signature"]
    for i, (system, scores) in enumerate(zip(results.systems, results.scores, strict=True)):
        for k, metric in enumerate(results.metrics):
            if results.intervals is not None:
                ends = [repr(end) for end in results.intervals.ends[i][k]]
            yield [system, metric, repr(scores[k]), *ends, results.signatures[k]]


def _tsv(results: Results) -> Iterator[str]:
    if results.segments is not None:
        _signatures_aside(results)
    yield from tsv_lines(_rows(results))


def _csv(results: Results) -> Iterator[str]:
    if results.segments is not None:
        _signatures_aside(results)
    yield from csv_lines(_rows(results))


def _mtme(results: Results) -> Iterator[str]:
    """mt-metrics-eval's .sys.score, or .seg.score with --segments: system, tab, score."""
    _signatures_aside(results)
    level = "sys" if results.segments is None else "seg"
    note(f"mt-metrics-eval expects this file as {results.metrics[0]}-{results.reference_name}.{level}.score")
    names = [_bare(system) for system in results.systems]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"two systems are called {twice}, so that mt-metrics-eval could not tell them apart")
    if results.segments is None:
        for name, scores in zip(names, results.scores, strict=True):
            yield f"{name}\t{scores[0]!r}"
        return
    for system, _, scores in results.rows():
        yield f"{names[system]}\t{scores[0]!r}"


def _bare(system: str) -> str:
    """The name of a system without folders and endings, and without blanks, at which mt-metrics-eval would cut.

    >>> _bare("out/en-de/Online-A.txt.gz")
    'Online-A'
    """
    return "_".join(without_suffix(system).rpartition("/")[2].removesuffix(".txt").split())


def _latex(results: Results) -> Iterator[str]:
    yield from (f"% {line}" for line in results.signature_lines)
    if results.intervals is not None:
        yield f"% subscript: half of the {_drawn(results.intervals).replace('%', 'percent')}"
    yield from latex_table(
        results.metrics,
        (
            [system, *(_latex_cell(results, i, k) for k in range(len(results.metrics)))]
            for i, system in enumerate(short_names(results.systems))
        ),
    )


def _latex_cell(results: Results, system: int, metric: int) -> str:
    shown, half = _cell(results, system, metric)
    if system in results.best(metric):
        shown = f"\\mathbf{{{shown}}}" if half else f"\\textbf{{{shown}}}"
    return f"${shown}_{{\\pm {half}}}$" if half else shown


def _markdown(results: Results) -> Iterator[str]:
    rows = [["System", *map(proper_name, results.metrics)]]
    for i, name in enumerate(short_names(results.systems)):
        cells = [_cell(results, i, k) for k in range(len(results.metrics))]
        marks = ["**" if i in results.best(k) else "" for k in range(len(results.metrics))]
        shown = [
            f"{mark}{score}{mark}" + (f" ± {half}" if half else "")
            for mark, (score, half) in zip(marks, cells, strict=True)
        ]
        rows.append([name, *shown])
    yield from markdown_table(rows)
    yield ""
    if results.intervals is not None:
        yield f"±: half of the {_drawn(results.intervals)}."
        yield ""
    yield from (f"- `{line}`" for line in results.signature_lines)


def _cell(results: Results, system: int, metric: int) -> tuple[str, str]:
    """A score as it is shown, and half the width of its interval, if there is one."""
    name = results.metrics[metric]
    shown = _shown(name, results.scores[system][metric])
    if results.intervals is None:
        return shown, ""
    low, high = results.intervals.ends[system][metric]
    return shown, _shown(name, (high - low) / 2)


def _signatures_aside(results: Results) -> None:
    """The columns of these formats are fixed, so the signatures go to standard error."""
    for line in results.signature_lines:
        click.echo(line, err=True)


FORMATS: dict[str, Callable[[Results], Iterator[str]]] = {
    "csv": _csv, "json": _json, "latex": _latex, "markdown": _markdown, "mtme": _mtme, "text": _text, "tsv": _tsv,
}  # fmt: skip
