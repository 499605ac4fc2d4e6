"""The threaded paths, for the thread sanitizer: `python tools/checked_core.py thread -- -m tests.fuzz.threads`.

Metrics with workers, several threads of Python with one metric (new words in each, so that they all write to one
vocabulary), batch by batch and pair by pair, and lists that one thread changes while another scores them.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Callable

import numpy as np

from tesla_eval.base.errors import TeslaError
from tesla_eval.metrics import Metric, create_metric
from tests.fuzz.texts import Pair, hostile_pairs

LANGUAGES = {"m": "de", "x": "en", "b": "en", "s": "en", "celab": "zh"}
THREADS = 4


def scores(metric: Metric, pairs: list[Pair]) -> bytes:
    hypotheses, references = (list(side) for side in zip(*pairs, strict=True))
    try:
        return np.asarray(metric.score_segments(hypotheses, [references]).scores).tobytes()
    except TeslaError as error:
        return str(error).encode()


def with_workers(name: str, count: int) -> None:
    """Several workers find what one finds."""
    hypotheses, references = (list(side) for side in zip(*hostile_pairs(11, count), strict=True))
    found = set()
    for workers in (1, 2, 4):
        metric = create_metric(name, LANGUAGES[name], workers=workers)
        found.add(np.asarray(metric.corpus_score(hypotheses, [references]).segments).tobytes())
    assert len(found) == 1, f"{name}: workers change the scores"


def with_threads(name: str, count: int) -> None:
    """Threads that share a metric find what one thread finds."""
    metric = create_metric(name, LANGUAGES[name])
    parts = [hostile_pairs(100 + part, count // THREADS) for part in range(THREADS)]
    found: list[list[bytes]] = [[] for _ in range(THREADS)]

    def work(own: int) -> None:
        for step in range(THREADS):  # each part by every thread, in another order
            part = (own + step) % THREADS
            found[part].append(scores(metric, parts[part]))

    run([lambda own=own: work(own) for own in range(THREADS)])  # type: ignore[misc]
    alone = [scores(create_metric(name, LANGUAGES[name]), part) for part in parts]
    for part in range(THREADS):
        assert set(found[part]) == {alone[part]}, f"{name}: threads change the scores"


def with_pairs(name: str, count: int) -> None:
    """Threads that score the same pairs one by one find what one thread finds."""
    metric = create_metric(name, LANGUAGES[name])
    pairs = hostile_pairs(7, count // THREADS)
    found: list[set[bytes]] = [set() for _ in pairs]

    def score_alone(pair: Pair) -> bytes:
        try:
            return np.float64(metric.sentence_score(pair[0], [pair[1]]).score).tobytes()
        except TeslaError as error:
            return str(error).encode()

    def work(own: int) -> None:
        for step in range(len(pairs)):
            place = (own * len(pairs) // (2 * THREADS) + step) % len(pairs)
            found[place].add(score_alone(pairs[place]))

    run([lambda own=own: work(own) for own in range(THREADS)])  # type: ignore[misc]
    for pair, alone in zip(pairs, found, strict=True):
        assert alone == {scores(metric, [pair])}, f"{name}: threads change the score of a pair"


def with_changing_lists(name: str, count: int) -> None:
    """A list that changes while it is scored gives scores of some of its texts, and no crash."""
    metric = create_metric(name, LANGUAGES[name])
    hypotheses, references = (list(side) for side in zip(*hostile_pairs(5, count), strict=True))
    stop = time.monotonic() + 1.0

    def change() -> None:
        while time.monotonic() < stop:
            for index in range(count):
                references[index] = hypotheses[index] = f"{index} {time.monotonic()}" * 20

    def score() -> None:
        while time.monotonic() < stop:
            metric.score_segments(hypotheses, [references])

    run([change, score, score])


def run(works: list[Callable[[], None]]) -> None:
    """Run all at once; the first error is raised."""
    errors: list[BaseException] = []

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--metric", default=",".join(LANGUAGES), help="names, separated by commas")
    parser.add_argument("--count", type=int, default=400, help="pairs")
    options = parser.parse_args()
    sys.setswitchinterval(1e-4)
    for name in options.metric.split(","):
        for check in (with_workers, with_threads, with_pairs, with_changing_lists):
            check(name, options.count)
        print(
            f"{name}: {options.count} pairs with workers, threads, one by one and with changing lists",
            flush=True,
        )


if __name__ == "__main__":
    main()
