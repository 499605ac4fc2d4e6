"""Metrics against human judgements: the JSON of `tesla meta` as pictures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from tesla_eval.drawing.shapes import Anchor, Axis, Box, Dot, Drawing, Line, Shape, Words
from tesla_eval.drawing.text import escaped, estimated_width
from tesla_eval.report.tables import output_of

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM, _BAR = 520.0, 400.0, 64.0, 40.0, 52.0, 26.0
_LABEL_SIZE = 9.0


def human_drawings(human: Mapping[str, Any]) -> Iterator[str]:
    """For every test set a scatter for each metric, and the comparisons as bars with intervals."""
    with output_of("tesla meta"):
        for test_set in human["test_sets"]:
            metrics = [name for row in test_set.get("system_scores", ()) for name in row["metrics"]]
            for metric in dict.fromkeys(metrics):
                yield _themed(_scatter(human, test_set, metric))
        for comparison in human["significance"]:
            yield _themed(bars(comparison))


def _themed(drawing: Drawing) -> str:
    """The drawing without its paper; the page's style gives the colours, the first words are its name."""
    lines = drawing.svg().splitlines()
    name = next((shape.text for shape in drawing.shapes if isinstance(shape, Words)), "")
    own = f' class="plot" role="img" aria-label="{escaped(name)}"'
    head = lines[0].replace(' xmlns="http://www.w3.org/2000/svg"', own, 1)
    return "\n".join([head, *lines[2:]])


def _pearson(human: Mapping[str, Any], test_set: Mapping[str, Any], metric: str) -> str:
    """The correlation over systems, with its interval where `--significance system:pearson` was asked for."""
    same = {"lp": test_set["lp"], "testset": test_set["testset"], "level": "system", "statistic": "pearson"}
    for comparison in human["significance"]:
        if all(comparison[key] == value for key, value in same.items()):
            for row in comparison["metrics"]:
                if row["metric"] == metric and row["value"] is not None:
                    return f"r = {row['value']:.4f} ({row['low']:.4f} to {row['high']:.4f})"
    for row in human["results"]:
        if row["metric"] == metric and all(row[key] == value for key, value in same.items()):
            value = row["value"]
            return "" if value is None or math.isnan(value) else f"r = {value:.4f}"
    return ""


def _scatter(human: Mapping[str, Any], test_set: Mapping[str, Any], metric: str) -> Drawing:
    points = [
        (row["system"], row["human"], row["metrics"][metric])
        for row in test_set["system_scores"]
        if row["human"] is not None and row["metrics"].get(metric) is not None
    ]
    title = f"{test_set['lp']} {test_set['testset']}: {metric} and human"
    return scatter(points, title, test_set["human_score"], metric, _pearson(human, test_set, metric))


def scatter(
    points: Sequence[tuple[str, float, float]], title: str, kind: str, metric: str, note: str = ""
) -> Drawing:
    """Systems as dots: their human scores, of this kind, to the right, and those of the metric upwards."""
    shapes: list[Shape] = [Words(_WIDTH / 2, 16, title, size=13)]
    if not points:
        shapes.append(Words(_WIDTH / 2, _HEIGHT / 2, "no system has both scores"))
        return Drawing(_WIDTH, _HEIGHT, shapes)
    shapes.append(Words(_WIDTH / 2, 33, note, size=12))
    across = Axis(min(p[1] for p in points), max(p[1] for p in points), _LEFT, _WIDTH - 16)
    up = Axis(min(p[2] for p in points), max(p[2] for p in points), _HEIGHT - _BOTTOM, _TOP + 4)
    shapes += _grid(across, _HEIGHT - _BOTTOM)
    for tick in up.ticks():
        shapes.append(Line(_LEFT, up(tick), _WIDTH - 16, up(tick), "#dddddd"))
        shapes.append(Words(_LEFT - 6, up(tick) + 4, f"{tick:.4g}", "end", 11))
    shapes.append(Words((_LEFT + _WIDTH) / 2, _HEIGHT - 12, f"human ({kind})", size=12))
    shapes.append(Words(14, _HEIGHT / 2, metric, turned=True))
    for system, x, y in points:
        shapes.append(Dot(across(x), up(y), f"{system}: human {x:.4g}, {metric} {y:.4g}"))
    shapes.extend(_labels([(system, across(x), up(y)) for system, x, y in points]))
    return Drawing(_WIDTH, _HEIGHT, shapes)


def _grid(across: Axis, bottom: float) -> Iterator[Shape]:
    """A line for every round value of the axis to the right, with its number below."""
    for tick in across.ticks():
        yield Line(across(tick), _TOP, across(tick), bottom, "#dddddd")
        yield Words(across(tick), bottom + 16, f"{tick:.4g}", size=11)


def _labels(points: Sequence[tuple[str, float, float]]) -> Iterator[Words]:
    """The names beside their dots, each where it covers no other; what finds no room is told by the dot's title."""
    taken = [(x - 5, y - 5, x + 5, y + 5) for _, x, y in points]
    for system, x, y in points:
        width = estimated_width(system, _LABEL_SIZE)
        for side, shift in product((1, -1) if x < _WIDTH / 2 else (-1, 1), (0, -9, 9)):
            start = x + 7 if side > 0 else x - 7 - width
            box = (start, y + shift - 5, start + width, y + shift + 4)
            if box[0] >= _LEFT and box[2] <= _WIDTH and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                anchor: Anchor = "start" if side > 0 else "end"
                yield Words(x + 7 * side, y + shift + 3, system, anchor, _LABEL_SIZE)
                break


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def bars(comparison: Mapping[str, Any]) -> Drawing:
    """A bar for each metric with its confidence interval; the best first, as `tesla meta` lists them."""
    rows = [row for row in comparison["metrics"] if row["value"] is not None]
    title = f"{comparison['lp']} {comparison['testset']}: {comparison['level']} {comparison['statistic']}"
    height = _TOP + _BAR * len(rows) + _BOTTOM
    ends = [0.0, *(row[key] for row in rows for key in ("value", "low", "high") if row[key] is not None)]
    left = 30 + 7.5 * max((len(row["metric"]) for row in rows), default=0)
    scale = Axis(min(ends), max(ends), left, _WIDTH - 16)
    shapes: list[Shape] = [Words(_WIDTH / 2, 16, title, size=13)]
    shapes += _grid(scale, height - _BOTTOM)
    for place, row in enumerate(rows):
        top = _TOP + _BAR * place
        shapes.append(Words(left - 8, top + 0.65 * _BAR, row["metric"], "end"))
        start, end = sorted((scale(0), scale(row["value"])))
        shapes.append(Box(start, top + 4, end - start, _BAR - 8, f"{row['metric']}: {row['value']:.4f}"))
        if row["low"] is not None and row["high"] is not None:
            middle = top + _BAR / 2
            shapes.append(Line(scale(row["low"]), middle, scale(row["high"]), middle))
            shapes.extend(Line(scale(row[k]), middle - 4, scale(row[k]), middle + 4) for k in ("low", "high"))
    level = f"{100 * (1 - comparison['alpha']):g} % intervals"
    shapes.append(Words((left + _WIDTH) / 2, height - 12, level, size=12))
    return Drawing(_WIDTH, height, shapes)
