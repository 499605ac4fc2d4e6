"""Shapes on paper, for plots, as SVG; and the scales from values to pixels."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from xml.sax.saxutils import quoteattr

from tesla_eval.drawing.text import escaped

Anchor = Literal["start", "middle", "end"]
_FONT = "Helvetica, Arial, sans-serif"


@dataclass(frozen=True)
class Line:
    """A straight line."""

    x1: float
    y1: float
    x2: float
    y2: float
    colour: str = "#444444"


@dataclass(frozen=True)
class Dot:
    """A filled circle; `title` appears when a pointer rests on it."""

    x: float
    y: float
    title: str = ""
    colour: str = "#1f5fa8"
    radius: float = 4.0


@dataclass(frozen=True)
class Box:
    """A filled rectangle from its upper left corner."""

    x: float
    y: float
    width: float
    height: float
    title: str = ""
    colour: str = "#8fb4dc"


@dataclass(frozen=True)
class Words:
    """A line of text at its baseline; `turned` reads upwards."""

    x: float
    y: float
    text: str
    anchor: Anchor = "middle"
    size: float = 12.0
    turned: bool = False


Shape: TypeAlias = Line | Dot | Box | Words


@dataclass(frozen=True)
class Drawing:
    """Shapes on white paper; x grows to the right, y downwards, both in pixels."""

    width: float
    height: float
    shapes: list[Shape] = field(default_factory=list)

    def svg(self) -> str:
        """The drawing as a self-contained SVG document.

        >>> "a &lt; b" in Drawing(10, 10, [Words(5, 5, "a < b")]).svg()
        True
        """
        size = f'width="{self.width:g}" height="{self.height:g}" viewBox="0 0 {self.width:g} {self.height:g}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family={quoteattr(_FONT)}>'
        paper = '<rect width="100%" height="100%" fill="#ffffff"/>'
        return "\n".join([head, paper, *map(_svg_shape, self.shapes), "</svg>\n"])


def _svg_shape(shape: Shape) -> str:
    if isinstance(shape, Line):
        ends = f'x1="{shape.x1:.1f}" y1="{shape.y1:.1f}" x2="{shape.x2:.1f}" y2="{shape.y2:.1f}"'
        return f"<line {ends} stroke={quoteattr(shape.colour)}/>"
    if isinstance(shape, Dot):
        place = f'cx="{shape.x:.1f}" cy="{shape.y:.1f}" r="{shape.radius:g}"'
        return f"<circle {place} fill={quoteattr(shape.colour)}>{_svg_title(shape.title)}</circle>"
    if isinstance(shape, Box):
        place = f'x="{shape.x:.1f}" y="{shape.y:.1f}" width="{shape.width:.1f}" height="{shape.height:.1f}"'
        return f"<rect {place} fill={quoteattr(shape.colour)}>{_svg_title(shape.title)}</rect>"
    turn = f' transform="rotate(-90 {shape.x:.1f} {shape.y:.1f})"' if shape.turned else ""
    place = f'x="{shape.x:.1f}" y="{shape.y:.1f}" font-size="{shape.size:g}" text-anchor="{shape.anchor}"'
    return f"<text {place}{turn}>{escaped(shape.text)}</text>"


def _svg_title(title: str) -> str:
    return f"<title>{escaped(title)}</title>" if title else ""


class Axis:
    """From values to pixels, with room at both ends, and round numbers to mark on the axis."""

    def __init__(self, low: float, high: float, start: float, end: float, margin: float = 0.06) -> None:
        spread = (high - low) or abs(high) or 1.0
        self._low, self._high = low - margin * spread, high + margin * spread
        self._start, self._end = start, end

    def __call__(self, value: float) -> float:
        """The pixel of a value."""
        share = (value - self._low) / (self._high - self._low)
        return self._start + share * (self._end - self._start)

    def ticks(self) -> list[float]:
        """Round numbers within the scale."""
        rough = (self._high - self._low) / 7
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough)
        first, last = math.ceil(self._low / step), math.floor(self._high / step)
        return [tick * step for tick in range(first, last + 1)]
