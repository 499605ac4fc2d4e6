"""`tesla metrics`: which metrics there are, and the options of each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from tesla_eval.cli.metric_requests import option_kinds
from tesla_eval.cli.terminal import aligned, write_lines
from tesla_eval.metrics.registry import Entry, find_entry, registered

__all__ = ["metrics"]


@click.command(context_settings={"max_content_width": 110})
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def metrics(name: str | None, as_json: bool) -> None:
    """List the metrics; with a NAME, the options of that metric.

    \b
    tesla metrics
    tesla metrics bleu
    """
    entries = list(registered().values()) if name is None else [find_entry(name)]
    if as_json:
        described = [_described(entry, with_options=name is not None) for entry in entries]
        write_lines([json.dumps(described if name is None else described[0], ensure_ascii=False, indent=1)])
    else:
        write_lines(_list(entries) if name is None else _one(entries[0]))


def _list(entries: list[Entry]) -> Iterator[str]:
    rows = [("-m", "what it measures", "scale", "better", "languages")]
    rows.extend((e.name, e.summary, e.scale, e.better, e.languages) for e in entries)
    yield from aligned(rows)


def _one(entry: Entry) -> Iterator[str]:
    metric = entry.load()
    yield f"{entry.name} ({metric.id}): {entry.summary}"
    yield f"scale {entry.scale or 'unknown'}, {entry.better} is better, languages: {entry.languages}"
    options = _options(entry)
    if options:
        yield ""
        rows = [("option", "value", "default")]
        rows.extend((name, kind, _shown(default)) for name, kind, default in options)
        yield from aligned(rows)
        yield ""
        yield f"set them with -m {entry.name}:KEY=VALUE,KEY=VALUE"


def _options(entry: Entry) -> list[tuple[str, str, Any]]:
    """The options that the command line can set: name, kind of value, default."""
    metric = entry.load()
    defaults = metric.option_defaults()
    return [
        (name, kind, defaults[name]) for name, kind in option_kinds(metric).items() if kind != "Python only"
    ]


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "built in" if value is None else f"{value:g}" if isinstance(value, int | float) else str(value)


def _described(entry: Entry, *, with_options: bool) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": entry.name, "summary": entry.summary, "scale": entry.scale, "better": entry.better,
        "languages": entry.languages, "package": entry.package,
    }  # fmt: skip
    if with_options:
        described["id"] = entry.load().id
        described["options"] = [
            {"name": name, "value": kind, "default": default} for name, kind, default in _options(entry)
        ]
    return described
