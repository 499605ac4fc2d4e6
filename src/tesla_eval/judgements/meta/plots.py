"""Pictures as SVG or PNG files, and one of several test sets: a line for each, the metrics side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

from tesla_eval.base.errors import UsageError
from tesla_eval.base.files import replacing, write_text
from tesla_eval.drawing.shapes import Axis, Box, Dot, Drawing, Line, Shape, Words
from tesla_eval.drawing.text import printable
from tesla_eval.judgements.meta.evaluate import Result


def write_drawing(drawing: Drawing, path: Path) -> None:
    """Write the drawing in the format of the file's suffix, .svg or .png; the latter needs matplotlib."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".svg":
        write_text(path, drawing.svg())
    elif path.suffix == ".png":
        _write_png(drawing, path)
    else:
        raise UsageError(f"{path}: drawings are written as .svg or .png")


def _write_png(drawing: Drawing, path: Path) -> None:
    # By name, so that matplotlib stays something that may be there, for us and for the type checker.
    try:
        agg, figures, lines, patches = (
            import_module(f"matplotlib.{name}")
            for name in ("backends.backend_agg", "figure", "lines", "patches")
        )
    except ImportError:
        raise UsageError("PNG needs matplotlib, which is not installed: pip install matplotlib") from None
    dots_per_inch = 100
    figure = figures.Figure(
        (drawing.width / dots_per_inch, drawing.height / dots_per_inch), dpi=2 * dots_per_inch
    )
    agg.FigureCanvasAgg(figure)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0), xlim=(0, drawing.width), ylim=(drawing.height, 0))
    axes.set_axis_off()
    for layer, shape in enumerate(drawing.shapes):
        artist: Any
        if isinstance(shape, Line):
            ends = [shape.x1, shape.x2], [shape.y1, shape.y2]
            artist = axes.add_line(lines.Line2D(*ends, color=shape.colour, linewidth=0.8))
        elif isinstance(shape, Dot):
            artist = axes.add_patch(patches.Circle((shape.x, shape.y), shape.radius, color=shape.colour))
        elif isinstance(shape, Box):
            corner = shape.x, shape.y
            artist = axes.add_patch(patches.Rectangle(corner, shape.width, shape.height, color=shape.colour))
        else:
            side = {"start": "left", "middle": "center", "end": "right"}[shape.anchor]
            artist = axes.text(
                shape.x, shape.y, printable(shape.text).replace("$", r"\$"), fontsize=0.72 * shape.size,
                horizontalalignment=side, rotation=90 if shape.turned else 0, rotation_mode="anchor",
            )  # fmt: skip
        artist.set_zorder(layer)
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png")


_HEIGHT = 420.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 70.0, 20.0, 40.0, 55.0
_COLOURS = ("#1f5fa8", "#b5461f", "#2f7d32", "#7a3f9d", "#8a6d00", "#00757a", "#a12a5e", "#444444")


def dimension_lines(results: Sequence[Result], level: str, statistic: str) -> Drawing:
    """One statistic of all metrics on several test sets, such as the dimensions of summaries: one line for each set.

    Metrics stand from left to right by their mean over the sets, best first (summary paper, figure 4).
    """
    chosen = [one for one in results if (one.level, one.statistic) == (level, statistic)]
    values: dict[str, dict[str, float]] = {}
    for one in chosen:
        if not math.isnan(one.value):
            values.setdefault(f"{one.lp} {one.testset}", {})[one.metric] = one.value
    metrics = _by_mean(values)
    left, right = _LEFT, 8.0 * max(map(len, values), default=1)
    step = max(48.0, 7.0 * max(map(len, metrics), default=1) * 0.75)
    width = left + step * max(len(metrics), 5) + right + _RIGHT
    shapes: list[Shape] = [Words(width / 2, 22, f"{level} {statistic} by human score", size=13)]
    if not metrics:
        return Drawing(width, _HEIGHT, [*shapes, Words(width / 2, _HEIGHT / 2, "no metric has a value")])
    every = [value for by_metric in values.values() for value in by_metric.values()]
    up = Axis(min(every), max(every), _HEIGHT - _BOTTOM - 20, _TOP)
    for tick in up.ticks():
        shapes.append(Line(left, up(tick), width - right, up(tick), "#dddddd"))
        shapes.append(Words(left - 6, up(tick) + 4, f"{tick:.4g}", "end", 11))
    places = {metric: left + step * (k + 0.5) for k, metric in enumerate(metrics)}
    for k, (metric, x) in enumerate(places.items()):
        shapes.append(Words(x, _HEIGHT - _BOTTOM + (4 if k % 2 else 18), metric, size=10))
    legend = sorted(values, key=lambda name: -values[name].get(metrics[-1], -math.inf))
    for k, name in enumerate(values):
        colour = _COLOURS[k % len(_COLOURS)]
        dots = [(places[m], up(values[name][m]), m) for m in metrics if m in values[name]]
        shapes.extend(Line(*a[:2], *b[:2], colour) for a, b in pairwise(dots))
        shapes.extend(Dot(x, y, f"{name}, {m}: {values[name][m]:.4f}", colour) for x, y, m in dots)
        row = _TOP + 14.0 * legend.index(name)
        shapes.append(Dot(width - right + 4, row, colour=colour))
        shapes.append(Words(width - right + 14, row + 4, name, "start", 11))
    return Drawing(width, _HEIGHT, shapes)


def _by_mean(values: Mapping[str, Mapping[str, float]]) -> list[str]:
    by_metric: dict[str, list[float]] = {}
    for of_set in values.values():
        for metric, value in of_set.items():
            by_metric.setdefault(metric, []).append(value)
    return sorted(by_metric, key=lambda metric: -math.fsum(by_metric[metric]) / len(by_metric[metric]))
