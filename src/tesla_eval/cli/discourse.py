"""`tesla discourse`: the discourse relations of a text, and DICOMER's explanation, drawn in the terminal or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import click

from tesla_eval.base.explanations import CoherenceDetail, ValueDetail
from tesla_eval.cli.shared.options import language_option
from tesla_eval.cli.shared.terminal import aligned, visible, width
from tesla_eval.language.discourse.parser import load_parser
from tesla_eval.texts.lines import LineReader

Column = list[Sequence[str]]
"""The cells of a table's column, each a few lines."""

_WIDEST = 110
_MOST_TRANSITIONS = 8
_MOST_TERMS = 60


def draw_roles(detail: CoherenceDetail) -> Iterator[str]:
    """The sentences, the matrix in as many tables as the terms need, and the shares of the score."""
    for number, sentence in enumerate(detail.sentences, 1):
        yield f"S{number}  {visible(' '.join(sentence.split()))}"
    yield ""
    yield from _matrix(detail.matrix)
    yield from _transitions(detail.features)


def _matrix(matrix: Mapping[str, Sequence[Sequence[str]]]) -> Iterator[str]:
    """Rows are sentences, columns terms; terms of several sentences come first, the rest in order of appearance."""
    terms = sorted(matrix, key=lambda term: -sum(list(roles) != ["nil"] for roles in matrix[term]))
    block: list[Column] = []
    for term in terms[:_MOST_TERMS]:
        column: Column = [[visible(term)], *matrix[term]]
        widths = (max(width(line) for cell in one for line in cell) for one in (*block, column))
        if block and sum(wide + 2 for wide in widths) > _WIDEST:
            yield from _table(block)
            block = []
        block.append(column)
    if block:
        yield from _table(block)
    if len(terms) > _MOST_TERMS:
        yield f"… and {len(terms) - _MOST_TERMS} more terms (all of them with --json)"
        yield ""


def _table(columns: Sequence[Column]) -> Iterator[str]:
    rows: list[tuple[str, ...]] = []
    for number, cells in enumerate(zip(*columns, strict=True)):
        lines = list(zip_longest(*cells, fillvalue=""))
        rows.extend((f"S{number}" if number and not k else "", *line) for k, line in enumerate(lines))
    yield from aligned(rows)
    yield ""


def _transitions(features: Sequence[ValueDetail]) -> Iterator[str]:
    """The features that added most to the score and those that took most away."""
    shares = [(feature, feature.share) for feature in features if feature.share is not None]
    raised = [one for one in shares if one[1] > 0][:_MOST_TRANSITIONS]
    lowered = [one for one in reversed(shares) if one[1] < 0][:_MOST_TRANSITIONS]
    for title, chosen in (("raised the score", raised), ("lowered the score", lowered)):
        rows = [(title, "probability", "weight", "share")]
        rows.extend(
            (feature.name, f"{feature.value:.4f}", f"{feature.weight:+.4f}", f"{share:+.4f}")
            for feature, share in chosen
        )
        yield from aligned(rows, numeric=(1, 2, 3))
        yield ""
    named = {feature.name: feature.value for feature in features if feature.share is None}
    yield "  ".join(f"{name} {value:.4f}" for name, value in named.items())
    yield ""


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
    ends = min(*first, *last), max(*first, *last)
    where = "–".join(str(number + 1) for number in dict.fromkeys(ends))
    name = " ".join(dict.fromkeys((relation["type"], relation["sense"])))
    yield click.style(f"{where:>7}  {name}", bold=True)
    for part, colour in _COLOURS.items():
        if relation[part] is not None:
            yield f"{'':9}{part:<11}{click.style(visible(relation[part]['text']), fg=colour)}"
