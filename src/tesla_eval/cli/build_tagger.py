"""`tesla build tagger`: a part-of-speech tagger from CoNLL-U."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import click

from tesla_eval.analysis.tagger_build import TOKEN_VIEWS, TaggerData, TokenView, build_tagger, read_treebanks
from tesla_eval.analysis.tagger_lexicon import read_lexicon
from tesla_eval.analysis.tagger_training import TaggerSettings
from tesla_eval.cli.terminal import progress
from tesla_eval.errors import UsageError
from tesla_eval.resources import write_resource

__all__ = ["tagger"]


@click.command()
@click.option("--train", required=True, multiple=True, metavar="FILE", help="CoNLL-U to learn from; .gz too.")
@click.option(
    "--dev", multiple=True, metavar="FILE", help="CoNLL-U to measure on first, and to learn from then."
)
@click.option("--test", multiple=True, metavar="FILE", help="CoNLL-U to measure the result on.")
@click.option("--lexicon", metavar="FILE", help="Word forms: form, lemma and tag, separated by tabs.")
@click.option("-l", "--lang", "language", required=True, metavar="CODE", help="The language's code.")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where the model goes: tagger-CODE.tesla in a folder of `tesla resources`.",
)
@click.option("--fine-tags", is_flag=True, help="Learn XPOS too: `pos` is then the language's own tag.")
@click.option(
    "--tokens",
    "view",
    type=click.Choice(TOKEN_VIEWS),
    default="both",
    show_default=True,
    help="Learn treebank words, tokens as written (`du`, not `de` `le`), or both.",
)
@click.option(
    "--epochs",
    type=click.IntRange(1, 100),
    default=TaggerSettings.epochs,
    show_default=True,
    help="Passes over the data.",
)
@click.option("--licence", default="", help="The licence of the data, to be stored in the model.")
@click.option("--source", "sources", multiple=True, help="Where the data comes from; else its comments say.")
@click.option("--date", "day", default=lambda: date.today().isoformat(), help="To be stored; default: today.")
def tagger(
    *, train: tuple[str, ...], dev: tuple[str, ...], test: tuple[str, ...], lexicon: str | None, language: str,
    output: Path, fine_tags: bool, view: TokenView, epochs: int, licence: str, sources: tuple[str, ...],
    day: str,
) -> None:  # fmt: skip
    """Train a part-of-speech tagger from CoNLL-U.

    The same files and options give the same model, to the bit.
    """
    if re.fullmatch("[a-z]{2,3}", language) is None:
        raise UsageError(f"{language!r} is no language code (two or three small letters)")
    data = TaggerData(
        train=read_treebanks(train), dev=read_treebanks(dev), test=read_treebanks(test),
        lexicon=read_lexicon(lexicon) if lexicon else None,
    )  # fmt: skip
    with progress("training", epochs * (2 if dev else 1)) as bar:
        resource = build_tagger(
            data, language, view=view, settings=TaggerSettings(fine_tags=fine_tags, epochs=epochs),
            licence=licence, sources=sources, date=day, after_epoch=lambda errors: bar.advance(1),
        )  # fmt: skip
    write_resource(output, resource)
    click.echo(f"{output}: {output.stat().st_size / 1000:.0f} kB")
    for name, figures in resource.info["accuracy"].items():
        fine = f", XPOS {figures['xpos']} %" if "xpos" in figures else ""
        click.echo(f"{name}: UPOS {figures['upos']} %{fine} of {figures['tokens']} words")
