"""`tesla report`: one HTML file that shows which system is better, by how much, how surely, and where."""

from __future__ import annotations

import json
import shlex
import sys
from functools import partial
from pathlib import Path

import click

from tesla_eval.base.errors import InputError
from tesla_eval.base.files import write_text
from tesla_eval.cli.shared.command import Command
from tesla_eval.cli.shared.inputs import (
    TextOptions,
    docs_option,
    documents_to_resample,
    lines_of_segments,
    or_standard_input,
    text_options,
)
from tesla_eval.cli.shared.opened import open_for_metrics
from tesla_eval.cli.shared.options import (
    auto_language_option,
    metrics_option,
    quiet_option,
    resamples_option,
)
from tesla_eval.cli.shared.outputs import OUTPUT_PATH, check_output
from tesla_eval.cli.shared.terminal import note, progress, write_lines
from tesla_eval.metrics.comparison import check_comparison
from tesla_eval.metrics.scoring import score_systems
from tesla_eval.report.collect import Blocks, ReportTexts, collect, scored_metrics
from tesla_eval.report.embedding import extract
from tesla_eval.report.overview import default_title
from tesla_eval.report.page import check_page_path, render
from tesla_eval.report.tables import read_result
from tesla_eval.statistics import DEFAULT_SEED


@click.command(cls=Command)
@text_options
@click.option(
    "-o", "--output", type=OUTPUT_PATH, metavar="FILE", help="The page to write; - is standard output."
)
@metrics_option
@auto_language_option
@click.option("--meta", "meta_file", metavar="FILE",
              help="Metrics against human judgements: the JSON of `tesla meta`, alone or with systems.")  # fmt: skip
@click.option("--stress", "stress_file", metavar="FILE",
              help="What fools the metrics: the JSON of `tesla stress`, alone or with systems.")  # fmt: skip
@click.option("--labels", metavar="FILE",
              help="Labels to group the segments by, one line per segment; columns are separated by tabs.")  # fmt: skip
@click.option("--title", default=None, help="The title of the page.")
@click.option("--flows", type=click.IntRange(0), default=None, metavar="N",
              help="Include the links between words for N segments, the most informative first.  "
              "[default: as many as fit into 6 MB]")  # fmt: skip
@click.option("--baseline", metavar="SYSTEM", help="Test every system against this one instead of all pairs.")
@docs_option
@resamples_option
@click.option("--seed", type=click.IntRange(0), default=DEFAULT_SEED)
@click.option("--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05,
              help="Significance level of the tests; intervals have confidence 1 - alpha.")  # fmt: skip
@click.option("--extract", "extracted", metavar="FILE",
              help="Print the data of an existing report as JSON.")  # fmt: skip
@click.option("-j", "--jobs", type=click.IntRange(1), default=1, help="Threads.")
@quiet_option
def report(
    texts: TextOptions, output: Path | None, metrics: tuple[str, ...], language: str, meta_file: str | None,
    stress_file: str | None, labels: str | None, title: str | None, flows: int | None, baseline: str | None,
    docs: str | None, resamples: int | None, seed: int, alpha: float, extracted: str | None, jobs: int,
) -> None:  # fmt: skip
    """Write one HTML file that compares the SYSTEMs, down to the links between single words.

    The file needs no network and opens from disk. It shows scores with confidence intervals, significance clusters,
    plots, a table of all segments, the matching of each, and the most frequent errors. It also takes tables and
    summaries, as `tesla score` does, and the output of `tesla meta`.

    \b
    tesla report -r ref.txt sysA.txt sysB.txt -o report.html
    tesla report -r ref.txt --source src.txt sysA.txt sysB.txt -m m,x,bleu -o report.html
    tesla report -m s summaries.jsonl -o report.html
    tesla report -r ref.txt sysA.txt sysB.txt --labels domains.txt -o report.html
    tesla report --meta meta.json -o report.html         metrics against human judgements
    tesla report --extract report.html > report.json     the data, for another program
    """
    if extracted is not None:
        write_lines([json.dumps(extract(extracted), ensure_ascii=False, allow_nan=False)])
        return
    if output is None:
        raise click.UsageError("name the page to write: -o report.html")
    check_page_path(output)
    check_output(output, (*texts.files, *filter(None, (docs, labels))))
    command = shlex.join(["tesla", *sys.argv[1:]])
    human = None if meta_file is None else read_result(meta_file, "tesla meta")
    stress = None if stress_file is None else read_result(stress_file, "tesla stress")
    blocks: Blocks | None = None
    if (human is None and stress is None) or texts.references or texts.systems:
        given, chosen, language = open_for_metrics(
            or_standard_input(texts), metrics, language, source_is_shown=True,
            check=partial(check_comparison, baseline, alpha, resamples),
        )  # fmt: skip
        chunks = list(given.chunks)
        segments = sum(chunk.segments for chunk in chunks)
        documents = documents_to_resample(docs, given.documents, segments)
        named = documents or given.documents
        groups = {} if named is None else {"document": tuple(named)}
        if labels is not None:
            groups |= _labels(labels, segments)
        shown = ReportTexts.of_chunks(given.systems, chunks, given.topics, groups)
        title = title or default_title(language, len(shown.systems), shown.count)
        with progress("scoring (segments)", shown.count) as bar:
            scored = scored_metrics(
                score_systems(given.systems, chosen, chunks, jobs=jobs, progress=bar),
                baseline=baseline, documents=documents, resamples=resamples, seed=seed, alpha=alpha,
            )  # fmt: skip
            blocks = collect(
                shown, scored, title=title, command=command, language=language, flows=flows, progress=bar
            )
    title = title or ("Metrics under stress" if human is None else "Metrics against human judgements")
    page = render(blocks, human, title=title, command=command, stress=stress)
    if output == Path("-"):
        sys.stdout.write(page)
        return
    write_text(output, page)
    note(f"{output}: {len(page.encode()) / 1e6:.1f} MB")


def _labels(path: str, segments: int) -> dict[str, tuple[str, ...]]:
    """The columns of a file of labels, one line per segment."""
    rows = [line.split("\t") for line in lines_of_segments(path, segments)]
    width = len(rows[0])
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            raise InputError(f"{path}, line {number}: {len(row)} columns, but line 1 has {width}")
    names = ["label"] if width == 1 else [f"label {place}" for place in range(1, width + 1)]
    return dict(zip(names, map(tuple, zip(*rows, strict=True)), strict=True))
