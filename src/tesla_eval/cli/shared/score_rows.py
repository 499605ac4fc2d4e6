"""`tesla score table.csv -o scores.csv`: the rows of a table with their scores, as into Parquet."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.cli.shared.inputs import TextOptions
from tesla_eval.metrics.scoring import Scored
from tesla_eval.texts.lines import STANDARD_INPUT
from tesla_eval.texts.tables import open_table


def kept_columns(keep: str | None, names: Sequence[str]) -> list[str] | None:
    """The columns that `--keep` names; None stands for all but the texts.

    >>> kept_columns("id,year", ["id", "year", "mt"]), kept_columns("none", ["id"]), kept_columns(None, ["id"])
    (['id', 'year'], [], None)
    """
    words: dict[str | None, list[str] | None] = {None: None, "all": list(names), "none": []}
    return words[keep] if keep in words else [name for name in (keep or "").split(",") if name]


def check_one_table(texts: TextOptions, wanted: str) -> None:
    """Refuse what has no rows to write scores into."""
    if len(texts.systems) > 1:
        raise UsageError(
            f"{wanted} writes the rows of one table",
            hint="for several systems, name several columns: --columns hyp=A+B; for system scores, add --format csv",
        )
    if texts.systems[0] == STANDARD_INPUT:
        raise UsageError(
            f"{wanted} writes the rows of a table, but standard input can be read only once",
            hint="name a file; for system scores, add --format csv",
        )


def rows_with_scores(texts: TextOptions, scored: Scored, keep: str | None) -> Iterator[list[str]]:
    """A header, and each row of the table with its scores: one column per metric, or per system and metric."""
    (path,) = texts.systems
    table = open_table(path, texts.columns, texts.missing, whole=True)
    wanted = kept_columns(keep, table.names)
    kept = [name for name in table.names if name not in table.columns.texts] if wanted is None else wanted
    metrics = [one.name for one in scored.metrics]
    several = len(table.columns.hyp) > 1
    names = [f"{system}:{name}" for system in table.columns.hyp for name in metrics] if several else metrics
    for name in kept:
        if name not in table.names or name in names:
            problem = "no column" if name not in table.names else "a score beside the column"
            raise InputError(f"{path}: has {problem} {name!r}; name the columns to keep (--keep)")
    yield [*kept, *names]
    scores = {
        system: [scored.segment_scores(place, metric) for metric in range(len(metrics))]
        for place, system in enumerate(scored.systems)
    }
    for row in table.rows:
        if not row.lacks:
            columns = scores[row.system] if table.columns.system else chain.from_iterable(scores.values())
            yield [*(_cell(row.cells[name]) for name in kept), *(repr(next(column)) for column in columns)]


def _cell(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, default=str)
