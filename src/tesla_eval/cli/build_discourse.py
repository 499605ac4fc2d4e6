"""`tesla build discourse`: a shallow discourse parser from documents and relations in GDTB's layout."""

from __future__ import annotations

from pathlib import Path

import click

from tesla_eval.analysis import load_pipeline
from tesla_eval.cli.options import need_scikit_learn, provenance_options
from tesla_eval.cli.terminal import aligned, progress
from tesla_eval.discourse.evaluation import evaluate_parser
from tesla_eval.discourse.gdtb import read_gdtb
from tesla_eval.discourse.parser import CLASSIFIERS, Parser
from tesla_eval.discourse.training import train_parser_resource
from tesla_eval.errors import BuildError
from tesla_eval.resources import write_resource

__all__ = ["discourse"]


@click.command()
@click.option(
    "--documents", required=True, metavar="FILE", help="docs.jsonl[.gz]: doc, split, genre, text, sents."
)
@click.option("--relations", required=True, metavar="FILE", help="relations.tsv[.gz]: types, senses, spans.")
@click.option(
    "--split",
    "splits",
    multiple=True,
    default=("train", "dev"),
    show_default=True,
    help="Learn from these parts.",
)
@click.option("--test", "test_split", default="test", show_default=True, help="Measure on this part.")
@click.option("--without", "left_out", multiple=True, metavar="GENRE", help="Do not learn from this genre.")
@click.option(
    "-l", "--lang", "language", default="en", show_default=True, help="The language of the documents."
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where the model goes: discourse-CODE.tesla in a folder of `tesla resources`.",
)
@provenance_options()
def discourse(
    *, documents: str, relations: str, splits: tuple[str, ...], test_split: str, left_out: tuple[str, ...],
    language: str, output: Path, licence: str, sources: tuple[str, ...], day: str,
) -> None:  # fmt: skip
    """Train a shallow discourse parser. Needs scikit-learn (pip install 'tesla-eval[train]').

    The same files and options give the same model. About a minute for 200 documents.

    \b
    tesla build discourse --documents docs.jsonl.gz --relations relations.tsv.gz -o discourse-en.tesla
    """
    need_scikit_learn("tesla build discourse")
    pipeline = load_pipeline(language)
    corpus = read_gdtb(documents, relations, pipeline)
    chosen = [d for d in corpus if d.split in splits and d.genre not in left_out]
    if not chosen:
        raise BuildError(f"{documents}: no document of the parts {', '.join(splits)} is left to learn from")
    with progress("training", len(CLASSIFIERS) + 1) as bar:
        resource = train_parser_resource(
            chosen,
            pipeline,
            licence=licence,
            sources=sources,
            date=day,
            after_step=lambda name: bar.advance(1),
        )
    write_resource(output, resource)
    click.echo(f"{output}: {output.stat().st_size / 1000:.0f} kB, from {len(chosen)} documents")
    held_out = [d for d in corpus if d.split == test_split]
    if held_out:
        measures = evaluate_parser(Parser.from_arrays(resource.arrays), held_out)
        click.echo(f"measured on {len(held_out)} documents of the part {test_split}:")
        for line in aligned(measures.rows(), numeric=(1, 2)):
            click.echo(line)
