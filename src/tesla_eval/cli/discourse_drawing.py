"""DICOMER's explanation in the terminal: the role matrix as a table, and the transitions that moved the score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from tesla_eval.cli.terminal import aligned, visible, width

__all__ = ["draw_roles"]

_WIDEST = 110
_MOST_TRANSITIONS = 8
_MOST_TERMS = 60


def draw_roles(detail: Mapping[str, Any]) -> Iterator[str]:
    """The sentences, the matrix in as many tables as the terms need, and the shares of the score."""
    for number, sentence in enumerate(detail["sentences"], 1):
        yield f"S{number}  {visible(' '.join(sentence.split()))}"
    yield ""
    yield from _matrix(detail["matrix"])
    yield from _transitions(detail["features"])


def _matrix(matrix: Mapping[str, list[list[str]]]) -> Iterator[str]:
    """Rows are sentences, columns terms; terms of several sentences come first, the rest in order of appearance."""
    terms = sorted(matrix, key=lambda term: -sum(roles != ["nil"] for roles in matrix[term]))
    block: list[list[list[str]]] = []
    for term in terms[:_MOST_TERMS]:
        column = [[visible(term)], *matrix[term]]
        if block and sum(_column_width(c) + 2 for c in [*block, column]) > _WIDEST:
            yield from _table(block)
            block = []
        block.append(column)
    if block:
        yield from _table(block)
    if len(terms) > _MOST_TERMS:
        yield f"… and {len(terms) - _MOST_TERMS} more terms (all of them with --json)"
        yield ""


def _column_width(column: list[list[str]]) -> int:
    return max(width(line) for cell in column for line in cell)


def _table(columns: list[list[list[str]]]) -> Iterator[str]:
    rows: list[tuple[str, ...]] = []
    for number, cells in enumerate(zip(*columns, strict=True)):
        lines = list(zip_longest(*cells, fillvalue=""))
        rows.extend((f"S{number}" if number and not k else "", *line) for k, line in enumerate(lines))
    yield from aligned(rows)
    yield ""


def _transitions(features: list[Mapping[str, Any]]) -> Iterator[str]:
    """The features that added most to the score and those that took most away."""
    shares = [feature for feature in features if "share" in feature]
    raised = [feature for feature in shares if feature["share"] > 0][:_MOST_TRANSITIONS]
    lowered = [feature for feature in reversed(shares) if feature["share"] < 0][:_MOST_TRANSITIONS]
    for title, chosen in (("raised the score", raised), ("lowered the score", lowered)):
        rows = [(title, "probability", "weight", "share")]
        rows.extend(
            (f["name"], f"{f['value']:.4f}", f"{f['weight']:+.4f}", f"{f['share']:+.4f}") for f in chosen
        )
        yield from aligned(rows, numeric=(1, 2, 3))
        yield ""
    named = {feature["name"]: feature["value"] for feature in features if "share" not in feature}
    yield "  ".join(f"{name} {value:.4f}" for name, value in named.items())
    yield ""
