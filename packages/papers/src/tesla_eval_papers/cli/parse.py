"""`tesla parse`: constituency trees of texts, and the parser measured on a treebank."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click

from tesla_eval.cli.shared.options import language_option
from tesla_eval.cli.shared.terminal import warn, write_lines
from tesla_eval.texts.lines import LineReader
from tesla_eval_papers.syntax.tree_parser import (
    LONGEST,
    ConstituencyParser,
    Parse,
    load_tree_parser,
    read_parser,
)


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@language_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object per sentence.")
@click.option("--tokenised", is_flag=True, help="Each line is one sentence, its tokens separated by spaces.")
@click.option(
    "--model",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A parser file instead of the installed one.",
)
def parse(
    *,
    files: tuple[str, ...],
    language: str,
    as_json: bool,
    tokenised: bool,
    model: Path | None,
) -> None:
    """Print the constituency trees of texts, one bracketed tree per line.

    A file is raw text; it is split into sentences and tokens. `-` is standard input. Sentences of more than 100 words
    are cut after punctuation and their parts joined by FRAG; a warning (with --json, the field "cut") says so.

    \b
    tesla parse article.txt
    echo "The cat sat on the mat." | tesla parse - --json
    """
    parser = load_tree_parser(language) if model is None else read_parser(model)
    for path in files:
        for number, (tokens, parse) in enumerate(_parses(parser, path, tokenised), 1):
            if as_json:
                record = {
                    "file": path, "sentence": number, "tokens": tokens, "tree": str(parse.tree),
                    "cut": parse.cut, "glued": parse.glued,
                }  # fmt: skip
                write_lines([json.dumps(record, ensure_ascii=False)])
            else:
                if parse.cut:
                    warn(
                        f"{path}, sentence {number}: {len(tokens)} words are more than {LONGEST}; "
                        "it was parsed in parts"
                    )
                write_lines([str(parse.tree)])


def _parses(parser: ConstituencyParser, path: str, tokenised: bool) -> Iterator[tuple[list[str], Parse]]:
    """The sentences of a file with their trees, a block of lines at a time."""
    reader = LineReader(path)
    if tokenised:
        sentences = [tokens for line in reader if (tokens := line.split())]
    else:
        sentences = parser.sentences("\n".join(reader))
    block = 512
    for start in range(0, len(sentences), block):
        part = sentences[start : start + block]
        yield from zip(part, parser.parse_tokens(part), strict=True)
