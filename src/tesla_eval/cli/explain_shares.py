"""Drawing of what learned metrics weigh: the shares of a score, and of the difference between two systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tesla_eval.cli.terminal import aligned, visible
from tesla_eval.metrics.shares import Difference, part_of

__all__ = ["draw_difference", "draw_shares"]

_MOST_FEATURES = 12


def draw_shares(shares: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The shares of a score by what the features look at: above 0 it is better than the outputs people judged."""
    parts: dict[str, float] = {}
    for entry in shares:
        part = part_of(entry["name"])
        parts[part] = parts.get(part, 0.0) + entry["share"]
    rows = [("", "share of the linear score", "")]
    rows.extend(
        ("", part, f"{share:+.4f}") for part, share in sorted(parts.items(), key=lambda item: -abs(item[1]))
    )
    rows.append(("", "sum", f"{sum(parts.values()):+.4f}"))
    yield from aligned(rows, numeric=(2,))


def draw_difference(difference: Difference, names: Sequence[str]) -> Iterator[str]:
    """Who scores higher and why: parts first, then the features that made most of the difference."""
    yield f"{difference.metric}    {difference.signature}"
    yield ""
    first, second = difference.scores
    rows = [("", "", *map(visible, names), "difference"),
            ("", "score", f"{first:.4f}", f"{second:.4f}", f"{first - second:+.4f}")]  # fmt: skip
    a, b = difference.linear
    rows.append(("", "linear score", f"{a:.4f}", f"{b:.4f}", f"{a - b:+.4f}"))
    rows.append(("",) * 5)
    rows.extend(_numbers(row) for row in difference.by_part())
    rows.append(("",) * 5)
    rows.extend(_numbers(row) for row in difference.by_feature()[:_MOST_FEATURES])
    yield from aligned(rows, numeric=(2, 3, 4))


def _numbers(row: tuple[str, float, float, float]) -> tuple[str, ...]:
    name, a, b, difference = row
    return ("", name, f"{a:+.4f}", f"{b:+.4f}", f"{difference:+.4f}")
