"""METEOR 1.5 (Denkowski and Lavie 2014): runs the original program as one Java process, line by line.

The jar comes with the package pycocoevalcap (`pip install 'tesla-eval[meteor]'`), or the user names another one. Every
segment's statistics and score are those that the program prints; the score of a corpus is its own evaluation of the
summed statistics. Only a bootstrap, which asks for thousands of sums, uses the formula below.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import threading
import weakref
import zlib
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import IO, ClassVar

import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import ResourceError, UsageError
from tesla_eval.base.records import Signature
from tesla_eval.base.version import __version__
from tesla_eval.language.analysis.languages import resolve_language
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.baselines.bleu import StatisticsTotal
from tesla_eval.metrics.results import SegmentScores
from tesla_eval.metrics.segments import References

_LANGUAGES = {
    "en": "en", "cs": "cz", "de": "de", "es": "es", "fr": "fr", "da": "da", "fi": "fi", "hu": "hu", "it": "it",
    "nl": "nl", "no": "no", "pt": "pt", "ro": "ro", "ru": "ru", "sv": "se", "tr": "tr",
}  # fmt: skip
"""METEOR's own codes."""
_ENGLISH_RANK = (0.85, 0.2, 0.6, 0.75), (1.0, 0.6, 0.8, 0.6)
"""α, β, γ, δ, and the weights of exact, stem, synonym and paraphrase matches: `-l en`."""
_STATISTICS = 23
_LENGTHS, _CHUNKS, _MATCHES = slice(0, 2), 20, slice(21, 23)
_INSTALL = "pip install 'tesla-eval[meteor]' brings it, -m meteor:jar=FILE names another one"


def find_meteor_jar() -> Path | None:
    """The jar of the installed package pycocoevalcap, which is looked for and not imported."""
    package = find_spec("pycocoevalcap")
    for folder in (package.submodule_search_locations or []) if package else []:
        jar = Path(folder) / "meteor" / "meteor-1.5.jar"
        if jar.is_file():
            return jar
    return None


class Meteor(Metric):
    """METEOR 1.5, the best of several references; `norm` tokenises and lower-cases, as its authors advise."""

    id: ClassVar[str] = "meteor"
    signed: ClassVar[frozenset[str]] = frozenset({"jar", "norm"})

    def __init__(
        self, lang: str = "en", *, jar: str | None = None, norm: bool = True, workers: int = 1
    ) -> None:
        self.lang = resolve_language(lang)
        if self.lang not in _LANGUAGES:
            raise UsageError(
                f"meteor: METEOR 1.5 has no language {self.lang!r}; it has {', '.join(_LANGUAGES)}"
            )
        path = find_meteor_jar() if jar is None else Path(jar)
        if path is None or not path.is_file():
            where = "there is no METEOR jar" if path is None else f"{path}: is no file"
            raise ResourceError(f"meteor: {where}; {_INSTALL}")
        java = shutil.which("java")
        if java is None:
            raise ResourceError("meteor: there is no Java; install one, for instance default-jre-headless")
        self.norm, self.workers = norm, workers
        self._jar = path.resolve()
        arguments = ["-l", _LANGUAGES[self.lang], *(["-norm"] if norm else [])]
        self._program = _Program([java, "-Xmx2G", "-jar", str(self._jar), "-", "-", "-stdio", *arguments])

    def get_signature(self) -> Signature:
        """Language, normalisation, and the fingerprints of the jar and of the paraphrases beside it."""
        return Signature(
            {
                "metric": self.id, "version": __version__, "lang": self.lang, "norm": "yes" if self.norm else "no",
                **self._files,
            }
        )  # fmt: skip

    @cached_property
    def _files(self) -> dict[str, str]:
        paraphrases = self._jar.parent / "data" / f"paraphrase-{_LANGUAGES[self.lang]}.gz"
        files = {"jar": self._jar, "paraphrases": paraphrases}
        return {
            name: f"{path.stem}.{zlib.crc32(path.read_bytes()):08x}"
            for name, path in files.items()
            if path.is_file()
        }

    def score_segments(self, hypotheses: Sequence[str], references: References) -> SegmentScores:
        """The statistics and the scores that METEOR prints."""
        segments = [
            (hypothesis, [text for text in given if text is not None])
            for hypothesis, *given in zip(hypotheses, *references, strict=True)
        ]
        scores, statistics = self._program.score(segments)
        return SegmentScores(scores, np.empty((len(segments), 0)), statistics)

    def new_total(self) -> StatisticsTotal:
        """An empty corpus score."""
        return StatisticsTotal(self._program.evaluate)

    def score_of_sums(self, sums: FloatArray) -> FloatArray:
        """The corpus scores of summed statistics; the formula is known here for English with the usual task only."""
        if self.lang == "en":
            return _score_of_sums(sums)
        rows = sums.reshape(-1, _STATISTICS)
        return np.array([self._program.evaluate(row.tolist()) for row in rows]).reshape(sums.shape[:-1])


def _additive(rows: FloatArray) -> FloatArray:
    """Statistics as METEOR adds them: a text that is matched whole and in order has no chunk."""
    whole = (rows[:, _CHUNKS] == 1) & (rows[:, _MATCHES] == rows[:, _LENGTHS]).all(axis=1)
    rows[whole, _CHUNKS] = 0.0
    return rows


def _score_of_sums(sums: FloatArray) -> FloatArray:
    """METEOR of (..., statistics): lengths, function words, matches by module, chunks, matched words."""
    (alpha, beta, gamma, delta), weights = _ENGLISH_RANK
    lengths, functions = sums[..., _LENGTHS], sums[..., 2:4]
    modules = sums[..., 4:20].reshape(*sums.shape[:-1], 4, 4)
    content, function = modules[..., 0:2], modules[..., 2:4]
    matched = np.einsum("m,...ms->...s", np.array(weights), delta * content + (1 - delta) * function)
    whole = delta * (lengths - functions) + (1 - delta) * functions
    precision, recall = np.moveaxis(
        np.divide(matched, whole, out=np.zeros_like(whole), where=whole > 0), -1, 0
    )
    weighted = alpha * precision + (1 - alpha) * recall
    f = np.divide(precision * recall, weighted, out=np.zeros_like(weighted), where=weighted > 0)
    chunks, both = sums[..., _CHUNKS], sums[..., _MATCHES].sum(axis=-1) / 2
    fragmentation = np.divide(chunks, both, out=np.zeros_like(both), where=both > 0)
    penalties = [gamma * share**beta for share in fragmentation.ravel().tolist()]
    return np.asarray(f * (1 - np.reshape(penalties, f.shape)))


class _Program:
    """The process, started when it is first needed and ended with the metric; one conversation at a time."""

    def __init__(self, command: list[str]) -> None:
        self._command = command
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._errors: IO[bytes] | None = None

    def score(self, segments: Sequence[tuple[str, list[str]]]) -> tuple[FloatArray, FloatArray]:
        """Scores and statistics of segments."""
        if not segments:
            return np.empty(0), np.empty((0, _STATISTICS))
        with self._lock:
            lines = [
                " ||| ".join(["SCORE", *map(_line, references), _line(hypothesis)])
                for hypothesis, references in segments
            ]
            answers = [self._ask(line) for line in lines]
            rows = _additive(np.array([self._numbers(answer, _STATISTICS) for answer in answers]))
            first = self._ask(" ||| ".join(["EVAL", *answers]))
            scores = [first, *(self._answer() for _ in answers[1:])]
            self._answer()  # of all together
            return np.array([self._numbers(text, 1)[0] for text in scores]), rows

    def evaluate(self, statistics: Sequence[float]) -> float:
        """The score of summed statistics."""
        with self._lock:
            text = self._ask("EVAL ||| " + " ".join(repr(float(value)) for value in statistics))
            self._answer()
            return self._numbers(text, 1)[0]

    def _ask(self, line: str) -> str:
        process = self._running()
        assert process.stdin is not None
        try:
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
        except OSError as error:
            raise self._failed() from error
        return self._answer()

    def _answer(self) -> str:
        assert self._process is not None
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._failed()
        return line.strip()

    def _numbers(self, text: str, count: int) -> list[float]:
        try:
            numbers = [float(part) for part in text.split()]
        except ValueError:
            numbers = []
        if len(numbers) != count:
            raise ResourceError(
                f"meteor: the program answered {text[:80]!r}, which is not METEOR 1.5's protocol"
            )
        return [0.0 if number != number else number for number in numbers]  # noqa: PLR0124  # NaN

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
                text=True, encoding="utf-8", env={**os.environ, "LC_ALL": "C.UTF-8"},
            )  # fmt: skip
            weakref.finalize(self, _end, self._process, self._errors)
        return self._process

    def _failed(self) -> ResourceError:
        told = ""
        if self._errors is not None:
            self._errors.seek(0)
            told = " ".join(self._errors.read(2000).decode("utf-8", "replace").split())
        return ResourceError(f"meteor: {' '.join(self._command[:4])} ended: {told or 'it said nothing'}")


def _line(text: str) -> str:
    """A text on one line, without the mark that separates texts."""
    return " ".join(text.replace("|||", " ").split())


def _end(process: subprocess.Popen[str], errors: IO[bytes]) -> None:
    for stream in (process.stdin, process.stdout, errors):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    with contextlib.suppress(OSError):
        process.kill()
    process.wait()
