"""Scores for many clients: segments that wait are scored together, and large requests take turns with small ones.

Nobody waits for a batch to fill up: while one batch is scored, the next one gathers. A turn takes about a tenth of a
second, by the pace of the turns before it. What is soon done does not wait in the same line as what takes long.
"""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from bisect import bisect
from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import accumulate, chain
from time import perf_counter, sleep
from typing import Any, NamedTuple

import numpy as np

from tesla_eval._core import StopToken
from tesla_eval.base.arrays import Index
from tesla_eval.base.errors import InputError, SegmentError, TeslaError
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.results import Explanation, SegmentScores, json_number
from tesla_eval.metrics.scoring import Chunk, NamedMetric, score_texts
from tesla_eval.metrics.segments import References

_SECONDS_OF_A_TURN, _MOST_SECONDS = 0.1, 5.0
_FIRST_PACE = 40_000.0  # characters per second, until it is measured
_MOST_TOGETHER = 1 << 16  # characters, however fast the metric is
_COST_OF_A_PAIR = 32  # characters: what a comparison costs beside its texts
_SOON, _LATER = 0.01, 0.1
"""Seconds: work that takes less has a line of its own."""
_MOST_FOR_ALL = 300_000  # characters of references that a metric which depends on all of them reads


class TooLargeError(TeslaError):
    """A request that takes more than a client may ask for; the message says what to do."""


def costs_of_segments(hypotheses: Sequence[str], references: References) -> Index:
    """The characters that each segment gives a metric to compare: a hypothesis counts once per reference.

    >>> costs_of_segments(["abc", "a"], [["ab", "a"], ["c", None]]).tolist()
    [73, 67]
    """
    costs = (_lengths(hypotheses) + _COST_OF_A_PAIR) * max(1, len(references))
    for stream in references:
        costs += _lengths(stream)
    return costs


def _lengths(texts: Sequence[str | None]) -> Index:
    return np.fromiter((len(text or "") for text in texts), np.int64, len(texts))


class Work(ABC):
    """The segments of one request under one metric; `future` gets the JSON of the result and may be cancelled."""

    def __init__(
        self,
        metric: NamedMetric,
        hypotheses: Sequence[str],
        references: References,
        sources: Sequence[str] | None = None,
        costs: Index | None = None,
        *,
        drawing: bool = False,
        longest: int | None = None,
    ) -> None:
        self.name, self.metric = metric
        self.fitted = self.metric
        self.hypotheses, self.references, self.sources = hypotheses, references, sources
        self.future: Future[str] = Future()
        costs = costs_of_segments(hypotheses, references) if costs is None else costs
        self._costs: Index = np.concatenate([[0], np.cumsum(costs)])  # of all segments before each
        self._drawing, self._longest = drawing, longest
        self._done = self._end = 0
        self._parts: list[str] = []
        self._size = 0

    @property
    def kind(self) -> tuple[object, ...]:
        """Work of one kind can be done in one call. What depends on all references is fitted to them, one at a time."""
        if self.metric.corpus_wide:
            return type(self), None
        return type(self), self.metric, len(self.references), self.sources is None

    @property
    def pace_key(self) -> tuple[object, ...]:
        """Work of one pace: so many characters take about the same time."""
        return type(self), self.name, self.metric.lang

    @property
    def cost(self) -> int:
        """The characters that are left to compare."""
        return int(self._costs[-1] - self._costs[self._done])

    @property
    def has_begun(self) -> bool:
        """Whether a turn is done."""
        return self._done > 0

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        return self._done >= len(self.hypotheses) or self.future.done()

    def take_turn(self, room: float) -> int:
        """Plan a turn: at least one segment, and more while they fit into the room. Returns what they cost."""
        fitting = int(np.searchsorted(self._costs, self._costs[self._done] + room, "right")) - 1
        self._end = max(self._done + 1, fitting)
        return int(self._costs[self._end] - self._costs[self._done])

    def next_chunk(self) -> Chunk:
        """The segments of the next turn."""
        span = slice(self._done, self._end)
        streams = [stream[span] for stream in self.references]
        return Chunk([self.hypotheses[span]], streams, None if self.sources is None else self.sources[span])

    def advance(self, part: Any) -> None:
        """Take in the result of a turn; the last one completes the future."""
        text = self._written(part)
        self._parts.append(text)
        self._size += len(text)
        if self._longest is not None and self._size > self._longest:
            raise TooLargeError(
                f"the results of {self.name} have more than {self._longest} characters: split the request"
            )
        self._done = self._end
        if self._done == len(self.hypotheses):
            result = self._result(",".join(self._parts))
            if self.future.set_running_or_notify_cancel():
                self.future.set_result(result)

    def fail(self, error: Exception) -> None:
        """Give the client an error instead of a result."""
        if isinstance(error, TeslaError):
            error.__traceback__ = None  # part of a cycle, and all texts of the request with it
        if not self.future.done() and self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)

    def fail_if_single(self) -> None:
        """Give up if the turn that took too long had only one segment; else it is tried again with less."""
        if self._end == self._done + 1:
            self.fail(
                TooLargeError(f"segment {self._end} takes {self.name} longer than {_MOST_SECONDS:g} seconds")
            )

    def named_error(self, error: Exception) -> Exception:
        """The error with the segment whose text is refused."""
        return error.moved(self._done + error.segment) if isinstance(error, SegmentError) else error

    @abstractmethod
    def compute(self, chunks: Sequence[Chunk]) -> list[Any]:
        """The result of each chunk, of this work and of others of its kind."""

    @abstractmethod
    def _written(self, part: Any) -> str:
        """The items of a turn as JSON; written here, since a whole answer would keep all other threads waiting."""

    @abstractmethod
    def _result(self, items: str) -> str:
        """The JSON of the whole result."""


class Scoring(Work):
    """Gives what `to_dict` gives of the metric's `corpus_score`."""

    def next_chunk(self) -> Chunk:
        """The segments of the next turn; a metric that depends on all references reads them before the first."""
        if self._done == 0:
            self._fit()
            self._total = self.fitted.new_total()
        return super().next_chunk()

    def _fit(self) -> None:
        if self.metric.corpus_wide:
            length = sum(int(_lengths(stream).sum()) for stream in self.references)
            if length > _MOST_FOR_ALL:
                raise TooLargeError(
                    f"{self.name} reads all references first: at most {_MOST_FOR_ALL} characters, not {length}"
                )
            self.fitted = self.metric.for_corpus(self.references)

    def compute(self, chunks: Sequence[Chunk]) -> list[SegmentScores]:
        """The scores of each chunk; all are scored in one call."""
        if len(chunks) == 1:
            return [score_texts(self.fitted, chunks[0])]
        streams = zip(*(chunk.references for chunk in chunks), strict=True)
        has_sources = chunks[0].sources is not None
        together = Chunk(
            [[text for chunk in chunks for text in chunk.systems[0]]],
            [list(chain.from_iterable(parts)) for parts in streams],
            [text for chunk in chunks for text in chunk.sources or ()] if has_sources else None,
        )
        scored = score_texts(self.fitted, together)
        ends = list(accumulate(chunk.segments for chunk in chunks))
        return [scored.part(slice(start, end)) for start, end in zip([0, *ends], ends, strict=False)]

    def _written(self, part: SegmentScores) -> str:
        self._total.add(part)
        return json.dumps([json_number(score) for score in part.scores.tolist()], separators=(",", ":"))[1:-1]

    def _result(self, items: str) -> str:
        signature = str(self.fitted.result_signature(self.references))
        head = {"metric": self.name, "score": json_number(self._total.score()), "signature": signature}
        return f'{json.dumps(head)[:-1]},"segments":[{items}]}}'


class Explaining(Work):
    """Gives the metric's name and one explanation per segment, with what the page draws of it if it is to be drawn."""

    @property
    def kind(self) -> tuple[object, ...]:
        """Nothing is won by explaining several requests in one call."""
        return type(self), self

    def compute(self, chunks: Sequence[Chunk]) -> list[list[Explanation]]:
        """The explanations of each chunk."""
        return [list(_explanations(self.metric, chunk)) for chunk in chunks]

    def _written(self, part: Sequence[Explanation]) -> str:
        return ",".join(map(self._document, part))

    def _document(self, explanation: Explanation) -> str:
        document = explanation.to_dict()
        if self._drawing:  # what the script of the page draws
            document["drawing"] = explanation.drawn_data()
        return json.dumps(document, separators=(",", ":"))

    def _result(self, items: str) -> str:
        return f'{{"metric":{json.dumps(self.name)},"explanations":[{items}]}}'


def _explanations(metric: Metric, chunk: Chunk) -> Iterator[Explanation]:
    sources: Sequence[str | None] = chunk.sources or [None] * chunk.segments
    segments = zip(sources, *chunk.systems, *chunk.references, strict=True)
    for number, (source, hypothesis, *given) in enumerate(segments):
        assert hypothesis is not None
        try:
            yield metric.explain(hypothesis, [text for text in given if text is not None], source)
        except InputError as reason:
            raise SegmentError(reason, number) from None


_Line = OrderedDict[tuple[object, ...], deque[Work]]
"""What waits, by kind."""


class _Turn(NamedTuple):
    """What is done in one call."""

    futures: Sequence[Future[str]]
    token: StopToken
    """Ends it."""
    began: float


class Batcher:
    """Threads that do the work of many clients, in turns; one thread more does nothing but what ends in one turn.

    >>> from tesla_eval.metrics import create_metric
    >>> metric, batcher = NamedMetric("tesla-m", create_metric("m", "en")), Batcher()
    >>> scored = batcher.submit(Scoring(metric, ["The cats sat."], [["The cat sat."]]))
    >>> json.loads(scored.result())["score"] == metric.metric.sentence_score("The cats sat.", ["The cat sat."]).score
    True
    >>> batcher.close()
    """

    def __init__(self, jobs: int = 1) -> None:
        self._lines: list[_Line] = [OrderedDict() for _ in range(3)]  # done soon, later, in many turns
        self._changed = threading.Condition()
        self._closed = False
        self._paces: dict[tuple[object, ...], float] = {}
        self._untold = StopToken()
        self._running: dict[Future[str], _Turn] = {}
        self._threads = [
            threading.Thread(target=self._run, args=(deque(lines),), daemon=True)
            for lines in [*[self._lines] * jobs, self._lines[:2]]
        ]
        self._threads.append(threading.Thread(target=self._stop_long_turns, daemon=True))
        for thread in self._threads:
            thread.start()

    def submit(self, work: Work) -> Future[str]:
        """Have it done as soon as its turn comes."""
        work.future.add_done_callback(self._stop_if_unwanted)
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
                line = self._lines[bisect((_SOON, _LATER), work.cost / self._pace(work))]
                waiting = line.setdefault(work.kind, deque())
                if work.metric.corpus_wide and work.has_begun:  # what it has read takes memory
                    waiting.appendleft(work)
                else:
                    waiting.append(work)
            self._changed.notify_all()

    def _pace(self, work: Work) -> float:
        return self._paces.get(work.pace_key, _FIRST_PACE)

    def _run(self, lines: deque[_Line]) -> None:
        while group := self._next_group(lines):
            works = [work for work, _ in group]
            started, weight = perf_counter(), 0.5
            try:
                with self._stopping(works):
                    _advance(works)
            except KeyboardInterrupt:  # it takes too long, or nobody waits for it any more
                weight = 0.0 if all(work.future.done() for work in works) else 1.0
                if len(works) == 1:
                    works[0].fail_if_single()
            except Exception as error:  # whatever a metric of others raises, the thread goes on
                for work in works:
                    work.fail(error)
            pace = sum(cost for _, cost in group) / max(perf_counter() - started, 1e-6)
            self._paces[works[0].pace_key] = weight * pace + (1 - weight) * self._pace(works[0])
            self._put(*(work for work in works if not work.is_over))

    @contextmanager
    def _stopping(self, works: Sequence[Work]) -> Iterator[None]:
        """The core's work on these ends within a tenth of a second after the last of their clients has gone."""
        self._untold.watch()  # a token that is made while another one is watched ends with that one
        turn = _Turn([work.future for work in works], StopToken(), perf_counter())
        turn.token.watch()
        self._running.update(dict.fromkeys(turn.futures, turn))
        try:
            yield
        finally:
            for future in turn.futures:
                del self._running[future]

    def _stop_if_unwanted(self, future: Future[str]) -> None:
        turn = self._running.get(future)
        if turn is not None and all(one.done() for one in turn.futures):
            turn.token.stop()

    def _stop_long_turns(self) -> None:
        while not self._closed:
            for turn in list(self._running.values()):
                if perf_counter() > turn.began + _MOST_SECONDS:
                    turn.token.stop()
            sleep(_SECONDS_OF_A_TURN)

    def _next_group(self, lines: deque[_Line]) -> list[tuple[Work, int]]:
        """Work of one kind for one call, with what its turn costs; none at the end. Lines and kinds take turns."""
        with self._changed:
            while True:
                self._changed.wait_for(lambda: any(lines) or self._closed)
                if not any(lines):
                    return []
                while not lines[0]:
                    lines.rotate(-1)
                line = lines[0]
                lines.rotate(-1)
                kind, waiting = line.popitem(last=False)
                group = self._take_turns(waiting)
                if waiting:
                    line[kind] = waiting
                if group:
                    return group

    def _take_turns(self, waiting: deque[Work]) -> list[tuple[Work, int]]:
        """The first of these, and others that can be ended in the same turn."""
        group: list[tuple[Work, int]] = []
        room = min(self._pace(waiting[0]) * _SECONDS_OF_A_TURN, _MOST_TOGETHER)
        while waiting and (not group or waiting[0].cost <= room):
            work = waiting.popleft()
            if not work.is_over:  # its client may have gone
                group.append((work, work.take_turn(room)))
                room = 0 if work.metric.corpus_wide else room - group[-1][1]
        return group


def _advance(group: Sequence[Work]) -> None:
    """One turn of each; an error reaches only the client whose text it is about."""
    try:
        parts = group[0].compute([work.next_chunk() for work in group])
    except Exception as error:
        if len(group) == 1:
            group[0].fail(group[0].named_error(error))
        else:
            for work in group:
                _advance([work])
        return
    for work, part in zip(group, parts, strict=True):
        try:
            work.advance(part)
        except Exception as error:
            work.fail(error)
