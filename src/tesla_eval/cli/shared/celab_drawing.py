"""Drawing of a pair of texts under TESLA-CELAB: one text above the other, matched units in the same column."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from tesla_eval.base.explanations import (
    CoveringDetail,
    CoveringLink,
    FeatureDetail,
    LinkPart,
    ReferenceExplanation,
    ValueDetail,
)
from tesla_eval.base.records import Token, Unit
from tesla_eval.cli.shared.terminal import aligned, visible, width
from tesla_eval.drawing.picture import partners

_EQUAL, _SYNONYM, _ALONE = "═", "─", "·"
_LEGEND = (
    f"  {_EQUAL * 2} equal   {_SYNONYM * 2} synonyms   {_ALONE * 2} alone   a, b, ... partners out of order"
)
_LINE = 96  # columns for the units
_NAMES = ("reference", "hypothesis")
_MARGIN = 2 + max(map(len, _NAMES)) + 2

Span = tuple[int, int]
Units = Sequence[Token | Unit]


class _Column(NamedTuple):
    """What stands above, between and below."""

    reference: str
    mark: str
    hypothesis: str


def draw_covering(detail: ReferenceExplanation, covering: CoveringDetail) -> Iterator[str]:
    """The drawing of one reference's covering: texts, coverage by length, links."""
    sides = detail.reference, detail.hypothesis
    if not (sides[0] or sides[1]):
        return
    pairs = partners(
        (link.weight * (link.reference[1] - link.reference[0]), link.parts) for link in covering.links
    )
    yield from _texts(sides, pairs)
    yield ""
    yield _LEGEND
    yield ""
    yield from _coverage(covering, detail.features)
    yield ""
    yield from _links(covering.links, sides)


def _in_order(pairs: Sequence[LinkPart]) -> set[LinkPart]:
    """The largest part of the pairs, by units, that is in the same order on both sides."""
    best: list[tuple[int, tuple[LinkPart, ...]]] = []
    for i, pair in enumerate(pairs):
        before = [best[j] for j in range(i) if pairs[j].hypothesis[1] <= pair.hypothesis[0]]
        units, chain = max(before, key=lambda chosen: chosen[0], default=(0, ()))
        best.append((units + pair.reference[1] - pair.reference[0], (*chain, pair)))
    return set(max(best, key=lambda chosen: chosen[0], default=(0, ()))[1])


def _texts(sides: tuple[Units, Units], pairs: Sequence[LinkPart]) -> Iterator[str]:
    lines: list[list[_Column]] = [[]]
    room = _LINE
    for column in _columns(sides, pairs):
        size = max(map(width, column)) + 1
        if size > room and lines[-1]:
            lines.append([])
            room = _LINE
        lines[-1].append(column)
        room -= size
    for number, line in enumerate(lines):
        if number:
            yield ""
        widths = [max(map(width, column)) for column in line]
        for label, row in zip(("reference", "", "hypothesis"), zip(*line, strict=True), strict=True):
            cells = (text + " " * (w - width(text)) for text, w in zip(row, widths, strict=True))
            yield f"  {label:<{_MARGIN - 2}}{' '.join(cells)}".rstrip()


def _columns(sides: tuple[Units, Units], pairs: Sequence[LinkPart]) -> Iterator[_Column]:
    kept = sorted(_in_order(pairs))
    letters = _letters([pair for pair in pairs if pair not in set(kept)])
    ends = (len(sides[0]), len(sides[1]))
    fixed = [((0, 0), (0, 0)), *((p.reference, p.hypothesis) for p in kept), ((ends[0],) * 2, (ends[1],) * 2)]
    marks = ["", *(_EQUAL if p.equal else _SYNONYM for p in kept), ""]
    for ((_, a), (_, c)), ((b, e), (d, f)), mark in (
        (*both, mark) for both, mark in zip(pairwise(fixed), marks[1:], strict=True)
    ):
        yield from _between(sides, (a, b), (c, d), letters)
        if mark:
            yield _column(_text(sides[0], (b, e)), _text(sides[1], (d, f)), mark)


def _between(
    sides: tuple[Units, Units], reference: Span, hypothesis: Span, letters: Mapping[LinkPart, str]
) -> Iterator[_Column]:
    """Units that have no partner here: those of both sides share columns as long as there are some of each."""
    above = list(_pieces(sides[0], reference, {pair.reference: name for pair, name in letters.items()}))
    below = list(_pieces(sides[1], hypothesis, {pair.hypothesis: name for pair, name in letters.items()}))
    if all(name == "" for _, name in (*above, *below)):
        for k in range(max(len(above), len(below))):
            left, right = (side[k][0] if k < len(side) else "" for side in (above, below))
            yield _column(left, right, _ALONE)
        return
    for text, name in above:
        yield _column(text, "", name or _ALONE)
    for text, name in below:
        yield _column("", text, name or _ALONE)


def _pieces(units: Units, span: Span, names: Mapping[Span, str]) -> Iterator[tuple[str, str]]:
    place = span[0]
    while place < span[1]:
        own = next((s for s in names if s[0] == place), (place, place + 1))
        yield _text(units, own), names.get(own, "")
        place = own[1]


def _column(reference: str, hypothesis: str, mark: str) -> _Column:
    size = max(width(reference), width(hypothesis))
    line = mark * size if mark in (_EQUAL, _SYNONYM, _ALONE) else mark
    return _Column(reference, line, hypothesis)


def _text(units: Units, span: Sequence[int]) -> str:
    """Units as they are read: characters side by side, words with a space between them."""
    texts = [visible(unit.surface) for unit in units[span[0] : span[1]]]
    wordy = any((text.isascii() and text.isalnum()) or len(text) > 2 for text in texts)
    joined = (" " if wordy else "").join(texts)
    return f"◌{joined}" if unicodedata.category(joined[:1] or " ").startswith("M") else joined


def _letters(pairs: Sequence[LinkPart]) -> dict[LinkPart, str]:
    """A letter for each pair; those that follow each other on both sides share one."""
    letters: dict[LinkPart, str] = {}
    number, last = -1, None
    for pair in pairs:
        follows = last is not None and (last.reference[1], last.hypothesis[1]) == (
            pair.reference[0], pair.hypothesis[0])  # fmt: skip
        number += not follows
        letters[pair] = chr(ord("a") + number % 26) + (str(number // 26) if number >= 26 else "")
        last = pair
    return letters


def _coverage(covering: CoveringDetail, features: Sequence[FeatureDetail]) -> Iterator[str]:
    rows: list[list[str]] = []
    longest = max((len(row) for name in _NAMES for row in covering.coverage[name]), default=0)
    for name in _NAMES:
        by_length = [[row[n] for row in covering.coverage[name] if len(row) > n] for n in range(longest)]
        rows.append([name, *(f"{sum(of):g}/{len(of)}" for of in by_length if of)])
    head = ["n-grams covered", *(f"n = {n + 1}" for n in range(longest)), "all"]
    shares = {one.name: f"{one.name} {one.value:.4f}" for one in features if isinstance(one, ValueDetail)}
    padded = [
        row + [""] * (len(head) - 1 - len(row)) + [shares.get(name, "")]
        for row, name in zip(rows, ("recall", "precision"), strict=True)
    ]
    yield from aligned([["", *row] for row in (head, *padded)], numeric=range(2, len(head) + 1))


def _links(links: Sequence[CoveringLink], sides: tuple[Units, Units]) -> Iterator[str]:
    """The links that the coverage rests on."""
    rows = [("", "reference", "", "hypothesis", "weight")]
    for link in links:
        if link.essential:
            line = (_EQUAL if all(part.equal for part in link.parts) else _SYNONYM) * 3
            left, right = _text(sides[0], link.reference), _text(sides[1], link.hypothesis)
            rows.append(("", left, line, right, f"{link.weight:g}"))
    if len(rows) > 1:
        yield from aligned(rows, numeric=(4,))
