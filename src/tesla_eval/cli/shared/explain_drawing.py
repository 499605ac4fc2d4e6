"""An explanation drawn for the terminal: links between words, pivot phrases, shares of a score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import click

from tesla_eval.base.explanations import (
    FeatureDetail,
    Link,
    MatchDetail,
    MeasuredDetail,
    PivotDetail,
    PivotPhrase,
    PivotValue,
    ReferenceExplanation,
    SentenceSupport,
    Share,
    ValueDetail,
)
from tesla_eval.base.records import Token, Unit
from tesla_eval.cli.shared.celab_drawing import draw_covering
from tesla_eval.cli.shared.coherence_drawing import draw_roles
from tesla_eval.cli.shared.terminal import LINES, aligned, visible
from tesla_eval.drawing.picture import KINDS, UNMATCHED, kind_of_link
from tesla_eval.metrics.comparison import Difference
from tesla_eval.metrics.results import Explanation

_MOST_FEATURES = 12
_KINDS_PER_LINE = 4

Drawable = MatchDetail | PivotDetail
"""The features with a flow."""


def draw_explanation(explanation: Explanation, feature: str | None = None) -> Iterator[str]:
    """The score against each reference, the links of a feature (by default the most telling ones), all features."""
    yield f"{explanation.metric} {explanation.score:.4f}    {explanation.signature}"
    for reference in explanation.references:
        yield ""
        yield f"hypothesis  {visible(explanation.hypothesis)}"
        if reference.coherence is not None and not reference.features:  # judged without a reference
            yield ""
            yield from draw_roles(reference.coherence)
            continue
        if reference.support:
            yield ""
            for sentence in reference.support:
                yield from _draw_support(sentence)
            continue
        yield f"reference   {visible(reference.text)}    {reference.score:.4f}"
        yield ""
        if reference.covering is not None:
            if feature is not None:
                raise click.UsageError(f"{explanation.metric} has no features to choose from")
            yield from draw_covering(reference, reference.covering)
            continue
        yield from _draw_reference(reference, feature)
    yield ""


def _draw_reference(reference: ReferenceExplanation, feature: str | None) -> Iterator[str]:
    for shown in _chosen(reference.features, feature):
        if isinstance(shown, PivotDetail):
            yield from _draw_pivot(shown)
        else:
            yield from (_draw_skips if shown.gap else _draw_links)(reference, shown)
        yield ""
    for detail in reference.features:
        for part in detail.pivots if isinstance(detail, ValueDetail) else ():
            yield from _draw_pivot(part)
            yield ""
    yield from _draw_features(reference.features)
    if reference.shares:
        yield ""
        yield from _draw_shares(reference.shares)
    if reference.coherence is not None:
        yield ""
        yield from draw_roles(reference.coherence)


def _draw_support(sentence: SentenceSupport) -> Iterator[str]:
    """A sentence of a summary, the closest sentence of the source, and what contradicts it."""
    yield f"  {sentence.score:.4f}  {visible(sentence.text)}"
    yield f"          closest: {visible(sentence.source) or 'nothing'}"
    for label, spans in (
        ("not in the source", sentence.unsupported),
        ("unknown name or number", sentence.unknown),
    ):
        if spans:
            yield f"          {label}: {', '.join(visible(sentence.surface(span)) for span in spans)}"
    for one in sentence.contradictions:
        yield f"          contradicts ({one.kind}): {visible(one.hypothesis) or '–'} / {visible(one.reference) or '–'}"


def _chosen(features: Sequence[FeatureDetail], name: str | None) -> list[Drawable]:
    """The feature of that name; without one the first, the skip bigrams, and the phrases of pivots."""
    drawable = [feature for feature in features if isinstance(feature, MatchDetail | PivotDetail)]
    if name is None:
        words = [feature for feature in drawable if feature.similarity != "pos"] or drawable
        telling = [one for one in drawable if (one.segments if isinstance(one, PivotDetail) else one.gap)]
        return [*words[:1], *(one for one in telling if one not in words[:1])]
    for feature in drawable:
        if feature.name == name:
            return [feature]
    names = ", ".join(feature.name for feature in drawable)
    raise click.UsageError(f"no feature {name!r} here; there are {names or 'none'}")


def _draw_links(reference: ReferenceExplanation, feature: MatchDetail) -> Iterator[str]:
    """The flow as rows: a different line for each kind of link, a legend, and dots for unmatched words."""
    n = feature.n
    kinds = set()
    rows = [("", f"hypothesis ({feature.name})", "", "reference", "similarity", "weight")]
    by_start: dict[int, list[Link]] = {}
    for link in feature.flow:
        by_start.setdefault(link.hypothesis[0], []).append(link)
    for start in range(len(reference.hypothesis) - n + 1):
        left = _ngram(reference.hypothesis, start, n)
        links = sorted(by_start.get(start, ()), key=lambda link: link.reference)
        for link in links:
            right = _ngram(reference.reference, link.reference[0], n)
            sides = (reference.reference, link.reference), (reference.hypothesis, link.hypothesis)
            words = ([token.to_dict() for token in tokens[slice(*span)]] for tokens, span in sides)
            kind = kind_of_link(feature.similarity, *words)
            kinds.add(kind)
            rows.append(("", left, LINES[kind], right, f"{link.similarity:.2f}", f"{link.weight:g}"))
        if not links:
            rows.append(("", left, LINES[""], "", "", ""))
    matched = {link.reference[0] for link in feature.flow}
    rows.extend(
        ("", "", LINES[""], _ngram(reference.reference, start, n), "", "")
        for start in range(len(reference.reference) - n + 1)
        if start not in matched
    )
    yield from aligned(rows, numeric=(4, 5))
    legend = [f"{LINES[kind]} {KINDS[kind]}" for kind in KINDS if kind in kinds]
    if any(row[2] == LINES[""] for row in rows):
        legend.append(f"{LINES['']} {UNMATCHED}")
    yield ""
    for start in range(0, len(legend), _KINDS_PER_LINE):
        yield f"  {'   '.join(legend[start : start + _KINDS_PER_LINE])}"


def _draw_skips(reference: ReferenceExplanation, feature: MatchDetail) -> Iterator[str]:
    """The skip bigrams that found a partner; those that did not are too many to show."""
    rows = [("", f"hypothesis ({feature.name})", "", "reference", "weight")]
    for link in sorted(feature.flow, key=lambda link: (link.hypothesis, link.reference)):
        left = _skip_bigram(reference.hypothesis, *link.hypothesis)
        right = _skip_bigram(reference.reference, *link.reference)
        rows.append(("", left, "═══", right, f"{link.weight:g}"))
    yield from aligned(rows, numeric=(4,))
    sides = {
        "hypothesis": ({link.hypothesis for link in feature.flow}, reference.hypothesis),
        "reference": ({link.reference for link in feature.flow}, reference.reference),
    }
    counts = [
        f"{len(matched)} of {_skip_count(len(tokens), feature.gap)} in the {side}"
        for side, (matched, tokens) in sides.items()
    ]
    yield f"  matched: {', '.join(counts)}"


def _skip_bigram(tokens: Sequence[Token | Unit], start: int, end: int) -> str:
    between = " " if end - start == 2 else " … "
    return between.join(visible(tokens[place].surface) for place in (start, end - 1))


def _skip_count(tokens: int, gap: int) -> int:
    """How many skip bigrams a text of so many tokens has."""
    return sum(max(0, tokens - distance) for distance in range(1, gap + 2))


def _ngram(tokens: Sequence[Token | Unit], start: int, n: int) -> str:
    return " ".join(map(_word, tokens[start : start + n]))


def _word(token: Token | Unit) -> str:
    """A token with its part of speech, if the analysis has tags (`-l und` has none)."""
    pos = token.pos if isinstance(token, Token) else ""
    return f"{visible(token.surface)}/{pos}" if pos else visible(token.surface)


def _draw_features(features: Sequence[FeatureDetail]) -> Iterator[str]:
    rows = [("", "feature", "precision", "recall", "F")]
    for feature in features:
        if isinstance(feature, MeasuredDetail):
            p, r, f = (f"{value:.4f}" for value in (feature.precision, feature.recall, feature.f))
            rows.append(("", feature.name, p, r, f))
        elif isinstance(feature, ValueDetail):
            rows.append(("", feature.name, "", "", f"{feature.value:.4f}"))
    if len(rows) > 1:
        yield from aligned(rows, numeric=(2, 3, 4))
    contradictions = [
        ("", one.kind, visible(one.hypothesis) or "–", visible(one.reference) or "–")
        for feature in features
        for one in (feature.contradictions if isinstance(feature, ValueDetail) else ())
    ]
    if contradictions:
        yield ""
        yield from aligned([("", "contradiction", "hypothesis", "reference"), *contradictions])


def _draw_pivot(feature: PivotDetail | PivotValue) -> Iterator[str]:
    """The n-grams that met; for single words also the phrases of both texts with what each translation carried."""
    rows = [("", f"hypothesis ({feature.name})", "", "reference", "weight")]
    for link in sorted(feature.flow, key=lambda link: -link.weight):
        line = "═══" if link.hypothesis == link.reference else "───"
        rows.append(("", visible(link.hypothesis), line, visible(link.reference), f"{link.weight:.3g}"))
    if len(rows) == 1:
        rows.append(("", "no n-gram of the translations is common to both", "", "", ""))
    yield from aligned(rows, numeric=(4,))
    for side in ("hypothesis", "reference"):
        if side in feature.segments:
            yield ""
            yield from _draw_phrases(side, feature.pivot, feature.segments)


def _draw_phrases(side: str, pivot: str, segments: Mapping[str, tuple[PivotPhrase, ...]]) -> Iterator[str]:
    rows = [("", side, f"in {pivot!r}", "probability", "carried")]
    for phrase in segments[side]:
        shown = visible(phrase.phrase)
        for text, probability, carried in phrase.translations:
            rows.append(
                ("", shown, visible(text), f"{probability:.2f}", f"{carried:.3g}" if carried else "·")
            )
            shown = ""
    yield from aligned(rows, numeric=(3, 4))


def _draw_shares(shares: Sequence[Share]) -> Iterator[str]:
    """The shares of a score by what the features look at."""
    parts: dict[str, float] = {}
    for entry in shares:
        parts[entry.label] = parts.get(entry.label, 0.0) + entry.share
    rows = [("", "share of the linear score", "")]
    rows.extend(
        ("", part, f"{share:+.4f}") for part, share in sorted(parts.items(), key=lambda item: -abs(item[1]))
    )
    rows.append(("", "sum", f"{sum(parts.values()):+.4f}"))
    yield from aligned(rows, numeric=(2,))


def draw_difference(difference: Difference, names: Sequence[str]) -> Iterator[str]:
    """Which system scores higher and why: parts first, then the features that made most of the difference."""
    yield f"{difference.metric}    {difference.signature}"
    yield ""
    first, second = difference.scores
    rows = [("", "", *map(visible, names), "difference"),
            ("", "score", f"{first:.4f}", f"{second:.4f}", f"{first - second:+.4f}")]  # fmt: skip
    a, b = difference.linear
    rows.append(("", "linear score", f"{a:.4f}", f"{b:.4f}", f"{a - b:+.4f}"))
    rows.append(("",) * 5)
    rows.extend(_numbers(row) for row in difference.by_part())
    rows.append(("",) * 5)
    rows.extend(_numbers(row) for row in difference.by_feature()[:_MOST_FEATURES])
    yield from aligned(rows, numeric=(2, 3, 4))


def _numbers(row: tuple[str, float, float, float]) -> tuple[str, ...]:
    name, a, b, difference = row
    return ("", name, f"{a:+.4f}", f"{b:+.4f}", f"{difference:+.4f}")
