"""Systems and references as chunks of parallel segments, for every subcommand that scores files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tesla_eval.cli.conllu_reader import ConlluReader
from tesla_eval.cli.terminal import warn
from tesla_eval.errors import InputError
from tesla_eval.metrics import Metric
from tesla_eval.metrics.base import SegmentScores
from tesla_eval.parallel import map_in_order
from tesla_eval.textio import LineReader, looks_lowercased, looks_tokenised, read_in_step

if TYPE_CHECKING:
    from tesla_eval.meta.summaries import SummarySet

__all__ = ["Chunk", "read_chunks", "score_chunks", "summary_chunks"]

Chunk = tuple[list[list[str | None]], list[list[str]]]
"""Reference streams with None for what is missing, and the systems' texts."""


def read_chunks(
    references: Sequence[str], systems: Sequence[str], *, analysed: bool = False, prepared: bool = False
) -> Iterator[Chunk]:
    """Chunks of all files in step; a warning, once, if the text of the first looks as if it had been worked on, unless
    it is known to be (`analysed`, `prepared`)."""
    reader: type[LineReader] = ConlluReader if analysed else LineReader
    first = True
    for texts in read_in_step((*references, *systems), reader=reader):
        if first and not (analysed or prepared):
            _warn_of_preparation((*references, *systems), texts)
        first = False
        yield _with_gaps(texts[: len(references)]), texts[len(references) :]


def summary_chunks(summaries: SummarySet, topics: int = 256) -> Iterator[Chunk]:
    """Chunks of topics with all their models; every system must have summarised every topic."""
    for system, row in zip(summaries.systems, summaries.hypotheses, strict=True):
        if None in row:
            missing = summaries.topics[row.index(None)]
            raise InputError(
                f"{summaries.name}: {system} has no summary of {missing}; systems are comparable on the same topics "
                "only, so add it (an empty one scores 0) or leave the topic or the system out"
            )
    for start in range(0, len(summaries.topics), topics):
        span = slice(start, start + topics)
        yield (
            [list(stream[span]) for stream in summaries.reference_streams],
            [[text for text in row[span] if text is not None] for row in summaries.hypotheses],
        )


def score_chunks(
    metrics: Sequence[Metric], systems: Sequence[str], chunks: Iterator[Chunk], jobs: int
) -> Iterator[list[list[SegmentScores]]]:
    """For each chunk its scores by system, then by metric, `jobs` chunks at a time; what is refused is named."""

    def score(numbered: tuple[int, Chunk]) -> list[list[SegmentScores]]:
        start, (references, texts) = numbered
        try:
            return [[metric.score_segments(lines, references) for metric in metrics] for lines in texts]
        except InputError as error:
            raise _refused(metrics, systems, start, (references, texts)) or error from None

    return map_in_order(score, _numbered(chunks), jobs)


def _numbered(chunks: Iterator[Chunk]) -> Iterator[tuple[int, Chunk]]:
    """Each chunk with the number of its first segment."""
    start = 1
    for chunk in chunks:
        yield start, chunk
        start += len(chunk[1][0])


def _refused(
    metrics: Sequence[Metric], systems: Sequence[str], start: int, chunk: Chunk
) -> InputError | None:
    """The error of the first segment that a metric refuses, with its place."""
    references, texts = chunk
    for system, lines in zip(systems, texts, strict=True):
        for index, text in enumerate(lines):
            given = [[stream[index]] for stream in references]
            for metric in metrics:
                try:
                    metric.score_segments([text], given)
                except InputError as error:
                    return InputError(f"{system}, segment {start + index}: {error}")
    return None


def _with_gaps(streams: list[list[str]]) -> list[list[str | None]]:
    """SPEC §5: an empty line is a missing reference, unless the segment has no other."""
    if len(streams) <= 1:
        return [list(stream) for stream in streams]
    gaps: list[list[str | None]] = [[text if text.strip() else None for text in stream] for stream in streams]
    for index in range(len(gaps[0])):
        if all(stream[index] is None for stream in gaps):
            gaps[0][index] = ""
    return gaps


def _warn_of_preparation(names: Sequence[str], texts: Sequence[Sequence[str]]) -> None:
    for looks, what in ((looks_tokenised, "already tokenised"), (looks_lowercased, "lower-cased")):
        found = [name for name, lines in zip(names, texts, strict=True) if looks(lines)]
        if found:
            warn(f"{', '.join(found)}: the text looks {what}; scores are meant for text as people write it")
