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
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tesla_eval.metrics import create_metric
from tests.plugs.neighbours import neighbour, two_systems

neighbour("starlette")
neighbour("uvicorn")

HYPOTHESES, OTHERS, REFERENCES = two_systems()
JSON = {"Content-Type": "application/json"}
HEAD = (
    b"POST /score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
)
ONE = {"hypotheses": ["The cats sat."], "references": [["The cat sat."]], "metrics": ["m"], "lang": "en"}


class Server:
    """A process that serves, and its address."""

    def __init__(self, *options: str) -> None:
        command = [sys.executable, "-m", "tesla_eval.cli", "serve", "--http", "--port", "0", *options]
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


def read_until(client: socket.socket, end: bytes) -> bytes:
    received = b""
    while not received.endswith(end) and (block := client.recv(1 << 16)):
        received += block
    return received


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
    from tesla_eval.serving.http import listen

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
    ("/score", b'{"lang": tru}', 400, "not JSON (character 10)"),
    ("/score", b'{"lang": "en"} {}', 400, "not JSON (character 16)"),
    ("/score", b"[" * 100_000, 422, "must be an object"),
    ("/score", b"\xff", 400, "not JSON"),
    ("/score", [], 422, "must be an object"),
    ("/score", {**ONE, "metric": "m"}, 422, "and no others"),
    ("/score", {}, 422, "no hypothesis"),
    ("/score", b'{"lang": "en", "lang": "de"}', 422, "must be an object"),
    ("/score", {**ONE, "hypotheses": {"a": "b"}}, 422, "hypotheses must be a list of texts"),
    ("/score", {**ONE, "hypotheses": ["a", None], "references": []}, 422, "hypothesis 2 is missing"),
    ("/score", {**ONE, "references": [{"a": "b"}]}, 422, "lists of texts"),
    ("/score", {**ONE, "references": ["The cat sat."]}, 422, "lists of texts"),
    ("/score", {**ONE, "references": [["a", "b"]]}, 422, "1 hypotheses, but reference stream 1 has 2"),
    ("/score", {**ONE, "references": [[1]]}, 422, "list of lists of texts"),
    ("/score", {**ONE, "sources": [1]}, 422, "sources"),
    ("/score", {**ONE, "references_by_segment": 1}, 422, "references_by_segment must be true or false"),
    ("/score", {**ONE, "metrics": ["nope"]}, 422, "no metric 'nope' here; GET /metrics lists them"),
    ("/score", {**ONE, "metrics": []}, 422, "metrics must be a list of names"),
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
    ("/score/", ONE, 404, "Not Found"), ("/score", {**ONE, "metrics": ["m"] * 100}, 413, " metrics"),
    ("/score", {**ONE, "references": [["a"]] * 101}, 413, "a segment has more than 100 references"),
    ("/score", {**ONE, "references": [["a"] * 101], "references_by_segment": True}, 413, "more than 100 references"),
    ("/score", {**ONE, "references": [["a" * 20_000]] * 5}, 413, "segment 1 has more than 100000 characters"),
    ("/explain", {**ONE, "hypotheses": ["a" * 10_000]}, 413, "segment 1 has more than 10000 characters"),
    ("/score", b'{"hypotheses": [' + b"null," * 1_000_000 + b"null]}", 413, "more than 1000000 texts"),
    ("/score", b'{"hypotheses": ["a"], "references": [[' + b"],[" * 1_000_000 + b"]]}", 413, "more than 1000000 texts"),
])  # fmt: skip
def test_what_is_refused_has_a_status_and_says_why(server, path, body, status, says) -> None:
    found, answer = server.ask(path, body)
    assert found == status and says in answer["error"]


@pytest.mark.parametrize("wrong", [
    {"metrics": ["a" * 1_000_000]}, {"lang": "a" * 15_000}, {"metrics": ["m"], "x" * 1_000_000: 1},
    {"hypotheses": [{"a" * 1000: 1}]},
])  # fmt: skip
def test_errors_repeat_little_of_what_the_client_sent(server, wrong) -> None:
    status, answer = server.ask("/score", {**ONE, **wrong})
    assert status == 422 and len(answer["error"]) <= 200


def test_pages_of_other_origins_cannot_send_forms(server) -> None:
    assert server.ask("/score", ONE, Content_Type="text/plain")[0] == 415


@pytest.mark.parametrize(("headers", "status"), [
    ({}, 200), ({"Host": "localhost"}, 200), ({"Host": "LOCALHOST.:80"}, 200), ({"Host": "[::1]:8000"}, 200),
    ({"Origin": "http://localhost:3000"}, 200), ({"Host": "evil.example"}, 421),
    ({"Host": "localhost.evil.example"}, 421),
    ({"Host": "127.0.0.1@evil.example"}, 421), ({"Host": "192.0.2.1"}, 421), ({"Host": ""}, 421),
    ({"Origin": "http://evil.example"}, 421), ({"Origin": "null"}, 421),
])  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/health", "/metrics", "/score"])
def test_the_server_answers_only_to_its_name(server, path, headers, status) -> None:
    """A page of another site can give its name the address of this machine; its name stays another one."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("POST" if path == "/score" else "GET", path, json.dumps(ONE), {**JSON, **headers})
    answer = connection.getresponse()
    assert answer.status == status and answer.getheader("Location") is None
    connection.close()


@pytest.mark.parametrize(("host", "name", "expected"), [
    ("tesla.example", "TESLA.example:80", True), ("tesla.example", "localhost", True),
    ("192.0.2.1", "192.0.2.1:80", True), ("192.0.2.1", "192.0.2.2", False), ("192.0.2.1", "evil.example", False),
    ("0.0.0.0", "192.0.2.1", True), ("::", "[2001:db8::1]:80", True), ("0.0.0.0", socket.gethostname(), True),
    ("0.0.0.0", "evil.example", False), ("::", "0.0.0.0.evil.example", False),
])  # fmt: skip
def test_the_name_of_a_server_is_that_of_its_host(host, name, expected) -> None:
    from tesla_eval.serving.hosts import Names

    assert Names(host).include(name) is expected


def test_one_list_of_references_per_hypothesis(server) -> None:
    query = {
        **ONE,
        "hypotheses": ["The cats sat.", "A dog."],
        "references": [["The cat sat.", "Cats sat."], ["A dog barks."]],
    }
    status, answer = server.ask("/score", query)
    assert status == 422 and "references_by_segment" in answer["error"]
    streams = [["The cat sat.", "A dog barks."], ["Cats sat.", None]]
    for path in ("/score", "/explain"):
        by_segment = server.ask(path, {**query, "references_by_segment": True})
        assert by_segment == server.ask(path, {**query, "references": streams}) and by_segment[0] == 200


def test_fields_that_are_null_count_as_left_out(server) -> None:
    nothing = dict.fromkeys(("metrics", "lang", "sources", "references_by_segment"))
    query = {key: ONE[key] for key in ("hypotheses", "references")}
    assert server.score({**query, **nothing}) == server.score(query)


def test_an_assumed_language_is_said(server) -> None:
    german = "Der Hund schläft unter dem Tisch, und die Katze sitzt auf dem Dach."
    for text, given, assumed in (
        ("Hello!", {}, True),
        ("Hello!", {"lang": "en"}, False),
        (german, {}, False),
    ):
        query = {"hypotheses": [text], "references": [[text]], "metrics": ["m"], **given}
        for path in ("/score", "/explain"):
            assert server.ask(path, query)[1]["lang_assumed"] is assumed


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
    assert served == 7
    assert server.ask("/score", {})[1].keys() == {"error"}


def test_metrics_and_the_token() -> None:
    with serving("-m", "bleu:lc=yes", "-m", "m", "-l", "en", "--token", "sésame") as server:
        assert server.ask("/health")[0] == server.ask("/openapi.json")[0] == 200
        assert server.ask("/score", ONE)[0] == server.ask("/metrics")[0] == 401
        token = "sésame".encode().decode("latin-1")
        for wrong in ("Bearer sesame", "Bearer", token, f"Basic {token}", f"Bearer{token}"):
            assert server.ask("/score", ONE, Authorization=wrong)[0] == 401
        for known in ({"Authorization": f"{scheme} {token}"} for scheme in ("bearer", "BEARER", "Bearer")):
            assert server.ask("/metrics", **known)[0] == 200
        status, answer = server.ask("/score", {k: v for k, v in ONE.items() if k != "metrics"}, **known)
        assert status == 200
        assert [one["metric"] for one in answer["results"]] == ["bleu:lc=yes", "tesla-m"]
        assert [one["name"] for one in server.ask("/metrics", **known)[1]["metrics"]] == ["bleu:lc=yes", "m"]
        assert server.ask("/score", {**ONE, "metrics": ["x"]}, **known)[0] == 422


def test_clients_do_not_see_the_folders_of_files(tmp_path) -> None:
    (tmp_path / "own.tsv").write_text("cat\tfeline\n")
    with serving(
        "-m", f"m:synonyms={tmp_path}/own.tsv", "-m", f"x:weights={tmp_path}/none.tesla", "-l", "en"
    ) as server:
        metrics = server.ask("/metrics")[1]["metrics"]
        assert [one["name"] for one in metrics] == ["m:synonyms=own.tsv", "x:weights=none.tesla"]
        assert [one["id"] for one in metrics] == ["tesla-m:synonyms=own.tsv", "tesla-x:weights=none.tesla"]
        answers = [server.ask("/score", {**ONE, "metrics": [one["name"]]}) for one in metrics]
        assert [status for status, _ in answers] == [200, 422]
        assert str(tmp_path) not in json.dumps([metrics, answers])


@pytest.mark.parametrize(("head", "status"), [
    (b"GET / HTTP/1.1\r\nHost: localhost\r\nx: " + b"y" * (1 << 20), b"431"), (b"GET /" + b"x" * (1 << 20), b"431"),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"x: y\r\n" * 200, b"400"),
    (b"POST /score HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 2000, b"400"),
], ids=["long-header", "long-line", "many-headers", "many-chunks"])  # fmt: skip
def test_a_head_of_more_than_64_kilobytes_is_refused_before_the_token(head, status) -> None:
    with serving("--token", "sesame") as server:
        for earlier in (b"", b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"):
            with server.connect() as client:
                client.sendall(earlier)
                if earlier:
                    assert read_until(client, b"}").startswith(b"HTTP/1.1 200 ")
                with suppress(OSError):
                    client.settimeout(1)
                    client.sendall(head)
                client.settimeout(10)
                assert client.recv(4096).startswith(b"HTTP/1.1 " + status)
        before = server.memory
        with server.connect() as client, pytest.raises(OSError):
            for _ in range(1000):
                client.sendall(head)
        assert server.memory < before + 20


@pytest.mark.parametrize(("begin", "drip"), [
    (b"", b""), (b"GET /health HTTP/1.1\r\nx", b"x"), (b"\r\n", b"\r\n"),
], ids=["silent", "head", "line-ends"])  # fmt: skip
def test_the_head_must_come_in_seconds(server, begin, drip) -> None:
    with server.connect() as client:
        client.sendall(begin)
        client.settimeout(0.5)
        start = time.monotonic()
        with suppress(ConnectionError):
            while time.monotonic() < start + 20:
                with suppress(TimeoutError):
                    if not client.recv(1):
                        break
                client.sendall(drip)  # byte by byte it takes no longer
        assert 4 < time.monotonic() - start < 8


def test_a_head_may_come_in_small_pieces(server) -> None:
    with server.connect() as client:
        for byte in b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n":
            client.sendall(bytes([byte]))
            time.sleep(0.001)
        assert client.recv(4096).startswith(b"HTTP/1.1 200 ")


def test_silent_connections_and_unread_answers_stop_nobody() -> None:
    with serving() as server:
        clients = []
        for k in range(1010):
            clients.append(server.connect())
            clients[-1].sendall(
                [b"", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"][k % 3]
            )
        start = time.monotonic()
        assert server.score(ONE) and server.ask("/health")[0] == 200
        assert time.monotonic() - start < 2
        for client in clients:
            client.close()


def test_more_requests_at_once_on_a_connection_than_anybody_needs_are_refused(server) -> None:
    with server.connect() as client:
        client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1000)
        answers = b"".join(iter(lambda: client.recv(1 << 16), b""))
    assert answers.count(b"HTTP/1.1 ") <= 17


def test_two_million_names_stop_nobody(server) -> None:
    body = json.dumps({**ONE, "metrics": ["m"] * 1_300_000}).encode()
    with ThreadPoolExecutor(2) as pool:
        running = pool.submit(server.ask, "/score", body)
        latest = 0.0
        while not running.done():
            start = time.monotonic()
            server.ask("/health")
            latest = max(latest, time.monotonic() - start)
    assert running.result()[0] == 413 and latest < 1


def test_the_log_says_nothing_of_clients_who_leave() -> None:
    with serving() as server:
        texts = [f"{text} {k}" for k in range(100) for text in HYPOTHESES[:10]]
        body = json.dumps(
            {**ONE, "hypotheses": texts, "references": [texts[::-1]], "metrics": ["x"]}
        ).encode()
        for content in (
            HEAD % len(body) + body,
            HEAD % len(body) + body[:1000],
            HEAD[:20],
            b"\0\1\2\r\n\r\n",
        ):
            with server.connect() as client:
                client.sendall(content)
        assert server.score(ONE)
        assert server.end() == 0
        assert server.process.stderr.read() == ""


def test_a_body_of_a_gigabyte_is_refused_and_not_kept(server) -> None:
    for head in (b"Content-Length: 1000000000", b"Transfer-Encoding: chunked"):
        block = b"x" * (1 << 20) if b"Length" in head else b"100000\r\n" + b"x" * (1 << 20) + b"\r\n"
        before = server.memory
        with server.connect() as client:
            client.sendall(
                b"POST /score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + head
                + b"\r\n\r\n"
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
        clients = [server.connect() for _ in range(12)]
        for client in clients[:4]:  # gone before the answer
            client.sendall(HEAD % len(large) + large)
            client.close()
        for client in clients[4:8]:  # never read their answer
            client.sendall(HEAD % len(large) + large)
        for client in clients[8:]:  # never end their request
            client.sendall(HEAD % len(large) + large[:100])
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
                client.sendall(HEAD % len(body) + body)
            for _ in range(20):
                assert server.score(ONE)["results"][0]["score"] == expected
            while server.ask("/health")[1]["waiting"]:
                time.sleep(0.05)
            time.sleep(6)
            memory.append(server.memory)
            for client in clients:  # what was on its way when the time was over comes, and no more
                received = 0
                with suppress(ConnectionResetError):
                    for block in iter(lambda client=client: client.recv(1 << 16), b""):
                        received += len(block)
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
        ended = subprocess.run([sys.executable, "-m", "tesla_eval.cli", "serve", "--http", *options],
                               capture_output=True, text=True, check=False)  # fmt: skip
        assert ended.returncode == 2 and says in ended.stderr
