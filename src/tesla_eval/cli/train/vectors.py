"""`tesla train vectors`: a table of word vectors from published embeddings."""

from __future__ import annotations

from pathlib import Path

import click

from tesla_eval.base.resources import SUFFIX, Provenance, user_data_folder, write_resource
from tesla_eval.cli.shared.options import provenance_options
from tesla_eval.cli.shared.outputs import resource_option
from tesla_eval.cli.shared.terminal import progress
from tesla_eval.language.analysis.languages import code_to_build
from tesla_eval.language.analysis.vectors import KIND
from tesla_eval.texts.lines import STANDARD_INPUT
from tesla_eval.training.vectors import (
    DIMENSIONS,
    DROPPED_AXES,
    MOST_DIMENSIONS_OF_TABLE,
    WORDS,
    Embeddings,
    read_huggingface_folder,
    read_vector_text,
    vector_table,
)


@click.command()
@click.argument("source", metavar="FILE|FOLDER")
@click.option("-l", "--lang", "language", required=True, metavar="CODE", help="The language's code.")
@resource_option("vectors-CODE.tesla")
@click.option(
    "--words",
    type=click.IntRange(100, 1_000_000),
    default=WORDS,
    help="Words to keep from a text file, from its beginning.",
)
@click.option(
    "--dimensions",
    type=click.IntRange(8, MOST_DIMENSIONS_OF_TABLE),
    default=DIMENSIONS,
    help="Numbers per word in the table.",
)
@click.option(
    "--drop-axes",
    type=click.IntRange(0, 64),
    help="Leave out so many principal axes, on which words differ by frequency rather than meaning; default: "
    f"{DROPPED_AXES} for a text file, else 0.",
)
@provenance_options("Where the vectors come from; default: the file's name.")
def vectors(
    *, source: str, language: str, output: Path | None, words: int, dimensions: int, drop_axes: int | None,
    provenance: Provenance,
) -> None:  # fmt: skip
    """Build a table of word vectors. Metrics use it to match words with similar meanings.

    FILE holds one word and its numbers per line, as fastText (.vec), GloVe and word2vec write them, most frequent
    words first; .gz too. FOLDER is a model of Hugging Face with model.safetensors and a WordPiece vocabulary in
    vocab.txt: its input embeddings are used. Both are read as data. The same input gives the same table.

    \b
    tesla train vectors -l de cc.de.300.vec.gz --licence "CC BY-SA 3.0"
    tesla train vectors -l en all-MiniLM-L6-v2/ --licence Apache-2.0
    """
    language = code_to_build(language)
    output = output or user_data_folder() / f"{KIND}-{language}{SUFFIX}"
    with progress() as bar:
        bar.stage("reading")
        embeddings, axes_to_drop = _read(source, words)
        bar.stage("reducing")
        dropped = axes_to_drop if drop_axes is None else drop_axes
        table = vector_table(
            embeddings, language, dimensions=dimensions, dropped_axes=dropped,
            provenance=provenance.or_from([Path(source).name]),
        )  # fmt: skip
        write_resource(output, table)
    kind = "pieces of words" if embeddings.pieces else "words"
    size = output.stat().st_size / 1e6
    click.echo(f"{output}: {table.info['with vector']} {kind}, {dimensions} dimensions, {size:.2f} MB")


def _read(source: str, words: int) -> tuple[Embeddings, int]:
    """What a file or folder holds, and how many axes of it are better dropped."""
    if source != STANDARD_INPUT and Path(source).is_dir():
        return read_huggingface_folder(Path(source)), 0
    return read_vector_text(source, words=words), DROPPED_AXES
