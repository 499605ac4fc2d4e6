"""What the command says, and where: pipes, terminals, full disks, closed streams, other encodings: no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tesla_eval import TeslaError, create_metric
from tesla_eval.cli.shared.terminal import complain, note, warn
from tesla_eval.texts.lines import read_json_lines

HOSTILE = "It \x1b[31mstarted\x1b[0m raining\u202e.\x9b2J"


def run(
    *arguments: str | bytes, redirect: str = "", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """`tesla` in a process of its own, through a shell that redirects its streams."""
    if arguments[0] in ("score", "explain", "rerank") and "-l" not in arguments:
        arguments = (arguments[0], "-l", "en", *arguments[1:])
    command = f'exec "$0" -m tesla_eval.cli "$@" {redirect}'
    return subprocess.run(
        ["sh", "-c", command, sys.executable, *arguments],
        capture_output=True, check=False, env={**os.environ, **environment},
    )  # fmt: skip


@pytest.fixture
def pair(write) -> tuple[str, str]:
    return write("ref.txt", ["It began to rain."]), write("sys.txt", ["It started raining."])


def test_output_is_utf8_whatever_the_machine_prefers() -> None:
    found = run("explain", "-l", "zh", "买伞", "买雨伞", PYTHONIOENCODING="latin-1")
    assert found.returncode == 0
    assert "买雨伞     ───  买伞" in found.stdout.decode("utf-8")


def test_a_name_that_is_not_utf8_is_shown_by_its_bytes(pair, tmp_path: Path) -> None:
    named = os.fsencode(tmp_path) + b"/caf\xe9.txt"
    Path(os.fsdecode(named)).write_text("It rained.\n")
    found = run("score", "-m", "m", "-r", pair[0], named, "--format", "json", PYTHONIOENCODING="utf-8:strict")
    assert found.returncode == 0
    assert json.loads(found.stdout.decode("utf-8"))["systems"][0]["system"].endswith("caf\udce9.txt")
    missing = run("score", "-m", "m", "-r", pair[0], b"caf\xe9", PYTHONIOENCODING="utf-8:strict")
    assert (missing.returncode, missing.stderr.count(b"\n")) == (2, 1)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
@pytest.mark.parametrize("command", [("score", "-m", "m", "-r"), ("rerank", "-r")], ids=lambda c: c[0])
def test_a_full_disk_is_one_message(pair, command: tuple[str, ...]) -> None:
    found = run(*command, *pair, redirect=">/dev/full")
    assert found.returncode == 2
    assert found.stderr == b"error: the output cannot be written: No space left on device\n"


def test_closed_streams_are_no_surprise(pair) -> None:
    found = run("score", "-m", "m", "-r", pair[0], "-", redirect="<&-")
    assert (found.returncode, found.stderr) == (2, b"error: standard input: cannot be read (it is closed)\n")
    assert run("score", "-m", "m", "-r", *pair, redirect=">&-").returncode == 0
    silent = run("score", "-m", "m", "-r", *pair, "--format", "tsv", redirect="2>&-")
    assert (silent.returncode, silent.stdout.count(b"\n")) == (0, 2)


def test_a_reader_that_goes_away_is_no_error_message(write) -> None:
    many = write("many.txt", ["It rained."] * 20_000)
    found = run("rerank", "-r", many, many, redirect="| head -n 1")
    assert (found.stdout, found.stderr) == (b"It rained.\n", b"")


@pytest.mark.parametrize("output_format", ["best", "tsv", "json"])
def test_chosen_texts_come_out_as_they_are(tesla, write, output_format: str) -> None:
    out = tesla(
        "rerank", "-r", write("r", ["It began to rain."]), write("c", [HOSTILE]), "--format", output_format
    ).out
    if output_format == "json":
        assert json.loads(out)["candidates"][0]["text"] == HOSTILE
    else:
        assert out.endswith(f"{HOSTILE}\n")


@pytest.mark.parametrize("output_format", ["best", "tsv", "json", "table"])
def test_on_a_terminal_no_text_is_obeyed(tesla, write, monkeypatch, output_format: str) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    out = tesla(
        "rerank", "-r", write("r", ["It began to rain."]), write("c", [HOSTILE]), "--format", output_format
    ).out
    assert "raining" in out
    assert not set(out) & set("\x1b\x9b\u202e")


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="there are no pseudo-terminals here")
@pytest.mark.parametrize(
    "command", [("explain", "--json"), ("score", "-m", "m"), ("rerank",)], ids=lambda c: c[0]
)
def test_results_go_to_standard_output_while_a_terminal_shows_progress(
    pair, command: tuple[str, ...]
) -> None:
    terminal, end = os.openpty()
    found = subprocess.run(
        [sys.executable, "-m", "tesla_eval.cli", *command, "-r", *pair],
        stdout=subprocess.PIPE, stderr=end, check=True, env={**os.environ, "TERM": "xterm"},
    )  # fmt: skip
    os.close(end)
    shown = os.read(terminal, 1 << 16)
    os.close(terminal)
    assert b"segments" in shown
    assert found.stdout.strip()
    assert found.stdout.splitlines()[0] not in shown


def test_messages_cannot_take_over_the_terminal(tesla, pair) -> None:
    found = tesla("score", "-m", "m", "-r", pair[0], "no\x1b[31msuch\x9b.txt")
    assert found.status == 2
    assert found.err.startswith("error: no\\x1b[31msuch\\x9b.txt: cannot be opened")


def test_half_a_character_is_refused_with_its_place(write) -> None:
    path = write("s.jsonl", ['{"id": "a"}', r'{"id": "b", "hypothesis": "\ud83d"}'])
    with pytest.raises(TeslaError, match=r"s\.jsonl, line 2: holds half a character"):
        list(read_json_lines(path))
    whole = write("w.jsonl", [r'{"id": "\ud83d\ude00"}'])
    assert [value for _, value in read_json_lines(whole)] == [{"id": "😀"}]


@pytest.mark.parametrize(
    ("name", "lang"), [("m", "en"), ("dicomer", "en"), ("rougesu4", "de"), ("celab", "zh")]
)
def test_half_a_character_is_refused_by_metrics(name: str, lang: str) -> None:
    with pytest.raises(TeslaError, match="lone surrogate"):
        create_metric(name, lang).sentence_score("bad \ud800", ["good"])


def test_messages_start_with_their_kind(capsys: pytest.CaptureFixture[str]) -> None:
    complain("no file a.txt\nhint: make one")
    note("2 files")
    warn("1 file is empty")
    assert capsys.readouterr().err.splitlines() == [
        "error: no file a.txt", "hint: make one", "note: 2 files", "warning: 1 file is empty"
    ]  # fmt: skip


def test_wrong_usage_is_an_error_and_a_hint(tesla: Any) -> None:
    error, hint = tesla("score", "--nonsense").err.splitlines()
    assert error.startswith("error: ") and "--nonsense" in error
    assert hint == "hint: tesla score --help shows all options"
