"""`tesla serve`: three protocols, order, bad lines, clients that read late or die."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.metrics import create_metric
from tesla_eval.serving.protocols import JsonLines, Meteor
from tesla_eval.serving.stdio import _LONGEST_LINE, Backlog, _line_groups

TESLA = [sys.executable, "-m", "tesla_eval.cli"]
ROOT = Path(__file__).resolve().parents[2]


def start(*options: str, **more) -> subprocess.Popen[bytes]:
    language = () if "-l" in options else ("-l", "en")
    return subprocess.Popen(
        [*TESLA, "serve", *language, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **more,
    )


class TestJsonLines:
    def test_answers_come_in_order_and_bad_lines_are_answered(self) -> None:
        lines = [
            '{"hyp": "a cat", "refs": ["a cat"], "id": "x"}', "no", "", '{"hyp": 3, "refs": ["a"]}', "[]",
            '{"hyp": "a", "refs": []}', '{"hyp": "a", "refs": "a"}', None, '{"hyp": "", "refs": ["a"]}',
            '{"hyp": "a dog", "refs": ["a cat", "a dog"]}',
        ]  # fmt: skip
        answers = [
            json.loads(line) for line in JsonLines(create_metric("m", "en")).answer(lines).splitlines()
        ]
        assert len(answers) == len(lines)
        assert answers[0] == {"id": "x", "score": 1.0}
        for number in range(2, 9):
            assert answers[number - 1]["error"].startswith(f"line {number}: "), answers[number - 1]
        assert answers[8] == {"score": 0.0}
        assert 0 < answers[9]["score"] < 1

    def test_scores_are_those_of_the_metric(self, real_pairs) -> None:
        metric = create_metric("m", "en")
        lines = [json.dumps({"hyp": h, "refs": [r]}) for h, r in real_pairs[:50]]
        found = [json.loads(line)["score"] for line in JsonLines(metric).answer(lines).splitlines()]
        assert found == [metric.sentence_score(h, [r]).score for h, r in real_pairs[:50]]

    @pytest.mark.parametrize("given", ["NaN", "Infinity", '{"deep": [-Infinity]}'])
    def test_an_id_that_json_does_not_have_is_refused(self, given: str) -> None:
        line = f'{{"hyp": "a", "refs": ["a"], "id": {given}}}'
        (answer,) = JsonLines(create_metric("m", "en")).answer([line]).splitlines()
        assert answer == '{"error": "line 1: id holds a number that JSON does not have"}'

    def test_one_text_that_is_refused_does_not_spoil_the_others(self, monkeypatch) -> None:
        metric = create_metric("m", "en")
        score_segments = metric.score_segments

        def refusing(hypotheses, references):
            if "too long" in hypotheses:
                raise InputError("a text is too long")
            return score_segments(hypotheses, references)

        monkeypatch.setattr(type(metric), "score_segments", lambda self, *texts: refusing(*texts))
        lines = [json.dumps({"hyp": text, "refs": ["a cat"]}) for text in ("a cat", "too long", "a cat")]
        answers = [json.loads(line) for line in JsonLines(metric).answer(lines).splitlines()]
        assert answers == [{"score": 1.0}, {"error": "line 2: a text is too long"}, {"score": 1.0}]


class TestMeteor:
    def test_score_and_eval(self) -> None:
        protocol = Meteor(create_metric("m", "en"))
        first, second = protocol.answer(
            ["SCORE ||| a cat sat ||| a cat sat", "SCORE ||| a ||| b ||| "]
        ).splitlines()
        answers = protocol.answer([f"EVAL ||| {first} ||| {second}"]).splitlines()
        assert [float(line) for line in answers] == [1.0, 0.0, 0.5]

    def test_bleu_of_a_corpus(self) -> None:
        metric = create_metric("bleu", "en")
        pairs = [
            ("the cat sat on a mat", "the cat sat on the mat"),
            ("it rained all day long", "it rained all day"),
        ]
        protocol = Meteor(metric)
        stats = protocol.answer([f"SCORE ||| {r} ||| {h}" for h, r in pairs]).splitlines()
        *_, total = protocol.answer([f"EVAL ||| {' ||| '.join(stats)}"]).splitlines()
        expected = metric.corpus_score([h for h, _ in pairs], [[r for _, r in pairs]]).score
        assert float(total) == pytest.approx(expected)

    def test_a_metric_of_whole_corpora_is_refused(self) -> None:
        with pytest.raises(UsageError, match="nist: its scores depend on the references of the whole corpus"):
            Meteor(create_metric("nist", "en"))
        lazy = Meteor(lambda texts: create_metric("nist", "en"))
        assert lazy.answer(["SCORE ||| a ||| a"]).startswith("ERROR nist: its scores depend on")

    @pytest.mark.parametrize(
        "line", ["", "SCORE", "SCORE ||| a", "EVAL", "EVAL ||| x", "EVAL ||| 1 ||| nan", "TUNE ||| a"]
    )
    def test_other_lines_get_one_line(self, line: str) -> None:
        answer = Meteor(create_metric("m", "en")).answer([line])
        assert answer.startswith("ERROR line 1: ")
        assert answer.count("\n") == 1

    def test_the_process_answers_one_line_at_a_time(self) -> None:
        """As clients of METEOR do it: they flush after each line and wait for each answer."""
        process = subprocess.Popen(
            [*TESLA, "serve", "--protocol", "meteor", "-m", "m", "-l", "en"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdin and process.stdout
        stats = []
        for line in ("SCORE ||| a cat ||| a cat", "SCORE ||| a dog ||| "):
            process.stdin.write(f"{line}\n".encode())
            process.stdin.flush()
            stats.append(process.stdout.readline().decode().strip())
        process.stdin.write(f"EVAL ||| {stats[0]} ||| {stats[1]}\n".encode())
        process.stdin.flush()
        assert [float(process.stdout.readline()) for _ in range(3)] == [1.0, 0.0, 0.5]
        _, said = process.communicate()
        assert (process.returncode, said) == (0, b"")


class TestBacklog:
    @given(st.lists(st.binary(min_size=1, max_size=20), max_size=30), st.integers(1, 40))
    def test_bytes_come_out_as_they_went_in(self, blocks, in_memory: int) -> None:
        backlog = Backlog(in_memory)
        read = []
        for k, block in enumerate(blocks):
            backlog.put(block)
            if k % 3 == 2:
                read.append(backlog.get())
        backlog.close()
        read += iter(backlog.get, b"")
        assert b"".join(read) == b"".join(blocks)

    @given(st.lists(st.text(alphabet="ab\r é", max_size=5), max_size=20), st.integers(1, 7))
    def test_lines_do_not_depend_on_how_the_bytes_arrive(self, lines, size: int) -> None:
        raw = "".join(f"{line}\n" for line in lines).encode()
        backlog = Backlog()
        for begin in range(0, len(raw), size):
            backlog.put(raw[begin : begin + size])
        backlog.close()
        found = [line for group in _line_groups(backlog) for line in group]
        assert found == [line.removesuffix("\r") for line in lines]

    def test_a_line_holds_what_metrics_take_and_not_much_more(self) -> None:
        assert 8 * 50_000 * 16 <= _LONGEST_LINE <= 1 << 24

    def test_a_line_that_is_too_long_is_one_bad_line(self, monkeypatch) -> None:
        monkeypatch.setattr("tesla_eval.serving.stdio._LONGEST_LINE", 10)
        backlog = Backlog()
        for block in (b"ok\n" + b"x" * 8, b"x" * 8, b"x\nfine\n\xff\nend"):
            backlog.put(block)
        backlog.close()
        assert [line for group in _line_groups(backlog) for line in group] == [
            "ok",
            None,
            "fine",
            None,
            "end",
        ]


def mixed_line(k: int) -> bytes:
    if k % 10 == 3:
        return b"not JSON\n"
    if k % 10 == 7:
        return b'{"hyp": "\xff"}\n'
    return (
        json.dumps({"hyp": f"the cat number {k % 7} sat", "refs": ["the cat sat on it"], "id": k}).encode()
        + b"\n"
    )


def converse(count: int, *, late: bool) -> float:
    """Send so many mixed lines; read while sending, or only then. Returns the server's peak memory in MB."""
    process = start("-m", "m")
    assert process.stdin and process.stdout

    def send() -> None:
        assert process.stdin
        for begin in range(0, count, 1000):
            process.stdin.write(b"".join(map(mixed_line, range(begin, min(begin + 1000, count)))))
        process.stdin.close()

    if late:
        send()  # would wait for ever if the server stopped reading until its answers are read
    else:
        thread = threading.Thread(target=send)
        thread.start()
    for k in range(count):
        answer = json.loads(process.stdout.readline())
        if k % 10 in (3, 7):
            assert answer["error"].startswith(f"line {k + 1}: ")
        else:
            assert answer["id"] == k
            assert answer["score"] > 0
    assert process.stdout.read() == b""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    assert status == 0
    assert process.stderr and process.stderr.read() == b""
    process.stdout.close()
    process.stderr.close()
    return used.ru_maxrss / 1024


class TestProcess:
    def test_a_client_that_reads_late_gets_every_answer(self) -> None:
        converse(60_000, late=True)  # more than is kept in memory

    @pytest.mark.slow
    def test_a_million_mixed_lines_in_flat_memory(self) -> None:
        little, much = converse(20_000, late=False), converse(1_000_000, late=False)
        assert much < little + 30

    def test_an_answer_comes_before_the_next_question(self) -> None:
        process = start("-m", "m")
        assert process.stdin and process.stdout
        for _ in range(3):
            process.stdin.write(b'{"hyp": "a", "refs": ["a"]}\n')
            process.stdin.flush()
            assert json.loads(process.stdout.readline()) == {"score": 1.0}
        out, err = process.communicate()
        assert (process.returncode, out, err) == (0, b"", b"")

    def test_nothing_is_said_of_what_a_language_lacks(self) -> None:
        ended = subprocess.run(
            [*TESLA, "serve", "-l", "sr"],
            input=b'{"hyp": "a", "refs": ["a"]}\n',
            capture_output=True,
            check=True,
        )
        assert (ended.stdout, ended.stderr) == (b'{"score": 1.0}\n', b"")

    def test_a_client_that_dies_ends_it_quietly(self, tmp_path) -> None:
        script = (
            "import subprocess, sys, time\n"
            f"p = subprocess.Popen({[*TESLA, 'serve', '-l', 'en']!r}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, "
            f"stderr=open({str(tmp_path / 'err')!r}, 'wb'))\n"
            'p.stdin.write(b\'{"hyp": "a", "refs": ["a"]}\\n\' * 50); p.stdin.flush(); p.stdout.readline()\n'
            "print(p.pid, flush=True); time.sleep(60)\n"
        )
        client = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
        assert client.stdout
        server = int(client.stdout.readline())
        client.kill()
        client.communicate()
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and _runs(server):
            time.sleep(0.05)
        assert not _runs(server)
        assert (tmp_path / "err").read_bytes() == b""

    def test_answers_that_nobody_reads_end_it_quietly(self) -> None:
        process = start("-m", "m")
        assert process.stdin and process.stdout and process.stderr
        process.stdout.close()
        try:
            process.stdin.write(b'{"hyp": "a", "refs": ["a"]}\n' * 1000)
            process.stdin.close()
        except BrokenPipeError:
            pass
        assert process.wait(20) in (0, 1)
        assert process.stderr.read() == b""
        process.stderr.close()


def _runs(pid: int) -> bool:
    state = Path(f"/proc/{pid}/stat")
    if not Path("/proc").is_dir():
        pytest.skip("there is no /proc here")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(find_spec("uvicorn") is not None, reason="the web server is installed")
def test_http_without_its_packages_says_what_to_install(tesla) -> None:
    ended = tesla("serve", "--http")
    assert ended.status == 2 and "pip install 'tesla-eval[http]'" in ended.err


def test_one_metric_without_http(tesla) -> None:
    ended = tesla("serve", "-m", "m,x")
    assert ended.status == 2 and "without --http, serve takes one metric" in ended.err
