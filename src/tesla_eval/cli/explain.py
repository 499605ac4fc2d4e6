"""`tesla explain`: the matching behind a score, drawn in the terminal or as JSON (specification §17)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from tempfile import TemporaryFile
from typing import Any

import click

from tesla_eval.cli.shared.command import command
from tesla_eval.cli.shared.explain_drawing import draw_difference, draw_explanation
from tesla_eval.cli.shared.inputs import known_length, read_chunks
from tesla_eval.cli.shared.language import identified_language, sample_files
from tesla_eval.cli.shared.options import (
    auto_language_option,
    choose_metric,
    one_metric_option,
    quiet_option,
    source_option,
)
from tesla_eval.cli.shared.terminal import links_coloured, progress, warn, write_lines
from tesla_eval.drawing import explanation_html, explanation_page, match_svg
from tesla_eval.drawing.picture import picture_of
from tesla_eval.metrics import Metric
from tesla_eval.metrics.comparison import explain_difference
from tesla_eval.metrics.results import Explanation

__all__ = ["explain"]


@command()
@click.argument("texts", nargs=-1, required=True, metavar="HYPOTHESIS REFERENCE... | SYSTEM [SYSTEM]")
@click.option(
    "-r",
    "--reference",
    "references",
    multiple=True,
    metavar="FILE",
    help="A reference file; the argument is then the system's file, and every segment is explained.",
)
@source_option
@click.option("--source-text", default=None, metavar="TEXT", help="The source text, without -r.")
@one_metric_option("The metric to explain.")
@auto_language_option
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="JSON: one object, or one line per segment with -r (docs/formats.md).",
)
@click.option("--html", "as_html", is_flag=True, help="A page of HTML: links between words, step by step.")
@click.option("--svg", "as_svg", is_flag=True, help="One picture of the links between the words, as SVG.")
@click.option(
    "--feature",
    default=None,
    metavar="NAME",
    help="Draw this feature's links (ms.2, pos.1, ...). [default: the first]",
)
@click.option("--segment", type=click.IntRange(1), help="With -r: only this segment, counted from 1.")
@quiet_option
def explain(
    texts: tuple[str, ...],
    references: tuple[str, ...],
    source: str | None,
    source_text: str | None,
    metric: str | None,
    language: str,
    as_json: bool,
    as_html: bool,
    as_svg: bool,
    feature: str | None,
    segment: int | None,
) -> None:
    """Show why a text gets its score: which words met which, with how much weight.

    \b
    tesla explain "The cats sat on a mat." "The cat sat on the mat."
    tesla explain --json "The cats sat." "The cat sat." "A cat was sitting."
    tesla explain -l zh "买伞" "买雨伞"
    tesla explain -m s "A storm hit Spain." "Spain was hit by a storm."     unigrams and skip bigrams
    tesla explain -m s-source "A storm hit Spain." --source-text "Storms hit Portugal."
    tesla explain -m dicomer "It rained. But we went out. We got wet."      roles and their transitions (experimental)
    tesla explain -r ref.txt sys.txt --json > explained.jsonl
    tesla explain -r ref.txt sys.txt --segment 7                 one segment
    tesla explain --html "The cats sat." "A cat sat." > why.html
    tesla explain -m x -r ref.txt sysA.txt sysB.txt              why A scores higher than B
    tesla explain -m x -r ref.txt sysA.txt sysB.txt --segment 7  ... on one segment
    """
    output = _chosen_output(as_json, as_html, as_svg)
    if output in ("html", "svg") and references:
        _check_drawing(output, texts, segment)
    sample = sample_files(references, texts) if references else texts[1:] or texts
    chosen = choose_metric(metric, identified_language(language, sample))
    _check_sources(chosen, source, source_text, bool(references))
    if references and len(texts) == 2:
        _explain_two(chosen, texts, references, segment, as_json)
        return
    if segment is not None and not references:
        raise click.UsageError("--segment goes with -r and the file of a system")
    if references and len(texts) != 1:
        raise click.UsageError("with -r, explain takes one system file, or two to compare")
    if not references and len(texts) < 2 and chosen.needs_references:
        raise click.UsageError("give a hypothesis and at least one reference, or files with -r")
    render = _RENDERERS[output]
    # Nothing reaches standard output before every file was read to its end and all agree.
    with TemporaryFile("w+", encoding="utf-8", newline="\n") as held:
        count = 0
        with progress("segments", known_length([*references, *texts]), wanted=bool(references)) as bar:
            for hypothesis, given, read in _segments(
                texts, references, source, prepared=getattr(chosen, "pre_tokenized", False)
            ):
                count += 1
                bar.advance(1)
                if segment in (None, count):
                    explanation = chosen.explain(hypothesis, given, source_text if read is None else read)
                    held.writelines(f"{line}\n" for line in render(explanation, feature))
        if segment is not None and segment > count:
            raise click.UsageError(f"--segment {segment}: there are {count} segments")
        held.seek(0)
        lines = (line.removesuffix("\n") for line in held)
        if as_html:
            title = f"{chosen.id}: {texts[0]}"
            write_lines([explanation_page(lines, title).rstrip("\n")])
        else:
            write_lines(lines, paint=links_coloured if render is draw_explanation else None)


def _chosen_output(as_json: bool, as_html: bool, as_svg: bool) -> str:
    chosen = [name for name, wanted in (("json", as_json), ("html", as_html), ("svg", as_svg)) if wanted]
    if len(chosen) > 1:
        raise click.UsageError("--json, --html and --svg are three outputs: choose one")
    return chosen[0] if chosen else "text"


def _check_drawing(output: str, texts: tuple[str, ...], segment: int | None) -> None:
    if len(texts) == 2:
        raise click.UsageError("--html and --svg show one system; `tesla report` shows several")
    if output == "svg" and segment is None:
        raise click.UsageError("--svg draws one segment: choose it with --segment")


def _check_sources(metric: Metric, source: str | None, source_text: str | None, from_files: bool) -> None:
    if source is not None and not from_files:
        raise click.UsageError("-s names a file and goes with -r; give a single source with --source-text")
    if source_text is not None and from_files:
        raise click.UsageError(
            "--source-text goes with texts on the command line; with -r, name a file with -s"
        )
    if (source or source_text) and not metric.uses_source:
        warn(f"the source has no effect: {metric.id} does not read it")


def _segments(
    texts: tuple[str, ...], references: tuple[str, ...], source: str | None, *, prepared: bool
) -> Iterator[tuple[str, list[str], str | None]]:
    """Hypotheses, each with the references that it has, and its source if a file holds it."""
    if not references:
        yield texts[0], list(texts[1:]), None
        return
    for chunk in read_chunks(references, texts, source, prepared=prepared):
        sources: Sequence[str | None] = chunk.sources or [None] * len(chunk.systems[0])
        for read, hypothesis, *given in zip(sources, *chunk.systems, *chunk.references, strict=True):
            assert hypothesis is not None
            yield hypothesis, [text for text in given if text is not None], read


def _json(explanation: Explanation, feature: str | None) -> Iterator[str]:
    yield json.dumps(explanation.to_dict(), ensure_ascii=False)


def _html(explanation: Explanation, feature: str | None) -> Iterator[str]:
    """The explanation as one line of HTML."""
    texts = [reference.text for reference in explanation.references]
    document = explanation.to_dict()
    _check_feature(document, feature)
    fragment = explanation_html(document, explanation.hypothesis, texts, feature=feature, styled=False)
    yield " ".join(fragment.splitlines())


def _svg(explanation: Explanation, feature: str | None) -> Iterator[str]:
    """The links to the first reference as one line of SVG."""
    document = explanation.to_dict()
    _check_feature(document, feature)
    picture = picture_of(document["references"][0], feature)
    if picture is None:
        raise click.UsageError(f"{explanation.metric} has no links between words to draw")
    yield match_svg(picture, standalone=True)


def _check_feature(document: dict[str, Any], feature: str | None) -> None:
    if feature is not None and picture_of(document["references"][0], feature) is None:
        features = document["references"][0].get("features", ())
        names = [one["name"] for one in features if "flow" in one and "pivot" not in one]
        raise click.UsageError(f"no feature {feature!r} here; there are {', '.join(names) or 'none'}")


_RENDERERS: dict[str, Callable[[Explanation, str | None], Iterator[str]]] = {
    "html": _html, "json": _json, "svg": _svg, "text": draw_explanation,
}  # fmt: skip


def _explain_two(
    metric: Metric, systems: tuple[str, ...], references: tuple[str, ...], segment: int | None, as_json: bool
) -> None:
    """Why one system scores higher than the other, on the test set or on one segment of it."""
    streams: list[list[str | None]] = [[] for _ in references]
    texts: tuple[list[str], list[str]] = ([], [])
    for chunk in read_chunks(references, systems):
        for stream, part in zip(streams, chunk.references, strict=True):
            stream.extend(part)
        for kept, lines in zip(texts, chunk.systems, strict=True):
            kept.extend(lines)
    if segment is not None:
        if not 1 <= segment <= len(texts[0]):
            raise click.UsageError(f"--segment {segment}: there are {len(texts[0])} segments")
        span = slice(segment - 1, segment)
        streams, texts = [stream[span] for stream in streams], (texts[0][span], texts[1][span])
        streams = [stream for stream in streams if stream[0] is not None]
    difference = explain_difference(metric, *texts, streams)
    if as_json:
        document = {"systems": list(systems), "segment": segment, **difference.to_dict()}
        write_lines([json.dumps(document, ensure_ascii=False)])
    else:
        write_lines(draw_difference(difference, systems))
