"""`tesla build phrase-table`: a phrase table from bitexts (specification §6)."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from tesla_eval.analysis.languages import resolve_language
from tesla_eval.cli.options import provenance_options
from tesla_eval.cli.terminal import progress, resumable
from tesla_eval.errors import UsageError
from tesla_eval.pivot.table import KIND, LEAST_PROBABILITY
from tesla_eval.resources import SUFFIX, Provenance, user_data_folder, write_resource
from tesla_eval.training.bitext import Bitext
from tesla_eval.training.phrase_tables import PhraseTableRecipe, build_phrase_table

__all__ = ["phrase_table"]


@click.command("phrase-table", context_settings={"max_content_width": 110})
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
    help="Two files, line i a translation of line i: the first in the language, the second in the pivot; .gz too.",
)
@click.option(
    "--alignments",
    multiple=True,
    metavar="FILE",
    help="Word alignments in Pharaoh format (`0-0 1-2`), one file for each --bitext, over the words between white "
    "space: i-j links word i of the text with word j of the pivot. Without them eflomal aligns.",
)
@click.option(
    "--moses", multiple=True, metavar="FILE", help="A Moses phrase table (with counts) to import; .gz too."
)
@click.option("--moses-swapped", is_flag=True, help="The Moses tables lead from the pivot to the language.")
@click.option(
    "--prune",
    nargs=2,
    type=(click.IntRange(1), click.FloatRange(0, 1, max_open=True)),
    default=(1, LEAST_PROBABILITY),
    show_default=True,
    metavar="COUNT PROBABILITY",
    help="Leave out phrases seen fewer than COUNT times, and translations with PROBABILITY or less, save the best one.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where the table goes.  [default: phrases-CODE-PIVOT.tesla in your data folder, where metrics find it]",
)
@click.option(
    "--work",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the stages' results.  [default: the output's name with .work; deleted at the end]",
)
@click.option("--keep-work", is_flag=True, help="Do not delete the work folder at the end.")
@click.option(
    "--compact",
    is_flag=True,
    help="A deflated file, a fifth of the size: loaded into memory, not mapped.",
)
@provenance_options("Where the data comes from; default: the files' names.")
def phrase_table(
    *, language: str, pivot: str, bitexts: tuple[tuple[str, str], ...], alignments: tuple[str, ...],
    moses: tuple[str, ...], moses_swapped: bool, prune: tuple[int, float], output: Path | None, work: Path | None,
    keep_work: bool, compact: bool, sources: tuple[str, ...], licence: str, day: str,
) -> None:  # fmt: skip
    """Build a phrase table: what the phrases of a language mean in a pivot language.

    \b
    tesla build phrase-table -l en --pivot fr --bitext news.en.gz news.fr.gz --bitext talks.en talks.fr
    tesla build phrase-table -l en --pivot fr --bitext news.en news.fr --alignments news.en-fr.align
    tesla build phrase-table -l en --pivot de --moses phrase-table.gz

    Stages: both sides are analysed, words aligned (eflomal, `pip install eflomal`), phrases counted, counts merged. An
    interrupted build goes on where it stopped when the same command is given again.
    """
    code, pivot_code = resolve_language(language), resolve_language(pivot)
    if alignments and len(alignments) != len(bitexts):
        raise UsageError(f"{len(bitexts)} bitexts, but {len(alignments)} files of alignments")
    given = alignments or (None,) * len(bitexts)
    recipe = PhraseTableRecipe(
        language=code, pivot=pivot_code,
        bitexts=tuple(Bitext(*files, links) for files, links in zip(bitexts, given, strict=True)),
        moses=moses, moses_swapped=moses_swapped, min_count=prune[0], min_probability=prune[1], compact=compact,
        provenance=Provenance(sources, licence, day),
    )  # fmt: skip
    path = output or user_data_folder() / f"{KIND}-{code}-{pivot_code}{SUFFIX}"
    folder = work or path.with_name(f"{path.name}.work")
    with resumable(folder), progress() as bar:
        resource = build_phrase_table(recipe, folder, bar)
    write_resource(path, resource, compress=compact)
    if not keep_work:
        shutil.rmtree(folder)
    info = resource.info
    click.echo(
        f"{path}: {path.stat().st_size / 1e6:.1f} MB, {info['phrases']} phrases of {info['extracted phrases']} "
        f"(pruned at {prune[0]} and {prune[1]:g}), {info['extracted pairs']} phrase pairs from "
        f"{info['sentence pairs']} sentence pairs"
    )
