"""`tesla discourse`: the discourse relations of a text, coloured in the terminal or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from tesla_eval.cli.options import language_option
from tesla_eval.cli.terminal import visible
from tesla_eval.discourse import load_parser
from tesla_eval.textio import LineReader

__all__ = ["discourse"]

_COLOURS = {"connective": "red", "arg1": "cyan", "arg2": "green"}


@click.command(context_settings={"max_content_width": 110})
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@language_option
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON object a text: sentences, relations, their places."
)
@click.option("--lines", is_flag=True, help="Every line of the files is a text of its own.")
def discourse(files: tuple[str, ...], language: str, as_json: bool, lines: bool) -> None:
    """Print the discourse relations of texts: type, sense, connective and both arguments.

    A file is one text (with --lines: one text a line); `-` is standard input. Places count characters of the text,
    sentences from 0. Arg1 is drawn in cyan, Arg2 in green, the connective in red.

    \b
    tesla discourse article.txt
    echo "It rained. But we went out." | tesla discourse - --json
    """
    parser = load_parser(language)
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
    numbers = sorted({*first, *last})
    where = "–".join(
        str(number + 1) for number in ([numbers[0], numbers[-1]] if len(numbers) > 1 else numbers)
    )
    name = (
        relation["type"]
        if relation["type"] == relation["sense"]
        else f"{relation['type']} {relation['sense']}"
    )
    yield click.style(f"{where:>7}  {name}", bold=True)
    for part, colour in _COLOURS.items():
        if relation[part] is not None:
            yield f"{'':9}{part:<11}{click.style(visible(relation[part]['text']), fg=colour)}"
