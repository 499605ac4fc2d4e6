"""What fools the metrics: the JSON of `tesla stress` as tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tesla_eval.base.errors import InputError

_TITLES = {
    "degenerate": "Degenerate texts that score above real outputs",
    "harmful": "Harmful edits that do not lower the score",
    "harmless": "Harmless edits: how far the score falls",
}


@dataclass(frozen=True)
class _Row:
    kind: str
    texts: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class StressTable:
    """One family of kinds: kinds down, metrics across."""

    title: str
    rows: tuple[_Row, ...]


@dataclass(frozen=True)
class StressTables:
    """What the section on stress shows."""

    segments: int
    metrics: tuple[str, ...]
    tables: tuple[StressTable, ...]


def stress_tables(document: Mapping[str, Any]) -> StressTables:
    """The tables of what `tesla stress --format json` printed."""
    try:
        metrics = tuple(document["signatures"])
        tables = []
        for family, title in _TITLES.items():
            cells: dict[str, dict[str, Mapping[str, Any]]] = {}
            for row in document["rows"]:
                if row["family"] == family:
                    cells.setdefault(row["kind"], {})[row["metric"]] = row
            rows = tuple(
                _Row(
                    kind.replace("-", " "),
                    by[metrics[0]]["texts"],
                    tuple(_shown(by[name]) for name in metrics),
                )
                for kind, by in cells.items()
            )
            tables += [StressTable(title, rows)] if rows else []
        return StressTables(document["segments"], metrics, tuple(tables))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"the output of tesla stress lacks {error}: write it again with this version"
        ) from error


def _shown(row: Mapping[str, Any]) -> str:
    share = row["above_harmless"] if row["fooled"] is None else row["fooled"]
    drop = row["drop"] if row["relative_drop"] is None else row["relative_drop"]
    return f"({drop:.2f})" if share is None else f"{share:.3f} ({drop:.2f})"
