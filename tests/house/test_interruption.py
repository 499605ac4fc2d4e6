"""Ctrl-C comes through within a second, whichever thread is at work; no child of a fork waits for a lost thread."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals and fork")

INTERRUPTED = """
import os, random, signal, sys, threading, time
from tesla_eval.metrics.requests import create_metric
from tesla_eval.metrics.scoring import Chunk, NamedMetric, score_systems

name, workers, segments, words = sys.argv[1], *map(int, sys.argv[2:])
draw = random.Random(1)
vocabulary = "the run walk speak take give green new old city man year day hand place week go see".split()
texts = [" ".join(draw.choices(vocabulary, k=words)) for _ in range(2 * segments)]
metric = create_metric(name, "en")
metric.score_segments(["Two words"], [["Three more words"]])
chunks = [Chunk([[texts[k]]], [[texts[-1 - k]]]) for k in range(segments)] * 100  # more than anyone waits for
signal.signal(signal.SIGINT, signal.default_int_handler)
sent = []

def interrupt():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

threading.Timer(0.5, interrupt).start()
try:
    score_systems(["a"], [NamedMetric(name, metric)], chunks, jobs=workers)
except KeyboardInterrupt:
    print(time.monotonic() - sent[0])
"""


def seconds_to_return(name: str, workers: int, segments: int, words: int) -> float:
    """How long scoring goes on after Ctrl-C; it must not end by itself."""
    command = [sys.executable, "-c", INTERRUPTED, name, *map(str, (workers, segments, words))]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    assert run.stdout, "it was quicker than we are"
    assert not run.stderr
    return float(run.stdout)


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("name", ["m", "x", "ter"])
def test_ctrl_c_ends_the_work_of_all_threads(name: str, workers: int) -> None:
    assert seconds_to_return(name, workers, 60, 1500) < 1


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("name", ["m", "ter"])
def test_ctrl_c_ends_the_work_on_one_long_text(name: str, workers: int) -> None:
    assert seconds_to_return(name, workers, 2, 8000) < 1


FORKING = """
import os, random, sys, threading, time
from tesla_eval.metrics.requests import create_metric

draw = random.Random(1)
def text():
    return " ".join(draw.choice("abcdefgh") + str(draw.randrange(10**6)) for _ in range(30))

def score(metric):
    return metric.score_segments(["A cat sat.", "It " + text()], [["The cat sat.", "It was " + text()]])

metrics = [create_metric(name, "en") for name in ("m", "x", "bleu", "ter")]
over = threading.Event()
def go_on():
    while not over.is_set():
        for metric in metrics:
            score(metric)

threads = [threading.Thread(target=go_on) for _ in range(4)]
for thread in threads:
    thread.start()
hung = 0
for number in range(int(sys.argv[1])):
    child = os.fork()
    if child == 0:
        status = 1
        try:
            for metric in metrics:
                score(metric)
            status = 0
        finally:
            os._exit(status)
    patience = time.monotonic() + 30
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > patience:
            os.kill(child, 9)
            hung += 1
            ended = os.waitpid(child, 0)
            break
        time.sleep(0.001)
    assert ended[1] in (0, 9), ended
over.set()
print(hung)
"""


@pytest.mark.parametrize("children", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_no_child_hangs_that_was_forked_while_threads_score(children: int) -> None:
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKING, str(children)],
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "0\n", "")
