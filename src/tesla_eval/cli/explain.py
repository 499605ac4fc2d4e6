"""`tesla explain`: the matching behind a score, drawn in the terminal or as JSON (SPEC §17)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from tempfile import TemporaryFile
from typing import Any

import click

from tesla_eval.cli.celab_drawing import draw_covering
from tesla_eval.cli.discourse import draw_roles
from tesla_eval.cli.explain_shares import draw_difference, draw_shares
from tesla_eval.cli.inputs import read_chunks
from tesla_eval.cli.options import (
    celab_options,
    create_metrics,
    language_option,
    segmenter_option,
    synonyms_option,
)
from tesla_eval.cli.pivot_drawing import draw_pivot
from tesla_eval.cli.terminal import aligned, progress, visible, write_lines
from tesla_eval.metrics import CelabOptions, Metric
from tesla_eval.metrics.learned import LearnedMetric
from tesla_eval.metrics.shares import explain_difference
from tesla_eval.records import Explanation

__all__ = ["explain"]


@click.command(context_settings={"max_content_width": 110})
@click.argument("texts", nargs=-1, required=True, metavar="HYPOTHESIS REFERENCE... | SYSTEM [SYSTEM]")
@click.option(
    "-r",
    "--reference",
    "references",
    multiple=True,
    metavar="FILE",
    help="A reference file; the argument is then the system's file, and every segment is explained.",
)
@click.option(
    "-m",
    "--metric",
    default=None,
    help="The metric to explain.  [default: m; celab for languages written without spaces]",
)
@language_option
@click.option(
    "--json", "as_json", is_flag=True, help="JSON (SPEC §17): one object, or one line a segment with -r."
)
@click.option(
    "--feature",
    default=None,
    metavar="NAME",
    help="Draw this feature's links (ms.2, pos.1, ...). [default: the first]",
)
@click.option(
    "--segment", type=click.IntRange(1), help="With two systems: only this segment, counted from 1."
)
@synonyms_option
@segmenter_option
@celab_options
def explain(
    texts: tuple[str, ...],
    references: tuple[str, ...],
    metric: str | None,
    language: str,
    as_json: bool,
    feature: str | None,
    segment: int | None,
    synonyms: str | None,
    segmenter: str | None,
    pre_tokenized: bool,
    unit_discount: float,
    max_units: int,
) -> None:
    """Show why a text gets its score: which words met which, with how much weight.

    \b
    tesla explain "The cats sat on a mat." "The cat sat on the mat."
    tesla explain --json "The cats sat." "The cat sat." "A cat was sitting."
    tesla explain -l zh "买伞" "买雨伞"
    tesla explain -m s "A storm hit Spain." "Spain was hit by a storm."     unigrams and skip bigrams
    tesla explain -m dicomer "It rained. But we went out. We got wet."      roles and their transitions
    tesla explain -r ref.txt sys.txt --json > explained.jsonl
    tesla explain -m x -r ref.txt sysA.txt sysB.txt              why A scores higher than B
    tesla explain -m x -r ref.txt sysA.txt sysB.txt --segment 7  ... on one segment
    """
    if metric is not None and "," in metric:
        raise click.UsageError("explain takes one metric")
    celab = CelabOptions(pre_tokenized, unit_discount, max_units)
    chosen = create_metrics(metric, language, synonyms=synonyms, segmenter=segmenter, celab=celab)[0]
    if references and len(texts) == 2:
        _explain_two(chosen, texts, references, segment, as_json)
        return
    if segment is not None:
        raise click.UsageError("--segment goes with -r and two systems")
    if references and len(texts) != 1:
        raise click.UsageError("with -r, explain takes one system file, or two to compare")
    if not references and len(texts) < 2 and chosen.needs_references:
        raise click.UsageError("give a hypothesis and at least one reference, or files with -r")
    # Nothing reaches standard output before every file was read to its end and all agree.
    with TemporaryFile("w+", encoding="utf-8", newline="\n") as held:
        with progress("segments") as bar:
            for hypothesis, given in _segments(texts, references, prepared=pre_tokenized):
                explanation = chosen.explain(hypothesis, given)
                held.writelines(f"{line}\n" for line in _lines(explanation, feature, as_json))
                bar.advance(1)
        held.seek(0)
        write_lines(line.removesuffix("\n") for line in held)


def _segments(
    texts: tuple[str, ...], references: tuple[str, ...], *, prepared: bool
) -> Iterator[tuple[str, list[str]]]:
    """Hypotheses, each with the references that it has."""
    if not references:
        yield texts[0], list(texts[1:])
        return
    for streams, (hypotheses,) in read_chunks(references, texts, prepared=prepared):
        for hypothesis, *given in zip(hypotheses, *streams, strict=True):
            yield hypothesis, [text for text in given if text is not None]


def _lines(explanation: Explanation, feature: str | None, as_json: bool) -> Iterator[str]:
    if as_json:
        yield json.dumps(explanation.to_dict(), ensure_ascii=False)
    else:
        yield from _drawing(explanation, feature)


def _explain_two(
    metric: Metric, systems: tuple[str, ...], references: tuple[str, ...], segment: int | None, as_json: bool
) -> None:
    """Why one system scores higher than the other, on the test set or on one segment of it."""
    if not isinstance(metric, LearnedMetric):
        raise click.UsageError(f"{metric.id} has no weights to explain a difference with; take -m x or -m f")
    streams: list[list[str | None]] = [[] for _ in references]
    texts: tuple[list[str], list[str]] = ([], [])
    for given, (first, second) in read_chunks(references, systems):
        for stream, part in zip(streams, given, strict=True):
            stream.extend(part)
        texts[0].extend(first)
        texts[1].extend(second)
    if segment is not None:
        if not 1 <= segment <= len(texts[0]):
            raise click.UsageError(f"--segment {segment}: there are {len(texts[0])} segments")
        span = slice(segment - 1, segment)
        streams, texts = [stream[span] for stream in streams], (texts[0][span], texts[1][span])
        streams = [stream for stream in streams if stream[0] is not None]
    difference = explain_difference(metric, *texts, streams)
    if as_json:
        found = {"systems": list(systems), "segment": segment, **difference.to_dict()}
        write_lines([json.dumps(found, ensure_ascii=False)])
    else:
        write_lines(draw_difference(difference, systems))


def _drawing(explanation: Explanation, feature: str | None) -> Iterator[str]:
    yield f"{explanation.metric} {explanation.score:.4f}    {explanation.signature}"
    for text, detail in zip(explanation.references, explanation.details, strict=True):
        yield ""
        yield f"hypothesis  {visible(explanation.hypothesis)}"
        if "matrix" not in detail:  # which is of a metric without references
            yield f"reference   {visible(text)}    {detail['score']:.4f}"
        yield ""
        if "matrix" in detail:
            yield from draw_roles(detail)
            continue
        if "links" in detail:
            if feature is not None:
                raise click.UsageError(f"{explanation.metric} has no features to choose from")
            yield from draw_covering(detail)
            continue
        for shown in _chosen_features(detail["features"], feature):
            if "pivot" in shown:
                yield from draw_pivot(shown)
            else:
                yield from (_skip_links if "gap" in shown else _links)(detail, shown)
            yield ""
        for part in (part for shown in detail["features"] for part in shown.get("pivots", ())):
            yield from draw_pivot(part)
            yield ""
        yield from _features(detail["features"])
        if "shares" in detail:
            yield ""
            yield from draw_shares(detail["shares"])
        if "coherence" in detail:
            yield ""
            yield from draw_roles(detail["coherence"])
    yield ""


def _chosen_features(features: list[Mapping[str, Any]], name: str | None) -> list[Mapping[str, Any]]:
    """The feature of that name; without one the first that can be drawn, the skip bigrams, the phrases of pivots."""
    with_flow = [feature for feature in features if "flow" in feature]
    if name is None:
        return with_flow[:1] + [
            feature for feature in with_flow[1:] if not {"gap", "segments"}.isdisjoint(feature)
        ]
    for feature in with_flow:
        if feature["name"] == name:
            return [feature]
    raise click.UsageError(
        f"no feature {name!r} here; there are {', '.join(feature['name'] for feature in with_flow) or 'none'}"
    )


def _links(detail: Mapping[str, Any], feature: Mapping[str, Any]) -> Iterator[str]:
    """The flow as rows: double lines for equals, single ones for lesser similarity, dots for what found no partner."""
    n = feature["n"]
    rows = [("", f"hypothesis ({feature['name']})", "", "reference", "similarity", "weight")]
    by_start: dict[int, list[Mapping[str, Any]]] = {}
    for entry in feature["flow"]:
        by_start.setdefault(entry["hypothesis"][0], []).append(entry)
    for start in range(len(detail["hypothesis"]) - n + 1):
        left = _ngram(detail["hypothesis"], start, n)
        entries = sorted(by_start.get(start, ()), key=lambda entry: entry["reference"])
        for entry in entries:
            right = _ngram(detail["reference"], entry["reference"][0], n)
            line = "═══" if entry["similarity"] == 1 else "───"
            rows.append(("", left, line, right, f"{entry['similarity']:.2f}", f"{entry['weight']:g}"))
        if not entries:
            rows.append(("", left, "···", "", "", ""))
    matched = {entry["reference"][0] for entry in feature["flow"]}
    rows.extend(
        ("", "", "···", _ngram(detail["reference"], start, n), "", "")
        for start in range(len(detail["reference"]) - n + 1)
        if start not in matched
    )
    yield from aligned(rows, numeric=(4, 5))


def _skip_links(detail: Mapping[str, Any], feature: Mapping[str, Any]) -> Iterator[str]:
    """The skip bigrams that found a partner; those that did not are too many to show."""
    rows = [("", f"hypothesis ({feature['name']})", "", "reference", "weight")]
    for entry in sorted(feature["flow"], key=lambda entry: (entry["hypothesis"], entry["reference"])):
        left, right = (_skip_bigram(detail[side], *entry[side]) for side in ("hypothesis", "reference"))
        rows.append(("", left, "═══", right, f"{entry['weight']:g}"))
    yield from aligned(rows, numeric=(4,))
    counts = []
    for side in ("hypothesis", "reference"):
        matched = {tuple(entry[side]) for entry in feature["flow"]}
        counts.append(f"{len(matched)} of {_skip_count(len(detail[side]), feature['gap'])} in the {side}")
    yield f"  matched: {', '.join(counts)}"


def _skip_bigram(tokens: list[Mapping[str, Any]], start: int, end: int) -> str:
    between = " " if end - start == 2 else " … "
    return between.join(visible(tokens[place]["surface"]) for place in (start, end - 1))


def _skip_count(tokens: int, gap: int) -> int:
    """How many skip bigrams a text of so many tokens has."""
    return sum(max(0, tokens - distance) for distance in range(1, gap + 2))


def _ngram(tokens: list[Mapping[str, Any]], start: int, n: int) -> str:
    return " ".join(map(_word, tokens[start : start + n]))


def _word(token: Mapping[str, Any]) -> str:
    """A token with its part of speech, if its analysis knows those (`-l und` does not)."""
    return f"{visible(token['surface'])}/{token['pos']}" if token["pos"] else visible(token["surface"])


def _features(features: list[Mapping[str, Any]]) -> Iterator[str]:
    rows = [("", "feature", "precision", "recall", "F")]
    for feature in features:
        if "f" in feature:
            rows.append(
                ("", feature["name"], *(f"{feature[key]:.4f}" for key in ("precision", "recall", "f")))
            )
        else:
            rows.append(("", feature["name"], "", "", f"{feature['value']:.4f}"))
    if len(rows) > 1:
        yield from aligned(rows, numeric=(2, 3, 4))
