"""`tesla selftest`: does this machine compute what this version should, to the last bit?"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import click

from tesla_eval.metrics import create_metric
from tesla_eval.version import __version__

__all__ = ["selftest"]


@click.command()
@click.option(
    "--print-scores", is_flag=True, help="Print the cases with the scores of this machine, as JSON."
)
def selftest(print_scores: bool) -> None:
    """Recompute stored scores: the same version gives the same bits on every machine.

    \b
    tesla selftest
    tesla selftest --print-scores > here.json
    """
    cases: list[dict[str, Any]] = json.loads(
        files("tesla_eval").joinpath("data/selftest.json").read_text("utf-8")
    )
    wrong = 0
    for case in cases:
        metric = create_metric(case["metric"], case["lang"])
        score = metric.sentence_score(case["hypothesis"], case["references"]).score
        signature = str(metric.get_signature())
        if print_scores:
            case.update(signature=signature, score=score.hex())
        elif score.hex() != case["score"] or signature != case["signature"]:
            wrong += 1
            click.echo(
                f"{case['metric']} {case['lang']}: {score.hex()} ({score!r}, {signature}), "
                f"stored {case['score']} ({case['signature']})",
                err=True,
            )
    if print_scores:
        click.echo(json.dumps(cases, ensure_ascii=False, indent=1))
    elif wrong:
        click.echo(f"{wrong} of {len(cases)} stored scores differ: was a dependency changed?", err=True)
        raise click.exceptions.Exit(1)
    else:
        click.echo(f"tesla-eval {__version__}: all {len(cases)} stored scores agree to the last bit")
