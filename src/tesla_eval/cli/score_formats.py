"""What `tesla score` prints: text, JSON, TSV, LaTeX, and the score files of mt-metrics-eval."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import click

from tesla_eval.cli.terminal import aligned, visible, width
from tesla_eval.errors import UsageError
from tesla_eval.metrics.registry import registered

__all__ = ["FORMATS", "PERCENT_SCALE", "Results", "check_format", "latex_escaped"]

PERCENT_SCALE = frozenset(entry.name for entry in registered().values() if entry.scale in ("0..100", "0.."))
"""Metrics whose scores are percentages, as all of sacreBLEU's are: two digits say enough."""


@dataclass(frozen=True)
class Results:
    """Scores by system and metric; `segments(system, metric)` reads the segments' scores, if they were asked for.

    `names` are those of the segments, where they have any: the topics of summaries.
    """

    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    signatures: tuple[str, ...]
    scores: tuple[tuple[float, ...], ...]
    segments: Callable[[int, int], Iterator[float]] | None
    names: tuple[str, ...] | None = None

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


def check_format(name: str, metrics: int, segments: bool) -> None:
    """Refuse, before any work is done, what a format cannot hold."""
    if name == "mtme" and metrics > 1:
        raise UsageError("--format mtme holds one metric a file: give one name to -m")
    if name == "latex" and segments:
        raise UsageError("--format latex is a table of systems: leave out --segments")


def _shown(metric: str, score: float) -> str:
    return f"{score:.2f}" if metric in PERCENT_SCALE else f"{score:.4f}"


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
    for name, scores in zip(names, results.scores, strict=True):
        table.append([name, *(_shown(m, s) for m, s in zip(results.metrics, scores, strict=True))])
    yield from aligned(table, numeric)
    yield ""
    yield from results.signatures


def _json(results: Results) -> Iterator[str]:
    """One object, written piece by piece: segments may be many."""
    signatures = {
        metric: {"signature": signature}
        for metric, signature in zip(results.metrics, results.signatures, strict=True)
    }
    topics = "" if results.names is None else f'"topics": {json.dumps(results.names, ensure_ascii=False)}, '
    yield f'{{"metrics": {json.dumps(signatures, ensure_ascii=False)}, {topics}"systems": ['
    for i, (system, scores) in enumerate(zip(results.systems, results.scores, strict=True)):
        last = i == len(results.systems) - 1
        cells = ", ".join(
            _json_cell(results, i, k, metric, scores[k]) for k, metric in enumerate(results.metrics)
        )
        yield f'{{"system": {json.dumps(system, ensure_ascii=False)}, "metrics": {{{cells}}}}}{"" if last else ","}'
    yield "]}"


def _json_cell(results: Results, system: int, index: int, metric: str, score: float) -> str:
    segments = ""
    if results.segments is not None:
        segments = f', "segments": [{", ".join(map(json.dumps, results.segments(system, index)))}]'
    return f'{json.dumps(metric)}: {{"score": {json.dumps(score)}{segments}}}'


def _tsv(results: Results) -> Iterator[str]:
    names = [_one_field(system) for system in results.systems]
    if results.segments is None:
        yield "system\tmetric\tscore\tsignature"
        for name, scores in zip(names, results.scores, strict=True):
            for metric, score, signature in zip(results.metrics, scores, results.signatures, strict=True):
                yield f"{name}\t{metric}\t{score!r}\t{signature}"
        return
    _signatures_aside(results)
    yield "system\tsegment\tmetric\tscore"
    for system, segment, scores in results.rows():
        for metric, score in zip(results.metrics, scores, strict=True):
            yield f"{names[system]}\t{_one_field(results.segment_name(segment))}\t{metric}\t{score!r}"


def _mtme(results: Results) -> Iterator[str]:
    """mt-metrics-eval's .sys.score, or .seg.score with --segments: system, tab, score."""
    _signatures_aside(results)
    names = [_one_field(system).removesuffix(".gz").removesuffix(".txt") for system in results.systems]
    if results.segments is None:
        for name, scores in zip(names, results.scores, strict=True):
            yield f"{name}\t{scores[0]!r}"
        return
    for system, _, scores in results.rows():
        yield f"{names[system]}\t{scores[0]!r}"


def _latex(results: Results) -> Iterator[str]:
    yield from (f"% {signature}" for signature in results.signatures)
    yield f"\\begin{{tabular}}{{l{'r' * len(results.metrics)}}}"
    yield "\\toprule"
    yield " & ".join(["System", *map(latex_escaped, results.metrics)]) + r" \\"
    yield "\\midrule"
    for system, scores in zip(results.systems, results.scores, strict=True):
        cells = [_shown(metric, score) for metric, score in zip(results.metrics, scores, strict=True)]
        yield " & ".join([latex_escaped(system), *cells]) + r" \\"
    yield "\\bottomrule"
    yield "\\end{tabular}"


def _signatures_aside(results: Results) -> None:
    """The columns of these formats are fixed, so the signatures go to standard error."""
    for signature in results.signatures:
        click.echo(signature, err=True)


def _one_field(text: str) -> str:
    return text.replace("\t", " ").replace("\n", " ").replace("\r", " ")


_LATEX_ESCAPES = str.maketrans(
    {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {character: "\\" + character for character in "&%$#_{}"}
)


def latex_escaped(text: str) -> str:
    """`text` with the characters escaped that mean something to LaTeX."""
    return text.translate(_LATEX_ESCAPES)


FORMATS: dict[str, Callable[[Results], Iterator[str]]] = {
    "json": _json, "latex": _latex, "mtme": _mtme, "text": _text, "tsv": _tsv,
}  # fmt: skip
