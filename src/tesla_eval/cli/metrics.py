"""`tesla metrics`: which metrics there are, and the options of each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import click

from tesla_eval.cli.shared.terminal import aligned, note, write_lines
from tesla_eval.metrics.registry import Entry, described, find_entry, registered
from tesla_eval.metrics.requests import option_kinds


@click.command()
@click.argument("name", required=False)
@click.option(
    "--all", "every", is_flag=True, help="Those too that the papers, comparisons and experiments need."
)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def metrics(name: str | None, every: bool, as_json: bool) -> None:
    """List the metrics that we recommend, by task; with a NAME, the options of that metric.

    \b
    tesla metrics
    tesla metrics --all
    tesla metrics bleu
    """
    if name is not None:
        entry = described(find_entry(name))
        shown = json.dumps(_document(entry, with_options=True), ensure_ascii=False, indent=1)
        write_lines([shown] if as_json else _one(entry))
        return
    entries = [entry for entry in map(described, registered().values()) if entry.task or every]
    if as_json:
        documents = [_document(entry, with_options=False) for entry in entries]
        write_lines([json.dumps(documents, ensure_ascii=False, indent=1)])
    else:
        write_lines(_list(entries))
        if not every:
            note("tesla metrics --all lists every metric, tesla metrics NAME the options of one")


def _list(entries: list[Entry]) -> Iterator[str]:
    rows = [("-m", "what it measures", "scale", "better", "languages")]
    places: dict[str, list[int]] = {}
    for entry in entries:
        places.setdefault(entry.task or "others", []).append(len(rows))
        rows.append((entry.name, entry.summary, entry.scale, entry.better, entry.languages))
    lines = list(aligned(rows, keys=1))
    yield lines[0]
    for task, shown in places.items():
        yield from ("", f"{task}:", *(lines[place] for place in shown))


def _one(entry: Entry) -> Iterator[str]:
    metric = entry.load()
    yield f"{entry.name} ({metric.id}): {entry.summary}"
    scale, languages = entry.scale or "unknown", entry.languages or "unknown"
    yield f"scale {scale}, {entry.better} is better, languages: {languages}"
    options = _options(entry)
    if options:
        yield ""
        rows = [("option", "value", "default", "specification")]
        rows.extend((one.name, one.value, _shown(one.default), one.section) for one in options)
        described = any(one.section for one in options)  # not where other people's metrics are wrapped
        yield from aligned(rows if described else [row[:3] for row in rows])
        yield ""
        yield f"set them with -m {entry.name}:KEY=VALUE,KEY=VALUE"


class _Option(NamedTuple):
    """An option that the command line can set."""

    name: str
    value: str
    """The kind of its values, or the words that it takes."""
    default: Any
    section: str
    """Where the specification describes it; empty for options of other people's metrics."""


def _options(entry: Entry) -> list[_Option]:
    metric = entry.load()
    defaults, sections = metric.option_defaults(), metric.option_sections()
    return [
        _Option(name, " | ".join(metric.choices.get(name, (kind,))), defaults[name], sections.get(name, ""))
        for name, kind in option_kinds(metric).items()
        if kind != "Python only"
    ]


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "built in" if value is None else f"{value:g}" if isinstance(value, int | float) else str(value)


def _document(entry: Entry, *, with_options: bool) -> dict[str, Any]:
    document: dict[str, Any] = {
        "name": entry.name, "summary": entry.summary, "scale": entry.scale, "better": entry.better,
        "languages": entry.languages, "task": entry.task, "package": entry.package,
    }  # fmt: skip
    if with_options:
        document["id"] = entry.load().id
        document["options"] = [one._asdict() for one in _options(entry)]
    return document
