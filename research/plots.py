"""Draw one statistic of all metrics on several test sets, from the JSON of `tesla meta` (summary paper, figure 4).

tesla meta --summaries FOLDER -m s,rouge2 --format json > results.json
python -m research.plots results.json system pearson dimensions.svg
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from tesla_eval.drawing.shapes import Axis, Dot, Drawing, Line, Shape, Words

__all__ = ["dimension_lines", "write_drawing"]


def write_drawing(drawing: Drawing, path: Path) -> None:
    """Write the drawing as SVG."""
    path.write_text(drawing.svg(), encoding="utf-8", newline="\n")


_WIDTH, _HEIGHT = 520.0, 420.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 70.0, 20.0, 40.0, 55.0
_PALE = "#dddddd"


_COLOURS = ("#1f5fa8", "#b5461f", "#2f7d32", "#7a3f9d", "#8a6d00", "#00757a", "#a12a5e", "#444444")


def dimension_lines(results: Sequence[Mapping[str, Any]], level: str, statistic: str) -> Drawing:
    """One statistic of all metrics on several test sets, such as the dimensions of summaries: one line for each set.

    Metrics stand from left to right by their mean over the sets, best first (summary paper, figure 4).
    """
    values: dict[str, dict[str, float]] = {}
    for one in results:
        if (one["level"], one["statistic"]) == (level, statistic) and one["value"] is not None:
            values.setdefault(f"{one['lp']} {one['testset']}", {})[one["metric"]] = one["value"]
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
        shapes.append(Line(left, up(tick), width - right, up(tick), _PALE))
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


if __name__ == "__main__":
    source, chosen_level, chosen_statistic, target = sys.argv[1:]
    results = json.loads(Path(source).read_text(encoding="utf-8"))["results"]
    write_drawing(dimension_lines(results, chosen_level, chosen_statistic), Path(target))
