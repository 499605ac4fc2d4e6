"""Options that several subcommands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

from tesla_eval.analysis import Analyser, ConlluAnalyser
from tesla_eval.analysis.languages import resolve_language
from tesla_eval.cli.terminal import warn
from tesla_eval.metrics import METRIC_NAMES, Metric, create_metric
from tesla_eval.metrics.baselines import BASELINES
from tesla_eval.metrics.ngram_metric import NgramMetric

__all__ = ["analysed_option", "create_metrics", "language_option", "metrics_option", "synonyms_option"]

Command = TypeVar("Command", bound=Callable[..., object])

language_option: Callable[[Command], Command] = click.option(
    "-l", "--lang", "language", default="en", show_default=True,
    help="Language of the texts: ISO 639-1 code or a usual alias.",
)  # fmt: skip
metrics_option: Callable[[Command], Command] = click.option(
    "-m", "--metrics", default="m", show_default=True, metavar="NAME[,NAME...]",
    help=f"Metrics: {', '.join(METRIC_NAMES)}.",
)  # fmt: skip
analysed_option: Callable[[Command], Command] = click.option(
    "--analysed", is_flag=True,
    help="The files are CoNLL-U, one sentence a segment: FORM, LEMMA, UPOS and XPOS are taken as they are.",
)  # fmt: skip

synonyms_option: Callable[[Command], Command] = click.option(
    "--synonyms", default=None, metavar="FILE",
    help="Synonyms to use instead of the built-in ones: MyThes, wordnet tab file, LMF, Cilin or TSV.",
)  # fmt: skip


def create_metrics(
    names: str, language: str, *, analysed: bool = False, synonyms: str | None = None, workers: int = 1
) -> list[Metric]:
    """The metrics that `-m` names, each once, for the language that `-l` names."""
    code = resolve_language(language)
    analyser: Analyser | None = ConlluAnalyser(code) if analysed else None
    wanted = dict.fromkeys(name for name in names.split(",") if name.strip())
    if not wanted:
        raise click.UsageError("-m names no metric")
    if analysed and not {name.strip().lower() for name in wanted}.isdisjoint(BASELINES):
        raise click.UsageError(
            f"--analysed goes with our own metrics only: {', '.join(BASELINES)} read plain text"
        )
    metrics = [
        create_metric(name, code, analyser=analyser, synonyms=synonyms, workers=workers) for name in wanted
    ]
    lacking = {text for metric in metrics if isinstance(metric, NgramMetric) for text in metric.shortcomings}
    if lacking:
        warn(f"language {code!r} has {' and '.join(sorted(lacking))}: scores mean less there")
    return metrics
