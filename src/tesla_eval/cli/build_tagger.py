"""`tesla build tagger`: a part-of-speech tagger from CoNLL-U."""

from __future__ import annotations

from pathlib import Path

import click

from tesla_eval.analysis.languages import code_to_build
from tesla_eval.analysis.tagger import KIND
from tesla_eval.analysis.tagger_build import TOKEN_VIEWS, TaggerData, TokenView, build_tagger, read_treebanks
from tesla_eval.analysis.tagger_lexicon import read_lexicon
from tesla_eval.analysis.tagger_training import TaggerSettings, settings_for
from tesla_eval.cli.options import provenance_options
from tesla_eval.cli.terminal import progress
from tesla_eval.resources import SUFFIX, user_data_folder, write_resource

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
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where the model goes; default: tagger-CODE.tesla among your own resources ($TESLA_EVAL_DATA or the "
    "platform's data folder), where it is found.",
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
@provenance_options("Where the data comes from; else its comments say.")
def tagger(
    *, train: tuple[str, ...], dev: tuple[str, ...], test: tuple[str, ...], lexicon: str | None, language: str,
    output: Path | None, fine_tags: bool, view: TokenView, epochs: int, licence: str, sources: tuple[str, ...],
    day: str,
) -> None:  # fmt: skip
    """Train a part-of-speech tagger from CoNLL-U.

    The same files and options give the same model, to the bit. For a new language `tesla build language` builds
    lemmas and synonyms too.

    \b
    tesla build tagger -l eo --train train.conllu --test test.conllu --lexicon words.tsv
    """
    language = code_to_build(language)
    output = output or user_data_folder() / f"{KIND}-{language}{SUFFIX}"
    data = TaggerData(
        train=read_treebanks(train), dev=read_treebanks(dev), test=read_treebanks(test),
        lexicon=read_lexicon(lexicon) if lexicon else None,
    )  # fmt: skip
    words = sum(len(sentence.words) for sentence in [*data.train, *data.dev])
    settings = settings_for(words, fine_tags=fine_tags, epochs=epochs)
    with progress("training", epochs * (2 if dev else 1)) as bar:
        resource = build_tagger(
            data, language, view=view, settings=settings,
            licence=licence, sources=sources, date=day, after_epoch=lambda errors: bar.advance(1),
        )  # fmt: skip
    write_resource(output, resource)
    click.echo(f"{output}: {output.stat().st_size / 1000:.0f} kB")
    for name, figures in resource.info["accuracy"].items():
        fine = f", XPOS {figures['xpos']} %" if "xpos" in figures else ""
        click.echo(f"{name}: UPOS {figures['upos']} %{fine} of {figures['tokens']} words")
