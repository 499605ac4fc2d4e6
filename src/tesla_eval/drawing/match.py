"""The picture of a match: two texts one above the other, their words joined by links.

Long texts are broken into rows where the fewest links are cut. A link whose ends are in different rows is not drawn;
both ends carry the same letter instead. Links and words are told apart by colour and by line pattern.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, groupby
from typing import NamedTuple

from tesla_eval.drawing.picture import KINDS, UNMATCHED, Picture, Span, Tie, Word, places_of
from tesla_eval.drawing.text import escaped, estimated_width, is_right_to_left, shortened

__all__ = [
    "Row",
    "match_figure",
    "match_svg",
    "rows_of",
]

_INK, _FAINT, _PAPER = "#1f2328", "#59636e", "#ffffff"

_SIZE = 14.0
_GAP = 5.0
_PADDING = 6.0
_HEIGHT = 24.0
_TAGGED = 36.0
_BETWEEN = 58.0
_ROW_GAP = 26.0
_MARGIN = 8.0
_LABEL = 18.0
_LONGEST = 28
"""A longer word is shown with its middle left out, and in full as its title."""
_SLACK = 2.0
"""What an empty row costs, in links that are cut."""


class Row(NamedTuple):
    """The words of both texts that stand in one row."""

    reference: Span
    hypothesis: Span


def rows_of(
    reference: Sequence[float], hypothesis: Sequence[float], ties: Sequence[Tie], room: float
) -> list[Row]:
    """Break two texts with words of these widths into rows of `room` pixels, where the fewest links are cut.

    >>> rows_of([10, 10, 10], [10, 10], [], 20)
    [Row(reference=(0, 2), hypothesis=(0, 2)), Row(reference=(2, 3), hypothesis=(2, 2))]
    """
    sides = [0.0, *accumulate(reference)], [0.0, *accumulate(hypothesis)]
    rows: list[Row] = []
    i = j = 0
    while i < len(reference) or j < len(hypothesis):
        i_most, j_most = _reach(sides[0], i, room), _reach(sides[1], j, room)
        end = i_most, j_most
        if end != (len(reference), len(hypothesis)):
            end = min(
                (
                    (_cut(ties, i, j, a, b) + _slack(i, a, i_most) + _slack(j, b, j_most), -a, -b)
                    for a in range((i + i_most + 1) // 2, i_most + 1)
                    for b in range((j + j_most + 1) // 2, j_most + 1)
                    if a > i or b > j
                ),
                default=(0, -i_most, -j_most),
            )[1:]
            end = -end[0], -end[1]
        rows.append(Row((i, end[0]), (j, end[1])))
        i, j = end
    return rows


def _reach(ends: Sequence[float], start: int, room: float) -> int:
    """The last place that still fits into the room, one word at least."""
    place = start
    while place + 1 < len(ends) and (place == start or ends[place + 1] - ends[start] <= room):
        place += 1
    return place


def _cut(ties: Sequence[Tie], i: int, j: int, a: int, b: int) -> float:
    """How many links have one end before (a, b) and the other behind."""
    return sum(
        tie.reference[0] >= i
        and tie.hypothesis[0] >= j
        and (tie.reference[1] <= a) != (tie.hypothesis[1] <= b)
        for tie in ties
    )


def _slack(start: int, end: int, most: int) -> float:
    return _SLACK * (most - end) / (most - start) if most > start else 0.0


class _Box(NamedTuple):
    """Where a word stands."""

    x: float
    width: float
    row: int


def match_svg(picture: Picture, width: float = 960.0, *, standalone: bool = False) -> str:
    """The picture as SVG of at most this width; `standalone` adds what a file of its own needs.

    >>> svg = match_svg(Picture((Word("cat"),), (Word("cats"),), (Tie((0, 1), (0, 1), "lemma", 1.0, 1.0),)))
    >>> svg.count("<path"), "cats" in svg
    (1, True)
    """
    sides = picture.reference, picture.hypothesis
    widths = [[_word_width(word, picture.tagged) + _GAP for word in side] for side in sides]
    room = width - 2 * _MARGIN
    rows = rows_of(widths[0], widths[1], picture.ties, room)
    mirrored = _is_mirrored(picture)
    boxes = tuple(_boxes(widths[side], [row[side] for row in rows]) for side in (0, 1))
    used = max((box.x + box.width for side in boxes for box in side), default=0.0) + 2 * _MARGIN
    if mirrored:
        boxes = tuple(
            [box._replace(x=used - 2 * _MARGIN - box.x - box.width) for box in side] for side in boxes
        )
    high = _TAGGED if picture.tagged else _HEIGHT
    pace = 2 * high + _BETWEEN + _ROW_GAP
    total = 2 * _LABEL + pace * max(1, len(rows)) - _ROW_GAP + 2 * _MARGIN
    canvas = _Canvas(picture, boxes, high, pace)
    names = ' xmlns="http://www.w3.org/2000/svg"' if standalone else ""
    label = f"{len(picture.ties)} links between the reference (above) and the hypothesis (below)"
    # Narrow pages scroll: text that shrinks with the page cannot be read.
    size = f'width="{used:.0f}" height="{total:.0f}" viewBox="0 0 {used:.0f} {total:.0f}"'
    font = 'font-family="system-ui, sans-serif" font-size="14"'
    paper = f'<rect width="100%" height="100%" fill="{_PAPER}"/>' if standalone else ""
    anchor = used - _MARGIN if mirrored else _MARGIN
    side = "end" if mirrored else "start"
    captions = "".join(
        f'<text x="{anchor:.1f}" y="{y:.1f}" class="tm-caption" fill="{_FAINT}" font-size="11" '
        f'text-anchor="{side}">{name}</text>'
        for name, y in (("reference", _MARGIN + 10), ("hypothesis", total - _MARGIN))
    )
    return (
        f'<svg{names} class="tm-match" role="img" aria-label="{escaped(label)}" {size} {font}>{paper}{captions}'
        f"{''.join(canvas.links())}{''.join(canvas.words())}</svg>"
    )


def match_figure(picture: Picture, width: float = 960.0) -> str:
    """The picture in a box that scrolls where the page is narrower, from the side where the text begins."""
    direction = "rtl" if _is_mirrored(picture) else "ltr"
    return (
        f'<div class="tm-scroll" dir="{direction}" tabindex="0" role="group" aria-label="links between words">'
        f"{match_svg(picture, width)}</div>"
    )


def _is_mirrored(picture: Picture) -> bool:
    return is_right_to_left("".join(word.text for word in (*picture.reference, *picture.hypothesis)))


def _word_width(word: Word, tagged: bool) -> float:
    text = estimated_width(shortened(word.text, _LONGEST), _SIZE)
    tag = estimated_width(word.tag, 0.72 * _SIZE) if tagged else 0.0
    return max(text, tag, 8.0) + 2 * _PADDING


def _boxes(widths: Sequence[float], rows: Sequence[Span]) -> list[_Box]:
    boxes = []
    for number, (start, end) in enumerate(rows):
        x = 0.0
        for width in widths[start:end]:
            boxes.append(_Box(x, width - _GAP, number))
            x += width
    return boxes


class _Canvas:
    """The parts of a picture, once every word has its place."""

    def __init__(self, picture: Picture, boxes: tuple[list[_Box], ...], high: float, pace: float) -> None:
        self._picture, self._boxes, self._high, self._pace = picture, boxes, high, pace
        self._letters: tuple[dict[int, list[str]], ...] = ({}, {})

    def _top(self, side: int, row: int) -> float:
        """The upper edge of the words of a side in a row."""
        return _MARGIN + _LABEL + row * self._pace + side * (self._high + _BETWEEN)

    def _middle(self, side: int, span: Span) -> tuple[float, float]:
        """Where a link leaves a span of words: below the reference, above the hypothesis; and half of its width."""
        boxes = [box for box in self._boxes[side][slice(*span)] if box.row == self._boxes[side][span[0]].row]
        left, right = min(box.x for box in boxes), max(box.x + box.width for box in boxes)
        return _MARGIN + (left + right) / 2, (right - left) / 2

    def _ties(self) -> Iterable[Tie]:
        """The links; those that stand for several words are cut where rows end."""
        for tie in self._picture.ties:
            (start, end), (other, other_end) = tie.reference, tie.hypothesis
            if not self._picture.joined or end - start != other_end - other:
                yield tie
                continue
            rows = [
                (self._boxes[0][start + k].row, self._boxes[1][other + k].row) for k in range(end - start)
            ]
            for _, run in groupby(range(end - start), key=rows.__getitem__):
                places = list(run)
                first, last = places[0], places[-1] + 1
                yield replace(
                    tie, reference=(start + first, start + last), hypothesis=(other + first, other + last)
                )

    def links(self) -> list[str]:
        drawn, broken = [], 0
        for tie in sorted(self._ties(), key=lambda tie: (tie.weight, tie.reference, tie.hypothesis)):
            spans = tie.reference, tie.hypothesis
            rows = [self._boxes[side][span[0]].row for side, span in enumerate(spans)]
            if rows[0] != rows[1]:
                letter = _letter(broken)
                broken += 1
                for side, span in enumerate(spans):
                    self._letters[side].setdefault(span[0], []).append(letter)
                continue
            drawn.append(self._link(tie, rows[0]))
        return drawn

    def _link(self, tie: Tie, row: int) -> str:
        kind = KINDS[tie.kind]
        (x1, half1), (x2, half2) = self._middle(0, tie.reference), self._middle(1, tie.hypothesis)
        y1, y2 = self._top(0, row) + self._high, self._top(1, row)
        brackets = ""
        if tie.reference[1] - tie.reference[0] > 1 or tie.hypothesis[1] - tie.hypothesis[0] > 1:
            y1, y2 = y1 + 5, y2 - 5
            brackets = "".join(
                f"M{x - half + 2:.1f} {y:.1f}h{2 * half - 4:.1f}"
                for x, half, y in ((x1, half1, y1), (x2, half2, y2))
            )
        bend = (y2 - y1) / 2
        curve = f"M{x1:.1f} {y1:.1f}C{x1:.1f} {y1 + bend:.1f} {x2:.1f} {y2 - bend:.1f} {x2:.1f} {y2:.1f}"
        dash = f' stroke-dasharray="{kind.dash}"' if kind.dash else ""
        title = f"{kind.label}: similarity {tie.similarity:g}, weight {tie.weight:g}"
        return (
            f'<path class="tm-link tm-{tie.kind}" d="{curve}{brackets}" fill="none" stroke="{kind.colour}" '
            f'stroke-width="{1 + 3 * min(1.0, tie.weight):.2f}"{dash}><title>{escaped(title)}</title></path>'
        )

    def words(self) -> list[str]:
        best = _best_kinds(self._picture)
        return [
            self._word(side, place, word, best[side].get(place))
            for side, words in enumerate((self._picture.reference, self._picture.hypothesis))
            for place, word in enumerate(words)
        ]

    def _word(self, side: int, place: int, word: Word, kind: str | None) -> str:
        box = self._boxes[side][place]
        look = UNMATCHED if kind is None else KINDS[kind]
        x, y = _MARGIN + box.x, self._top(side, box.row)
        middle = x + box.width / 2
        name = "unmatched" if kind is None else kind
        dash = f' stroke-dasharray="{UNMATCHED.dash}"' if kind is None else ""
        ink = _FAINT if word.function else _INK
        function = ' class="tm-function"' if word.function else ""
        text = shortened(word.text, _LONGEST)
        title = "" if text == word.text else f"<title>{escaped(word.text)}</title>"
        parts = [
            f'<g class="tm-word tm-{name}">{title}<rect x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" '
            f'height="{self._high:g}" rx="4" fill="{"#ffebe9" if kind is None else _PAPER}" '
            f'stroke="{look.colour}"{dash}/>',
            f'<text x="{middle:.1f}" y="{y + 16.5:.1f}" text-anchor="middle" fill="{ink}"{function}>'
            f"{escaped(text)}</text>",
        ]
        if self._picture.tagged and word.tag:
            parts.append(
                f'<text x="{middle:.1f}" y="{y + 30:.1f}" text-anchor="middle" class="tm-tag" font-size="10" '
                f'fill="{_FAINT}">{escaped(word.tag)}</text>'
            )
        letters = self._letters[side].get(place)
        if letters:
            under = y + self._high + 12 if side == 0 else y - 4
            parts.append(
                f'<text x="{middle:.1f}" y="{under:.1f}" text-anchor="middle" class="tm-letter" font-size="11" '
                f'font-weight="bold" fill="{look.colour}">{",".join(letters)}</text>'
            )
        return "".join([*parts, "</g>"])


def _best_kinds(picture: Picture) -> tuple[dict[int, str], dict[int, str]]:
    """For each word that has a partner, the closest kind of its links."""
    order = list(KINDS)
    best: tuple[dict[int, str], dict[int, str]] = {}, {}
    for tie in picture.ties:
        for kinds, span in zip(best, (tie.reference, tie.hypothesis), strict=True):
            for place in places_of(span, picture.skips):
                known = kinds.get(place)
                if known is None or order.index(tie.kind) < order.index(known):
                    kinds[place] = tie.kind
    return best


def _letter(number: int) -> str:
    """a, b, … z, a1, b1, …"""
    return chr(ord("a") + number % 26) + (str(number // 26) if number >= 26 else "")
