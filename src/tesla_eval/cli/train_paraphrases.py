"""`tesla train pem-x`: learn PEM-X from sets of paraphrases that people judged for meaning."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import click

from tesla_eval.base.resources import find_resource, missing_resource
from tesla_eval.cli.shared.options import language_option
from tesla_eval.cli.shared.outputs import OutputPath
from tesla_eval.cli.shared.terminal import progress
from tesla_eval.judgements.paraphrase_sets import read_paraphrase_set
from tesla_eval.language.analysis.languages import resolve_language
from tesla_eval.language.pivot import installed_pivots
from tesla_eval.models.paraphrases import write_pem_x_model
from tesla_eval.training.adequacy import train_pem_x

__all__ = ["pem_x"]


@click.command("pem-x")
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@language_option
@click.option(
    "-o",
    "--output",
    required=True,
    type=OutputPath(),
    help="Where the model goes: weights-pem-x-CODE.json in your data folder is found by itself.",
)
@click.option(
    "--pivots",
    metavar="CODE[,CODE...]",
    help="Pivot languages.  [default: the first installed one]",
)
@click.option(
    "--lm",
    "language_model",
    help="The language model's name or file.  [default: 4gram, or 3gram if it is not installed]",
)
@click.option("--date", "day", default=lambda: date.today().isoformat(), help="To be stored; default: today.")
def pem_x(
    *,
    tables: tuple[str, ...],
    language: str,
    output: Path,
    pivots: str | None,
    language_model: str | None,
    day: str,
) -> None:
    """Fit PEM-X to several sets of paraphrases; what is left open is chosen by leaving each set out in turn.

    A TABLE has a first line that names its columns, separated by tabs: original, paraphrase, meaning (a number, higher
    for a nearer meaning). The evaluation data of ParaBank, ParaScore-Twitter, STS-B and MRPC is read as it is.

    \b
    tesla train pem-x parabank_eval.tsv.gz stsb_en.tsv.gz mrpc.tsv.gz -o weights-pem-x-en.json
    """
    language = resolve_language(language)
    chosen = pivots.split(",") if pivots else installed_pivots(language)[:1]
    if not chosen:
        raise missing_resource(
            "phrase table", language, f"tesla build phrase-table -l {language} --pivot CODE"
        )
    names = [name for name in ("4gram", "3gram") if find_resource(f"lm-{name}", language) is not None]
    sets = [read_paraphrase_set(path) for path in tables]
    with progress() as bar:
        model, _ = train_pem_x(
            sets, language, chosen, language_model or (names[0] if names else "4gram"), date=day,
            data=[Path(path).name for path in tables], progress=bar,
        )  # fmt: skip
    write_pem_x_model(output, model)
    for name, value in model.training["held-out Pearson"].items():
        click.echo(f"{name}: Pearson's r {value:.4f} with the other sets learned from")
    click.echo(
        f"{output}: {len(model.evidence)} weights, mean of the held-out sets {model.training['mean']:.4f}"
    )
