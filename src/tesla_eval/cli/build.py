"""`tesla build`: make your own taggers, languages and phrase tables."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from tesla_eval.base.errors import UsageError
from tesla_eval.base.resources import SUFFIX, Provenance, Resource, user_data_folder, write_resource
from tesla_eval.cli.build_lm import lm
from tesla_eval.cli.build_vectors import vectors
from tesla_eval.cli.shared.options import provenance_options
from tesla_eval.cli.shared.outputs import resource_option
from tesla_eval.cli.shared.plugged import PluggedGroup
from tesla_eval.cli.shared.terminal import progress, resumable
from tesla_eval.language.analysis.languages import code_to_build, resolve_language
from tesla_eval.language.analysis.tagger import KIND as TAGGER
from tesla_eval.language.pivot import KIND as PHRASES
from tesla_eval.language.pivot import STEMS
from tesla_eval.training.bitext import Bitext
from tesla_eval.training.languages import LanguageFiles, build_language
from tesla_eval.training.phrase_tables import ALIGNERS, PhraseTableRecipe, build_phrase_table
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


@click.group(cls=PluggedGroup)
def build() -> None:
    """Build models and tables from your own data."""


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

    The same files and options give the same model, to the bit. For a new language `tesla build language` builds
    lemmas and synonyms too.

    \b
    tesla build tagger -l eo --train train.conllu --test test.conllu --lexicon words.tsv
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
    tesla build language -l eo --train train.conllu --test test.conllu --lexicon words.tsv --synonyms synonyms.tsv
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


@click.command("phrase-table")
@click.option(
    "-l", "--lang", "language", required=True, metavar="CODE", help="The language of the texts to be scored."
)
@click.option("--pivot", required=True, metavar="CODE", help="The pivot language.")
@click.option(
    "--bitext",
    "bitexts",
    nargs=2,
    multiple=True,
    metavar="TEXT PIVOT",
    help="Two files whose lines translate each other, in the language and in the pivot; may be gzipped (.gz).",
)
@click.option(
    "--alignments",
    multiple=True,
    metavar="FILE",
    help="Word alignments in Pharaoh format (`0-0 1-2`), one file for each --bitext, over the words between white "
    "space: i-j links word i of the text with word j of the pivot. Without them --aligner aligns.",
)
@click.option(
    "--aligner",
    type=click.Choice(ALIGNERS),
    default=ALIGNERS[0],
    help="hmm: two hidden Markov models trained by agreement, the same links in every run. eflomal: a separate "
    "program (`pip install eflomal`, GPL).",
)
@click.option(
    "--moses",
    multiple=True,
    metavar="FILE",
    help="A Moses phrase table (with counts) to import; may be gzipped (.gz).",
)
@click.option(
    "--moses-swapped", is_flag=True, help="The Moses tables translate from the pivot to the language."
)
@click.option(
    "--prune",
    nargs=2,
    type=(click.IntRange(1), click.FloatRange(0, 1, max_open=True)),
    default=(1, 0.0),
    show_default="keep everything",
    metavar="COUNT PROBABILITY",
    help="Leave out phrases seen fewer than COUNT times, and all but the best translation with PROBABILITY or less.",
)
@click.option(
    "--stems",
    is_flag=True,
    help="A table for -m pem: stems of English words instead of lemmas, and punctuation.",
)
@resource_option("phrases-CODE-PIVOT.tesla")
@click.option(
    "--work",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for intermediate results.  [default: the output's name with .work; deleted at the end]",
)
@click.option("--keep-work", is_flag=True, help="Do not delete the work folder at the end.")
@click.option(
    "--compact",
    is_flag=True,
    help="Write a compressed file, a fifth of the size. It is loaded into memory, not mapped.",
)
@click.option("-j", "--jobs", type=click.IntRange(1), default=1, help="Threads of --aligner hmm.")
@provenance_options("Where the data comes from; default: the files' names.")
def phrase_table(
    *, language: str, pivot: str, bitexts: tuple[tuple[str, str], ...], alignments: tuple[str, ...],
    aligner: str, moses: tuple[str, ...], moses_swapped: bool, prune: tuple[int, float], stems: bool,
    output: Path | None, work: Path | None, keep_work: bool, compact: bool, jobs: int,
    provenance: Provenance,
) -> None:  # fmt: skip
    """Build a phrase table: what the phrases of a language mean in a pivot language.

    \b
    tesla build phrase-table -l en --pivot fr --bitext news.en.gz news.fr.gz --bitext talks.en talks.fr
    tesla build phrase-table -l en --pivot fr --bitext news.en news.fr --alignments news.en-fr.align
    tesla build phrase-table -l en --pivot de --moses phrase-table.gz

    Stages: both sides are analysed, words aligned, phrases counted, counts merged. The same files give the same table,
    to the bit, whatever the number of threads (not with eflomal, which draws random numbers without a seed). If a
    build is interrupted, run the same command again: it continues where it stopped.
    """
    code, pivot_code = resolve_language(language), resolve_language(pivot)
    if alignments and len(alignments) != len(bitexts):
        raise UsageError(
            f"{len(bitexts)} bitexts but {len(alignments)} files of alignments; "
            "give --alignments once for each --bitext"
        )
    given = alignments or (None,) * len(bitexts)
    recipe = PhraseTableRecipe(
        language=code, pivot=pivot_code,
        bitexts=tuple(Bitext(*files, links) for files, links in zip(bitexts, given, strict=True)),
        moses=moses, moses_swapped=moses_swapped, min_count=prune[0], min_probability=prune[1], compact=compact,
        aligner=aligner, stems=stems, provenance=provenance,
    )  # fmt: skip
    kind = f"{PHRASES}-{STEMS}" if stems else PHRASES
    path = output or user_data_folder() / f"{kind}-{code}-{pivot_code}{SUFFIX}"
    folder = work or path.with_name(f"{path.name}.work")
    with resumable(folder), progress() as bar:
        resource = build_phrase_table(recipe, folder, bar, threads=jobs)
    write_resource(path, resource, compress=compact)
    if not keep_work:
        shutil.rmtree(folder)
    info = resource.info
    click.echo(
        f"{path}: {path.stat().st_size / 1e6:.1f} MB, {info['phrases']} phrases of {info['extracted phrases']} "
        f"(pruned at {prune[0]} and {prune[1]:g}), {info['extracted pairs']} phrase pairs from "
        f"{info['sentence pairs']} sentence pairs"
    )


for _command in (language, lm, phrase_table, tagger, vectors):
    build.add_command(_command)
