"""`tesla discourse`: the discourse relations of a text, drawn in the terminal or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from tesla_eval.cli.shared.options import language_option
from tesla_eval.cli.shared.terminal import visible
from tesla_eval.texts.lines import LineReader
from tesla_eval_papers.discourse.relation_parser import load_discourse_parser

_COLOURS = {"connective": "red", "arg1": "cyan", "arg2": "green"}


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@language_option
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON object per text: sentences, relations, their positions.",
)
@click.option("--lines", is_flag=True, help="Treat every line of the files as a separate text.")
def discourse(files: tuple[str, ...], language: str, as_json: bool, lines: bool) -> None:
    """Print the discourse relations of texts: type, sense, connective and both arguments.

    A file is one text (with --lines: one text per line); `-` is standard input. Positions count characters of the text;
    sentences are numbered from 0. Arg1 is drawn in cyan, Arg2 in green, the connective in red.

    \b
    tesla discourse article.txt
    echo "It rained. But we went out." | tesla discourse - --json
    """
    parser = load_discourse_parser(language)
    for name, text in _texts(files, lines):
        parse = parser.to_dict(text)
        if as_json:
            click.echo(
                json.dumps({"text": name, "fingerprint": parser.fingerprint, **parse}, ensure_ascii=False)
            )
        else:
            click.echo(
                f"{visible(name)}: {len(parse['sentences'])} sentences, {len(parse['relations'])} relations"
            )
            for relation in parse["relations"]:
                for line in _drawing(relation):
                    click.echo(line)
            click.echo()


def _texts(files: tuple[str, ...], lines: bool) -> Iterator[tuple[str, str]]:
    for path in files:
        reader = LineReader(path)
        if lines:
            for text in reader:
                yield f"{reader.name}, line {reader.count}", text
        else:
            yield reader.name, "\n".join(reader)


def _drawing(relation: dict[str, Any]) -> Iterator[str]:
    first, last = (relation[part]["sentences"] for part in ("arg1", "arg2"))
    ends = min(*first, *last), max(*first, *last)
    where = "–".join(str(number + 1) for number in dict.fromkeys(ends))
    name = " ".join(dict.fromkeys((relation["type"], relation["sense"])))
    yield click.style(f"{where:>7}  {name}", bold=True)
    for part, colour in _COLOURS.items():
        if relation[part] is not None:
            yield f"{'':9}{part:<11}{click.style(visible(relation[part]['text']), fg=colour)}"
