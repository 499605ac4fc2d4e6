"""`tesla resources`: what is installed, and what was measured of it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from tesla_eval.base.resources import (
    Resource,
    find_user_data_folder,
    installed_resources,
    read_resource,
    resources_in,
)
from tesla_eval.cli.shared.plugged import plugged
from tesla_eval.cli.shared.terminal import aligned, visible
from tesla_eval.language.analysis.languages import (
    LANGUAGES,
    Quality,
    measured_figures,
    quality_of,
    resolve_language,
)

RESOURCES = "tesla_eval.resources"
"""The group of entry points under which other packages name the folder of the resources that they ship."""

_NOTE = """Accuracy in percent on held-out test sets: tokens as written (F1), universal / language-specific tags,
lemmas; then the number of words with synonyms. –: the language does not have it. ?: not measured.
`tesla resources -l de` shows the versions, sources and licences for a language, --files those for all."""

_ANALYSIS_KINDS = frozenset({"compounds", "lemmas", "segmenter", "senses", "tagger"})


@click.command()
@click.option(
    "-l", "--lang", "language", metavar="CODE", help="Show the resources of this language in detail."
)
@click.option(
    "--files", is_flag=True, help="Show all resources in detail: versions, sizes, sources, licences."
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option(
    "--integrations",
    is_flag=True,
    help="Print the folder of the files for Z-MERT, evaluate, mbrs and METEOR.",
)
def resources(language: str | None, files: bool, as_json: bool, integrations: bool) -> None:
    """List the languages with the measured accuracy of their analysis, and the installed models and tables.

    Your own resources, in $TESLA_EVAL_DATA or the platform's data folder, come before the built-in ones.

    \b
    tesla resources              language by language: tokeniser, tagger, lemmas, synonyms
    tesla resources -l de        versions, sources and licences of the German resources
    tesla resources --json       everything, for programs
    """
    if integrations:
        package = Path(__file__).parents[1]
        in_wheel = package / "integrations"
        click.echo(in_wheel if in_wheel.is_dir() else package.parents[1] / "integrations")
        return
    paths = dict.fromkeys((*installed_resources(), *_plugged_resources()))
    installed = [read_resource(path) for path in paths]
    if language is not None:
        code = resolve_language(language)
        installed = [resource for resource in installed if resource.language == code]
        if not installed and not as_json:
            click.echo(f"nothing is installed for {code!r}: words are compared as they are written")
            return
    if as_json:
        described = [_described(resource) for resource in installed]
        text = {"languages": _languages(installed), "resources": described}
        click.echo(json.dumps(text, ensure_ascii=False, indent=1))
        return
    if language is not None or not files:
        table = aligned(_language_rows(_languages(installed)), numeric=(2, 3, 4, 5), keys=2)
        click.echo("\n".join([*table, "" if language is not None else f"\n{_NOTE}"]))
    if language is not None or files:
        click.echo("\n".join(_files_table([_described(resource) for resource in installed])))


def _plugged_resources() -> Iterator[Path]:
    """The resource files that other packages ship: a function of the entry-point group gives their folder."""
    for package, point in plugged(RESOURCES):
        try:
            folder = point.load()()
        except Exception as error:  # a fault of one package must not hide the others
            problem = f"{package}: its resources cannot be listed ({type(error).__name__}: {error})"
            click.echo(problem, err=True)
        else:
            yield from resources_in(folder)


def _is_own(resource: Resource) -> bool:
    return resource.path is not None and resource.path.parent == find_user_data_folder()


def _languages(resources: Sequence[Resource]) -> dict[str, dict[str, Any]]:
    """By language its name, the kinds of its resources and what was measured of the ones in use."""
    in_use: defaultdict[str, dict[str, Resource]] = defaultdict(dict)
    for resource in resources:
        in_use[resource.language].setdefault(resource.kind, resource)  # the user's own come first
    return {
        code: {
            "name": LANGUAGES[code].name if code in LANGUAGES else "",
            "kinds": sorted(in_use[code]),
            "own": sorted(kind for kind, resource in in_use[code].items() if _is_own(resource)),
            "quality": asdict(quality_of(in_use[code].values(), measured_figures().get(code, {}))),
        }
        for code in sorted(in_use)
        if not _ANALYSIS_KINDS.isdisjoint(in_use[code])  # tables of two languages belong to neither row
    }


def _language_rows(languages: dict[str, dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    yield "language", "", "tokeniser", "tagger", "lemmas", "synonyms", "also"
    shown = {"lemmas", "senses", "tagger"}
    for code, described in languages.items():
        quality = Quality(**described["quality"])
        kinds = set(described["kinds"])
        tags = _percent(quality.universal_tags)
        if quality.fine_tags is not None:
            tags += f" / {_percent(quality.fine_tags)}"
        words = "?" if quality.words_with_senses is None else f"{quality.words_with_senses:,} words"
        also = [kind for kind in described["kinds"] if kind not in shown]
        if described["own"]:
            also.append(f"(own: {', '.join(described['own'])})")
        yield (
            code, described["name"], _percent(quality.tokens), tags if "tagger" in kinds else "–",
            _percent(quality.lemmas) if quality.lemmas or "lemmas" in kinds else "–",
            words if "senses" in kinds else "–", ", ".join(also),
        )  # fmt: skip


def _percent(share: float | None) -> str:
    return "?" if share is None else f"{share:.1f}"


def _described(resource: Resource) -> dict[str, Any]:
    path = resource.path
    assert path is not None  # it was read from there
    return {
        "language": resource.language,
        "kind": resource.kind,
        "fingerprint": resource.fingerprint,
        "date": resource.provenance.date,
        "bytes": path.stat().st_size,
        "licence": resource.provenance.licence,
        "sources": list(resource.provenance.sources),
        "info": dict(resource.info),
        "own": _is_own(resource),
    }


def _files_table(files: list[dict[str, Any]]) -> Iterator[str]:
    rows = [("language", "resource", "version", "date", "KB", "measured", "licence", "sources")]
    rows.extend(
        (
            item["language"], item["kind"] + (" (own)" if item["own"] else ""), item["fingerprint"], item["date"],
            f"{item['bytes'] / 1000:.0f}", _measured(item["kind"], item["info"]), visible(item["licence"]),
            visible("; ".join(item["sources"])),
        )
        for item in sorted(files, key=lambda item: (item["language"], item["kind"]))
    )  # fmt: skip
    yield from aligned(rows, numeric=(4,))


_FIGURES = {
    "antonyms": "{words} words, {pairs} pairs",
    "compounds": "{words} words",
    "frequencies": "{words} words",
    "lm": "order {order}, {words} words, perplexity {perplexity}",
    "lemmas": "{forms} forms, {rules} rules",
    "pem": "Pearson {training[pearson]} in cross-validation",
    "phrases": "pivot {pivot}, {phrases} phrases of {extracted phrases}, seen {min_count} times or more",
    "segmenter": "F1 {test F1} %",
    "senses": "{lemmas} words, {sets} sets",
    "vectors": "{with vector} vectors, {dimensions} dimensions",
}
"""What to show of a resource's info, by kind; taggers are told apart by the tags they have."""
_USUAL_COUNTS = ("layers", "dimensions", "words")
"""What to show of a kind that another package adds."""


def _measured(kind: str, info: dict[str, Any]) -> str:
    """The figures of a resource's info, briefly."""
    if kind == "tagger":
        test = info.get("accuracy", {}).get("test", {})
        return ", ".join(f"{name.upper()} {test[name]} %" for name in ("upos", "xpos") if name in test)
    if kind not in _FIGURES:
        return ", ".join(f"{info[name]} {name}" for name in _USUAL_COUNTS if name in info)
    try:
        return _FIGURES[kind].format_map(info)
    except KeyError:  # the user's own resource need not tell
        return ""
