"""The explanation of a coherence metric drawn for the terminal: the role matrix, and the shares of transitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from tesla_eval.base.explanations import CoherenceDetail, ValueDetail
from tesla_eval.cli.shared.terminal import aligned, visible, width

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
