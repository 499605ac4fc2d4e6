"""`tesla compare`: which system is better, and how sure is that?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click
import numpy as np

from tesla_eval.cli.compare_formats import COMPARE_FORMATS, Comparisons
from tesla_eval.cli.inputs import Chunk, read_chunks, score_chunks
from tesla_eval.cli.options import (
    analysed_option,
    celab_options,
    create_metrics,
    language_option,
    metrics_option,
    segmenter_option,
    synonyms_option,
)
from tesla_eval.cli.score_table import read_score_table
from tesla_eval.cli.terminal import progress, write_lines
from tesla_eval.errors import InputError, UsageError
from tesla_eval.meta.systems import SystemTable, compare_systems
from tesla_eval.metrics import CelabOptions, Metric
from tesla_eval.metrics.base import SegmentScores
from tesla_eval.metrics.corpus_scores import corpus_score_of_sums
from tesla_eval.stats.draws import DEFAULT_RESAMPLES, DEFAULT_SEED
from tesla_eval.textio import read_lines

__all__ = ["compare"]


@click.command(context_settings={"max_content_width": 110})
@click.option("-r", "--reference", "references", multiple=True, metavar="FILE",
              help="A reference file; repeatable. With several, an empty line is a missing reference.")  # fmt: skip
@click.argument("systems", nargs=-1, metavar="SYSTEM...")
@metrics_option
@language_option
@click.option("--scores", "score_file", metavar="FILE",
              help="Segment scores instead of texts: a TSV of system, segment, metric, score, as "
              "`tesla score --format tsv --segments` prints it. SYSTEM and -m then choose from it.")  # fmt: skip
@click.option("--baseline", metavar="SYSTEM", help="Test every system against this one instead of all pairs.")
@click.option("--docs", metavar="FILE",
              help="A line a segment, the name of its document: documents are resampled and scored.")  # fmt: skip
@click.option("--resamples", type=click.IntRange(1), default=DEFAULT_RESAMPLES, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=DEFAULT_SEED, show_default=True)
@click.option("--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05, show_default=True,
              help="Level of the tests; intervals hold 1 - alpha.")  # fmt: skip
@click.option(
    "--format", "output_format", type=click.Choice(sorted(COMPARE_FORMATS)), default="text", show_default=True
)
@click.option("-j", "--jobs", type=click.IntRange(1), default=1, show_default=True, help="Threads.")
@analysed_option
@synonyms_option
@segmenter_option
@celab_options
def compare(
    references: tuple[str, ...], systems: tuple[str, ...], metrics: str | None, language: str,
    score_file: str | None, baseline: str | None, docs: str | None, resamples: int, seed: int, alpha: float,
    output_format: str, jobs: int, analysed: bool, synonyms: str | None, segmenter: str | None,
    pre_tokenized: bool, unit_discount: float, max_units: int,
) -> None:  # fmt: skip
    """Compare SYSTEM files: scores with confidence intervals, and tests of the differences.

    The differences are tested by paired bootstrap and by approximate randomisation, with Holm's correction; systems
    that the latter cannot tell apart share a cluster. BLEU, chrF and TER are corpus scores, made anew from the
    statistics of every resample.

    \b
    tesla compare -r ref.txt sysA.txt sysB.txt sysC.txt -m m,bleu
    tesla compare -r ref.txt sysA.txt sysB.txt --baseline sysA.txt --docs docs.txt --format latex
    tesla compare --scores scores.tsv
    """
    if score_file is None:
        if not references or not systems:
            raise click.UsageError("give references (-r) and systems, or a file of scores (--scores)")
        celab = CelabOptions(pre_tokenized, unit_discount, max_units)
        chosen = create_metrics(
            metrics, language, analysed=analysed, synonyms=synonyms, segmenter=segmenter, celab=celab
        )
        chunks = read_chunks(references, systems, analysed=analysed, prepared=pre_tokenized)
        tables = _score_files(systems, chosen, jobs, chunks)
        signatures = [str(metric.get_signature()) for metric in chosen]
    else:
        if references:
            raise click.UsageError("--scores takes the place of texts: leave out -r")
        tables = read_score_table(score_file, systems, metrics.split(",") if metrics is not None else ())
        signatures = [f"scores:{score_file}"]
    if len(tables[0].systems) < 2:
        raise UsageError(f"only one system, {tables[0].systems[0]}: there is nothing to compare it with")
    documents = None if docs is None else _read_documents(docs, len(tables[0].segments))
    found = [
        compare_systems(
            table, baseline=baseline, documents=documents, resamples=resamples, seed=seed, alpha=alpha
        )
        for table in tables
    ]
    write_lines(COMPARE_FORMATS[output_format](Comparisons(tuple(found), tuple(signatures), baseline)))


def _score_files(
    systems: Sequence[str], metrics: Sequence[Metric], jobs: int, chunks: Iterator[Chunk]
) -> list[SystemTable]:
    if len(set(systems)) < len(systems):
        raise click.UsageError("a system is given twice: its differences would all be 0")
    parts: list[list[list[SegmentScores]]] = []
    with progress("segments") as bar:
        for scored in score_chunks(metrics, systems, chunks, jobs):
            parts.append(scored)
            bar.advance(len(scored[0][0].scores))
    return [
        _table(metric, systems, [
            SegmentScores.concatenate([chunk[system][place] for chunk in parts]) for system in range(len(systems))
        ])
        for place, metric in enumerate(metrics)
    ]  # fmt: skip


def _table(metric: Metric, systems: Sequence[str], scored: Sequence[SegmentScores]) -> SystemTable:
    statistics = [part.statistics for part in scored if part.statistics is not None]
    return SystemTable(
        metric.id,
        tuple(systems),
        np.stack([part.scores for part in scored], axis=1),
        metric.higher_is_better,
        np.stack(statistics, axis=1) if statistics else None,
        corpus_score_of_sums(metric),
    )


def _read_documents(path: str, segments: int) -> list[str]:
    documents = read_lines(path)
    if len(documents) != segments:
        raise InputError(f"{path}: {len(documents)} lines, but there are {segments} segments")
    return documents
