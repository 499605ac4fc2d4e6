"""`tesla train tagger` and `tesla train language`: models for a language of your own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import click

from tesla_eval.base.resources import SUFFIX, Provenance, Resource, user_data_folder, write_resource
from tesla_eval.cli.shared.options import provenance_options
from tesla_eval.cli.shared.outputs import resource_option
from tesla_eval.cli.shared.terminal import progress
from tesla_eval.language.analysis.languages import code_to_build
from tesla_eval.language.analysis.tags import KIND as TAGGER
from tesla_eval.training.languages import LanguageFiles, build_language
from tesla_eval.training.taggers import (
    TOKEN_VIEWS,
    TaggerData,
    TaggerSettings,
    TokenView,
    build_tagger,
    read_lexicon,
    read_lexicon_entries,
    read_treebanks,
    settings_for,
)


def _treebank_options(command: Callable[..., object]) -> Callable[..., object]:
    """What a tagger learns from."""
    for option in (
        click.option("--lexicon", metavar="FILE", help="Word forms: form, lemma and tag, separated by tabs."),
        click.option("--test", multiple=True, metavar="FILE", help="CoNLL-U to measure the result on."),
        click.option(
            "--train", required=True, multiple=True, metavar="FILE",
            help="CoNLL-U to learn from; may be gzipped (.gz).",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command()
@_treebank_options
@click.option(
    "--dev", multiple=True, metavar="FILE", help="CoNLL-U to measure on first, then to learn from as well."
)
@click.option("-l", "--lang", "language", required=True, metavar="CODE", help="The language's code.")
@resource_option("tagger-CODE.tesla")
@click.option("--fine-tags", is_flag=True, help="Learn XPOS too: `pos` is then the language's own tag.")
@click.option(
    "--tokens",
    "view",
    type=click.Choice(TOKEN_VIEWS),
    default="both",
    help="Learn treebank words, tokens as written (`du`, not `de` `le`), or both.",
)
@click.option(
    "--epochs", type=click.IntRange(1, 100), default=TaggerSettings.epochs, help="Passes over the data."
)
@provenance_options("Where the data comes from; default: as its comments say.")
def tagger(
    *, train: tuple[str, ...], dev: tuple[str, ...], test: tuple[str, ...], lexicon: str | None, language: str,
    output: Path | None, fine_tags: bool, view: TokenView, epochs: int, provenance: Provenance,
) -> None:  # fmt: skip
    """Train a part-of-speech tagger from CoNLL-U.

    The same files and options give the same model, to the bit. For a new language `tesla train language` builds
    lemmas and synonyms too.

    \b
    tesla train tagger -l eo --train train.conllu --test test.conllu --lexicon words.tsv
    """
    language = code_to_build(language)
    output = output or user_data_folder() / f"{TAGGER}-{language}{SUFFIX}"
    data = TaggerData(
        train=read_treebanks(train), dev=read_treebanks(dev), test=read_treebanks(test),
        lexicon=read_lexicon(lexicon) if lexicon else None,
    )  # fmt: skip
    words = sum(len(sentence.words) for sentence in [*data.train, *data.dev])
    settings = settings_for(words, fine_tags=fine_tags, epochs=epochs)
    with progress() as bar:
        resource = build_tagger(
            data, language, view=view, settings=settings, provenance=provenance, progress=bar
        )
    write_resource(output, resource)
    click.echo(f"{output}: {output.stat().st_size / 1000:.0f} kB")
    for name, figures in resource.info["accuracy"].items():
        fine = f", XPOS {figures['xpos']} %" if "xpos" in figures else ""
        click.echo(f"{name}: UPOS {figures['upos']} %{fine} of {figures['tokens']} words")


@click.command()
@click.option("-l", "--lang", "code", required=True, metavar="CODE", help="The language's ISO 639 code.")
@_treebank_options
@click.option(
    "--synonyms",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Synonyms in any known format.",
)
@click.option(
    "-o", "--output", "folder", type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the files; default: your own resources ($TESLA_EVAL_DATA or the platform's data folder).",
)  # fmt: skip
@provenance_options("Where the data comes from; default: as its comments say.")
def language(
    *, code: str, train: tuple[str, ...], test: tuple[str, ...], lexicon: str | None, synonyms: Path | None,
    folder: Path | None, provenance: Provenance,
) -> None:  # fmt: skip
    """Build a language from your own files: a tagger, lemmas and synonyms.

    It learns from FORM, LEMMA and UPOS of the sentences. The same files give the same models, to the bit.

    \b
    tesla train language -l eo --train train.conllu --test test.conllu --lexicon words.tsv --synonyms synonyms.tsv
    tesla score -l eo -r reference.txt system.txt
    """
    code, folder = code_to_build(code), folder or user_data_folder()
    files = LanguageFiles(
        train=read_treebanks(train), test=read_treebanks(test),
        lexicon=list(read_lexicon_entries(lexicon)) if lexicon else [], synonyms=synonyms,
    )  # fmt: skip
    with progress() as bar:
        built = build_language(files, code, provenance=provenance, progress=bar)
    for resource in built:
        path = folder / f"{resource.kind}-{code}{SUFFIX}"
        write_resource(path, resource, compress=resource.kind != "senses")
        click.echo(f"{path}: {', '.join(_figures(resource))}")


def _figures(resource: Resource) -> Iterator[str]:
    info = resource.info
    if resource.kind == "tagger" and "test" in info["accuracy"]:
        yield f"UPOS {info['accuracy']['test']['upos']} % right on the test set"
    elif resource.kind == "tagger":
        yield "not measured (no --test)"
    elif resource.kind == "lemmas":
        yield f"{info['forms']} forms, {info['rules']} rules"
        if "test accuracy" in info:
            yield f"{info['test accuracy']} % right on the test set"
    else:
        yield f"{info['lemmas']} words, {info['sets']} sets"
