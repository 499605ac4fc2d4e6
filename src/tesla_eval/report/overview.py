"""The first screen of a report: which system is better, by how much, and how surely."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from tesla_eval.base.version import SCORING
from tesla_eval.drawing.shapes import Axis
from tesla_eval.language.analysis.languages import LANGUAGES
from tesla_eval.report.tables import Table
from tesla_eval.texts.compression import short_names

_WIDTH, _HEIGHT = 180.0, 16.0
_MOST_NAMES = 5
_MOST_TICKS = 4


@dataclass(frozen=True)
class Cell:
    """A system under a metric."""

    score: str
    interval: str
    cluster: int | None
    drawing: Markup


@dataclass(frozen=True)
class Overview:
    """The content of the first screen; systems are sorted by the first metric, the best first."""

    conclusion: str
    """Over all metrics; empty if there is one metric or one system."""
    verdicts: tuple[str, ...]
    order: tuple[int, ...]
    names: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    """By metric, then by system."""
    axes: tuple[Markup, ...]
    """By metric: the scale of the intervals."""
    pairs: tuple[Table, ...]
    """By metric."""
    meanings: tuple[str, ...]
    """For metrics with stored ranges: where other systems lie."""


def overview(core: Mapping[str, Any]) -> Overview:
    """The first screen of the data of a report."""
    names = tuple(short_names(core["systems"]))
    metrics = core["metrics"]
    cells, axes = zip(*map(_cells_and_axis, metrics), strict=True)
    # By metric and language where systems of WMT lie (tools/score_ranges.py); unused if scores have changed since.
    stored = json.loads(files("tesla_eval.report").joinpath("ranges.json").read_text("utf-8"))
    ranges = stored["ranges"] if stored["scoring"] == SCORING else {}
    language, meanings = core.get("language", ""), []
    for metric in metrics:
        row = ranges.get(metric["name"], {}).get(language)
        if row is not None:
            ends = " and ".join(_shown(metric, row[end]) for end in ("low", "high"))
            where = f"{row['systems']} systems of {row['set']} into {LANGUAGES[language].name}"
            meanings.append(f"{metric['name']}: eight of ten of the {where} lie between {ends}.")
    return Overview(
        conclusion=_conclusion(metrics, core["systems"], names),
        verdicts=tuple(_verdict(metric, core["systems"], names) for metric in metrics),
        order=tuple(_best_first(metrics[0])),
        names=names,
        cells=cells,
        axes=axes,
        pairs=tuple(_pairs(metric, dict(zip(core["systems"], names, strict=True))) for metric in metrics),
        meanings=tuple(meanings),
    )


def default_title(language: str, systems: int, segments: int) -> str:
    """The default title of a report.

    >>> default_title("de", 2, 1000), default_title("und", 1, 5)
    ('German: 2 systems, 1,000 segments', '1 system, 5 segments')
    """
    counts = (
        f"{systems} system{'s' if systems != 1 else ''}, {segments:,} segment{'s' if segments != 1 else ''}"
    )
    return f"{LANGUAGES[language].name}: {counts}" if language in LANGUAGES else counts


def _best_first(metric: Mapping[str, Any]) -> list[int]:
    sign = -1 if metric["higher_is_better"] else 1
    return sorted(range(len(metric["scores"])), key=lambda place: sign * metric["scores"][place])


def _shown(metric: Mapping[str, Any], value: float, *, signed: bool = False) -> str:
    return f"{value:{'+' if signed else ''}.{metric['digits']}f}"


def _verdict(metric: Mapping[str, Any], systems: Sequence[str], names: Sequence[str]) -> str:
    """Who is best under a metric, and whether that is certain, in one or two sentences."""
    comparison = metric["comparison"]
    order = _best_first(metric)
    best = order[0]
    score = _shown(metric, metric["scores"][best])
    if len(order) == 1:
        return f"{names[best]} scores {score}."
    second = order[1]
    lead = _shown(metric, abs(metric["scores"][best] - metric["scores"][second]))
    head = f"{names[best]} leads with {score}, {lead} ahead of {names[second]}"
    if comparison["systems"][best]["cluster"] is None:
        return f"{head}."
    level = f"{comparison['alpha']:g}"
    equal = [
        names[place] for place in order[1:] if _outcome(metric, systems[best], systems[place]) == "equal"
    ]
    if not equal:
        return f"{head}. The lead is significant at level {level}."
    return f"{head}, but cannot be told apart from {_listed(equal)} at level {level}."


def _conclusion(metrics: Sequence[Mapping[str, Any]], systems: Sequence[str], names: Sequence[str]) -> str:
    """Over all metrics: how the best system, or the baseline, compares with each other one."""
    if len(metrics) < 2 or len(systems) < 2:
        return ""
    every = "both metrics" if len(metrics) == 2 else f"all {len(metrics)} metrics"
    baseline = metrics[0]["comparison"].get("baseline")
    leaders = list(dict.fromkeys(_best_first(metric)[0] for metric in metrics))
    if baseline is None and len(leaders) > 1:
        first = "; ".join(
            f"{names[leader]} is best by {_listed([m['name'] for m in metrics if _best_first(m)[0] == leader])}"
            for leader in leaders
        )
        return f"The metrics disagree about the best system: {first}."
    center = leaders[0] if baseline is None else systems.index(baseline)
    by_outcome: dict[str, list[str]] = {}
    for place in _best_first(metrics[0]):
        if place != center:
            outcomes = {_outcome(metric, systems[center], systems[place]) for metric in metrics}
            by_outcome.setdefault(outcomes.pop() if len(outcomes) == 1 else "mixed", []).append(names[place])
    own = names[center]
    sentences = {
        "better": f"{own} is better than {{}} by {every}.",
        "worse": f"{own} is worse than {{}} by {every}.",
        "equal": f"{own} cannot be told apart from {{}} by any metric.",
        "mixed": f"{own} differs from {{}} by some metrics only.",
    }
    others = len(systems) - 1
    return " ".join(
        text.format(
            "every other system" if len(by_outcome[outcome]) == others > 1 else _listed(by_outcome[outcome])
        )
        for outcome, text in sentences.items()
        if outcome in by_outcome
    )


def _outcome(metric: Mapping[str, Any], first: str, second: str) -> str:
    """Whether the first system is significantly better or worse than the second under a metric, or neither."""
    for pair in metric["comparison"]["pairs"]:
        if {pair["first"], pair["second"]} == {first, second} and pair["significant"]:
            leads = (pair["difference"] > 0) == metric["higher_is_better"]
            return "better" if leads == (pair["first"] == first) else "worse"
    return "equal"


def _listed(names: Sequence[str]) -> str:
    """The names as a list in a sentence, the last ones counted where there are many.

    >>> _listed(["a"]), _listed(["a", "b"]), _listed(list("abcdefgh"))
    ('a', 'a and b', 'a, b, c, d and 4 others')
    """
    if len(names) > _MOST_NAMES:
        names = [*names[: _MOST_NAMES - 1], f"{len(names) - _MOST_NAMES + 1} others"]
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _cells_and_axis(metric: Mapping[str, Any]) -> tuple[tuple[Cell, ...], Markup]:
    """The column of a metric: scores whose intervals are drawn as a line with a dot, and the scale of these pictures.

    With one system there is nothing to compare, and no picture. The scale has at most four round numbers.
    """
    rows = metric["comparison"]["systems"]
    pictures, axis = [""] * len(rows), ""
    if len(rows) > 1:
        x = Axis(min(row["low"] for row in rows), max(row["high"] for row in rows), 5, _WIDTH - 5)
        middle = f"{_HEIGHT / 2:g}"
        pictures = [
            f'<line x1="{x(row["low"]):.1f}" x2="{x(row["high"]):.1f}" y1="{middle}" y2="{middle}"/>'
            f'<circle cx="{x(row["score"]):.1f}" cy="{middle}" r="4"/>'
            for row in rows
        ]
        ticks = x.ticks()
        axis = "".join(
            f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{_HEIGHT - 4:g}" y2="{_HEIGHT:g}"/>'
            f'<text x="{x(tick):.1f}" y="{_HEIGHT - 5:g}">{tick:.4g}</text>'
            for tick in ticks[:: 1 + (len(ticks) - 1) // _MOST_TICKS]
        )
    size = f'width="{_WIDTH:g}" height="{_HEIGHT:g}" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}"'
    *pictures, axis = (
        f'<svg class="interval" {size} aria-hidden="true">{drawn}</svg>' if drawn else ""
        for drawn in (*pictures, axis)
    )
    cells = tuple(
        Cell(
            _shown(metric, score), f"{_shown(metric, row['low'])} to {_shown(metric, row['high'])}",
            row["cluster"] if len(rows) > 1 else None, Markup(drawn),
        )
        for score, row, drawn in zip(metric["scores"], rows, pictures, strict=True)
    )  # fmt: skip
    return cells, Markup(axis)


def _pairs(metric: Mapping[str, Any], names: Mapping[str, str]) -> Table:
    """Every pair of systems that was tested, as text."""
    rows = []
    for pair in metric["comparison"]["pairs"]:
        low, high = (_shown(metric, pair[end], signed=True) for end in ("low", "high"))
        p = pair["p_randomisation_holm"]
        rows.append((
            names[pair["first"]], names[pair["second"]], _shown(metric, pair["difference"], signed=True),
            f"{low} to {high}", f"{pair['wins']:.3f}", "–" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}",
            "yes" if pair["significant"] else "no",
        ))  # fmt: skip
    head = ("first", "second", "difference", "interval", "wins", "p (Holm)", "significant")
    return Table(f"Pairs under {metric['name']}", head, rows, range(2, 6))
