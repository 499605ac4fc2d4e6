"""From the options of a command to open inputs, their language and the metrics for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from tesla_eval.base.errors import UsageError
from tesla_eval.cli.shared.input_checks import checked_chunks
from tesla_eval.cli.shared.inputs import Inputs, open_outputs
from tesla_eval.cli.shared.language import identified_language
from tesla_eval.cli.shared.options import choose_metrics
from tesla_eval.cli.shared.terminal import warn
from tesla_eval.metrics.requests import parse_requests
from tesla_eval.metrics.scoring import NamedMetric
from tesla_eval.texts.columns import Missing


class Opened(NamedTuple):
    """What is to be scored, the metrics, and the language that both are for."""

    inputs: Inputs
    metrics: list[NamedMetric]
    language: str


def open_for_metrics(
    references: Sequence[str], systems: Sequence[str], metrics: Sequence[str], language: str, *,
    source: str | None = None, columns: str | None = None, analysed: bool = False, one: bool = False,
    source_is_shown: bool = False, missing: Missing = "error",
    check: Callable[[Sequence[str]], object] = len,
) -> Opened:  # fmt: skip
    """Open the files, each once, then tell their language: bad usage and missing files are reported before it.

    `check` gets the names of the systems before the language is told.
    """
    if missing == "null":
        raise UsageError(
            "--missing null: a null score needs a table as the output; write -o FILE.parquet, or skip"
        )
    given = open_outputs(
        references, systems, parse_requests(metrics), source=source, columns=columns, analysed=analysed,
        missing=missing,
    )  # fmt: skip
    check(given.systems)
    code = identified_language(language, given.sample(), "references" if given.has_references else "texts")
    chosen = choose_metrics(metrics, code, analysed=analysed, one=one, summaries=given.topics is not None)
    if source is not None and not source_is_shown and not any(one.metric.uses_source for one in chosen):
        warn("--source has no effect: none of the metrics reads the source")
    prepared = all(getattr(one.metric, "pre_tokenized", False) for one in chosen)  # split into units already
    checked = checked_chunks(given, code, prepared=prepared)
    return Opened(replace(given, chunks=checked), chosen, code)
