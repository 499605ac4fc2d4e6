"""A pair of texts under TESLA-CELAB, drawn to be read at a glance: one above the other, partners in one column."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from tesla_eval.cli.terminal import aligned, visible, width

__all__ = ["draw_covering"]

_EQUAL, _SYNONYM, _ALONE = "═", "─", "·"
_LEGEND = (
    f"  {_EQUAL * 2} equal   {_SYNONYM * 2} synonyms   {_ALONE * 2} alone   a, b, ... partners out of order"
)
_LINE = 96  # columns for the units
_NAMES = ("reference", "hypothesis")
_MARGIN = 2 + max(map(len, _NAMES)) + 2

Span = tuple[int, int]
Units = Sequence[Mapping[str, Any]]


class _Pair(NamedTuple):
    """Units of both sides that are partners."""

    reference: Span
    hypothesis: Span
    equal: bool


class _Column(NamedTuple):
    """What stands above, between and below."""

    reference: str
    mark: str
    hypothesis: str


def draw_covering(detail: Mapping[str, Any]) -> Iterator[str]:
    """The drawing of one reference's detail (specification §17): texts, coverage by length, links."""
    sides = detail["reference"], detail["hypothesis"]
    if not (sides[0] or sides[1]):
        return
    pairs = _partners(detail["links"])
    yield from _texts(sides, pairs)
    yield ""
    yield _LEGEND
    yield ""
    yield from _coverage(detail)
    yield ""
    yield from _links(detail["links"], sides)


def _partners(links: Sequence[Mapping[str, Any]]) -> list[_Pair]:
    """Which units belong together: the parts of the links, those that carry most first, no unit twice."""
    support: dict[_Pair, float] = {}
    for link in links:
        for part in link["parts"]:
            pair = _Pair(tuple(part["reference"]), tuple(part["hypothesis"]), part["equal"])
            length = link["reference"][1] - link["reference"][0]
            support[pair] = support.get(pair, 0.0) + link["weight"] * length
    chosen: list[_Pair] = []
    taken: tuple[set[int], set[int]] = set(), set()
    for pair in sorted(support, key=lambda pair: (-support[pair], pair)):
        spans = set(range(*pair.reference)), set(range(*pair.hypothesis))
        if spans[0].isdisjoint(taken[0]) and spans[1].isdisjoint(taken[1]):
            chosen.append(pair)
            taken[0].update(spans[0])
            taken[1].update(spans[1])
    return sorted(chosen)


def _in_order(pairs: Sequence[_Pair]) -> set[_Pair]:
    """The largest part of the pairs, by units, that is in the same order on both sides."""
    best: list[tuple[int, tuple[_Pair, ...]]] = []
    for i, pair in enumerate(pairs):
        before = [best[j] for j in range(i) if pairs[j].hypothesis[1] <= pair.hypothesis[0]]
        units, chain = max(before, key=lambda found: found[0], default=(0, ()))
        best.append((units + pair.reference[1] - pair.reference[0], (*chain, pair)))
    return set(max(best, key=lambda found: found[0], default=(0, ()))[1])


def _texts(sides: tuple[Units, Units], pairs: Sequence[_Pair]) -> Iterator[str]:
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


def _columns(sides: tuple[Units, Units], pairs: Sequence[_Pair]) -> Iterator[_Column]:
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
    sides: tuple[Units, Units], reference: Span, hypothesis: Span, letters: Mapping[_Pair, str]
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
    texts = [visible(unit["surface"]) for unit in units[span[0] : span[1]]]
    wordy = any((text.isascii() and text.isalnum()) or len(text) > 2 for text in texts)
    joined = (" " if wordy else "").join(texts)
    return f"◌{joined}" if unicodedata.category(joined[:1] or " ").startswith("M") else joined


def _letters(pairs: Sequence[_Pair]) -> dict[_Pair, str]:
    """A letter for each pair; those that follow each other on both sides share one."""
    letters: dict[_Pair, str] = {}
    number, last = -1, None
    for pair in pairs:
        follows = last is not None and (last.reference[1], last.hypothesis[1]) == (
            pair.reference[0], pair.hypothesis[0])  # fmt: skip
        number += not follows
        letters[pair] = _letter(number)
        last = pair
    return letters


def _letter(number: int) -> str:
    return chr(ord("a") + number % 26) + (str(number // 26) if number >= 26 else "")


def _coverage(detail: Mapping[str, Any]) -> Iterator[str]:
    rows: list[list[str]] = []
    lengths: set[int] = set()
    for name in _NAMES:
        by_length: dict[int, list[float]] = {}
        for entry in detail["coverage"][name]:
            by_length.setdefault(entry["span"][1] - entry["span"][0], []).append(entry["c"])
        lengths |= set(by_length)
        rows.append([name, *(f"{sum(of):g}/{len(of)}" for _, of in sorted(by_length.items()))])
    head = ["n-grams covered", *(f"n = {n}" for n in sorted(lengths)), "all"]
    shares = {feature["name"]: f"{feature['name']} {feature['value']:.4f}" for feature in detail["features"]}
    padded = [
        row + [""] * (len(head) - 1 - len(row)) + [shares.get(name, "")]
        for row, name in zip(rows, ("recall", "precision"), strict=True)
    ]
    yield from aligned([["", *row] for row in (head, *padded)], numeric=range(2, len(head) + 1))


def _links(links: Sequence[Mapping[str, Any]], sides: tuple[Units, Units]) -> Iterator[str]:
    """The links that the coverage rests on."""
    rows = [("", "reference", "", "hypothesis", "weight")]
    for link in links:
        if link["essential"]:
            line = (_EQUAL if all(part["equal"] for part in link["parts"]) else _SYNONYM) * 3
            texts = (_text(side, link[name]) for side, name in zip(sides, _NAMES, strict=True))
            left, right = texts
            rows.append(("", left, line, right, f"{link['weight']:g}"))
    if len(rows) > 1:
        yield from aligned(rows, numeric=(4,))
