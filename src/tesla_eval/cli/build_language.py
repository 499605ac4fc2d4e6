"""`tesla build language`: everything a new language needs, in one command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from tesla_eval.analysis.language_build import LanguageFiles, build_language
from tesla_eval.analysis.languages import code_to_build
from tesla_eval.analysis.tagger_build import read_treebanks
from tesla_eval.analysis.tagger_lexicon import read_lexicon_entries
from tesla_eval.analysis.tagger_training import TaggerSettings
from tesla_eval.cli.options import provenance_options
from tesla_eval.cli.terminal import progress
from tesla_eval.resources import SUFFIX, Resource, user_data_folder, write_resource

__all__ = ["language"]


@click.command(context_settings={"max_content_width": 110})
@click.option("-l", "--lang", "code", required=True, metavar="CODE", help="The language's ISO 639 code.")
@click.option("--train", required=True, multiple=True, metavar="FILE", help="CoNLL-U to learn from; .gz too.")
@click.option("--test", multiple=True, metavar="FILE", help="CoNLL-U to measure on.")
@click.option("--lexicon", metavar="FILE", help="Word forms: form, lemma and tag, separated by tabs.")
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
@provenance_options("Where the data comes from; else its comments say.")
def language(
    *, code: str, train: tuple[str, ...], test: tuple[str, ...], lexicon: str | None, synonyms: Path | None,
    folder: Path | None, licence: str, sources: tuple[str, ...], day: str,
) -> None:  # fmt: skip
    """Build a language from your own files: a tagger, lemmas and synonyms.

    The sentences' FORM, LEMMA and UPOS are learned from. The same files give the same models, to the bit.

    \b
    tesla build language -l eo --train train.conllu --test test.conllu --lexicon words.tsv --synonyms synonyms.tsv
    tesla score -l eo -r reference.txt system.txt
    """
    code, folder = code_to_build(code), folder or user_data_folder()
    files = LanguageFiles(
        train=read_treebanks(train), test=read_treebanks(test),
        lexicon=list(read_lexicon_entries(lexicon)) if lexicon else [], synonyms=synonyms,
    )  # fmt: skip
    with progress("training", TaggerSettings.epochs) as bar:
        built = build_language(
            files, code, licence=licence, sources=sources, date=day, after_epoch=lambda errors: bar.advance(1)
        )
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
