"""Tables of the page; those of metrics against people and under stress are made of the JSON of other commands."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tesla_eval.base.errors import InputError

_KEYS = {
    "tesla meta": ("signatures", "test_sets", "results", "significance"),
    "tesla stress": ("signatures", "rows"),
}
_STRESS_TITLES = {
    "degenerate": "Degenerate texts that score above real outputs",
    "harmful": "Harmful edits that do not lower the score",
    "harmless": "Harmless edits: how far the score falls",
}


class Table(NamedTuple):
    """Rows of text under a head; the first column names the row."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[object]]
    numeric: range
    """The columns with numbers."""


def read_result(path: str, command: str) -> dict[str, Any]:
    """What a command printed with `--format json`; raises `InputError` for anything else."""
    try:
        document = json.loads(Path(path).read_text("utf-8"), parse_constant=lambda _: None)
    except (UnicodeDecodeError, ValueError) as error:
        raise InputError(f"{path}: is not JSON ({error}); write it with `{command} --format json`") from None
    keys = _KEYS[command]
    if not isinstance(document, dict) or any(not isinstance(document.get(key), list | dict) for key in keys):
        raise InputError(f"{path}: is not what `{command} --format json` prints")
    return document


@contextmanager
def output_of(command: str) -> Iterator[None]:
    """What a command of another version printed may lack something: an `InputError` says so."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"the output of {command} lacks {error}: write it again with this version"
        ) from error


def human_statistics(human: Mapping[str, Any]) -> list[Table]:
    """For every test set its statistics down, the metrics across; statistics that no metric has are left out."""
    with output_of("tesla meta"):
        return [_statistics(human["results"], test_set) for test_set in human["test_sets"]]


def _statistics(results: Sequence[Mapping[str, Any]], test_set: Mapping[str, Any]) -> Table:
    own = [row for row in results if all(row[key] == test_set[key] for key in ("lp", "testset"))]
    metrics = list(dict.fromkeys(row["metric"] for row in own))
    cells: dict[tuple[str, str], dict[str, Any]] = {}
    for row in own:
        if row["value"] is not None:
            cells.setdefault((row["level"], row["statistic"]), {})[row["metric"]] = row
    rows = []
    for key, by in cells.items():
        shown = (f"{by[name]['value']:.4f}" if name in by else "–" for name in metrics)
        rows.append((*key, *shown, "/".join(map(str, sorted({row["n"] for row in by.values()})))))
    head = ("level", "statistic", *metrics, "n")
    title = f"Statistics of {test_set['lp']} {test_set['testset']}"
    return Table(title, head, rows, range(2, len(head)))


def stress_tables(document: Mapping[str, Any]) -> Iterator[Table]:
    """For every family of damage its kinds down, the metrics across."""
    with output_of("tesla stress"):
        metrics = list(document["signatures"])
        for family, title in _STRESS_TITLES.items():
            cells: dict[str, dict[str, Mapping[str, Any]]] = {}
            for row in document["rows"]:
                if row["family"] == family:
                    cells.setdefault(row["kind"], {})[row["metric"]] = row
            if cells:
                rows = [
                    (kind.replace("-", " "), by[metrics[0]]["texts"], *(_drop(by[name]) for name in metrics))
                    for kind, by in cells.items()
                ]
                yield Table(title, ("kind", "texts", *metrics), rows, range(1, len(metrics) + 2))


def _drop(row: Mapping[str, Any]) -> str:
    share = row["above_harmless"] if row["fooled"] is None else row["fooled"]
    drop = row["drop"] if row["relative_drop"] is None else row["relative_drop"]
    return f"({drop:.2f})" if share is None else f"{share:.3f} ({drop:.2f})"
