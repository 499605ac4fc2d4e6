"""Scores for many clients: segments that wait are scored together, and large requests take turns with small ones.

Nobody waits for a batch to fill up: while one batch is scored, the next one gathers.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from itertools import accumulate, chain
from typing import Any, ClassVar

from tesla_eval.base.errors import InputError, SegmentError
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.results import CorpusScore, Explanation, SegmentScores
from tesla_eval.metrics.scoring import Chunk, NamedMetric, score_texts
from tesla_eval.metrics.segments import References

_TURNS_TOGETHER = 4  # full turns that are done in one call


class Work(ABC):
    """The segments of one request under one metric; `future` gets the result and may be cancelled at any time."""

    turn: ClassVar[int]
    """Segments that are done before others get their turn."""

    def __init__(
        self,
        metric: NamedMetric,
        hypotheses: Sequence[str],
        references: References,
        sources: Sequence[str] | None = None,
    ) -> None:
        self.name, self.metric = metric
        self.fitted = self.metric
        self.hypotheses, self.references, self.sources = hypotheses, references, sources
        self.future: Future[Any] = Future()
        self._done = 0
        self._parts: list[Any] = []

    @property
    def kind(self) -> tuple[object, ...]:
        """Work of one kind can be done in one call."""
        alone = self if self.metric.corpus_wide else None
        return type(self), self.metric, len(self.references), self.sources is None, alone

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        return self._done >= len(self.hypotheses) or self.future.done()

    def next_chunk(self) -> Chunk:
        """The segments of the next turn."""
        span = slice(self._done, self._done + self.turn)
        streams = [stream[span] for stream in self.references]
        return Chunk([self.hypotheses[span]], streams, None if self.sources is None else self.sources[span])

    def advance(self, part: Any, segments: int) -> None:
        """Take in the result of a turn; the last one completes the future."""
        self._parts.append(part)
        self._done += segments
        if self._done >= len(self.hypotheses):
            result = self._result()
            if self.future.set_running_or_notify_cancel():
                self.future.set_result(result)

    def fail(self, error: Exception) -> None:
        """Give the client an error instead of a result."""
        if not self.future.done() and self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)

    def named_error(self, error: Exception) -> Exception:
        """The error with the segment whose text is refused."""
        return error.moved(self._done + error.segment) if isinstance(error, SegmentError) else error

    @staticmethod
    @abstractmethod
    def compute(metric: Metric, chunks: Sequence[Chunk]) -> list[Any]:
        """The result of each chunk."""

    @abstractmethod
    def _result(self) -> Any:
        """The combined result of all parts."""


class Scoring(Work):
    """Gives a `CorpusScore`, the same as the metric's `corpus_score`."""

    turn = 256

    def next_chunk(self) -> Chunk:
        """The segments of the next turn; a metric that depends on all references reads them before the first."""
        if self._done == 0:
            self.fitted = self.metric.for_corpus(self.references)
        return super().next_chunk()

    @staticmethod
    def compute(metric: Metric, chunks: Sequence[Chunk]) -> list[SegmentScores]:
        """The scores of each chunk; all are scored in one call."""
        if len(chunks) == 1:
            return [score_texts(metric, chunks[0])]
        streams = zip(*(chunk.references for chunk in chunks), strict=True)
        has_sources = chunks[0].sources is not None
        together = Chunk(
            [[text for chunk in chunks for text in chunk.systems[0]]],
            [list(chain.from_iterable(parts)) for parts in streams],
            [text for chunk in chunks for text in chunk.sources or ()] if has_sources else None,
        )
        scored = score_texts(metric, together)
        ends = list(accumulate(chunk.segments for chunk in chunks))
        return [scored.part(slice(start, end)) for start, end in zip([0, *ends], ends, strict=False)]

    def _result(self) -> CorpusScore:
        total = self.fitted.new_total()
        for part in self._parts:
            total.add(part)
        segments, names = SegmentScores.concatenate(self._parts), self.metric.feature_names
        signature = self.fitted.result_signature(self.references)
        return CorpusScore(self.name, total.score(), segments.scores, segments.features, names, signature)


class Explaining(Work):
    """Gives one `Explanation` per segment."""

    turn = 4

    @staticmethod
    def compute(metric: Metric, chunks: Sequence[Chunk]) -> list[list[Explanation]]:
        """The explanations of each chunk."""
        return [list(_explanations(metric, chunk)) for chunk in chunks]

    def _result(self) -> list[Explanation]:
        return list(chain.from_iterable(self._parts))


def _explanations(metric: Metric, chunk: Chunk) -> Iterator[Explanation]:
    sources: Sequence[str | None] = chunk.sources or [None] * chunk.segments
    segments = zip(sources, *chunk.systems, *chunk.references, strict=True)
    for number, (source, hypothesis, *given) in enumerate(segments):
        assert hypothesis is not None
        try:
            yield metric.explain(hypothesis, [text for text in given if text is not None], source)
        except InputError as reason:
            raise SegmentError(reason, number) from None


class Batcher:
    """Threads that do the work of many clients, in turns.

    >>> from tesla_eval.metrics import create_metric
    >>> metric, batcher = NamedMetric("tesla-m", create_metric("m", "en")), Batcher()
    >>> scored = batcher.submit(Scoring(metric, ["The cats sat."], [["The cat sat."]]))
    >>> print(scored.result().score == metric.metric.sentence_score("The cats sat.", ["The cat sat."]).score)
    True
    >>> batcher.close()
    """

    def __init__(self, jobs: int = 1) -> None:
        self._waiting: OrderedDict[tuple[object, ...], deque[Work]] = OrderedDict()
        self._changed = threading.Condition()
        self._closed = False
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(jobs)]
        for thread in self._threads:
            thread.start()

    def submit(self, work: Work) -> Future[Any]:
        """Have it done as soon as its turn comes."""
        self._put(work)
        return work.future

    def close(self, seconds: float | None = None) -> None:
        """Do what was submitted, then end; a metric that is still busy after some seconds is left alone."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(seconds)

    def _put(self, *works: Work) -> None:
        with self._changed:
            for work in works:
                self._waiting.setdefault(work.kind, deque()).append(work)
            self._changed.notify()

    def _run(self) -> None:
        while group := self._next_group():
            try:
                _advance(group)
            except Exception as error:  # whatever a metric of others raises, the thread goes on
                for work in group:
                    work.fail(error)
            self._put(*(work for work in group if not work.is_over))

    def _next_group(self) -> list[Work]:
        """Work of one kind for one call; none at the end. What exceeds the call keeps its place in the line."""
        with self._changed:
            while True:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if not self._waiting:
                    return []
                kind, line = self._waiting.popitem(last=False)
                group, segments = [], 0
                while line and segments < _TURNS_TOGETHER * line[0].turn:
                    work = line.popleft()
                    if not work.is_over:  # its client may have gone
                        group.append(work)
                        segments += min(work.turn, len(work.hypotheses))
                if line:
                    self._waiting[kind] = line
                if group:
                    return group


def _advance(group: Sequence[Work]) -> None:
    """One turn of each; an error reaches only the client whose text it is about."""
    try:
        chunks = [work.next_chunk() for work in group]
        parts = group[0].compute(group[0].fitted, chunks)
    except Exception as error:
        if len(group) == 1:
            group[0].fail(group[0].named_error(error))
        else:
            for work in group:
                _advance([work])
        return
    for work, chunk, part in zip(group, chunks, parts, strict=True):
        work.advance(part, chunk.segments)
