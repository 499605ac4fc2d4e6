"""Inputs of the subcommands: systems and references as chunks of parallel segments, CoNLL-U, tables of scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tesla_eval.analysis.conllu import parse_conllu
from tesla_eval.cli.terminal import warn
from tesla_eval.compare import SystemTable
from tesla_eval.errors import InputError, UsageError
from tesla_eval.metrics import Metric
from tesla_eval.metrics.base import SegmentScores
from tesla_eval.parallel import map_in_order
from tesla_eval.segments import reference_count
from tesla_eval.textio import LineReader, looks_lowercased, looks_tokenised, read_in_step

if TYPE_CHECKING:
    from tesla_eval.judgements.summaries import SummarySet

__all__ = [
    "Chunk",
    "ConlluReader",
    "CountedReferences",
    "read_chunks",
    "read_score_table",
    "score_chunks",
    "summary_chunks",
]

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


class CountedReferences:
    """Chunks as they pass by, and how many references their segments had: `var` if not all had the same number."""

    def __init__(self, chunks: Iterator[Chunk]) -> None:
        self._chunks = chunks
        self._counts: set[int | str] = set()

    def __iter__(self) -> Iterator[Chunk]:
        for chunk in self._chunks:
            self._counts.add(reference_count(chunk[0]))
            yield chunk

    def signature(self, metric: Metric) -> str:
        """The signature of a metric's scores of these chunks."""
        count = "var" if len(self._counts) > 1 else next(iter(self._counts), 0)
        return str(metric.get_signature().with_references(count if metric.needs_references else 0))


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
    metrics: Sequence[Metric], systems: Sequence[str], chunks: Iterable[Chunk], jobs: int
) -> Iterator[list[list[SegmentScores]]]:
    """For each chunk its scores by system, then by metric, `jobs` chunks at a time; what is refused is named."""

    def score(numbered: tuple[int, Chunk]) -> list[list[SegmentScores]]:
        start, (references, texts) = numbered
        try:
            return [[metric.score_segments(lines, references) for metric in metrics] for lines in texts]
        except InputError as error:
            raise _refused(metrics, systems, start, (references, texts)) or error from None

    return map_in_order(score, _numbered(chunks), jobs)


def _numbered(chunks: Iterable[Chunk]) -> Iterator[tuple[int, Chunk]]:
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
    """Specification §5: an empty line is a missing reference, unless the segment has no other."""
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


class ConlluReader(LineReader):
    """The sentences of a file, each still as text; a sentence of comments only is an empty segment.

    Each sentence is checked here, where file and line are known.
    """

    unit: ClassVar[str] = "sentence"

    def __iter__(self) -> Iterator[str]:
        block: list[str] = []
        sentences = lines = 0
        for line in super().__iter__():
            lines += 1
            if line:
                block.append(line)
            elif block:
                sentences += 1
                yield self._checked(block, lines - len(block))
                block = []
        if block:
            sentences += 1
            yield self._checked(block, lines - len(block) + 1)
        self.count = sentences  # not lines

    def _checked(self, block: list[str], first_line: int) -> str:
        if not all(line.startswith("#") for line in block):
            for _ in parse_conllu(block, self.name, first_line):
                pass
        return "\n".join(block)


_HEADER = ["system", "segment", "metric", "score"]
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
    reader = LineReader(path)
    lines = iter(reader)
    if next(lines, "").split("\t") != _HEADER:
        raise InputError(
            f"{reader.name}, line 1: the header should be {' '.join(_HEADER)}, separated by tabs"
        )
    scores: dict[tuple[str, str, str], float] = {}
    for number, line in enumerate(lines, start=2):
        fields = line.split("\t")
        if len(fields) != len(_HEADER):
            raise InputError(f"{reader.name}, line {number}: {len(fields)} fields instead of {len(_HEADER)}")
        system, segment, metric, text = fields
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise InputError(f"{reader.name}, line {number}: score {text!r} is not a number")
        if (system, segment, metric) in scores:
            raise InputError(
                f"{reader.name}, line {number}: a second {metric} score of {system}, segment {segment}"
            )
        scores[system, segment, metric] = value
    if not scores:
        raise InputError(f"{reader.name}: holds no scores")
    return scores


def _choose(path: str, what: str, wanted: Sequence[str], present: list[str]) -> list[str]:
    for name in wanted:
        if name not in present:
            raise UsageError(f"{path}: no {what} {name!r}; there are {', '.join(present)}")
    return list(wanted) or present
