"""Batches of many clients: the same bits as alone, turns, errors that reach only their own client."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError
from typing import Any

import numpy as np
import pytest

from tesla_eval.base.errors import InputError
from tesla_eval.base.records import Signature
from tesla_eval.metrics import Metric, SegmentScores, create_metric
from tesla_eval.metrics.scoring import NamedMetric
from tesla_eval.tuning.batching import Batcher, Explaining, Scoring


class Recorded(Metric):
    """Scores a text by its length, keeps the sizes of its batches, and waits until it may go on."""

    id = "recorded"

    def __init__(self) -> None:
        self._sizes: list[int] = []
        self._begun, self._may_go_on = threading.Event(), threading.Event()

    def get_signature(self) -> Signature:
        return Signature({"metric": "recorded"})

    def score_segments(self, hypotheses, references) -> SegmentScores:
        self._sizes.append(len(hypotheses))
        self._begun.set()
        assert self._may_go_on.wait(10)
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


def scoring(metric: Metric, texts: list[str], kind: type = Scoring) -> Any:
    return kind(NamedMetric(metric.id, metric), texts, [texts])


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
    futures = [batcher.submit(Scoring(NamedMetric(name, metric), *request)) for request in requests]
    for request, future in zip(requests, futures, strict=True):
        got, alone = future.result(), metric.corpus_score(*request)
        assert got.score == alone.score and got.signature == alone.signature
        np.testing.assert_array_equal(got.segments, alone.segments)
        np.testing.assert_array_equal(got.features, alone.features)
    batcher.close()


def test_what_waits_is_scored_together_and_a_large_request_lets_others_pass(batcher) -> None:
    metric = Recorded()
    large = batcher.submit(scoring(metric, ["large"] * 600))
    assert metric._begun.wait(10)
    ended: list[str] = []
    small = [batcher.submit(scoring(metric, [f"small {k}"])) for k in range(5)]
    for name, future in (("large", large), *(("small", future) for future in small)):
        future.add_done_callback(lambda _, name=name: ended.append(name))
    metric._may_go_on.set()
    assert [future.result().score for future in small] == [7.0] * 5 and large.result().score == 5.0
    assert metric._sizes == [256, 256 + 5, 88]
    assert ended == ["small"] * 5 + ["large"]


@pytest.mark.parametrize(("text", "error", "message"), [
    ("refused", InputError, "^segment 301: no such text$"), ("broken", RuntimeError, "^broken$"),
])  # fmt: skip
def test_an_error_reaches_only_its_client_and_names_the_segment(batcher, text, error, message) -> None:
    metric = Recorded()
    futures = [batcher.submit(scoring(metric, ["ab"] * 300 + last)) for last in ([], [text], ["ab"])]
    metric._may_go_on.set()
    with pytest.raises(error, match=message):
        futures[1].result()
    assert futures[0].result().score == futures[2].result().score == 2.0


def test_the_work_of_a_client_that_has_gone_is_not_done(batcher) -> None:
    metric = Recorded()
    running = batcher.submit(scoring(metric, ["a"] * 1000))
    assert metric._begun.wait(10)
    waiting = batcher.submit(scoring(metric, ["a"] * 1000))
    assert running.cancel() and waiting.cancel()
    metric._may_go_on.set()
    assert batcher.submit(scoring(metric, ["abc"])).result().score == 3.0
    assert metric._sizes == [256, 1]
    with pytest.raises(CancelledError):
        running.result()


def test_explanations_come_in_turns_and_in_order(batcher) -> None:
    metric = create_metric("m", "en")
    texts = [f"The cat number {k} sat." for k in range(10)]
    explained = batcher.submit(scoring(metric, texts, Explaining)).result()
    assert [one.to_dict() for one in explained] == [metric.explain(text, [text]).to_dict() for text in texts]


def test_closing_does_what_was_submitted() -> None:
    metric, batcher = Recorded(), Batcher()
    futures = [batcher.submit(scoring(metric, ["ab"] * 700)) for _ in range(3)]
    metric._may_go_on.set()
    batcher.close()
    assert [future.result(0).score for future in futures] == [2.0] * 3
