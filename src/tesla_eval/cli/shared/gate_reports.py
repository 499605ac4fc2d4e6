"""The outcomes of quality gates for CI: JUnit's XML, and the summary of a step of GitHub Actions."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from tesla_eval.base.errors import InputError
from tesla_eval.cli.shared.gates import Outcome
from tesla_eval.cli.shared.outputs import write_output
from tesla_eval.cli.shared.terminal import visible

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
        cells = [
            escape(visible(text)).replace("|", "&#124;") for text in (one.system, one.limit, one.failure)
        ]
        yield f"| {'❌' if one.failure else '✅'} | {' | '.join(cells)} |"
    yield ""
