"""The first screen of a report: which system is better, by how much, and how surely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

__all__ = ["Cell", "Overview", "PairRow", "overview", "short_names"]

_WIDTH, _HEIGHT = 140.0, 14.0
_MOST_NAMES = 5


@dataclass(frozen=True)
class Cell:
    """A system under a metric."""

    score: str
    interval: str
    cluster: int | None
    drawing: Markup


@dataclass(frozen=True)
class PairRow:
    """One system against another, as text."""

    first: str
    second: str
    difference: str
    interval: str
    wins: str
    p: str
    significant: bool


@dataclass(frozen=True)
class Overview:
    """What the first screen says and shows; systems are sorted by the first metric, the best first."""

    verdicts: tuple[str, ...]
    order: tuple[int, ...]
    names: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    """By metric, then by system."""
    pairs: tuple[tuple[PairRow, ...], ...]
    """By metric."""


def overview(core: Mapping[str, Any]) -> Overview:
    """The first screen of the data of a report."""
    names = short_names(core["systems"])
    metrics = core["metrics"]
    return Overview(
        verdicts=tuple(_verdict(metric, names) for metric in metrics),
        order=tuple(_best_first(metrics[0])),
        names=names,
        cells=tuple(_cells(metric) for metric in metrics),
        pairs=tuple(_pairs(metric, dict(zip(core["systems"], names, strict=True))) for metric in metrics),
    )


def short_names(systems: Sequence[str]) -> tuple[str, ...]:
    """The names of files without folders and endings, where that leaves them different.

    >>> short_names(["out/a.txt", "out/b.txt"]), short_names(["x/a.txt", "y/a.txt"])
    (('a', 'b'), ('x/a.txt', 'y/a.txt'))
    """
    names = [name.replace("\\", "/").rpartition("/")[2] for name in systems]
    for suffix in (".gz", ".bz2", ".xz", ".zst", ".txt"):
        names = [name.removesuffix(suffix) or name for name in names]
    return tuple(names if len(set(names)) == len(names) else systems)


def _best_first(metric: Mapping[str, Any]) -> list[int]:
    sign = -1 if metric["higher_is_better"] else 1
    return sorted(range(len(metric["scores"])), key=lambda place: sign * metric["scores"][place])


def _shown(metric: Mapping[str, Any], value: float, *, signed: bool = False) -> str:
    return f"{value:{'+' if signed else ''}.{metric['digits']}f}"


def _verdict(metric: Mapping[str, Any], names: Sequence[str]) -> str:
    """Who is best under a metric, and whether that is certain, in one or two sentences."""
    comparison = metric["comparison"]
    order = _best_first(metric)
    best = order[0]
    score = _shown(metric, metric["scores"][best])
    if len(order) == 1:
        return f"{names[best]} scores {score}."
    second = order[1]
    clusters = [row["cluster"] for row in comparison["systems"]]
    lead = _shown(metric, abs(metric["scores"][best] - metric["scores"][second]))
    head = f"{names[best]} leads with {score}, {lead} ahead of {names[second]}"
    if clusters[best] is None:
        return f"{head}."
    level = f"{comparison['alpha']:g}"
    equal = [names[place] for place in order[1:] if clusters[place] == clusters[best]]
    if not equal:
        return f"{head}. The lead is significant at level {level}."
    if len(equal) == 1:
        return f"{head}, but cannot be told apart from {equal[0]} at level {level}."
    shown = ", ".join(equal[:_MOST_NAMES]) + (" and others" if len(equal) > _MOST_NAMES else "")
    return f"{head}, but cannot be told apart from {len(equal)} systems at level {level}: {shown}."


def _cells(metric: Mapping[str, Any]) -> tuple[Cell, ...]:
    rows = metric["comparison"]["systems"]
    low, high = min(row["low"] for row in rows), max(row["high"] for row in rows)
    return tuple(
        Cell(
            _shown(metric, score), f"{_shown(metric, row['low'])} to {_shown(metric, row['high'])}",
            row["cluster"] if len(rows) > 1 else None, _interval(row, low, high),
        )
        for score, row in zip(metric["scores"], rows, strict=True)
    )  # fmt: skip


def _interval(row: Mapping[str, Any], low: float, high: float) -> Markup:
    """The interval of a score as a line with a dot."""

    def x(value: float) -> str:
        return f"{5 + (_WIDTH - 10) * (value - low) / (high - low or 1.0):.1f}"

    middle = _HEIGHT / 2
    size = f'width="{_WIDTH:g}" height="{_HEIGHT:g}"'
    return Markup(
        f'<svg class="interval" {size} viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" aria-hidden="true">'
        f'<line x1="{x(row["low"])}" x2="{x(row["high"])}" y1="{middle:g}" y2="{middle:g}"/>'
        f'<circle cx="{x(row["score"])}" cy="{middle:g}" r="4"/></svg>'
    )


def _pairs(metric: Mapping[str, Any], names: Mapping[str, str]) -> tuple[PairRow, ...]:
    return tuple(
        PairRow(
            names[pair["first"]], names[pair["second"]], _shown(metric, pair["difference"], signed=True),
            f"{_shown(metric, pair['low'], signed=True)} to {_shown(metric, pair['high'], signed=True)}",
            f"{pair['wins']:.3f}", _shown_p(pair["p_randomisation_holm"]), pair["significant"],
        )
        for pair in metric["comparison"]["pairs"]
    )  # fmt: skip


def _shown_p(value: float | None) -> str:
    if value is None:
        return "–"
    return "<0.001" if value < 0.001 else f"{value:.3f}"
