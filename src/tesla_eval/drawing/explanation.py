"""An explanation (specification §17) as HTML: for notebooks and for `tesla explain --html`. No script is needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from math import isnan
from typing import Any

from tesla_eval.drawing.arithmetic import feature_steps, score_steps
from tesla_eval.drawing.match import match_figure
from tesla_eval.drawing.picture import KINDS, UNMATCHED, Kind, Picture, picture_of
from tesla_eval.drawing.policy import content_policy
from tesla_eval.drawing.text import escaped

__all__ = ["explanation_html", "explanation_page", "html_table", "score_html", "stylesheet"]

_MOST_ROWS = 40
_BAR = 120.0


@lru_cache(maxsize=1)
def stylesheet() -> str:
    """The rules for everything drawn here."""
    return files("tesla_eval.drawing").joinpath("match.css").read_text("utf-8")


def explanation_html(
    document: Mapping[str, Any],
    hypothesis: str,
    references: Sequence[str],
    *,
    feature: str | None = None,
    width: float = 960.0,
    styled: bool = True,
) -> str:
    """A fragment of HTML with the score, the links between the words, and the way from them to the score.

    `document` is what `Explanation.to_dict` gives; `feature` is the one whose links are shown first.
    """
    style = f"<style>{stylesheet()}</style>" if styled else ""
    parts = [
        f'{style}<div class="tm-explanation"><h2>{escaped(document["metric"])} {document["score"]:.4f}</h2>',
        f"<code>{escaped(document['signature'])}</code>",
    ]
    texts = [*references, *[""] * (len(document["references"]) - len(references))]
    for detail, text in zip(document["references"], texts, strict=True):
        parts.extend(_reference_html(detail, hypothesis, text, feature, width))
    return "".join([*parts, "</div>"])


def explanation_page(fragments: Iterable[str], title: str) -> str:
    """A whole page of explanations that were made with `styled=False`."""
    body = "<hr>".join(fragments)
    page = "body { margin: 1rem auto; padding: 0 1rem; max-width: 1100px; background: #fff; }"
    dark = "@media (prefers-color-scheme: dark) { body { background: #0d1117; } }"
    style = f"{page}{dark}{stylesheet()}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{content_policy(style)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escaped(title)}</title><style>{style}</style></head>"
        f'<body><main class="tm-explanation tm-page"><h1>{escaped(title)}</h1>{body}</main></body></html>\n'
    )


def score_html(
    metric: str, score: float, signature: str, features: Mapping[str, float], segments: int | None = None
) -> str:
    """A score with its features as a small table."""
    over = "" if segments is None else f" over {segments} segments"
    rows = [
        (escaped(name), _number(value), _bar(value)) for name, value in features.items() if not isnan(value)
    ]
    table = html_table(("feature", "mean" if segments else "value", ""), rows, numeric=(1,)) if rows else ""
    return (
        f'<style>{stylesheet()}</style><div class="tm-explanation"><h2>{escaped(metric)} {score:.4f}'
        f"{over}</h2><code>{escaped(signature)}</code>{table}</div>"
    )


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


def _reference_html(
    detail: Mapping[str, Any], hypothesis: str, text: str, feature: str | None, width: float
) -> Iterator[str]:
    if "support" in detail:
        yield _support_html(detail["support"])
        return
    if "sentences" in detail:
        yield f'<p class="tm-text"><b>text</b><span dir="auto">{escaped(hypothesis)}</span></p>'
        yield _coherence_html(detail)
        return
    picture = picture_of(detail, feature)
    lost = _unmatched(picture)
    for name, shown in (("reference", text), ("hypothesis", hypothesis)):
        marked = _marked(shown, detail.get(name, ()), lost[name])
        yield f'<p class="tm-text"><b>{name}</b><span dir="auto">{marked}</span></p>'
    if picture is not None:
        yield match_figure(picture, width) + _legend({tie.kind for tie in picture.ties})
    yield f"<h3>From the links to the score: {detail['score']:.4f}</h3>"
    yield from _steps(score_steps(detail))
    yield _features_html(detail.get("features", ()))
    for one in detail.get("features", ()):
        yield from _feature_html(detail, one, width)
    if detail.get("shares"):
        yield _shares_html(detail["shares"])
    if "links" in detail:
        yield _links_html(detail)
    if "coherence" in detail:
        yield _coherence_html(detail["coherence"])


def _unmatched(picture: Picture | None) -> dict[str, set[int]]:
    """For both texts the words that no link reaches; nothing where there are no links to draw at all."""
    if picture is None or not picture.ties:
        return {"reference": set(), "hypothesis": set()}
    return {
        "reference": set(range(len(picture.reference))) - picture.matched("reference"),
        "hypothesis": set(range(len(picture.hypothesis))) - picture.matched("hypothesis"),
    }


def _marked(text: str, tokens: Sequence[Mapping[str, Any]], lost: set[int]) -> str:
    """The text with the words marked that found no partner."""
    parts, end = [], 0
    for place in sorted(lost):
        start = tokens[place]["start"]
        if start < end:  # parts of one word share its offsets
            continue
        parts.append(escaped(text[end:start]))
        end = tokens[place]["end"]
        parts.append(f'<mark class="tm-lost">{escaped(text[start:end])}</mark>')
    return "".join([*parts, escaped(text[end:])])


def _legend(used: set[str]) -> str:
    """The meaning of the colours and line patterns that are used."""
    kinds = [kind for name, kind in KINDS.items() if name in used]
    items = [_legend_item(kind) for kind in (*kinds, UNMATCHED)]
    return f'<ul class="tm-legend">{"".join(items)}<li>thickness: weight</li></ul>'


def _legend_item(kind: Kind) -> str:
    name = next((name for name, known in KINDS.items() if known == kind), None)
    if name is None:
        sample = (
            f'<g class="tm-unmatched"><rect x="1" y="1" width="28" height="10" rx="3" fill="#ffebe9" '
            f'stroke="{kind.colour}" stroke-dasharray="{kind.dash}"/></g>'
        )
    else:
        sample = (
            f'<path class="tm-link tm-{name}" d="M0 6h30" stroke="{kind.colour}" stroke-width="3" '
            f'stroke-dasharray="{kind.dash or "none"}"/>'
        )
    return (
        f'<li><svg class="tm-match" width="30" height="12" aria-hidden="true">{sample}</svg>{kind.label}</li>'
    )


def _steps(steps: Iterable[str]) -> Iterator[str]:
    yield '<ol class="tm-steps">'
    yield from (f"<li>{escaped(step)}</li>" for step in steps)
    yield "</ol>"


def _features_html(features: Sequence[Mapping[str, Any]]) -> str:
    values = [one.get("f", one.get("value")) for one in features]
    measured = [key for key in ("precision", "recall") if any(key in one for one in features)]
    rows = [
        (escaped(one["name"]), *(_number(one.get(key)) for key in measured), _number(value), _bar(value))
        for one, value in zip(features, values, strict=True)
    ]
    head = ("feature", *measured, "F or value" if measured else "value", "")
    return html_table(head, rows, numeric=range(1, len(head) - 1))


def _feature_html(detail: Mapping[str, Any], feature: Mapping[str, Any], width: float) -> Iterator[str]:
    """What is behind one feature, folded: links, pivot n-grams and phrases, words with their probabilities."""
    body: list[str] = []
    if "flow" in feature and "pivot" not in feature:
        picture = picture_of(detail, feature["name"])
        assert picture is not None
        body += [match_figure(picture, width), *_steps(feature_steps(feature))]
    elif "pivot" in feature:
        body += [_pivot_html(feature), *(_steps(feature_steps(feature)) if "objective" in feature else ())]
    for pivot in feature.get("pivots", ()):
        body.append(_pivot_html(pivot))
    if feature.get("words"):
        rows = [(escaped(one["word"]), _number(one["log_probability"])) for one in feature["words"]]
        body.append(html_table(("word", "ln P"), rows, numeric=(1,)))
    if body:
        yield f"<details><summary>{escaped(feature['name'])}</summary>{''.join(body)}</details>"


def _pivot_html(feature: Mapping[str, Any]) -> str:
    links = sorted(feature["flow"], key=lambda link: -link["weight"])[:_MOST_ROWS]
    rows = [(escaped(k["reference"]), escaped(k["hypothesis"]), f"{k['weight']:.3g}") for k in links]
    parts = [f"<h4>n-grams in the pivot language {escaped(feature['pivot'])}</h4>"]
    parts.append(html_table(("reference", "hypothesis", "weight"), rows, numeric=(2,)))
    for side, phrases in feature.get("segments", {}).items():
        phrases_shown = [
            (
                escaped(phrase["phrase"]),
                escaped(one["text"]),
                f"{one['probability']:.3g}",
                f"{one['carried']:.3g}",
            )
            for phrase in phrases
            for one in phrase["translations"]
        ]
        head = (f"phrase of the {side}", "translation", "probability", "matched")
        parts.append(html_table(head, phrases_shown[:_MOST_ROWS], numeric=(2, 3)))
        if len(phrases_shown) > _MOST_ROWS:
            parts.append(f"<p>{len(phrases_shown) - _MOST_ROWS} more translations are not shown.</p>")
    return "".join(parts)


def _shares_html(shares: Sequence[Mapping[str, Any]]) -> str:
    ordered = sorted(shares, key=lambda one: -abs(one["share"]))
    most = max((abs(one["share"]) for one in ordered), default=0.0)
    rows = [
        (
            escaped(one["name"]), escaped(one["group"]), _number(one["value"]), _number(one["weight"]),
            f"{one['share']:+.4f}", _bar(one["share"], most),
        )
        for one in ordered
    ]  # fmt: skip
    head = ("feature", "group", "value", "weight", "share", "")
    return f"<h3>What each feature adds</h3>{html_table(head, rows, numeric=(2, 3, 4))}"


def _links_html(detail: Mapping[str, Any]) -> str:
    rows = [
        (
            _joined(detail["reference"][slice(*link["reference"])]),
            _joined(detail["hypothesis"][slice(*link["hypothesis"])]),
            f"{link['weight']:g}",
        )
        for link in detail["links"]
        if link["essential"]
    ]
    table = html_table(("reference", "hypothesis", "weight"), rows, numeric=(2,))
    return f"<details><summary>{len(rows)} links between n-grams</summary>{table}</details>"


def _joined(units: Sequence[Mapping[str, Any]]) -> str:
    """Units as they stand in the text, with a space where there was one."""
    parts, end = [], units[0]["start"] if units else 0
    for unit in units:
        parts.append(" " if unit["start"] > end else "")
        parts.append(unit["surface"])
        end = unit["end"]
    return escaped("".join(parts))


def _coherence_html(detail: Mapping[str, Any]) -> str:
    sentences = "".join(f'<li dir="auto">{escaped(text)}</li>' for text in detail["sentences"])
    rows = [
        (escaped(term), *(escaped(" ".join(cell)) for cell in column))
        for term, column in list(detail["matrix"].items())[:_MOST_ROWS]
    ]
    head = ("term", *(str(number + 1) for number in range(len(detail["sentences"]))))
    matrix = html_table(head, rows) if rows else ""
    return (
        f"<h3>Coherence: {detail['score']:.4f}</h3><ol>{sentences}</ol>{matrix}"
        f"{_features_html(detail['features'])}"
    )


def _support_html(sentences: Sequence[Mapping[str, Any]]) -> str:
    """The sentences of a summary beside the closest ones of its source, with the words that the source has not."""

    def against(one: Mapping[str, Any]) -> str:
        denied = [f"{c['kind']}: {c['hypothesis']} / {c['reference']}" for c in one["contradictions"]]
        return "; ".join([*(f"unknown: {word['surface']}" for word in one["unknown"]), *denied])

    rows = []
    for one in sentences:
        places = [
            {"start": word["start"] - one["start"], "end": word["end"] - one["start"]}
            for word in one["unsupported"]
        ]
        marked = _marked(one["sentence"], places, set(range(len(places))))
        rows.append((f"{one['score']:.4f}", marked, escaped(one["source"]["text"]), escaped(against(one))))
    return html_table(("support", "sentence", "closest in the source", "against it"), rows, numeric=(0,))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _bar(value: float | None, most: float = 1.0) -> str:
    """A bar for a value up to `most`; none for what is not a share of something."""
    if value is None or not most or abs(value) > most * (1 + 1e-9):
        return ""
    sign = " tm-bar-minus" if value < 0 else ""
    length = _BAR * abs(value) / most
    return (
        f'<svg width="{_BAR:g}" height="10" aria-hidden="true">'
        f'<rect class="tm-bar{sign}" width="{length:.1f}" height="10" fill="#0969da"/></svg>'
    )
