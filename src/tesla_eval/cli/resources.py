"""`tesla resources`: what is installed, in which version, under which licence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from tesla_eval.cli.terminal import aligned, visible
from tesla_eval.resources import installed_resources, read_resource, user_data_folder

__all__ = ["resources"]


@click.command(context_settings={"max_content_width": 110})
@click.option("--json", "as_json", is_flag=True, help="Everything, as JSON.")
def resources(as_json: bool) -> None:
    """List the models and tables that are installed, with versions, sources and licences.

    Your own resources are looked for first, in $TESLA_EVAL_DATA or the platform's data folder.
    """
    found = [_describe(path) for path in installed_resources()]
    if as_json:
        click.echo(json.dumps({"resources": found}, ensure_ascii=False, indent=1))
        return
    for line in _table(found):
        click.echo(line)


def _describe(path: Path) -> dict[str, Any]:
    resource = read_resource(path)
    return {
        "language": resource.language,
        "kind": resource.kind,
        "fingerprint": resource.fingerprint,
        "date": resource.date,
        "bytes": path.stat().st_size,
        "licence": resource.licence,
        "sources": list(resource.sources),
        "info": dict(resource.info),
        "own": path.parent == user_data_folder(),
    }


def _table(found: list[dict[str, Any]]) -> Iterator[str]:
    rows = [("language", "resource", "version", "date", "KB", "measured", "licence", "sources")]
    rows.extend(
        (
            item["language"], item["kind"] + (" (own)" if item["own"] else ""), item["fingerprint"], item["date"],
            f"{item['bytes'] / 1000:.0f}", _measured(item["kind"], item["info"]), item["licence"],
            visible("; ".join(item["sources"])),
        )
        for item in sorted(found, key=lambda item: (item["language"], item["kind"]))
    )  # fmt: skip
    yield from aligned(rows, numeric=(4,))


_FIGURES = {
    "compounds": "{words} words",
    "lm": "order {order}, {words} words, perplexity {perplexity}",
    "lemmas": "{forms} forms, {rules} rules",
    "segmenter": "F1 {test F1} %",
    "senses": "{lemmas} words, {sets} sets",
}
"""What to show of a resource's info, by kind; taggers are told apart by the tags they have."""


def _measured(kind: str, info: dict[str, Any]) -> str:
    """The figures of a resource's info, briefly."""
    if kind == "tagger":
        test = info.get("accuracy", {}).get("test", {})
        return ", ".join(f"{name.upper()} {test[name]} %" for name in ("upos", "xpos") if name in test)
    try:
        return _FIGURES.get(kind, "").format_map(info)
    except KeyError:  # the user's own resource need not tell
        return ""
