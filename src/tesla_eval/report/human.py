"""Metrics against human judgements: the JSON of `tesla meta` as pictures."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from tesla_eval.base.errors import InputError
from tesla_eval.drawing.shapes import Anchor, Axis, Box, Dot, Drawing, Line, Shape, Words
from tesla_eval.drawing.text import escaped, estimated_width

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM, _BAR = 460.0, 360.0, 64.0, 40.0, 52.0, 26.0
_LABEL_SIZE = 9.0
_KEYS = ("signatures", "test_sets", "results", "significance")


def read_human(path: str) -> dict[str, Any]:
    """What `tesla meta --format json` printed; raises `InputError` for anything else."""
    return read_result(path, "tesla meta", _KEYS)


def read_result(path: str, command: str, keys: Sequence[str]) -> dict[str, Any]:
    """What a command printed with `--format json`, an object with these keys; raises `InputError` for anything else."""
    try:
        document = json.loads(Path(path).read_text("utf-8"), parse_constant=lambda _: None)
    except (UnicodeDecodeError, ValueError) as error:
        raise InputError(f"{path}: is not JSON ({error}); write it with `{command} --format json`") from None
    if not isinstance(document, dict) or any(not isinstance(document.get(key), list | dict) for key in keys):
        raise InputError(f"{path}: is not what `{command} --format json` prints")
    return document


@dataclass(frozen=True)
class StatisticRow:
    """One statistic of a test set, as text for each metric."""

    level: str
    statistic: str
    shown: tuple[str, ...]
    n: str


@dataclass(frozen=True)
class Statistics:
    """The table of a test set: statistics down, metrics across."""

    metrics: tuple[str, ...]
    rows: tuple[StatisticRow, ...]


def human_statistics(human: Mapping[str, Any]) -> list[Statistics]:
    """For every test set its table; statistics that no metric has are left out."""
    try:
        return [_statistics(human, test_set) for test_set in human["test_sets"]]
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"the output of tesla meta lacks {error}: write it again with this version"
        ) from error


def _statistics(human: Mapping[str, Any], test_set: Mapping[str, Any]) -> Statistics:
    own = [row for row in human["results"] if all(row[key] == test_set[key] for key in ("lp", "testset"))]
    metrics = tuple(dict.fromkeys(row["metric"] for row in own))
    cells: dict[tuple[str, str], dict[str, Any]] = {}
    for row in own:
        if row["value"] is not None:
            cells.setdefault((row["level"], row["statistic"]), {})[row["metric"]] = row
    rows = tuple(
        StatisticRow(
            level, statistic, tuple(f"{by[name]['value']:.4f}" if name in by else "–" for name in metrics),
            "/".join(map(str, sorted({row["n"] for row in by.values()}))),
        )
        for (level, statistic), by in cells.items()
    )  # fmt: skip
    return Statistics(metrics, rows)


def human_drawings(human: Mapping[str, Any]) -> Iterator[str]:
    """For every test set a scatter for each metric, and the comparisons as bars with intervals."""
    try:
        for test_set in human["test_sets"]:
            for metric in _metrics(test_set):
                yield _themed(_scatter(human, test_set, metric))
        for comparison in human["significance"]:
            yield _themed(_bars(comparison))
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"the output of tesla meta lacks {error}: write it again with this version"
        ) from error


def _themed(drawing: Drawing) -> str:
    """The drawing without its paper; the page's style gives the colours, the first words are its name."""
    lines = drawing.svg().splitlines()
    name = next((shape.text for shape in drawing.shapes if isinstance(shape, Words)), "")
    own = f' class="plot" role="img" aria-label="{escaped(name)}"'
    head = lines[0].replace(' xmlns="http://www.w3.org/2000/svg"', own, 1)
    return "\n".join([head, *lines[2:]])


def _metrics(test_set: Mapping[str, Any]) -> list[str]:
    """The metrics that have scores of systems."""
    names: dict[str, None] = {}
    for row in test_set.get("system_scores", ()):
        names.update(dict.fromkeys(row["metrics"]))
    return list(names)


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
    shapes: list[Shape] = [Words(_WIDTH / 2, 16, title, size=13)]
    if not points:
        return Drawing(
            _WIDTH, _HEIGHT, [*shapes, Words(_WIDTH / 2, _HEIGHT / 2, "no system has both scores")]
        )
    shapes.append(Words(_WIDTH / 2, 33, _pearson(human, test_set, metric), size=12))
    across = Axis(min(p[1] for p in points), max(p[1] for p in points), _LEFT, _WIDTH - 16)
    up = Axis(min(p[2] for p in points), max(p[2] for p in points), _HEIGHT - _BOTTOM, _TOP + 4)
    for tick in across.ticks():
        shapes.append(Line(across(tick), _TOP, across(tick), _HEIGHT - _BOTTOM, "#dddddd"))
        shapes.append(Words(across(tick), _HEIGHT - _BOTTOM + 16, f"{tick:.4g}", size=11))
    for tick in up.ticks():
        shapes.append(Line(_LEFT, up(tick), _WIDTH - 16, up(tick), "#dddddd"))
        shapes.append(Words(_LEFT - 6, up(tick) + 4, f"{tick:.4g}", "end", 11))
    shapes.append(Words((_LEFT + _WIDTH) / 2, _HEIGHT - 12, f"human ({test_set['human_score']})", size=12))
    shapes.append(Words(14, _HEIGHT / 2, metric, turned=True))
    shapes.extend(
        Dot(across(x), up(y), f"{system}: human {x:.4g}, {metric} {y:.4g}") for system, x, y in points
    )
    shapes.extend(_labels([(system, across(x), up(y)) for system, x, y in points]))
    return Drawing(_WIDTH, _HEIGHT, shapes)


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


def _bars(comparison: Mapping[str, Any]) -> Drawing:
    rows = [row for row in comparison["metrics"] if row["value"] is not None]
    title = f"{comparison['lp']} {comparison['testset']}: {comparison['level']} {comparison['statistic']}"
    height = _TOP + _BAR * len(rows) + _BOTTOM
    ends = [0.0, *(row[key] for row in rows for key in ("value", "low", "high") if row[key] is not None)]
    left = 30 + 7.5 * max((len(row["metric"]) for row in rows), default=0)
    scale = Axis(min(ends), max(ends), left, _WIDTH - 16)
    shapes: list[Shape] = [Words(_WIDTH / 2, 16, title, size=13)]
    for tick in scale.ticks():
        shapes.append(Line(scale(tick), _TOP, scale(tick), height - _BOTTOM, "#dddddd"))
        shapes.append(Words(scale(tick), height - _BOTTOM + 16, f"{tick:.4g}", size=11))
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
