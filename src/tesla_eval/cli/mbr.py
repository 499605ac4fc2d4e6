"""`tesla mbr`: the candidate that agrees best with all the others."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from itertools import chain, islice

import click

from tesla_eval.choosing.mbr import MbrOptions, Risked
from tesla_eval.choosing.mbr import mbr as choose
from tesla_eval.choosing.nbest import complete_lists, read_nbest
from tesla_eval.choosing.parameters import read_parameters
from tesla_eval.cli.shared.command import Command
from tesla_eval.cli.shared.language import SAMPLE, identified_language
from tesla_eval.cli.shared.options import (
    auto_language_option,
    choose_metric,
    nbest_format_option,
    one_metric_option,
    quiet_option,
)
from tesla_eval.cli.shared.terminal import aligned, counted, visible, write_lines


@click.command(cls=Command)
@click.argument("nbest", metavar="LIST")
@one_metric_option("The metric that compares.")
@auto_language_option
@quiet_option
@nbest_format_option
@click.option(
    "--scale",
    type=float,
    default=0.0,
    help="Weight each pseudo-reference by exp(SCALE × its model score); 0 weights all equally.",
)
@click.option(
    "--params",
    metavar="FILE",
    help="For --scale: compute the model score with these feature weights.  [default: the scores in the list]",
)
@click.option(
    "--top-k",
    type=click.IntRange(1),
    default=None,
    help="Compare only the K candidates that share most n-grams with all. Faster, approximate.",
)
@click.option(
    "--aggregate", is_flag=True, help="Choose by shared n-grams alone. Fastest, and no metric is used."
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["best", "table", "json"]),
    default="best",
    help="The best text per segment; all candidates with their expected scores as a table or as JSON Lines.",
)
@click.option("-j", "--jobs", type=click.IntRange(1), default=1, help="Threads.")
def mbr(
    nbest: str, metric: str | None, language: str, nbest_format: str | None, scale: float, params: str | None,
    top_k: int | None, aggregate: bool, output_format: str, jobs: int,
) -> None:  # fmt: skip
    """Choose, without references, the candidate that agrees best with all candidates of its segment.

    Each candidate of the n-best LIST is scored against all candidates as if they were references (minimum Bayes
    risk). Equal candidates are compared once.

    \b
    tesla mbr samples.jsonl > best.txt
    tesla mbr -m x --scale 1 marian.nbest --format table
    tesla mbr --nbest-format plain:5 samples.txt
    """
    if aggregate and (metric is not None or top_k is not None):
        raise click.UsageError("--aggregate uses no metric: leave out -m and --top-k")
    weights = read_parameters(params).by_name if params else None
    options = MbrOptions(scale, top_k, aggregate, weights)
    lists = complete_lists(read_nbest(nbest, nbest_format), nbest)
    chosen = None
    if not aggregate:
        head = list(islice(lists, SAMPLE))
        texts = [text for one in head for text in one.texts]
        chosen = choose_metric(metric, identified_language(language, texts, "candidates"))
        lists = chain(head, lists)
    # All is read before anything is printed: a bad line gives an error, not half a result.
    choices = counted("choosing (segments)", choose(chosen, lists, options, jobs))
    own = [] if chosen is None else [str(chosen.get_signature())]
    signature = "|".join([*own, *(f"{key}:{value}" for key, value in options.signature.items())])
    write_lines(_FORMATS[output_format](signature, choices))


def _best(signature: str, choices: list[Risked]) -> Iterator[str]:
    for choice in choices:
        yield choice.texts[choice.best]


def _table(signature: str, choices: list[Risked]) -> Iterator[str]:
    for choice in choices:
        rows = [("segment", "candidate", "expected", "", "text")]
        for k, (text, score) in enumerate(zip(choice.texts, choice.expected.tolist(), strict=True)):
            shown = "-" if math.isnan(score) else f"{score:.4f}"
            best = "best" if k == choice.best else ""
            rows.append((str(choice.segment), str(k + 1), shown, best, visible(text)))
        yield from aligned(rows, numeric=(0, 1, 2))
        yield ""
    yield signature


def _json(signature: str, choices: list[Risked]) -> Iterator[str]:
    for choice in choices:
        yield json.dumps({"signature": signature, **choice.to_dict()}, ensure_ascii=False)


_FORMATS: dict[str, Callable[[str, list[Risked]], Iterator[str]]] = {
    "best": _best,
    "table": _table,
    "json": _json,
}
