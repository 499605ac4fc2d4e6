"""An explanation (specification §17) as HTML: for notebooks and for `tesla explain --html`.

The data travels with the script that draws it, the same one that draws the segments of a report. Where no script runs,
the texts and the values of the features are still there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from typing import Any

from tesla_eval.base.explanations import ReferenceExplanation
from tesla_eval.drawing.covering import compact
from tesla_eval.drawing.features import feature_title
from tesla_eval.drawing.script import asset, content_policy, drawing_script
from tesla_eval.drawing.text import escaped

_BAR = 120.0


def stylesheet() -> str:
    """The rules for everything drawn here."""
    return asset("tesla_eval.drawing", "match.css")


def feature_titles(names: Iterable[str]) -> dict[str, str]:
    """The features that have a title other than their name."""
    return {name: title for name in names if (title := feature_title(name)) != name}


def drawn_data(
    document: Mapping[str, Any],
    hypothesis: str,
    references: Sequence[ReferenceExplanation],
    feature: str | None = None,
) -> dict[str, Any]:
    """What the script needs; `document` is what `Explanation.to_dict` gives, `feature` the one that is drawn first."""
    details = [{"text": reference.text, **compact(reference)} for reference in references]
    head = {key: document[key] for key in ("metric", "signature", "score")}
    rows = (detail.get(key, ()) for detail in details for key in ("features", "shares"))
    return {
        **head,
        "hypothesis": hypothesis,
        "references": details,
        "feature": feature,
        "titles": feature_titles(one["name"] for row in rows for one in row),
    }


def explanation_html(data: Mapping[str, Any], *, alone: bool = True) -> str:
    """A fragment of HTML with the score, the links between the words, and the way from them to the score.

    `data` is what `drawn_data` gives. A fragment that is not `alone` leaves style and script to its page.
    """
    texts = [("hypothesis", data["hypothesis"]), *(("reference", one["text"]) for one in data["references"])]
    shown = "".join(
        f'<p class="tm-text"><b>{name}</b><span dir="auto">{escaped(text)}</span></p>' for name, text in texts
    )
    values = {
        one["name"]: one.get("f", one.get("value"))
        for detail in data["references"]
        for one in detail.get("features", ())
    }
    plain = json.dumps(data, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    return "".join(
        [
            f"<style>{stylesheet()}</style>" if alone else "",
            f'<div class="tm-explanation">{_head(data["metric"], data["score"], data["signature"])}{shown}',
            _features_table(values, "F or value"),
            f'<script type="application/json" class="tm-data">{plain}</script></div>',
            f"<script>{_script()}</script>" if alone else "",
        ]
    )


def _script() -> str:
    """The script in a block, so that several cells of a notebook can carry it."""
    return f"{{\n{drawing_script()}\nmodule_standalone.drawAll();\n}}"


def explanation_page(fragments: Iterable[str], title: str) -> str:
    """A whole page of explanations that are not `alone`."""
    body = "<hr>".join(fragments)
    page = "body { margin: 1rem auto; padding: 0 1rem; max-width: 1100px; background: #fff; }"
    dark = "@media (prefers-color-scheme: dark) { body { background: #0d1117; } }"
    style, script = f"{page}{dark}{stylesheet()}", _script()
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{content_policy(style, script)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escaped(title)}</title><style>{style}</style></head>"
        f'<body><main class="tm-explanation tm-page"><h1>{escaped(title)}</h1>{body}</main>'
        f"<script>{script}</script></body></html>\n"
    )


def score_html(
    metric: str, score: float, signature: str, features: Mapping[str, float], segments: int | None = None
) -> str:
    """A score with its features as a small table."""
    over = "" if segments is None else f" over {segments} segments"
    table = _features_table(features, "mean" if segments else "value")
    head = _head(metric, score, signature, over)
    return f'<style>{stylesheet()}</style><div class="tm-explanation">{head}{table}</div>'


def _head(metric: str, score: float, signature: str, over: str = "") -> str:
    return f"<h2>{escaped(metric)} {score:.4f}{over}</h2><code>{escaped(signature)}</code>"


def _features_table(features: Mapping[str, float | None], head: str) -> str:
    rows = [
        (escaped(name), escaped(feature_title(name)), f"{value:.4f}", _bar(value))
        for name, value in features.items()
        if value is not None and not isnan(value)
    ]
    return html_table(("feature", "", head, ""), rows, numeric=(2,)) if rows else ""


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]], numeric: Sequence[int] = ()) -> str:
    """A table; the cells are HTML already."""

    def line(cells: Sequence[str], name: str) -> str:
        marks = (' class="tm-number"' if place in numeric else "" for place in range(len(cells)))
        return "".join(
            f'<{name}{mark} dir="auto">{cell}</{name}>' for mark, cell in zip(marks, cells, strict=True)
        )

    body = "".join(f"<tr>{line(row, 'td')}</tr>" for row in rows)
    top = f"<thead><tr>{line(head, 'th')}</tr></thead>".replace('<th dir="auto"></th>', "<td></td>")
    return f'<div class="tm-scroll"><table class="tm-table">{top}<tbody>{body}</tbody></table></div>'


def _bar(value: float) -> str:
    """A bar for a value from 0 to 1; none for another one."""
    if not 0 <= value <= 1:
        return ""
    return (
        f'<svg width="{_BAR:g}" height="10" aria-hidden="true">'
        f'<rect class="tm-bar" width="{_BAR * value:.1f}" height="10" fill="#0969da"/></svg>'
    )
