"""`tesla serve`: scores for other programs, over standard input and output."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from tesla_eval.cli.shared.command import command
from tesla_eval.cli.shared.options import (
    auto_language_option,
    one_metric_option,
    quiet_option,
    requested_metrics,
)
from tesla_eval.cli.shared.terminal import note
from tesla_eval.language.choice import AUTO, resolve
from tesla_eval.metrics import Metric, create_metric
from tesla_eval.tuning.protocols import PROTOCOLS
from tesla_eval.tuning.serve import serve as answer

__all__ = ["serve"]


@command()
@click.option(
    "--protocol",
    type=click.Choice(sorted(PROTOCOLS)),
    default="jsonl",
    show_default=True,
    help="jsonl: JSON Lines. meteor: that of METEOR -stdio. zmert: that of integrations/zmert.",
)
@one_metric_option("The metric that scores.")
@auto_language_option
@quiet_option
def serve(protocol: str, metric: str | None, language: str) -> None:
    """Answer requests on standard input with scores on standard output, until the input ends.

    With -l auto, the references of the first requests decide about the language of all; standard error says which one
    it is.

    \b
    echo '{"hyp": "A cat sat.", "refs": ["The cat sat."]}' | tesla serve -m m -l en
    """
    named = () if metric is None else (metric,)

    # Clients read standard error as trouble, so nothing is said there of what a language lacks.
    def make(texts: Sequence[str]) -> Metric:
        code = resolve(language, texts, note)
        (request,) = requested_metrics(named, code, one=True)
        return create_metric(request.entry.name, code, **request.options)

    requested_metrics(named, "en")  # a name that is wrong is refused at once
    answer(PROTOCOLS[protocol](make if language == AUTO else make(())), sys.stdin.buffer, sys.stdout.buffer)
