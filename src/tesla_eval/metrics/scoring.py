"""From texts to scores: several systems under several metrics, chunk by chunk. All commands use this module.

`Metric.corpus_score`, every command, data frames and engines take it. Texts are read only as they are needed, results
come in order, and an error names the segment that a metric refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import numpy as np

from tesla_eval._core import StopToken
from tesla_eval.base.errors import InputError, SegmentError
from tesla_eval.base.parallel import NO_PROGRESS, Progress, check_workers, map_in_order
from tesla_eval.metrics.results import SegmentScores
from tesla_eval.metrics.segments import References, present_references, reference_count

if TYPE_CHECKING:
    from tesla_eval.base.arrays import FloatArray
    from tesla_eval.base.records import Signature
    from tesla_eval.metrics.base import Metric
    from tesla_eval.metrics.comparison import SystemTable

_IN_MEMORY = 1 << 20  # bytes of segment scores per system and metric; more go to a temporary file
_FLOAT = np.dtype(np.float64)

Item = TypeVar("Item")
Result = TypeVar("Result")
Kept = Literal["nothing", "scores", "everything"]
"""What remains of the segments: nothing, their scores (on disk if there are many), or features and statistics too."""


class NamedMetric(NamedTuple):
    """A metric and its name in results: its id, and the options that the user gave it."""

    name: str
    metric: Metric


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some segments: the texts of every system, streams of references as they were given, sources if given."""

    systems: Sequence[Sequence[str]]
    references: References
    sources: Sequence[str] | None = None

    @property
    def segments(self) -> int:
        """How many segments it has."""
        return len((self.systems or self.references)[0])

    @cached_property
    def present(self) -> References:
        """The references that the segments have, by the rule for missing ones (specification §5)."""
        return present_references(self.references)

    @cached_property
    def _present_with_blanks(self) -> References:
        return present_references(self.references, blank_is_text=True)

    def references_for(self, metric: Metric) -> References:
        """The references as a metric takes them."""
        return self._present_with_blanks if metric.blank_is_text else self.present


def cut_chunks(
    systems: Sequence[Sequence[str]], references: References, sources: Sequence[str] | None, size: int = 1024
) -> Iterator[Chunk]:
    """Whole texts, so many segments at a time; without systems, those of the references."""
    for start in range(0, len((systems or references)[0]), size):
        span = slice(start, start + size)
        streams = [stream[span] for stream in references]
        yield Chunk([texts[span] for texts in systems], streams, None if sources is None else sources[span])


def score_texts(metric: Metric, chunk: Chunk, system: int = 0) -> SegmentScores:
    """The scores of one system's segments; the sources reach only a metric that reads them.

    An error about a segment says by its index which one it is (`SegmentError`): here, and nowhere else, it is found.
    """
    try:
        return _score(metric, chunk, system)
    except SegmentError:
        raise
    except InputError:
        for segment, text in enumerate(chunk.systems[system]):
            streams = [[stream[segment]] for stream in chunk.references]
            alone = Chunk([[text]], streams, None if chunk.sources is None else [chunk.sources[segment]])
            try:
                _score(metric, alone, 0)
            except InputError as reason:
                raise SegmentError(reason, segment) from None
        raise


def _score(metric: Metric, chunk: Chunk, system: int) -> SegmentScores:
    hypotheses, references = chunk.systems[system], chunk.references_for(metric)
    if metric.uses_source:
        return metric.score_segments(hypotheses, references, sources=chunk.sources)  # type: ignore[call-arg]
    return metric.score_segments(hypotheses, references)


def score_chunks(
    metrics: Sequence[Metric], chunks: Iterable[Chunk], jobs: int = 1, systems: Sequence[str] = ()
) -> Iterator[list[list[SegmentScores]]]:
    """For each chunk its scores by system, then by metric, `jobs` chunks at a time.

    An error names the segment, and the system if `systems` gives it a name.
    """

    def numbered() -> Iterator[tuple[int, Chunk]]:
        start = 0
        for chunk in chunks:
            yield start, chunk
            start += chunk.segments

    def score_system(start: int, chunk: Chunk, system: int) -> list[SegmentScores]:
        try:
            return [score_texts(metric, chunk, system) for metric in metrics]
        except SegmentError as refused:
            raise refused.moved(start + refused.segment, systems[system] if systems else "") from None

    def score(numbered_chunk: tuple[int, Chunk]) -> list[list[SegmentScores]]:
        start, chunk = numbered_chunk
        return [score_system(start, chunk, system) for system in range(len(chunk.systems))]

    return map_texts(score, numbered(), jobs)


def map_texts(function: Callable[[Item], Result], items: Iterable[Item], jobs: int) -> Iterator[Result]:
    """`map_in_order` for work of the core, which Ctrl-C ends within a second."""
    return map_in_order(function, items, jobs, StopToken())


def score_systems(
    systems: Sequence[str],
    metrics: Sequence[NamedMetric],
    chunks: Iterable[Chunk],
    *,
    jobs: int = 1,
    keep: Kept = "everything",
    progress: Progress = NO_PROGRESS,
) -> Scored:
    """Score all chunks of all systems with all metrics. Memory is constant unless everything is kept.

    >>> from tesla_eval.metrics.requests import create_metric
    >>> chunk = Chunk([["The cats sat."], ["A dog."]], [["The cat sat."]])
    >>> scored = score_systems(["a", "b"], [NamedMetric("tesla-m", create_metric("m", "en"))], [chunk])
    >>> [round(score, 4) for (score,) in scored.scores]
    [0.5873, 0.1725]
    """
    check_workers(jobs)
    if any(
        one.metric.corpus_wide for one in metrics
    ):  # they depend on all references: everything is read first
        chunks = list(chunks)
        streams = whole_streams(chunks)
        metrics = [one._replace(metric=one.metric.for_corpus(streams)) for one in metrics]
    scored = Scored(systems, metrics, keep)
    try:
        for parts in score_chunks(
            [one.metric for one in metrics], scored.counting_references(chunks), jobs, systems
        ):
            scored.add(parts)
            progress.advance(len(parts[0][0].scores))
    except BaseException:
        scored.close()
        raise
    return scored


def whole_streams(chunks: Sequence[Chunk]) -> list[list[str | None]]:
    """The references that the segments of all chunks have, each stream as long as all segments together."""
    most = max((len(chunk.references) for chunk in chunks), default=0)
    streams: list[list[str | None]] = [[] for _ in range(most)]
    for chunk in chunks:
        for place, stream in enumerate(streams):
            has_stream = place < len(chunk.present)
            stream.extend(chunk.present[place] if has_stream else [None] * chunk.segments)
    return streams


class Scored:
    """The scores of all systems under all metrics; systems and metrics are counted from 0."""

    def __init__(
        self, systems: Sequence[str], metrics: Sequence[NamedMetric], keep: Kept = "everything"
    ) -> None:
        self.systems = tuple(systems)
        self.metrics = tuple(metrics)
        self._totals = [[one.metric.new_total() for one in metrics] for _ in systems]
        self._parts: list[list[list[SegmentScores]]] = []
        """By system and metric what is kept, if that is everything."""
        self._files: list[list[IO[bytes]]] = []
        """By system and metric a file of scores, if only these are kept."""
        if keep == "everything":
            self._parts = [[[] for _ in metrics] for _ in systems]
        elif keep == "scores":
            from tempfile import SpooledTemporaryFile  # takes time to import: only when asked for

            self._files = [[SpooledTemporaryFile(_IN_MEMORY) for _ in metrics] for _ in systems]  # noqa: SIM115
        self._reference_counts: dict[bool, set[int | str]] = {False: set(), True: set()}
        """How many references segments have, by whether a blank one counts."""

    def close(self) -> None:
        """Remove the temporary files."""
        for file in chain.from_iterable(self._files):
            file.close()

    def counting_references(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """The chunks as they pass by; the number of references becomes part of the signatures."""
        for chunk in chunks:
            self.note_chunk(chunk)
            yield chunk

    def note_references(self, count: int | str) -> None:
        """Some segments have so many references each; `var` if they differ."""
        for counts in self._reference_counts.values():
            counts.add(count)

    def note_chunk(self, chunk: Chunk) -> None:
        """Take in how many references the segments of a chunk have."""
        for metric in {one.metric.blank_is_text: one.metric for one in self.metrics}.values():
            self._reference_counts[metric.blank_is_text].add(reference_count(chunk.references_for(metric)))

    def add(self, parts: Sequence[Sequence[SegmentScores]]) -> None:
        """Take in the scores of more segments, by system and metric."""
        for totals, row in zip(self._totals, parts, strict=True):
            for total, part in zip(totals, row, strict=True):
                total.add(part)
        for kept, row in zip(self._parts, parts, strict=False):
            for segments, part in zip(kept, row, strict=True):
                segments.append(part)
        for files, row in zip(self._files, parts, strict=False):
            for file, part in zip(files, row, strict=True):
                file.write(part.scores.tobytes())

    @property
    def scores(self) -> tuple[tuple[float, ...], ...]:
        """The system scores: one row per system, one column per metric."""
        return tuple(tuple(total.score() for total in row) for row in self._totals)

    def parts(self, system: int, metric: int) -> dict[str, Any] | None:
        """What makes up a system's score under a metric, where the metric tells (`Metric.parts_of_total`)."""
        return self.metrics[metric].metric.parts_of_total(self._totals[system][metric])

    def segments(self, system: int, metric: int) -> SegmentScores:
        """All segments of a system under a metric, if everything was kept."""
        assert self._parts, "segments are there only with keep='everything'"
        kept = self._parts[system][metric]
        kept[:] = [SegmentScores.concatenate(kept)]
        return kept[0]

    def segment_scores(self, system: int, metric: int) -> Iterator[float]:
        """The scores of the segments, if at least these were kept."""
        if not self._files:
            yield from self.segments(system, metric).scores.tolist()
            return
        file = self._files[system][metric]
        file.seek(0)
        while block := file.read(_IN_MEMORY):
            numbers: FloatArray = np.frombuffer(block, _FLOAT)
            yield from numbers.tolist()

    def table(self, metric: int) -> SystemTable:
        """All systems under one metric, ready to be compared, if everything was kept."""
        from tesla_eval.metrics.comparison import SystemTable  # takes time to import: only when asked for

        name, scorer = self.metrics[metric]
        parts = [self.segments(system, metric) for system in range(len(self.systems))]
        statistics = [part.statistics for part in parts if part.statistics is not None]
        return SystemTable(
            name,
            self.systems,
            np.stack([part.scores for part in parts], axis=1),
            scorer.higher_is_better,
            np.stack(statistics, axis=1) if statistics else None,
            scorer.formula_of_sums,
            tuple(row[metric].score() for row in self._totals),
        )

    def signature(self, metric: int) -> Signature:
        """The signature of the system scores under a metric."""
        scorer = self.metrics[metric].metric
        return scorer.get_signature().with_references(self._references(scorer))

    def segment_signature(self, metric: int) -> Signature:
        """The signature of the segments' scores: sacreBLEU makes them with other settings than a corpus score."""
        scorer = self.metrics[metric].metric
        return scorer.get_signature().of_segments(self._references(scorer))

    def _references(self, metric: Metric) -> int | str:
        if not metric.needs_references:
            return 0
        counts = self._reference_counts[metric.blank_is_text]
        return "var" if len(counts) > 1 else next(iter(counts), 0)
