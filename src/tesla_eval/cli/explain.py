"""`tesla explain`: the matching behind a score, drawn in the terminal or as JSON (specification §17)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from tempfile import TemporaryFile

import click

from tesla_eval.cli.shared.command import Command
from tesla_eval.cli.shared.explain_drawing import draw_difference, draw_explanation
from tesla_eval.cli.shared.inputs import Inputs, TextOptions
from tesla_eval.cli.shared.language import identified_language
from tesla_eval.cli.shared.opened import open_for_metrics
from tesla_eval.cli.shared.options import (
    auto_language_option,
    choose_metric,
    one_metric_option,
    quiet_option,
    refuse,
    source_option,
    warn_of_unused_source,
)
from tesla_eval.cli.shared.terminal import links_coloured, progress, visible, write_lines
from tesla_eval.drawing import explanation_html, explanation_page
from tesla_eval.metrics import Metric
from tesla_eval.metrics.comparison import explain_difference
from tesla_eval.metrics.requests import need_references, parse_requests
from tesla_eval.metrics.results import Explanation
from tesla_eval.metrics.scoring import whole_streams
from tesla_eval.texts.tables import is_summary_source


@click.command(cls=Command)
@click.argument(
    "texts", nargs=-1, required=True, metavar="HYPOTHESIS REFERENCE... | SYSTEM [SYSTEM] | SUMMARIES"
)
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
@click.option(
    "--html", "as_html", is_flag=True, help="Print an HTML page with the links between words, step by step."
)
@click.option(
    "--feature",
    default=None,
    metavar="NAME",
    help="Draw this feature's links (ms.2, pos.1, ...). [default: the first]",
)
@click.option(
    "--segment", type=click.IntRange(1), help="With files: only this segment (or topic), counted from 1."
)
@click.option("--system", default=None, metavar="NAME", help="With SUMMARIES: only this system.")
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
    feature: str | None,
    segment: int | None,
    system: str | None,
) -> None:
    """Show why a text gets its score: which words match, and with how much weight.

    \b
    tesla explain "The cats sat on a mat." "The cat sat on the mat."
    tesla explain --json "The cats sat." "The cat sat." "A cat was sitting."
    tesla explain -l zh "买伞" "买雨伞"
    tesla explain -m s "A storm hit Spain." "Spain was hit by a storm."     unigrams and skip bigrams
    tesla explain -m s-source "A storm hit Spain." --source-text "Storms hit Portugal."
    tesla explain -m dicomer "It rained. But we went out. We got wet."      roles and their transitions (experimental)
    tesla explain -r ref.txt sys.txt --json > explained.jsonl
    tesla explain -r ref.txt sys.txt --segment 7                 one segment
    tesla explain summaries.jsonl --system a --segment 1         one summary
    tesla explain --html "The cats sat." "A cat sat." > why.html
    tesla explain -m x -r ref.txt sysA.txt sysB.txt              why A scores higher than B
    tesla explain -m x -r ref.txt sysA.txt sysB.txt --segment 7  ... on one segment
    """
    output = "json" if as_json else "html" if as_html else "text"
    from_files = bool(references) or (len(texts) == 1 and is_summary_source(texts[0]))
    named = () if metric is None else (metric,)
    needed = not from_files and need_references(parse_requests(named))
    refuse({
        "give --json or --html, not both": as_json and as_html,
        "with -r, explain takes one system file, or two to compare": from_files and len(texts) > 2,
        "--html shows one system; `tesla report` shows several": from_files and as_html and len(texts) == 2,
        "give a hypothesis and at least one reference, or files with -r": needed and len(texts) < 2,
        "--segment goes with -r and the file of a system, or with summaries": segment is not None and not from_files,
        "-s names a file and goes with -r; give a single source with --source-text": source and not from_files,
        "--source-text goes with texts on the command line; with -r, name a file with -s": source_text and from_files,
        "--feature draws the links of one feature; --json has all of them": feature is not None and as_json,
        "--feature draws the links of one system, not of two": feature is not None and len(texts) == 2 and references,
    })  # fmt: skip
    given: Inputs | None = None
    if from_files:
        given, (first, *_), _ = open_for_metrics(
            TextOptions(references, texts, source), named, language, one=True, source_is_shown=True
        )
        chosen = first.metric
    else:
        sample = texts[1:] or texts
        chosen = choose_metric(metric, identified_language(language, sample, from_files=False))
    if source or source_text:
        warn_of_unused_source(chosen)
    if given is not None and references and len(texts) == 2:
        _explain_two(chosen, given, segment, as_json)
        return
    if system is not None and (given is None or given.topics is None or system not in given.systems):
        raise click.UsageError(f"--system {system}: goes with summaries, and names one of their systems")
    segments = (
        iter([_Segment(texts[0], list(texts[1:]), source_text)])
        if given is None
        else _segments(given, system)
    )
    render = _RENDERERS[output]
    # Nothing reaches standard output before every file was read to its end and all agree.
    with TemporaryFile("w+", encoding="utf-8", newline="\n") as held:
        count = 0
        total = None if given is None else given.segments
        with progress("explaining (segments)", total, wanted=given is not None) as bar:
            for one in segments:
                count = max(count, one.number)
                bar.advance(1)
                if segment in (None, one.number):
                    explanation = chosen.explain(one.hypothesis, one.references, one.source)
                    held.writelines(f"{line}\n" for line in render(explanation, feature, one.names))
        if segment is not None and segment > count:
            raise click.UsageError(f"--segment {segment}: there are {count} segments")
        held.seek(0)
        lines = (line.removesuffix("\n") for line in held)
        if as_html:
            title = f"{chosen.id}: {texts[0]}"
            write_lines([explanation_page(lines, title).rstrip("\n")])
        else:
            write_lines(lines, paint=links_coloured if output == "text" else None)


@dataclass(frozen=True)
class _Segment:
    """A hypothesis with its references and source; for a summary also the names of the system and the topic."""

    hypothesis: str
    references: list[str]
    source: str | None
    number: int = 1
    names: Mapping[str, str] = field(default_factory=dict)


def _segments(given: Inputs, only: str | None) -> Iterator[_Segment]:
    """The segments of all systems, or of one of them."""
    number = 0
    for chunk in given.chunks:
        for place in range(chunk.segments):
            number += 1
            references = [text for stream in chunk.present if (text := stream[place]) is not None]
            source = None if chunk.sources is None else chunk.sources[place]
            for system, texts in zip(given.systems, chunk.systems, strict=True):
                if only in (None, system):
                    names = (
                        {} if given.topics is None else {"system": system, "topic": given.topics[number - 1]}
                    )
                    yield _Segment(texts[place], references, source, number, names)


def _text(explanation: Explanation, feature: str | None, names: Mapping[str, str]) -> Iterator[str]:
    if names:
        yield ", ".join(f"{kind} {visible(name)}" for kind, name in names.items())
    yield from draw_explanation(explanation, feature)


def _json(explanation: Explanation, feature: str | None, names: Mapping[str, str]) -> Iterator[str]:
    yield json.dumps({**names, **explanation.to_dict()}, ensure_ascii=False)


def _html(explanation: Explanation, feature: str | None, names: Mapping[str, str]) -> Iterator[str]:
    """The explanation as one line of HTML."""
    drawable = [
        one["name"]
        for one in explanation.to_dict()["references"][0].get("features", ())
        if "flow" in one and "pivot" not in one
    ]
    if feature is not None and feature not in drawable:
        raise click.UsageError(f"no feature {feature!r} here; there are {', '.join(drawable) or 'none'}")
    yield " ".join(explanation_html(explanation.drawn_data(feature), alone=False).splitlines())


_RENDERERS: dict[str, Callable[[Explanation, str | None, Mapping[str, str]], Iterator[str]]] = {
    "html": _html, "json": _json, "text": _text,
}  # fmt: skip


def _explain_two(metric: Metric, given: Inputs, segment: int | None, as_json: bool) -> None:
    """Why one system scores higher than the other, on the test set or on one segment of it."""
    chunks = list(given.chunks)
    first, second = ([text for chunk in chunks for text in chunk.systems[k]] for k in range(2))
    streams = whole_streams(chunks)
    if segment is not None:
        if segment > len(first):
            raise click.UsageError(f"--segment {segment}: there are {len(first)} segments")
        span = slice(segment - 1, segment)
        first, second = first[span], second[span]
        streams = [stream[span] for stream in streams if stream[segment - 1] is not None]
    difference = explain_difference(metric, first, second, streams)
    if as_json:
        document = {"systems": list(given.systems), "segment": segment, **difference.to_dict()}
        write_lines([json.dumps(document, ensure_ascii=False)])
    else:
        write_lines(draw_difference(difference, given.systems))
