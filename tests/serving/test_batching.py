"""Batches of many clients: the same bits as alone, turns, what is not done, errors that reach only their own client."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import CancelledError
from typing import Any

import numpy as np
import pytest

from tesla_eval.base.errors import InputError
from tesla_eval.base.records import Signature
from tesla_eval.metrics import Metric, SegmentScores, create_metric
from tesla_eval.metrics.scoring import NamedMetric
from tesla_eval.serving.batching import Batcher, Explaining, Scoring, TooLargeError


class Recorded(Metric):
    """Scores a text by its length, keeps the sizes of its batches, and waits until it may go on."""

    id = "recorded"

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds  # for each segment
        self._sizes: list[int] = []
        self._begun, self._may_go_on = threading.Event(), threading.Event()

    def get_signature(self) -> Signature:
        return Signature({"metric": "recorded"})

    def score_segments(self, hypotheses, references) -> SegmentScores:
        self._sizes.append(len(hypotheses))
        self._begun.set()
        assert self._may_go_on.wait(10)
        time.sleep(self._seconds * len(hypotheses))
        if "refused" in hypotheses:
            raise InputError("no such text")
        if "broken" in hypotheses:
            raise RuntimeError("broken")
        return SegmentScores(
            np.array([float(len(text)) for text in hypotheses]), np.zeros((len(hypotheses), 0))
        )


@pytest.fixture
def batcher():
    batcher = Batcher()
    yield batcher
    batcher.close()


def scoring(metric: Metric, texts: list[str], kind: type = Scoring, **limits: Any) -> Any:
    return kind(NamedMetric(metric.id, metric), texts, [texts], **limits)


def score_of(future: Any) -> float:
    return json.loads(future.result(10))["score"]


def wait_for(condition: Any) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


@pytest.mark.parametrize("name", ["m", "x", "celab", "bleu", "nist", "chrf++", "s"])
@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_many_clients_get_the_bits_of_corpus_score(real_pairs, name: str, jobs: int, step: int) -> None:
    metric, batcher = create_metric(name, "en"), Batcher(jobs)
    requests = []
    for k in range(2, 30, step):
        hypotheses, references = (list(side) for side in zip(*real_pairs[k : k + 7 * k], strict=True))
        ragged = [text if i % 3 else None for i, text in enumerate(reversed(hypotheses))]
        requests.append((hypotheses, [references, ragged] if k % 2 else [references]))
    futures = [batcher.submit(Scoring(NamedMetric(metric.id, metric), *request)) for request in requests]
    for request, future in zip(requests, futures, strict=True):
        assert json.loads(future.result()) == metric.corpus_score(*request).to_dict()
    batcher.close()


def test_what_waits_is_scored_together(batcher) -> None:
    metric = Recorded()
    running = []
    for busy in (1, 2):  # a thread for everything, and one for what is soon done
        running.append(batcher.submit(scoring(metric, ["ab"])))
        wait_for(lambda busy=busy: len(metric._sizes) == busy)
    waiting = [batcher.submit(scoring(metric, [f"small {k}"])) for k in range(5)]
    metric._may_go_on.set()
    assert [score_of(future) for future in [*running, *waiting]] == [2.0, 2.0, *[7.0] * 5]
    assert metric._sizes == [1, 1, 5]


def test_small_requests_do_not_wait_for_large_ones(batcher) -> None:
    slow, fast = Recorded(), Recorded()
    fast._may_go_on.set()
    large = batcher.submit(scoring(slow, ["large"] * 1000))
    assert slow._begun.wait(10)
    assert score_of(batcher.submit(scoring(fast, ["ab"]))) == 2.0 and not large.done()
    slow._may_go_on.set()
    assert score_of(large) == 5.0


def test_large_requests_take_turns_of_a_tenth_of_a_second(batcher) -> None:
    metric = Recorded(seconds=0.001)
    metric._may_go_on.set()
    ended: list[str] = []
    for name, segments in (("large", 1500), ("medium", 300)):
        future = batcher.submit(scoring(metric, ["a"] * segments))
        future.add_done_callback(lambda _, name=name: ended.append(name))
    wait_for(lambda: len(ended) == 2)
    assert ended == ["medium", "large"]
    assert sum(metric._sizes) == 1800 and max(metric._sizes) < 300  # 100, if the clock were exact


@pytest.mark.parametrize(("text", "error", "message"), [
    ("refused", InputError, "^segment 301: no such text$"), ("broken", RuntimeError, "^broken$"),
])  # fmt: skip
def test_an_error_reaches_only_its_client_and_names_the_segment(batcher, text, error, message) -> None:
    metric = Recorded()
    futures = [batcher.submit(scoring(metric, ["ab"] * 300 + last)) for last in ([], [text], ["ab"])]
    metric._may_go_on.set()
    with pytest.raises(error, match=message):
        futures[1].result()
    assert score_of(futures[0]) == score_of(futures[2]) == 2.0


def test_the_work_of_a_client_that_has_gone_is_not_done(batcher) -> None:
    metric = Recorded()
    running = batcher.submit(scoring(metric, ["a"] * 1000))
    assert metric._begun.wait(10)
    waiting = batcher.submit(scoring(metric, ["a"] * 1000))
    assert running.cancel() and waiting.cancel()
    metric._may_go_on.set()
    assert score_of(batcher.submit(scoring(metric, ["abc"]))) == 3.0
    assert len(metric._sizes) == 2 and metric._sizes[0] < 1000
    with pytest.raises(CancelledError):
        running.result()


def test_explanations_come_in_turns_and_in_order(batcher) -> None:
    metric = create_metric("m", "en")
    texts = [f"The cat number {k} sat." for k in range(10)]
    answer = json.loads(batcher.submit(scoring(metric, texts, Explaining)).result())
    assert answer["explanations"] == [metric.explain(text, [text]).to_dict() for text in texts]


@pytest.mark.parametrize(("hypothesis", "references"), [
    ("a " * 10_000, ["a b " * 5000] * 200), ("the cat sat " * 9, [f"a cat sat on {k} " * 9 for k in range(3000)]),
], ids=["one-long-reference", "many-references"])  # fmt: skip
def test_an_explanation_that_nobody_waits_for_ends_at_once(hypothesis: str, references: list[str]) -> None:
    """Within a tenth of a second inside the core, and before it begins another reference."""
    metric, batcher = create_metric("x", "en"), Batcher()
    metric.explain("a cat", ["the cat"])  # loads
    work = Explaining(NamedMetric("tesla-x", metric), [hypothesis], [[text] for text in references])
    future = batcher.submit(work)
    time.sleep(0.3)
    assert future.cancel()
    start = time.monotonic()
    batcher.close(10)
    assert time.monotonic() - start < 1


def test_a_segment_that_takes_too_long_is_refused_and_others_are_not(batcher, monkeypatch) -> None:
    monkeypatch.setattr("tesla_eval.serving.batching._MOST_SECONDS", 0.5)
    metric = create_metric("rougelsum", "en")
    lines = "a\n" * 20_000  # each with each
    message = "^segment 3 takes rougelsum longer than 0.5 seconds$"
    with pytest.raises(TooLargeError, match=message):
        batcher.submit(scoring(metric, ["a b", "a c", lines, "a d"])).result(20)
    assert score_of(batcher.submit(scoring(metric, ["a b"] * 100))) == 1.0


def test_results_that_are_too_long_are_refused(batcher) -> None:
    metric = create_metric("m", "en")
    texts = [f"The cat number {k} sat." for k in range(10)]
    assert batcher.submit(scoring(metric, texts, longest=1000)).result()
    with pytest.raises(TooLargeError, match="tesla-m have more than 1000 characters: split the request"):
        batcher.submit(scoring(metric, texts, Explaining, longest=1000)).result()


def test_what_depends_on_all_references_reads_so_many_and_no_more(batcher) -> None:
    texts = ["The cat sat. " * 1000] * 24
    with pytest.raises(
        TooLargeError, match="nist reads all references first: at most 300000 characters, not 312000"
    ):
        batcher.submit(scoring(create_metric("nist", "en"), texts)).result()


def test_closing_does_what_was_submitted() -> None:
    metric, batcher = Recorded(), Batcher()
    futures = [batcher.submit(scoring(metric, ["ab"] * 700)) for _ in range(3)]
    metric._may_go_on.set()
    batcher.close()
    assert [score_of(future) for future in futures] == [2.0] * 3
