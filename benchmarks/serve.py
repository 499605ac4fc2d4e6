"""`tesla serve --http` under load: `python -m benchmarks serve`; SERVE_SECONDS=600 for more than a minute.

Cost: CPU seconds of the server against those of one batch in Python, and for one pair. Load: 50 clients with requests
of mixed sizes and languages; every answer is compared with the scores of the metric, and memory is watched.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.common import cpu_seconds, ratio, wmt14_pairs
from tesla_eval.metrics import create_metric

SECONDS = float(os.environ.get("SERVE_SECONDS", "60"))
CLIENTS, ROUNDS, SINGLE = 50, 5, 1000
_TICKS = os.sysconf("SC_CLK_TCK")
_METRICS = {"en": ["m", "x"], "de": ["m"], "zh": ["celab"], "fr": ["m", "chrf++"], "ru": ["x", "bleu"]}
Pairs = Sequence[tuple[str, str]]


@dataclass
class Server:
    """A process that serves."""

    process: subprocess.Popen[str]
    port: int

    @property
    def cpu(self) -> float:
        """CPU seconds so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    @property
    def megabytes(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) >> 10


@contextmanager
def serving() -> Iterator[Server]:
    command = [sys.executable, "-m", "tesla_eval.cli", "serve", "--http", "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        yield Server(process, int(process.stderr.readline().rpartition(":")[2]))
    finally:
        process.terminate()
        process.wait()


class Client:
    """One connection that is kept open."""

    def __init__(self, server: Server) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)

    def score(self, body: bytes) -> Any:
        self._connection.request("POST", "/score", body, {"Content-Type": "application/json"})
        answer = self._connection.getresponse()
        content = json.loads(answer.read())
        if answer.status != 200:
            raise RuntimeError(f"{answer.status}: {content}")
        return content


def query(pairs: Pairs, metrics: list[str], lang: str) -> dict[str, Any]:
    hypotheses, references = zip(*pairs, strict=True)
    return {"hypotheses": hypotheses, "references": [references], "metrics": metrics, "lang": lang}


def cost() -> None:
    """CPU seconds of the server: requests of 100 segments against one batch of all, and single pairs."""
    pairs = wmt14_pairs(5000)
    metric = create_metric("m", "en")
    spent: dict[str, list[float]] = {"large": [], "batch": [], "single": []}
    with serving() as server:
        local = threading.local()

        def send(body: bytes) -> None:
            if not hasattr(local, "client"):
                local.client = Client(server)
            local.client.score(body)

        for turn in range(ROUNDS):
            rotated = [*pairs[turn:], *pairs[:turn]]  # no round meets chunks that an earlier one has analysed
            hypotheses, references = (list(side) for side in zip(*rotated, strict=True))
            large = [json.dumps(query(rotated[k : k + 100], ["m"], "en")) for k in range(0, len(pairs), 100)]
            single = [json.dumps(query([pair], ["m"], "en")) for pair in rotated[:SINGLE]]
            for name, bodies, clients in (("large", large, 8), ("single", single, 1)):
                start = server.cpu
                with ThreadPoolExecutor(clients) as pool:
                    list(pool.map(send, [body.encode() for body in bodies]))
                spent[name].append(server.cpu - start)
            spent["batch"].append(cpu_seconds(partial(metric.corpus_score, hypotheses, [references])))
    # The first round loads the models on both sides.
    shown = ratio(spent["large"][1:], spent["batch"][1:])
    print(f"requests of 100 segments, TESLA-M, 8 clients: {shown} times the CPU of one batch")
    milliseconds = 1000 * median(spent["single"][1:]) / SINGLE
    print(f"one pair: {milliseconds:.2f} ms of CPU, load average {os.getloadavg()[0]:.1f}")


@dataclass
class Tally:
    """What the clients saw."""

    seconds: list[float] = field(default_factory=list)
    wrong: int = 0
    errors: list[str] = field(default_factory=list)


def load() -> None:
    """50 clients at once; every answer is compared with what the metric says."""
    cases = list(_cases())
    tally, end = Tally(), time.monotonic() + SECONDS
    memory: list[tuple[float, int]] = []
    with serving() as server:

        def one_client(seed: int) -> None:
            client, rng = Client(server), random.Random(seed)
            while time.monotonic() < end:
                body, expected = rng.choice(cases)
                start = time.perf_counter()
                try:
                    answer = client.score(body)
                except (OSError, RuntimeError, http.client.HTTPException) as error:
                    tally.errors.append(repr(error))
                    client = Client(server)
                    continue
                tally.seconds.append(time.perf_counter() - start)
                tally.wrong += answer["results"] != expected

        threads = [threading.Thread(target=one_client, args=(seed,)) for seed in range(CLIENTS)]
        start = time.monotonic()
        for thread in threads:
            thread.start()
        while time.monotonic() < end:
            time.sleep(min(5.0, SECONDS / 12))
            memory.append((time.monotonic() - start, server.megabytes))
        for thread in threads:
            thread.join()
        cpu = server.cpu
    marks = quantiles(tally.seconds, n=100)
    print(f"{CLIENTS} clients, {SECONDS:.0f} s: {len(tally.seconds)} answers, {len(tally.errors)} errors")
    print(
        f"{tally.wrong} answers differ; p50 {1000 * marks[49]:.0f} ms, p99 {1000 * marks[98]:.0f} ms; CPU {cpu:.0f} s"
    )
    print(
        ", ".join(
            f"{megabytes} MB at {moment:.0f} s" for moment, megabytes in memory[:: len(memory) // 6 or 1]
        )
    )
    for error in sorted(set(tally.errors))[:5]:
        print(error)


def _cases() -> Iterator[tuple[bytes, list[dict[str, Any]]]]:
    """Requests of 1, 10 and 100 segments in five languages, with the results that they must have."""
    rows = Path("tests/data/segments.tsv").read_text("utf-8").splitlines()[1:]
    by_language: dict[str, list[tuple[str, str]]] = {"en": wmt14_pairs(2000)}
    for lang, hypothesis, reference, _ in (row.split("\t") for row in rows):
        by_language.setdefault(lang, []).append((hypothesis, reference))
    rng = random.Random(1)
    for lang, names in _METRICS.items():
        metrics = [create_metric(name, lang) for name in names]
        for size in (1, 1, 1, 10, 10, 100):
            pairs = rng.choices(by_language[lang], k=size)
            hypotheses, references = (list(side) for side in zip(*pairs, strict=True))
            expected = [metric.corpus_score(hypotheses, [references]).to_dict() for metric in metrics]
            yield json.dumps(query(pairs, names, lang)).encode(), expected


def main() -> None:
    cost()
    load()


if __name__ == "__main__":
    main()
