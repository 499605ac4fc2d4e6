"""`tesla compare`: which system is better, and how certain is that?"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path

import click
import numpy as np

from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.base.records import signature_line
from tesla_eval.cli.shared import options as shared
from tesla_eval.cli.shared.command import Command
from tesla_eval.cli.shared.inputs import (
    TextOptions,
    docs_option,
    documents_to_resample,
    or_standard_input,
    text_options,
)
from tesla_eval.cli.shared.meta_formats import shown_p
from tesla_eval.cli.shared.opened import open_for_metrics
from tesla_eval.cli.shared.outputs import (
    check_output,
    csv_lines,
    latex_table,
    markdown_table,
    output_option,
    proper_name,
    tsv_lines,
    write_output,
)
from tesla_eval.cli.shared.terminal import aligned, counted, progress, visible
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.comparison import (
    DocumentScores,
    PairTest,
    SystemComparison,
    SystemTable,
    check_comparison,
    compare_systems,
)
from tesla_eval.metrics.registry import digits, registered_class
from tesla_eval.metrics.scoring import score_systems
from tesla_eval.statistics import DEFAULT_SEED
from tesla_eval.texts.compression import short_names
from tesla_eval.texts.lines import parse_number, read_headed_rows


@dataclass(frozen=True)
class Comparisons:
    """One comparison per metric, all of the same systems."""

    by_metric: tuple[SystemComparison, ...]
    signatures: tuple[str, ...]
    baseline: str | None
    unit: str = "segments"


def _text(found: Comparisons) -> Iterator[str]:
    first = found.by_metric[0]
    units = f"{first.segments} {found.unit}"
    if first.documents is not None:
        units += f" in {first.units} documents, which are resampled whole"
    yield f"{len(first.systems)} systems, {units}; {first.drawn}, seed {first.seed}"
    for comparison in found.by_metric:
        yield ""
        yield from _systems_text(comparison, found.baseline)
        yield ""
        yield from _pairs_text(comparison, found.unit)
        if comparison.documents is not None:
            yield ""
            yield from _documents_text(comparison, comparison.documents)
    yield ""
    yield from found.signatures


def _systems_text(comparison: SystemComparison, baseline: str | None) -> Iterator[str]:
    better = "" if comparison.higher_is_better else " (lower is better)"
    head = ["cluster"] if comparison.clusters is not None else []
    rows = [[*head, "system", comparison.metric + better, f"{100 * (1 - comparison.alpha):g} % interval"]]
    for i in comparison.best_first:
        mark = " (baseline)" if comparison.systems[i] == baseline else ""
        cluster = [str(comparison.clusters[i])] if comparison.clusters is not None else []
        low, high = (_shown(comparison, ends[i]) for ends in (comparison.low, comparison.high))
        score = _shown(comparison, comparison.scores[i])
        rows.append([*cluster, visible(comparison.systems[i]) + mark, score, f"{low} to {high}"])
    yield from aligned(rows, numeric=range(len(rows[0]) - 2, len(rows[0])), keys=len(head) + 1)


_BELONGS_TO_ITS_LEFT = ("interval", "Holm", "")
_PAIR_HEAD = ("first", "second", "difference", "interval", "p rand", "Holm", "", "wins", "p boot", "Holm", "p sign",
              "Holm", "d", "superior")  # fmt: skip


def _pairs_text(comparison: SystemComparison, unit: str) -> Iterator[str]:
    rows: list[Sequence[str]] = [_PAIR_HEAD]
    for pair in comparison.by_difference:
        low, high = (_shown(comparison, end, signed=True) for end in (pair.low, pair.high))
        rows.append([
            visible(pair.first), visible(pair.second), _shown(comparison, pair.difference, signed=True),
            f"{low} to {high}", shown_p(pair.p_randomisation), shown_p(pair.p_randomisation_holm),
            "*" if pair.is_significant(comparison.alpha) else "", f"{pair.wins:.3f}",
            *map(shown_p, (pair.p_bootstrap, pair.p_bootstrap_holm, pair.p_sign, pair.p_sign_holm)),
            "-" if math.isnan(pair.cohen_d) else f"{pair.cohen_d:+.2f}", f"{pair.superiority:.3f}",
        ])  # fmt: skip
    joined = [place for place, name in enumerate(_PAIR_HEAD) if name in _BELONGS_TO_ITS_LEFT]
    yield from aligned(rows, numeric=range(2, len(_PAIR_HEAD)), keys=2, joined=joined)
    if any(pair.is_significant(comparison.alpha) for pair in comparison.pairs):
        yield f"* differ at level {comparison.alpha:g} (approximate randomisation, Holm-corrected)"
    elif not comparison.can_tell_apart:
        units = unit if comparison.documents is None else "documents"
        yield f"{comparison.units} {units} are too few for any difference to reach level {comparison.alpha:g}"
    else:
        yield f"no two systems differ at level {comparison.alpha:g} (approximate randomisation, Holm-corrected)"


def _documents_text(comparison: SystemComparison, documents: DocumentScores) -> Iterator[str]:
    rows = [["document", *map(visible, comparison.systems)]]
    for name, scores in zip(documents.names, documents.scores.tolist(), strict=True):
        rows.append([visible(name), *(_shown(comparison, score) for score in scores)])
    yield from aligned(rows, numeric=range(1, len(rows[0])), keys=1)


def _json(found: Comparisons) -> Iterator[str]:
    plain = {
        "signatures": list(found.signatures),
        "baseline": found.baseline,
        "metrics": [comparison.to_dict() for comparison in found.by_metric],
    }
    yield json.dumps(plain, ensure_ascii=False, indent=1, allow_nan=False)


def _latex(found: Comparisons) -> Iterator[str]:
    """Systems down, metrics across: score and half width of the interval, best cluster (or difference) marked."""
    first = found.by_metric[0]
    yield from (f"% {signature}" for signature in found.signatures)
    level = f"{100 * (1 - first.alpha):g} percent"
    yield f"% subscript: half of the {level} interval; {first.drawn}, seed {first.seed}"
    if found.baseline is None:
        yield "% bold: in the first rank cluster (approximate randomisation, Holm-corrected)"
    else:
        yield "% dagger: differs from the baseline (approximate randomisation, Holm-corrected)"
    names = short_names(first.systems)
    rows = (
        [names[i], *(_latex_cell(comparison, i) for comparison in found.by_metric)] for i in first.best_first
    )
    yield from latex_table([comparison.metric for comparison in found.by_metric], rows)


def _latex_cell(comparison: SystemComparison, system: int) -> str:
    score = _shown(comparison, comparison.scores[system])
    half = _shown(comparison, (comparison.high[system] - comparison.low[system]) / 2)
    if _is_marked(comparison, system):
        score = f"\\mathbf{{{score}}}" if comparison.clusters is not None else rf"{score}^\dagger"
    return f"${score}_{{\\pm {half}}}$"


def _is_marked(comparison: SystemComparison, system: int) -> bool:
    """Whether a system is in the first cluster; with a baseline, whether it differs from that."""
    if comparison.clusters is not None:
        return comparison.clusters[system] == 1
    return any(
        pair.first == comparison.systems[system] and pair.is_significant(comparison.alpha)
        for pair in comparison.pairs
    )


def _markdown(found: Comparisons) -> Iterator[str]:
    """The table of LaTeX as Markdown."""
    first = found.by_metric[0]
    rows = [["System", *(proper_name(comparison.metric) for comparison in found.by_metric)]]
    names = short_names(first.systems)
    for i in first.best_first:
        cells = []
        for comparison in found.by_metric:
            score = _shown(comparison, comparison.scores[i])
            if _is_marked(comparison, i):
                score = f"**{score}**" if comparison.clusters is not None else f"{score}†"
            half = _shown(comparison, (comparison.high[i] - comparison.low[i]) / 2)
            cells.append(f"{score} ± {half}")
        rows.append([names[i], *cells])
    yield from markdown_table(rows)
    yield ""
    mark = (
        "bold: in the first rank cluster" if found.baseline is None else f"†: differs from {found.baseline}"
    )
    yield (
        f"±: half of the {100 * (1 - first.alpha):g} % interval; {mark} (approximate randomisation, Holm-corrected, "
        f"{first.drawn}, seed {first.seed})."
    )
    yield ""
    yield from (f"- `{signature}`" for signature in found.signatures)


def _shown(comparison: SystemComparison, value: float, *, signed: bool = False) -> str:
    return f"{value:{'+' if signed else ''}.{digits(comparison.metric)}f}"


_PAIR_FIELDS = tuple(one.name for one in fields(PairTest))


def _rows(found: Comparisons) -> Iterator[list[str]]:
    """One row per metric and pair of systems, with the scores of both; the signatures go to standard error."""
    for line in found.signatures:
        click.echo(line, err=True)
    yield ["metric", *_PAIR_FIELDS, "first_score", "second_score", "significant"]
    for comparison in found.by_metric:
        scores = dict(zip(comparison.systems, comparison.scores, strict=True))
        for pair in comparison.by_difference:
            cells = [getattr(pair, name) for name in _PAIR_FIELDS]
            significant = "yes" if pair.is_significant(comparison.alpha) else "no"
            cells = [comparison.metric, *cells, scores[pair.first], scores[pair.second], significant]
            yield ["" if isinstance(cell, float) and math.isnan(cell) else str(cell) for cell in cells]


def _tsv(found: Comparisons) -> Iterator[str]:
    return tsv_lines(_rows(found))


def _csv(found: Comparisons) -> Iterator[str]:
    return csv_lines(_rows(found))


COMPARE_FORMATS: dict[str, Callable[[Comparisons], Iterator[str]]] = {
    "csv": _csv, "json": _json, "latex": _latex, "markdown": _markdown, "text": _text, "tsv": _tsv,
}  # fmt: skip


@click.command(cls=Command)
@text_options
@shared.metrics_option
@shared.auto_language_option
@click.option("--scores", "score_file", metavar="FILE",
              help="Segment scores instead of texts: a TSV of system, segment, metric, score, as "
              "`tesla score --format tsv --segments` prints it. SYSTEM and -m then choose from it; a metric of others "
              "needs its direction: -m wer:lower.")  # fmt: skip
@click.option("--baseline", metavar="SYSTEM", help="Test every system against this one instead of all pairs.")
@docs_option
@shared.resamples_option
@click.option("--seed", type=click.IntRange(0), default=DEFAULT_SEED)
@click.option("--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05,
              help="Significance level of the tests; intervals have confidence 1 - alpha.")  # fmt: skip
@shared.format_option(COMPARE_FORMATS)
@output_option
@click.option("-j", "--jobs", type=click.IntRange(1), default=1, help="Threads.")
@shared.analysed_option
@shared.quiet_option
def compare(
    texts: TextOptions, metrics: tuple[str, ...], language: str, score_file: str | None, baseline: str | None,
    docs: str | None, resamples: int | None, seed: int, alpha: float, output_format: str, output: Path | None,
    jobs: int,
) -> None:  # fmt: skip
    """Compare SYSTEM files: scores with confidence intervals, and tests of the differences.

    The differences are tested by paired bootstrap and by approximate randomisation, with Holm's correction; systems
    that randomisation cannot tell apart share a cluster. BLEU, chrF and TER are corpus scores, recomputed from the
    statistics of every resample.

    \b
    tesla compare -r ref.txt sysA.txt sysB.txt sysC.txt -m m,bleu
    tesla compare -r ref.txt sysA.txt sysB.txt --baseline sysA.txt --docs docs.txt --format latex
    tesla compare -r ref.sgm sysA.sgm sysB.sgm                 documents are resampled
    tesla compare summaries.jsonl                              topics are resampled
    tesla compare --scores scores.tsv
    """
    check_output(output, (*texts.files, *filter(None, (score_file, docs))))
    check = partial(check_comparison, baseline, alpha, resamples, least=2)
    own_documents: tuple[str, ...] | None = None
    unit = "segments"
    if score_file is None:
        given, chosen, _ = open_for_metrics(or_standard_input(texts), metrics, language, check=check)
        own_documents = given.documents
        unit = "segments" if given.topics is None else "topics"
        with progress("scoring (segments)", given.segments) as bar:
            scored = score_systems(given.systems, chosen, given.chunks, jobs=jobs, progress=bar)
        tables = [scored.table(place) for place in range(len(chosen))]
        signatures = [
            signature_line(one.name, str(scored.signature(place))) for place, one in enumerate(chosen)
        ]
    else:
        if texts.references:
            raise click.UsageError("--scores replaces the texts: do not give -r as well")
        tables = read_score_table(score_file, texts.systems, metrics)
        check(tables[0].systems)
        signatures = [f"scores:{score_file}"]
    documents = documents_to_resample(docs, own_documents, len(tables[0].segments))
    test = partial(
        compare_systems, baseline=baseline, documents=documents, resamples=resamples, seed=seed, alpha=alpha
    )
    comparisons = counted("comparing systems (metrics)", map(test, tables), len(tables))
    write = COMPARE_FORMATS[output_format]
    write_output(write(Comparisons(tuple(comparisons), tuple(signatures), baseline, unit)), output)


_HEADER = ("system", "segment", "metric", "score")
_BETTER = {"higher": True, "lower": False}


def read_score_table(
    path: str, systems: Sequence[str] = (), metrics: Sequence[str] = ()
) -> list[SystemTable]:
    """A table for each metric of the file, or of those named; a score that is missing or no number is an error.

    A system's score is the mean of its segments' scores, since the file has no more than these. A metric for which
    this is not the system score that it gives to texts says so in its name.
    """
    scores = _read_scores(path)
    all_systems, all_segments, all_metrics = (dict.fromkeys(key[i] for key in scores) for i in range(3))
    chosen_systems = _choose(path, "system", systems, list(all_systems))
    tables = []
    for metric, higher_is_better in _chosen_metrics(path, metrics, list(all_metrics)).items():
        table = np.empty((len(all_segments), len(chosen_systems)))
        for row, segment in enumerate(all_segments):
            for column, system in enumerate(chosen_systems):
                if (system, segment, metric) not in scores:
                    raise InputError(f"{path}: no {metric} score of system {system} for segment {segment}")
                table[row, column] = scores[system, segment, metric]
        means = tuple(math.fsum(column) / len(column) for column in table.T.tolist())
        name = metric if _is_mean(metric) else f"{metric}{',' if ':' in metric else ':'}mean of segments"
        tables.append(SystemTable(name, tuple(chosen_systems), table, higher_is_better, scores=means))
    return tables


def _chosen_metrics(path: str, asked: Sequence[str], present: list[str]) -> dict[str, bool]:
    """The metrics, and whether higher is better: as the user says (`wer:lower`), else as the metric says."""
    split = [
        part for text in asked for part in ([text] if _direction(text)[0] in present else text.split(","))
    ]
    directions = dict(map(_direction, split))
    chosen = {}
    for name in _choose(path, "metric", list(directions), present):
        better = directions.get(name)
        if better is None:
            registered = _registered(name)
            if registered is None:
                raise UsageError(
                    f"{path}: is a higher or a lower {name!r} better? It is no metric of tesla-eval",
                    hint=f"-m {name}:lower or -m {name}:higher",
                )
            better = registered.higher_is_better
        chosen[name] = better
    return chosen


def _direction(text: str) -> tuple[str, bool | None]:
    """A metric's name, and the direction that the user gives it."""
    name, _, word = text.rpartition(":")
    return (name, _BETTER[word]) if word in _BETTER else (text, None)


def _registered(metric: str) -> type[Metric] | None:
    return registered_class(metric.partition(":")[0])


def _is_mean(metric: str) -> bool:
    """Whether a metric's system score is the mean of its segments' scores; of an unknown metric nobody knows."""
    registered = _registered(metric)
    return registered is not None and registered.score_of_sums is Metric.score_of_sums


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
