"""`tesla score`: systems against references, streamed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

import click
import numpy as np
import numpy.typing as npt

from tesla_eval.cli.inputs import CountedReferences, read_chunks, score_chunks, summary_chunks
from tesla_eval.cli.options import (
    analysed_option,
    celab_arguments,
    celab_options,
    create_metrics,
    language_option,
    metrics_option,
    segmenter_option,
    synonyms_option,
)
from tesla_eval.cli.score_formats import FORMATS, Results, check_format
from tesla_eval.cli.terminal import progress, write_lines
from tesla_eval.metrics import Metric
from tesla_eval.metrics.base import SegmentScores, Total

if TYPE_CHECKING:
    from tesla_eval.judgements.summaries import SummarySet

__all__ = ["score"]


@click.command(context_settings={"max_content_width": 110})
@click.option(
    "-r",
    "--reference",
    "references",
    multiple=True,
    metavar="FILE",
    help="A reference file; may be given several times. With several, an empty line is a missing reference.",
)
@click.argument("systems", nargs=-1, required=True, metavar="SYSTEM... | SUMMARIES")
@metrics_option
@language_option
@click.option(
    "--format", "output_format", type=click.Choice(sorted(FORMATS)), default="text", show_default=True
)
@click.option("--segments", is_flag=True, help="Scores of every segment too.")
@click.option("-j", "--jobs", type=click.IntRange(1), default=1, show_default=True, help="Threads.")
@analysed_option
@synonyms_option
@segmenter_option
@celab_options
def score(
    references: tuple[str, ...], systems: tuple[str, ...], metrics: str | None, language: str, output_format: str,
    segments: bool, jobs: int, analysed: bool, synonyms: str | None, segmenter: str | None,
    pre_tokenized: bool, unit_discount: float, max_units: int,
) -> None:  # fmt: skip
    """Score the SYSTEM files against the reference files: line i of each is segment i.

    Files may be gzipped (.gz) and of any length; one of them may be standard input (-).

    Without -r: SUMMARIES is a JSON Lines file (.jsonl) whose lines hold id, system, hypothesis and references, or a
    folder with peers/SYSTEM/TOPIC.txt and models/TOPIC.txt (or models/TOPIC.NAME.txt, several of them).

    \b
    tesla score -r ref.txt sysA.txt sysB.txt
    tesla score -r ref1.txt -r ref2.txt sysA.txt -m m,bleu,chrf --format json --segments
    tesla score -l zh -r ref.txt sys.txt --synonyms cilin             TESLA-CELAB, with the paper's dictionary
    tesla score -m s,s-recall,rouge2 -r model.txt summaries.txt       a summary a line
    tesla score -m s summaries.jsonl --segments                       several models a topic
    tesla score -m dicomer texts.txt                                  readability: no reference, a text a line
    zcat sys.gz | tesla score -r ref.txt - --format tsv
    """
    celab = celab_arguments(pre_tokenized, unit_discount, max_units)
    chosen = create_metrics(
        metrics, language, analysed=analysed, synonyms=synonyms, segmenter=segmenter, celab=celab
    )
    if metrics is None and output_format == "mtme":
        chosen = chosen[:1]  # a file of that format holds one metric
    check_format(output_format, len(chosen), segments)
    write = FORMATS[output_format]
    topics = None
    if references or not _are_summaries(systems[0], chosen):
        chunks = read_chunks(references, systems, analysed=analysed, prepared=pre_tokenized)
    else:
        summaries = _read_summaries(systems, analysed)
        systems, topics, chunks = summaries.systems, summaries.topics, summary_chunks(summaries)
    counted = CountedReferences(chunks)
    with _Scoreboard(systems, chosen, segments, topics) as board:
        with progress("segments") as bar:
            for scored in score_chunks(chosen, systems, counted, jobs):
                board.add(scored)
                bar.advance(len(scored[0][0].scores))
        # Only now, when every file was read to its end and all agree, does anything reach standard output.
        write_lines(write(board.results(list(map(counted.signature, chosen)))))


def _are_summaries(path: str, metrics: Sequence[Metric]) -> bool:
    """Whether a file given without references holds summaries, which bring their own."""
    from tesla_eval.judgements.summaries import is_summary_source

    return is_summary_source(path) or any(metric.needs_references for metric in metrics)


def _read_summaries(paths: Sequence[str], analysed: bool) -> SummarySet:
    from tesla_eval.judgements.summaries import is_summary_source, read_summaries

    if len(paths) != 1 or not is_summary_source(paths[0]):
        raise click.UsageError(
            "give reference files with -r; without them, one JSON Lines file (.jsonl) or one folder of summaries"
        )
    if analysed:
        raise click.UsageError("--analysed reads files of CoNLL-U, with -r")
    return read_summaries(paths[0])


@dataclass
class _Cell:
    """One system under one metric: its total, and its segments in a temporary file."""

    total: Total
    segments: IO[bytes] | None


class _Scoreboard:
    """Scores of all systems under all metrics, in constant memory."""

    def __init__(
        self,
        systems: Sequence[str],
        metrics: Sequence[Metric],
        keep_segments: bool,
        names: Sequence[str] | None = None,
    ) -> None:
        from tempfile import SpooledTemporaryFile

        self._systems, self._metrics, self._names = systems, metrics, names
        self._cells = [
            [
                _Cell(metric.new_total(), SpooledTemporaryFile(max_size=1 << 20) if keep_segments else None)  # noqa: SIM115
                for metric in metrics
            ]
            for _ in systems
        ]

    def __enter__(self) -> _Scoreboard:
        return self

    def __exit__(self, *_: object) -> None:
        for row in self._cells:
            for cell in row:
                if cell.segments is not None:
                    cell.segments.close()

    def add(self, scored: list[list[SegmentScores]]) -> None:
        for cells, parts in zip(self._cells, scored, strict=True):
            for cell, part in zip(cells, parts, strict=True):
                cell.total.add(part)
                if cell.segments is not None:
                    cell.segments.write(part.scores.tobytes())

    def results(self, signatures: Sequence[str]) -> Results:
        return Results(
            systems=tuple(self._systems),
            metrics=tuple(metric.id for metric in self._metrics),
            signatures=tuple(signatures),
            scores=tuple(tuple(cell.total.score() for cell in row) for row in self._cells),
            names=None if self._names is None else tuple(self._names),
            segments=self._segments if self._cells[0][0].segments is not None else None,
        )

    def _segments(self, system: int, metric: int) -> Iterator[float]:
        handle = self._cells[system][metric].segments
        assert handle is not None
        handle.seek(0)
        while block := handle.read(1 << 16):
            scores: npt.NDArray[np.float64] = np.frombuffer(block, np.float64)
            yield from scores.tolist()
