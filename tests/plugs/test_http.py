"""`tesla serve --http` as a process: answers, limits with their status codes, bad clients, a graceful end."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tesla_eval.metrics import create_metric
from tests.plugs.neighbours import neighbour, two_systems

neighbour("starlette")
neighbour("uvicorn")

HYPOTHESES, OTHERS, REFERENCES = two_systems()
JSON = {"Content-Type": "application/json"}
ONE = {"hypotheses": ["The cats sat."], "references": [["The cat sat."]], "metrics": ["m"], "lang": "en"}


class Server:
    """A process that serves, and its address."""

    def __init__(self, *options: str) -> None:
        command = [sys.executable, "-m", "tesla_eval", "serve", "--http", "--port", "0", *options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        said = self.process.stderr.readline()
        self.port = int(re.fullmatch(r"note: serving on http://127\.0\.0\.1:(\d+)\n", said)[1])

    def ask(self, path: str, body: Any = None, method: str = "", **headers: str) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        method = method or ("GET" if body is None else "POST")
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, content, {**JSON, **given})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text)

    def score(self, body: Any) -> Any:
        status, answer = self.ask("/score", body)
        assert status == 200, answer
        return answer

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    @property
    def memory(self) -> int:
        """Megabytes that are resident."""
        return (
            int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text())[1]) >> 10
        )

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


@contextmanager
def serving(*options: str):
    server = Server(*options)
    try:
        yield server
    finally:
        server.process.kill()
        server.process.wait()
        server.process.stderr.close()


@pytest.fixture(scope="module")
def server():
    with serving() as server:
        yield server


def request_of(names: list[str], start: int, end: int) -> dict[str, Any]:
    ragged = [text if i % 2 else None for i, text in enumerate(OTHERS[start:end])]
    return {
        "hypotheses": HYPOTHESES[start:end], "references": [REFERENCES[start:end], ragged], "metrics": names,
        "lang": "en",
    }  # fmt: skip


def test_concurrent_clients_get_every_digit_of_the_scores(server) -> None:
    names = ["m", "x", "bleu", "nist", "chrf"]
    requests = [request_of(names, k, k + 1 + 3 * k) for k in range(24)]
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(server.score, requests))
    for request, answer in zip(requests, answers, strict=True):
        for name, result in zip(names, answer["results"], strict=True):
            metric = create_metric(name, "en")
            assert result == metric.corpus_score(request["hypotheses"], request["references"]).to_dict()


def test_answers_do_not_wait_for_acknowledgements() -> None:
    from tesla_eval.tuning.http import listen

    with (
        listen("127.0.0.1", 0) as listening,
        socket.create_connection(listening.getsockname()),
        listening.accept()[0] as connection,
    ):
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_languages_are_identified_and_defaults_are_those_of_the_language(server) -> None:
    german = "Der Hund schläft unter dem Tisch, und die Katze sitzt auf dem Dach."
    answer = server.score({"hypotheses": [german], "references": [[german]]})
    assert answer["lang"] == "de" and [one["metric"] for one in answer["results"]] == ["tesla-m", "tesla-x"]
    chinese = server.score({"hypotheses": ["买伞"], "references": [["买雨伞"]], "lang": "zh"})
    assert [one["metric"] for one in chinese["results"]] == ["tesla-celab"]


def test_explanations_are_those_of_the_metric_and_hostile_text_stays_text(server) -> None:
    hostile = '<script>alert(1)</script> & "cats" <img src=x onerror=alert(1)>'
    query = {**ONE, "hypotheses": [hostile], "references": [["cats </p> sat"]], "drawing": True}
    status, answer = server.ask("/explain", query)
    (explanation,) = answer["results"][0]["explanations"]
    drawn = explanation.pop("drawing")
    assert (
        status == 200
        and explanation == create_metric("m", "en").explain(hostile, ["cats </p> sat"]).to_dict()
    )
    assert drawn["hypothesis"] == hostile  # the page's script shows it as text


@pytest.mark.parametrize(("path", "body", "status", "says"), [
    ("/score", b"{", 400, "not JSON"),
    ("/score", b"[" * 100_000, 400, "not JSON"),
    ("/score", b"\xff", 400, "not JSON"),
    ("/score", [], 422, "must be an object"),
    ("/score", {**ONE, "metric": "m"}, 422, "and no others"),
    ("/score", {}, 422, "no hypothesis"),
    ("/score", {**ONE, "hypotheses": {"a": "b"}}, 422, "lists of texts"),
    ("/score", {**ONE, "references": [{"a": "b"}]}, 422, "lists of texts"),
    ("/score", {**ONE, "references": ["The cat sat."]}, 422, "lists of texts"),
    ("/score", {**ONE, "references": [["a", "b"]]}, 422, "1 hypotheses, but reference stream 1 has 2"),
    ("/score", {**ONE, "references": [[1]]}, 422, "neither a text nor None"),
    ("/score", {**ONE, "sources": [1]}, 422, "sources"),
    ("/score", {**ONE, "metrics": ["nope"]}, 422, "no metric 'nope' here; there are m, b"),
    ("/score", {**ONE, "metrics": ["comet"]}, 422, "no metric 'comet' here"),
    ("/score", {**ONE, "metrics": ["x:weights=/etc/passwd"]}, 422, "no metric 'x:weights=/etc/passwd' here"),
    ("/score", {**ONE, "metrics": "m"}, 422, "list of names"),
    ("/score", {**ONE, "lang": "klingon"}, 422, "unknown language"),
    ("/score", {**ONE, "lang": 3}, 422, "lang must be"),
    ("/score", {**ONE, "hypotheses": ["\ud800"]}, 422, "segment 1: "),
    ("/score", {**ONE, "hypotheses": ["a" * 20_001]}, 413, "longer than 20000 characters"),
    ("/explain", {**ONE, "metrics": ["bleu"]}, 422, "cannot be explained"),
    ("/explain", {**ONE, "drawing": 1}, 422, "drawing must be"),
    ("/explain", {**ONE, "hypotheses": ["a"] * 101, "references": [["a"] * 101]}, 413, "more than 100"),
    ("/nothing", None, 404, "Not Found"), ("/score", None, 405, "Method Not Allowed"),
])  # fmt: skip
def test_what_is_refused_has_a_status_and_says_why(server, path, body, status, says) -> None:
    found, answer = server.ask(path, body)
    assert found == status and says in answer["error"]


def test_pages_of_other_origins_cannot_send_forms(server) -> None:
    assert server.ask("/score", ONE, Content_Type="text/plain")[0] == 415


def test_the_description_is_valid_and_its_examples_run(server) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    validate = pytest.importorskip("openapi_spec_validator").validate

    document = server.ask("/openapi.json")[1]
    validate(document)

    def check(answer: Any, content: Any) -> None:
        schema = {**content["application/json"]["schema"], "components": document["components"]}
        jsonschema.Draft202012Validator(schema).validate(answer)

    served = 0
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {"content": {"application/json": {}}})["content"]
            examples = content["application/json"].get("examples", {"none": {"value": None}})
            for example in examples.values():
                if method == "post":
                    check(example["value"], content)
                status, answer = server.ask(path, example["value"])
                assert status == 200, answer
                check(answer, operation["responses"]["200"]["content"])
                served += 1
    assert served == 6
    assert server.ask("/score", {})[1].keys() == {"error"}


def test_metrics_and_the_token() -> None:
    with serving("-m", "bleu:lc=yes", "-m", "m", "-l", "en", "--token", "sésame") as server:
        assert server.ask("/health")[0] == server.ask("/openapi.json")[0] == 200
        assert server.ask("/score", ONE)[0] == server.ask("/metrics")[0] == 401
        assert server.ask("/score", ONE, Authorization="Bearer sesame")[0] == 401
        known = {"Authorization": "Bearer sésame".encode().decode("latin-1")}
        status, answer = server.ask("/score", {k: v for k, v in ONE.items() if k != "metrics"}, **known)
        assert status == 200
        assert [one["metric"] for one in answer["results"]] == ["bleu:lc=yes", "tesla-m"]
        assert [one["name"] for one in server.ask("/metrics", **known)[1]["metrics"]] == ["bleu:lc=yes", "m"]
        assert server.ask("/score", {**ONE, "metrics": ["x"]}, **known)[0] == 422


def test_a_body_of_a_gigabyte_is_refused_and_not_kept(server) -> None:
    for head in (b"Content-Length: 1000000000", b"Transfer-Encoding: chunked"):
        block = b"x" * (1 << 20) if b"Length" in head else b"100000\r\n" + b"x" * (1 << 20) + b"\r\n"
        before = server.memory
        with server.connect() as client:
            client.sendall(
                b"POST /score HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n" + head + b"\r\n\r\n"
            )
            try:
                for _ in range(1000):
                    client.sendall(block)
            except OSError:
                pass  # the server has closed the connection
        assert server.memory < before + 40
        assert server.score(ONE)


def test_slow_and_dying_clients_harm_nobody() -> None:
    with serving("--timeout", "1") as server:
        texts = [f"{text} {k}" for k in range(300) for text in HYPOTHESES[:10]]
        large = json.dumps({**ONE, "hypotheses": texts, "references": [texts]}).encode()
        head = (
            b"POST /score HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        )
        clients = [server.connect() for _ in range(12)]
        for client in clients[:4]:  # gone before the answer
            client.sendall(head % len(large) + large)
            client.close()
        for client in clients[4:8]:  # never read their answer
            client.sendall(head % len(large) + large)
        for client in clients[8:]:  # never end their request
            client.sendall(head % len(large) + large[:100])
        expected = create_metric("m", "en").sentence_score("The cats sat.", ["The cat sat."]).score
        for _ in range(20):
            assert server.score(ONE)["results"][0]["score"] == expected
        time.sleep(1.2)
        assert clients[-1].recv(4096).startswith(b"HTTP/1.1 408 ")
        for client in clients[4:]:
            client.close()
        assert server.ask("/health")[1]["waiting"] == 0


def test_a_slow_reader_is_left_and_takes_no_memory() -> None:
    with serving("--timeout", "5") as server:
        query = {"hypotheses": ["a b c"] * 300_000, "references": [["a b d e"] * 300_000], "lang": "en"}
        body = json.dumps({**query, "metrics": ["bleu"]}, separators=(",", ":")).encode()
        head = (
            b"POST /score HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        )
        status, answer = server.ask("/score", body)
        assert status == 200, answer
        whole = len(json.dumps(answer, separators=(",", ":")))
        expected = create_metric("m", "en").sentence_score("The cats sat.", ["The cat sat."]).score
        memory = []
        for _ in range(2):
            clients = [socket.socket() for _ in range(3)]
            for client in clients:
                client.setsockopt(
                    socket.SOL_SOCKET, socket.SO_RCVBUF, 4096
                )  # the answer must not hide in buffers
                client.settimeout(30)
                client.connect(("127.0.0.1", server.port))
                client.sendall(head % len(body) + body)
            for _ in range(20):
                assert server.score(ONE)["results"][0]["score"] == expected
            while server.ask("/health")[1]["waiting"]:
                time.sleep(0.05)
            time.sleep(6)
            memory.append(server.memory)
            for client in clients:  # what was on its way when the time was over comes, and no more
                received = sum(len(block) for block in iter(lambda client=client: client.recv(1 << 16), b""))
                assert 0 < received < whole
                client.close()
        assert memory[1] < memory[0] + 40
        assert server.score(ONE)["results"][0]["score"] == expected


def test_a_full_queue_and_a_request_out_of_time_are_said() -> None:
    with serving("--queue", "1", "--timeout", "0.3", "-m", "x") as server:
        texts = [f"{text} {k}" for k in range(1200) for text in HYPOTHESES[:20]]
        slow = {"hypotheses": texts, "references": [texts[::-1]], "lang": "en"}
        with ThreadPoolExecutor(4) as pool:
            statuses = sorted(
                status for status, _ in pool.map(lambda _: server.ask("/score", slow), range(4))
            )
        assert set(statuses) == {503, 504}
        assert server.end() == 0  # although the metric is busy


def test_a_graceful_end_answers_what_runs() -> None:
    with serving() as server, ThreadPoolExecutor(4) as pool:
        texts = [f"{text} {k}" for k in range(200) for text in HYPOTHESES[:10]]
        query = {**ONE, "hypotheses": texts, "references": [texts[::-1]], "metrics": ["m", "x"]}
        running = [pool.submit(server.ask, "/score", query) for _ in range(4)]
        while server.ask("/health")[1]["waiting"] < 4:
            time.sleep(0.01)
        assert server.end() == 0
        assert [future.result()[0] for future in running] == [200] * 4
        with pytest.raises(OSError):
            server.connect()


def test_a_taken_port_and_a_wrong_metric_are_errors(server) -> None:
    for options, says in (
        (["--port", str(server.port)], "cannot listen on 127.0.0.1"),
        (["-m", "no"], "unknown metric"),
    ):
        ended = subprocess.run([sys.executable, "-m", "tesla_eval", "serve", "--http", *options],
                               capture_output=True, text=True, check=False)  # fmt: skip
        assert ended.returncode == 2 and says in ended.stderr
