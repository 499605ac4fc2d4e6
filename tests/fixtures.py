"""What the tests share: where the data lies, real sentence pairs, small files."""

from __future__ import annotations

import gzip
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from typing import NamedTuple

import pytest
from hypothesis import settings

from tesla_eval.cli import main
from tesla_eval.metrics.cache import CACHE_VARIABLE

# Machines are noisy: how long one example took says nothing.
settings.register_profile("noisy", deadline=None)
settings.load_profile("noisy")

ROOT = Path(__file__).resolve().parents[1]
sys.path += [
    str(ROOT / "tools"),
    str(ROOT / "packages" / "papers" / "tools"),
]  # scripts there are imported by name, by each other and by tests


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A score cache for the tests alone, unless one is named: who has the user's locked may not decide a test."""
    with pytest.MonkeyPatch.context() as patch:
        if CACHE_VARIABLE not in os.environ:
            patch.setenv(CACHE_VARIABLE, str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without a home folder, as in a container that runs under any user number."""

    def home(cls: type[Path]) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", classmethod(home))
    for variable in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "TESLA_EVAL_DATA", CACHE_VARIABLE):
        monkeypatch.delenv(variable, raising=False)


SHARED_DATA = ROOT.parent / "shared" / "data"
WMT14 = SHARED_DATA / "wmt" / "wmt14-rr.seg.tsv.gz"
SHIPPED_DATA = Path(__file__).resolve().parent / "data"


def shipped_pairs(language: str) -> list[tuple[str, str]]:
    """The (hypothesis, reference) pairs of tests/data/segments.tsv in one language."""
    lines = (SHIPPED_DATA / "segments.tsv").read_text("utf-8").splitlines()[1:]
    rows = (line.split("\t") for line in lines)
    return [(hypothesis, reference) for code, hypothesis, reference, _ in rows if code == language]


def shipped_texts(language: str) -> list[str]:
    """All texts of tests/data in one language; there is at least one for each language with a tagger."""
    rows = (line.split("\t") for line in (SHIPPED_DATA / "sentences.tsv").read_text("utf-8").splitlines())
    sentences = [text for code, text in rows if code == language]
    return [*sentences, *(text for pair in shipped_pairs(language) for text in pair)]


@pytest.fixture(scope="session")
def real_pairs() -> list[tuple[str, str]]:
    """Real (hypothesis, reference) pairs in English: WMT14, or the shipped segments on a machine without it."""
    return read_wmt14() if WMT14.exists() else shipped_pairs("en")


@pytest.fixture(scope="session")
def wmt14_pairs() -> list[tuple[str, str]]:
    """The same for tests that need WMT14 itself."""
    if not WMT14.exists():
        pytest.skip("the WMT data is not here")
    return read_wmt14()


def read_wmt14() -> list[tuple[str, str]]:
    """Pairs of WMT14 into English, spread over language pairs and systems."""
    with gzip.open(WMT14, "rt", encoding="utf-8", newline="\n") as lines:
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


_READERS = ("score", "compare", "explain", "report", "rerank", "mbr", "tune")
"""Commands that identify the language of texts; so does `meta --summaries`."""


@pytest.fixture
def tesla(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Runs the command `tesla` in this process; texts are English unless a test names a language (or `auto`)."""

    def run(*arguments: str) -> Outcome:
        asks = {"-l", "--lang", "-h", "--help", "--scores"}.isdisjoint(arguments)
        if arguments[:1] and (arguments[0] in _READERS or "--summaries" in arguments) and asks:
            arguments = (arguments[0], "-l", "en", *arguments[1:])
        monkeypatch.setattr(sys, "argv", ["tesla", *arguments])
        status = 0
        try:
            main()
        except SystemExit as stop:
            status = int(stop.code or 0)
        return Outcome(status, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def browser():
    """Chromium, for tests with the mark `browser`."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="there is no Playwright: make test-browser installs it"
    )
    chromium = os.environ.get("TESLA_CHROMIUM") or which("chromium") or which("chromium-browser")
    if chromium is None:
        pytest.skip("there is no Chromium: apt-get install chromium")
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield launched
        launched.close()
