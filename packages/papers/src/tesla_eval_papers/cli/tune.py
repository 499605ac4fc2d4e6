"""`tesla tune`: weights of a decoder's features that make its output best by a metric."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from tesla_eval.choosing.parameters import Parameters, read_parameters
from tesla_eval.cli.shared.command import Command
from tesla_eval.cli.shared.inputs import read_chunks
from tesla_eval.cli.shared.language import identified_language
from tesla_eval.cli.shared.options import (
    auto_language_option,
    choose_metric,
    nbest_format_option,
    one_metric_option,
    quiet_option,
    refuse,
)
from tesla_eval.cli.shared.outputs import OUTPUT_PATH, write_output
from tesla_eval.cli.shared.terminal import aligned, progress, write_lines
from tesla_eval.metrics.scoring import whole_streams
from tesla_eval_papers.tuning.mert import MertOptions
from tesla_eval_papers.tuning.outer import Iteration, Loop, Optimiser, tune_decoder, tune_list
from tesla_eval_papers.tuning.pro import ProOptions


@click.command(cls=Command)
@click.option(
    "--nbest",
    "lists",
    multiple=True,
    metavar="FILE",
    help="An n-best list with features; repeat to merge several.",
)
@click.option(
    "--decoder",
    metavar="CMD",
    help="Run this command to get n-best lists; {weights} is the file it reads, {nbest} the one it writes.",
)
@click.option(
    "-r", "--reference", "references", multiple=True, required=True, metavar="FILE", help="References."
)
@click.option(
    "-o", "--output", required=True, type=OUTPUT_PATH, help="Where the weights go; - is standard output."
)
@click.option(
    "--params",
    metavar="FILE",
    help="Weights to start from: Z-MERT's parameter file, moses.ini, or lines NAME VALUE.",
)
@one_metric_option("What is tuned for.")
@auto_language_option
@quiet_option
@nbest_format_option
@click.option("--optimiser", type=click.Choice(["mert", "pro"]), default="mert")
@click.option("--restarts", type=click.IntRange(1, 10_000), default=20, help="mert: starting points.")
@click.option(
    "--directions",
    type=click.IntRange(0, 1000),
    default=2,
    help="mert: random directions per round, besides one per feature.",
)
@click.option(
    "--l2",
    type=click.FloatRange(0),
    default=None,
    help="The strength of the L2 penalty. mert: what a unit of squared distance from the starting weights costs, in "
    "points of the metric.  [default: 0 for mert, 1 for pro]",
)
@click.option(
    "--average", is_flag=True, help="mert: return the mean of the weights of all restarts, not the best ones."
)
@click.option(
    "--interpolate",
    type=click.FloatRange(0, 1),
    default=1.0,
    help="pro: the share of the new weights; the rest comes from the iteration before.",
)
@click.option("--iterations", type=click.IntRange(1), default=100, help="Run the decoder at most this often.")
@click.option(
    "--work", metavar="DIR", help="Where the lists of the decoder are kept.  [default: OUTPUT.work]"
)
@click.option(
    "--output-format",
    type=click.Choice(["plain", "zmert", "moses"]),
    default=None,
    help="Lines NAME VALUE, a parameter file of Z-MERT, or moses.ini.  [default: as --params, else plain]",
)
@click.option("--seed", type=click.IntRange(0), default=0)
@click.option("-j", "--jobs", type=click.IntRange(1), default=1, help="Threads for scoring.")
def tune(
    lists: tuple[str, ...], decoder: str | None, references: tuple[str, ...], output: Path, params: str | None,
    metric: str | None, language: str, nbest_format: str | None, optimiser: str, restarts: int, directions: int,
    l2: float | None, average: bool, interpolate: float, iterations: int, work: str | None, output_format: str | None,
    seed: int, jobs: int,
) -> None:  # fmt: skip
    """Find feature weights that make a decoder's output as good as possible by a metric.

    Candidates are scored once, then weights are searched for. MERT searches each direction exactly (Och 2003) from
    several starting points. PRO (Hopkins and May 2011) learns to rank the candidates and varies less between runs.
    With --decoder the search alternates with new n-best lists until the weights settle. An interrupted run continues
    where it stopped.

    \b
    tesla tune -m m --nbest dev.nbest -r dev.ref -o weights.txt
    tesla tune -m bleu --nbest dev.nbest -r dev.ref --params params.txt --optimiser pro -o weights.txt
    tesla tune -m m --decoder "decode.sh {weights} {nbest}" --params params.txt -r dev.ref -o weights.txt
    """
    to_screen = output == Path("-")
    refuse({
        "give n-best lists with --nbest, or a --decoder that writes them": bool(lists) == (decoder is not None),
        "--decoder needs --params: the weights to start from": decoder is not None and params is None,
        "-o - needs --work: a folder for the lists of the decoder": decoder is not None and to_screen and work is None,
    })  # fmt: skip
    streams = whole_streams(list(read_chunks(references, ())))
    texts = [text for stream in streams for text in stream if text]
    chosen = choose_metric(metric, identified_language(language, texts), workers=jobs).for_corpus(streams)
    options: Optimiser = (
        MertOptions(restarts, directions, regularisation=l2 or 0.0, average=average)
        if optimiser == "mert"
        else ProOptions(regularisation=1.0 if l2 is None else l2, interpolation=interpolate)
    )
    given = read_parameters(params) if params else None
    if output_format == "moses" and not (given and given.moses):
        raise click.UsageError(
            "--output-format moses needs --params moses.ini: the file that gets the weights"
        )
    table: list[tuple[str, ...]] = [_HEAD]
    with progress("scoring (candidates)") as bar:
        if decoder is None:
            given, last = tune_list(
                chosen, streams, lists, options, parameters=given, nbest_format=nbest_format, seed=seed,
                advance=bar.advance,
            )  # fmt: skip
            table.append(_row(last))
        else:
            assert given is not None
            for last in tune_decoder(
                chosen, streams, decoder, Path(work or f"{output}.work"), options, given, loop=Loop(iterations),
                nbest_format=nbest_format, seed=seed, advance=bar.advance,
            ):  # fmt: skip
                table.append(_row(last))
    tuned = given.with_weights(last.tuned.weights)
    lines = (replace(tuned, moses=()) if output_format == "plain" else tuned).lines()
    if output_format == "zmert" or (output_format is None and not tuned.moses and _is_zmert(tuned)):
        lines = tuned.zmert_lines()
    report = [*aligned(table, numeric=range(5)), str(chosen.get_signature())]
    write_output(lines, output)
    if to_screen:
        click.echo("\n".join(report), err=True)
    else:
        write_lines(report)


_HEAD = ("iteration", "candidates", "new", "before", "tuned")


def _row(done: Iteration) -> tuple[str, ...]:
    scores = (f"{done.tuned.start_score:.4f}", f"{done.tuned.score:.4f}")
    return (str(done.number), str(done.candidates), str(done.new), *scores)


def _is_zmert(parameters: Parameters) -> bool:
    return any((p.low, p.high) != (float("-inf"), float("inf")) or not p.tuned for p in parameters.items) or (
        parameters.normalization != "none"
    )
