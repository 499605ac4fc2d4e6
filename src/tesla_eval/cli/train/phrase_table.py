"""`tesla train phrase-table`: what the phrases of a language mean in a pivot language."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from tesla_eval.base.errors import UsageError
from tesla_eval.base.resources import SUFFIX, Provenance, user_data_folder, write_resource
from tesla_eval.cli.shared.options import provenance_options
from tesla_eval.cli.shared.outputs import resource_option
from tesla_eval.cli.shared.terminal import progress, resumable
from tesla_eval.language.analysis.languages import resolve_language
from tesla_eval.language.pivot import KIND as PHRASES
from tesla_eval.language.pivot import STEMS
from tesla_eval.training.bitext import Bitext
from tesla_eval.training.phrase_tables import ALIGNERS, PhraseTableRecipe, build_phrase_table


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
    tesla train phrase-table -l en --pivot fr --bitext news.en.gz news.fr.gz --bitext talks.en talks.fr
    tesla train phrase-table -l en --pivot fr --bitext news.en news.fr --alignments news.en-fr.align
    tesla train phrase-table -l en --pivot de --moses phrase-table.gz

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
