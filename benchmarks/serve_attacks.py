"""`tesla serve --http` under attack: `python -m benchmarks serve_attacks [--minutes 10] [ATTACK ...]`.

Beside each attack 50 polite clients send one small request a second each, half of them on connections that they keep.
The table shows how late their answers are, how many are wrong or missing, and the server's memory; its first row is
without an attack. Everything stays on 127.0.0.1 and ends with the benchmark.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from statistics import quantiles
from typing import Any

from benchmarks.serve import CLIENTS, Client, Server, query, serving
from tesla_eval.language.analysis.languages import LANGUAGES
from tesla_eval.metrics import create_metric

LATE = 2.0  # seconds
_PAIRS = [
    (f"The {noun} sat on a mat.", f"A {noun} sat on the mat.") for noun in ("cat", "dog", "bird", "frog")
]
_WORDS = ("the", "cat", "sat", "on", "a", "mat", "dog", "runs", "fast", "near", "big", "old", "house")
_LETTERS = "abcdefghijklmnopqrstuvwxyz     "
_random = random.Random(1)


@dataclass
class Tally:
    """What the polite clients see."""

    seconds: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    reconnected: int = 0


def be_polite(server: Server, end: float) -> Tally:
    """50 clients until this moment; every answer is compared with what the metric says."""
    tally, metric = Tally(), create_metric("m", "en")
    cases = [(json.dumps(query([pair], ["m"], "en")).encode(), metric.sentence_score(pair[0], [pair[1]]).score)
             for pair in _PAIRS]  # fmt: skip

    def one_client(number: int) -> None:
        rng, client = random.Random(number), None
        due = time.monotonic() + rng.random()
        while due < end:
            time.sleep(max(0.0, due - time.monotonic()))
            body, expected = rng.choice(cases)
            start = time.perf_counter()
            try:
                answer = _asked(client, body, tally) if client else None
                client = client if answer else Client(server)
                answer = answer or client.score(body)
                if answer["results"][0]["score"] != expected:
                    tally.problems.append("another score")
            except (OSError, RuntimeError, http.client.HTTPException) as error:
                tally.problems.append(repr(error))
            tally.seconds.append(time.perf_counter() - start)
            client = client if number % 2 else None
            due = max(due + 1, time.monotonic())

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(one_client, range(CLIENTS)))
    return tally


def _asked(client: Client, body: bytes, tally: Tally) -> Any:
    """The answer on a connection that was kept; None if the server has closed it, for which clients must be ready."""
    try:
        return client.score(body)
    except (OSError, http.client.HTTPException):
        tally.reconnected += 1
        return None


# The attacks. Each is called again and again, by some threads of a process of its own.


def _connected(port: int, seconds: float = 60.0, **options: int) -> socket.socket:
    client = socket.socket()
    client.settimeout(seconds)
    for name, value in options.items():
        client.setsockopt(socket.SOL_SOCKET, getattr(socket, name), value)
    client.connect(("127.0.0.1", port))
    return client


def _send(port: int, *contents: bytes, seconds: float = 60.0) -> None:
    """Each on a connection of its own, whose answer is read."""
    for content in contents:
        with suppress(OSError), _connected(port, seconds) as client:
            client.sendall(content)
            while client.recv(1 << 16):
                pass


def _head(length: int, path: str = "/score", connection: str = "keep-alive") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}"
    return f"{head}\r\nConnection: {connection}\r\n\r\n".encode()


def _post(path: str, body: bytes) -> bytes:
    return _head(len(body), path, "close") + body


def _asking(path: str, hypotheses: Sequence[str], *references: Sequence[str], **more: Any) -> bytes:
    document = {"hypotheses": hypotheses, "references": references, "lang": "en", **more}
    return _post(path, json.dumps(document, separators=(",", ":")).encode())


def _text(characters: int) -> str:
    return " ".join(_random.choices(_WORDS, k=characters))[:characters]


@cache
def _references() -> list[bytes]:
    """8 MB of references: as many and as long as they may be, and more."""
    long = [[_text(20_000)] for _ in range(380)]
    slow = {"metrics": ["x", "ter-char", "maxsim", "nist"]}
    return [
        _asking("/score", ["a cat"], *long, metrics=["m", "x", "bleu"]),
        _asking("/score", ["a"], *[["a"]] * 1_900_000, metrics=["m"]),
        _asking("/score", [_text(900)] * 80, *[[_text(90)] * 80 for _ in range(100)], **slow),
        _asking("/score", [_text(20_000)] * 99, *[[_text(19_900)] * 99 for _ in range(2)], **slow),
    ]


@cache
def _explanations() -> list[bytes]:
    """Explanations of 8 MB of references, and of as much as is allowed."""
    return [
        _asking("/explain", ["x"], *[["漢" * 19_999]] * 65, metrics=["m", "x"]),
        _asking(
            "/explain", ["a " * 2400] * 100, ["a b " * 1200] * 100, metrics=["x", "b", "m"], drawing=True
        ),
        _asking("/explain", [_text(50)] * 100, *[[_text(50)] * 100] * 99, metrics=["f", "celab", "s"]),
    ]


@cache
def _metrics() -> list[bytes]:
    """Two million names of metrics."""
    return [_asking("/score", ["a"], ["a"], metrics=["m"] * 1_900_000)]


@cache
def _segments() -> list[bytes]:
    """8 MB that the server accepts, under metrics that take long."""
    texts = [_text(2000) for _ in range(1300)]
    names = ["x", "ter-char", "maxsim", "rougelsum", "chrf++", "s-source"]
    return [_asking("/score", texts, texts[::-1], metrics=names, sources=texts)]


@cache
def _sentences() -> list[bytes]:
    """Texts of ten thousand lines or sentences, which some metrics compare each with each."""
    lines, sentences = (["a\n" * 10_000], ["b\n" * 10_000]), (["A cat. " * 2800], ["The cat. " * 2200])
    names = ["rougelsum", "rougelsum-recall", "s-source", "s-x", "ter-char"]
    return [_asking("/score", *texts, sources=texts[1], metrics=names) for texts in (lines, sentences)]


@cache
def _json() -> list[bytes]:
    """8 MB that are slow to read, as JSON goes."""
    units = (b"[[[]]],", b"{},", b"1.5,", b'"",', b"[],", b"null,")
    lists = [unit * (8_300_000 // len(unit)) + unit[:-1] for unit in units]
    return [
        *(_post("/score", b'{"lang":"en","%b":[%b]}' % (name, items))
          for items in lists for name in (b"hypotheses", b"references")),
        _post("/score", b"{%b}" % b",".join(b'"%x":1' % k for k in range(700_000))),
    ]  # fmt: skip


@cache
def _dear() -> list[bytes]:
    """Small requests under the metrics that take longest."""
    texts = [_text(400) for _ in range(10)]
    names = ("s-source", "pem-x", "dicomer", "f", "nist-char")
    return [
        *(_asking("/score", texts, texts[::-1], sources=texts, metrics=[name]) for name in names),
        *(
            _asking("/explain", texts[:1], texts[1:2], sources=texts[2:3], metrics=[name])
            for name in names[:-1]
        ),
    ]


def _chunks() -> bytes:
    """A body in chunks of a byte."""
    head = _head(0, connection="close").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
    return head + b"1\r\n \r\n" * 4_000_000 + b"0\r\n\r\n"


def _pour(port: int, begin: bytes, more: bytes) -> None:
    """A gigabyte after the beginning of a request."""
    with _connected(port) as client:
        client.sendall(begin)
        for _ in range(1000):
            client.sendall(more)


def _crowd(port: int, size: int, begin: bytes, drip: bytes, seconds: float = 20.0) -> None:
    clients = []
    for _ in range(size):
        with suppress(OSError):
            clients.append(_connected(port, 1))
            clients[-1].sendall(begin)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(1)
        for client in clients:
            with suppress(OSError):
                client.sendall(drip)
    for client in clients:
        client.close()


def _leave(port: int) -> None:
    """Clients who leave while they send, or before they have read the answer."""
    content = _segments()[0]
    for end in (len(content), len(content) // 2, 40):
        with _connected(port) as client:
            client.sendall(content[:end])


def _connect(port: int) -> None:
    """New connections as fast as they can be made."""
    kept = []
    for _ in range(400):
        with suppress(OSError):
            kept.append(_connected(port, 1))
    for client in kept:
        client.close()


def _all_languages(port: int) -> None:
    """Every metric in every language."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/metrics")
    names = [one["name"] for one in json.loads(connection.getresponse().read())["metrics"]]
    for name in _random.sample(names, len(names)):
        for lang in _random.sample(sorted(LANGUAGES), 8):
            _send(
                port, _asking("/score", ["a cat"], ["the cat"], sources=["cats"], metrics=[name], lang=lang)
            )


def _read_late(port: int) -> None:
    """Large answers that nobody reads."""
    clients = []
    for _ in range(20):
        with suppress(OSError):
            clients.append(_connected(port, 5, SO_RCVBUF=4096))
            clients[-1].sendall(_asking("/score", ["a"] * 100_000, ["a"] * 100_000, metrics=["bleu"]))
    time.sleep(10)
    for client in clients:
        client.close()


def _new_words(port: int) -> None:
    """Words that nobody has seen."""
    texts = ["".join(_random.choices(_LETTERS, k=200)) for _ in range(5000)]
    _send(port, _asking("/score", texts, texts[::-1], metrics=["m", "celab", "bleu", "nist"]))


def _noise(port: int) -> None:
    """Bytes that are hardly HTTP."""
    damaged = bytearray(_asking("/score", ["a"], ["a"], metrics=["m"]))
    for _ in range(_random.randint(1, 8)):
        damaged[_random.randrange(len(damaged))] = _random.randrange(256)
    _send(port, bytes(damaged), seconds=0.2)


_HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
ATTACKS: dict[str, tuple[int, Callable[[int], None]]] = {
    "references": (8, lambda port: _send(port, *_references())),
    "explanations": (8, lambda port: _send(port, *_explanations())),
    "metrics": (8, lambda port: _send(port, *_metrics())),
    "large heads": (8, lambda port: _pour(port, _HEAD, b"x: " + b"a" * (1 << 20) + b"\r\n")),
    "large bodies": (8, lambda port: _pour(port, _head(1 << 30, "/nothing"), b"a" * (1 << 20))),
    "slow heads": (1, lambda port: _crowd(port, 800, _HEAD, b"x")),
    "silence": (1, lambda port: _crowd(port, 1010, b"", b"")),
    "leavers": (8, _leave),
    "segments": (24, lambda port: _send(port, *_segments())),
    "sentences": (8, lambda port: _send(port, *_sentences())),
    "chunks": (4, lambda port: _send(port, _chunks())),
    "json": (8, lambda port: _send(port, *_json())),
    "slow bodies": (1, lambda port: _crowd(port, 1010, _head(9999), b"x")),
    "connections": (4, _connect),
    "languages": (8, _all_languages),
    "pipelines": (4, lambda port: _send(port, (_HEAD + b"\r\n") * 20_000, seconds=2)),
    "late readers": (2, _read_late),
    "dear": (32, lambda port: _send(port, *_dear())),
    "new words": (4, _new_words),
    "noise": (4, _noise),
}
"""By name: so many threads, and what they do."""


def attack(name: str, port: int, seconds: float) -> None:
    """Attack a server of this machine for a while."""
    threads, act = ATTACKS[name]
    end = time.monotonic() + seconds

    def again() -> None:
        while time.monotonic() < end:
            try:
                act(port)
            except (OSError, http.client.HTTPException, ValueError):
                time.sleep(0.05)

    for _ in range(threads):
        threading.Thread(target=again, daemon=True).start()
    time.sleep(seconds)


def measure(name: str, minutes: float) -> str:
    """One row of the table: polite clients beside an attack, or beside none."""
    said: list[str] = []
    memory = [0]
    with serving() as server:
        threading.Thread(target=lambda: said.extend(server.process.stderr or ()), daemon=True).start()
        be_polite(server, time.monotonic() + 2)  # loads the models
        end = time.monotonic() + 60 * minutes
        command = [
            sys.executable,
            "-m",
            "benchmarks.serve_attacks",
            "--attack",
            name,
            str(server.port),
            str(60 * minutes),
        ]
        attacker = None if name == "none" else subprocess.Popen(command)

        def watch() -> None:
            while time.monotonic() < end:
                with suppress(OSError, IndexError):
                    memory.append(server.megabytes)
                time.sleep(0.2)

        threading.Thread(target=watch).start()
        try:
            tally = be_polite(server, end)
        finally:
            if attacker is not None:
                attacker.kill()
                attacker.wait()
    for problem in [*sorted(set(tally.problems))[:3], *said[:3]]:
        print(f"   {problem.rstrip()}")
    marks = quantiles(tally.seconds, n=100)
    late = sum(seconds > LATE for seconds in tally.seconds)
    numbers = (len(tally.seconds), len(tally.problems), tally.reconnected, late)
    seconds = f"{marks[49]:.3f} | {marks[98]:.3f} | {max(tally.seconds):.3f}"
    load = os.getloadavg()[0]
    return (
        f"| {name} | {' | '.join(map(str, numbers))} | {seconds} | {max(memory)} | {len(said)} | {load:.1f} |"
    )


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks serve_attacks", description=__doc__)
    parser.add_argument(
        "attacks", nargs="*", metavar="ATTACK", help=f"none, {', '.join(ATTACKS)}; default: all"
    )
    parser.add_argument("--minutes", type=float, default=0.5, help="for each attack (default %(default)s)")
    options = parser.parse_args(list(arguments))
    if unknown := set(options.attacks) - {"none", *ATTACKS}:
        parser.error(f"no attack is called {', '.join(sorted(unknown))}")
    print(
        f"{CLIENTS} clients, {options.minutes:g} minutes for each attack; times are seconds from request to answer"
    )
    columns = ("attack", "answers", "wrong or refused", "reconnected", "later than 2 s", "p50", "p99", "worst", "MB",
               "lines in the log", "load")  # fmt: skip
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for name in options.attacks or ["none", *ATTACKS]:
        print(measure(name, options.minutes), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--attack"]:
        attack(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
    else:
        main(sys.argv[1:])
