"""`tesla serve`: scores for other programs, over standard input and output."""

from __future__ import annotations

import sys

import click

from tesla_eval.cli.shared.options import language_option
from tesla_eval.language.analysis.languages import resolve_language
from tesla_eval.metrics import create_metric, default_metrics
from tesla_eval.tuning.protocols import PROTOCOLS
from tesla_eval.tuning.serve import serve as answer

__all__ = ["serve"]


@click.command(context_settings={"max_content_width": 110})
@click.option(
    "--protocol",
    type=click.Choice(sorted(PROTOCOLS)),
    default="jsonl",
    show_default=True,
    help="jsonl: JSON Lines. meteor: that of METEOR -stdio. zmert: that of integrations/zmert.",
)
@click.option(
    "-m", "--metric", default=None, help="The metric that scores.  [default: m; celab without spaces]"
)
@language_option
def serve(protocol: str, metric: str | None, language: str) -> None:
    """Answer requests on standard input with scores on standard output, until the input ends.

    \b
    echo '{"hyp": "A cat sat.", "refs": ["The cat sat."]}' | tesla serve -m m -l en
    """
    if metric is not None and "," in metric:
        raise click.UsageError("serve takes one metric")
    # Clients read standard error as trouble, so nothing is said there of what a language lacks.
    code = resolve_language(language)
    chosen = create_metric(metric or default_metrics(code).split(",")[0], code)
    answer(PROTOCOLS[protocol](chosen), sys.stdin.buffer, sys.stdout.buffer)
