"""Quality gates: scores that must not be too bad, alone or against a baseline, for use in CI."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from tesla_eval.base.errors import InputError, TeslaError, UsageError
from tesla_eval.cli.shared.outputs import write_output
from tesla_eval.cli.shared.score_formats import Results
from tesla_eval.cli.shared.terminal import visible, warn
from tesla_eval.metrics.registry import digits, find_entry
from tesla_eval.texts.lines import is_number

_LARGEST_FILE = 256 << 20


@dataclass(frozen=True)
class Limit:
    """A bound on the score of a metric, or on how much worse it may get."""

    metric: str
    """Its name in the results."""
    value: float

    @classmethod
    def parse(cls, option: str, text: str, metrics: Sequence[str]) -> Limit:
        """From METRIC=VALUE; the metric must be one of those that are computed."""
        name, equals, number = text.rpartition("=")
        if not equals or not is_number(number) or not math.isfinite(float(number)):
            raise UsageError(f"{option} {text}: write METRIC=VALUE, such as m=0.5")
        head, colon, options = name.partition(":")
        try:
            wanted = f"{find_entry(head).load().id}{colon}{options}"
        except TeslaError as error:
            raise UsageError(f"{option} {text}: {error}") from None
        if wanted not in metrics:
            raise UsageError(f"{option} {text}: -m does not name this metric; it names {', '.join(metrics)}")
        return cls(wanted, float(number))


class Outcome(NamedTuple):
    """Whether a system keeps a limit: `failure` says why not, and is empty if it does."""

    system: str
    limit: str
    failure: str = ""


@dataclass(frozen=True)
class Gates:
    """The limits that a run must keep; for a metric where lower is better, worse means higher."""

    least: tuple[Limit, ...] = ()
    most_drop: tuple[Limit, ...] = ()
    baseline: str | None = None

    @classmethod
    def parse(
        cls, least: Sequence[str], drops: Sequence[str], baseline: str | None, metrics: Sequence[str]
    ) -> Gates:
        """From the options of the command line; `metrics` are those that are computed."""
        if drops and baseline is None:
            raise UsageError(
                "--max-drop needs --baseline: one of the systems, or a file of `tesla score --json`"
            )
        if baseline is not None and not drops:
            raise UsageError("--baseline is for --max-drop METRIC=VALUE")
        return cls(
            tuple(Limit.parse("--min-score", text, metrics) for text in least),
            tuple(Limit.parse("--max-drop", text, metrics) for text in drops),
            baseline,
        )

    def check(self, systems: Sequence[str]) -> None:
        """Refuse, before any work is done, a baseline that is neither a system nor a file of scores."""
        if self.baseline is not None and self.baseline not in systems:
            _read_stored(self.baseline)

    def outcomes(self, results: Results) -> Iterator[Outcome]:
        """One for each limit and each system that it holds for."""
        for limit in self.least:
            column = results.metrics.index(limit.metric)
            sign = results.sign(limit.metric)
            bound = "below the minimum" if sign > 0 else "above the maximum"
            for system, scores in zip(results.systems, results.scores, strict=True):
                failure = ""
                if not sign * scores[column] >= sign * limit.value:
                    score = _shown(limit.metric, scores[column])
                    failure = f"{system}: {limit.metric} is {score}, {bound} of {limit.value:g}"
                yield Outcome(system, f"--min-score {limit.metric}={limit.value:g}", failure)
        if self.most_drop and self.baseline is not None:
            yield from self._drops(results, self.baseline)

    def _drops(self, results: Results, baseline: str) -> Iterator[Outcome]:
        stored = None if baseline in results.systems else _read_stored(baseline)
        for limit in self.most_drop:
            column = results.metrics.index(limit.metric)
            for row, system in enumerate(results.systems):
                if system == baseline:
                    continue
                score = results.scores[row][column]
                if stored is None:
                    before = results.scores[results.systems.index(baseline)][column]
                else:
                    before = stored.score(system, limit.metric, results.signatures[column])
                drop, failure = results.sign(limit.metric) * (before - score), ""
                if not drop <= limit.value:
                    shown = [_shown(limit.metric, value) for value in (score, drop, before)]
                    failure = (
                        f"{system}: {limit.metric} is {shown[0]}, {shown[1]} worse than {shown[2]} of {baseline}; "
                        f"{limit.value:g} is allowed"
                    )
                yield Outcome(system, f"--max-drop {limit.metric}={limit.value:g}", failure)


def _shown(metric: str, value: float) -> str:
    return f"{value:.{digits(metric) + 2}f}"


@dataclass(frozen=True)
class _Stored:
    """Scores of an earlier run."""

    path: str
    systems: Mapping[str, Mapping[str, float]]
    signatures: Mapping[str, str]

    def score(self, system: str, metric: str, signature: str) -> float:
        """The stored score of the system of that name; of the only one if there is just one."""
        row = self.systems.get(system)
        if row is None and len(self.systems) == 1:
            row = next(iter(self.systems.values()))
        if row is None:
            raise InputError(f"{self.path}: has no system {system}; there are {', '.join(self.systems)}")
        if metric not in row:
            raise InputError(f"{self.path}: has no {metric} score; there are {', '.join(row)}")
        if self.signatures.get(metric) != signature:
            warn(
                f"{self.path}: its {metric} scores were made with other settings "
                f"({self.signatures.get(metric)} instead of {signature})"
            )
        return row[metric]


def _read_stored(path: str) -> _Stored:
    try:
        if Path(path).stat().st_size > _LARGEST_FILE:
            raise InputError(f"{path}: is too large for a file of scores; store them without --segments")
        document = json.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise InputError(
            f"--baseline {path}: is neither a system nor a file that can be read ({error.strerror})"
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is not JSON ({error}); store scores with `tesla score --json`") from error
    try:
        signatures = {metric: str(entry["signature"]) for metric, entry in document["metrics"].items()}
        systems = {
            str(entry["system"]): {metric: float(cell["score"]) for metric, cell in entry["metrics"].items()}
            for entry in document["systems"]
        }
        if not systems:
            raise ValueError("it holds no systems")
        if not all(math.isfinite(score) for row in systems.values() for score in row.values()):
            raise ValueError("a score is not a number")
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path}: is not what `tesla score --json` prints ({error})") from error
    return _Stored(path, systems, signatures)


_SUMMARY_FILE = "GITHUB_STEP_SUMMARY"
"""The environment variable in which GitHub Actions names the file."""


def write_junit(outcomes: Sequence[Outcome], path: Path) -> None:
    """One test case per system and limit."""
    failures = sum(bool(one.failure) for one in outcomes)
    suite = Element("testsuite", name="tesla score", tests=str(len(outcomes)), failures=str(failures))
    for one in outcomes:
        case = SubElement(suite, "testcase", classname=visible(one.system), name=visible(one.limit))
        if one.failure:
            SubElement(case, "failure", message=visible(one.failure))
    indent(suite)
    write_output(['<?xml version="1.0" encoding="UTF-8"?>', tostring(suite, encoding="unicode")], path)


def append_step_summary(outcomes: Sequence[Outcome]) -> None:
    """Add a table to the summary of the step, where there is one."""
    path = os.environ.get(_SUMMARY_FILE)
    if not path or not outcomes:
        return
    try:
        with Path(path).open("a", encoding="utf-8", errors="backslashreplace") as summary:
            summary.writelines(f"{line}\n" for line in _table(outcomes))
    except OSError as error:
        raise InputError(f"${_SUMMARY_FILE} {path}: cannot be written ({error.strerror})") from error


def _table(outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield "| | system | limit | |"
    yield "|---|---|---|---|"
    for one in outcomes:
        cells = (escape(visible(text)).replace("|", "&#124;") for text in one)
        yield f"| {'❌' if one.failure else '✅'} | {' | '.join(cells)} |"
    yield ""
