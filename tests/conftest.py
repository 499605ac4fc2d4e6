"""What the tests share: where the data lies, real sentence pairs, small files."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import settings

from tesla_eval.cli import main

# Machines are noisy: how long one example took says nothing.
settings.register_profile("noisy", deadline=None)
settings.load_profile("noisy")

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def wmt14_pairs() -> list[tuple[str, str]]:
    """Real (hypothesis, reference) pairs of WMT14 into English, spread over language pairs and systems."""
    path = SHARED_DATA / "wmt" / "wmt14-rr.seg.tsv.gz"
    if not path.exists():
        pytest.skip("the WMT data is not here")
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        next(lines)
        return [tuple(line.rstrip("\n").split("\t")[5:7]) for i, line in enumerate(lines) if i % 97 == 0]  # type: ignore[misc]


@pytest.fixture
def write(tmp_path: Path):
    """Writes a file of lines (or of bytes) and returns its path."""

    def write_file(name: str, content: list[str] | bytes) -> str:
        path = tmp_path / name
        path.write_bytes(
            content if isinstance(content, bytes) else "".join(f"{x}\n" for x in content).encode()
        )
        return str(path)

    return write_file


class Outcome(NamedTuple):
    """How a command ended."""

    status: int
    out: str
    err: str


@pytest.fixture
def tesla(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Runs the command `tesla` in this process; texts are English unless a test names a language (or `auto`)."""

    def run(*arguments: str) -> Outcome:
        asks = {"-l", "--lang", "-h", "--help", "--scores"}.isdisjoint(arguments)
        if arguments[:1] and arguments[0] in ("score", "compare", "explain", "rerank") and asks:
            arguments = (arguments[0], "-l", "en", *arguments[1:])
        monkeypatch.setattr(sys, "argv", ["tesla", *arguments])
        status = 0
        try:
            main()
        except SystemExit as stop:
            status = int(stop.code or 0)
        return Outcome(status, *capsys.readouterr())

    return run
