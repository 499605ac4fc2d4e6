"""`tesla stress`: how easily metrics are fooled by degenerate texts and by small edits that change the meaning."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from tesla_eval.base.records import signature_line
from tesla_eval.cli.shared.command import Command
from tesla_eval.cli.shared.inputs import read_chunks
from tesla_eval.cli.shared.language import SAMPLE, identified_language
from tesla_eval.cli.shared.options import (
    auto_language_option,
    choose_metrics,
    format_option,
    metrics_option,
    quiet_option,
    source_option,
)
from tesla_eval.cli.shared.outputs import tsv_lines, write_output
from tesla_eval.cli.shared.terminal import aligned, note, progress, visible, write_lines
from tesla_eval.metrics.scoring import whole_streams
from tesla_eval.stress.kinds import DEGENERATE, HARMFUL, HARMLESS, choose_kinds
from tesla_eval.stress.run import DEFAULT_SEED, StressResult, StressRow
from tesla_eval.stress.run import stress as run_stress


@click.command(cls=Command)
@click.option("-r", "--reference", "references", multiple=True, required=True, metavar="FILE",
              help="A reference file; repeatable. Degenerate texts are made from the first one.")  # fmt: skip
@click.argument("systems", nargs=-1, metavar="[SYSTEM...]")
@source_option
@metrics_option
@auto_language_option
@click.option(
    "--kinds", multiple=True, metavar="NAME[,NAME...]", help="Only these kinds of damage.  [default: all]"
)
@click.option("--texts", "damaged_texts", metavar="FILE",
              help="Write the damaged texts to a table: segment, kind, what it was made from, text.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=DEFAULT_SEED)
@click.option("-j", "--jobs", type=click.IntRange(1), default=1, help="Threads.")
@format_option(["text", "json"])
@quiet_option
def stress(
    references: tuple[str, ...], systems: tuple[str, ...], source: str | None, metrics: tuple[str, ...], language: str,
    kinds: tuple[str, ...], damaged_texts: str | None, seed: int, jobs: int, output_format: str,
) -> None:  # fmt: skip
    """Show how easily metrics are fooled.

    The command makes degenerate texts from the references, and small edits of the SYSTEMs' outputs (without systems,
    of the references). Some edits change the meaning, others do not. It counts how often a metric ranks a degenerate
    text above real outputs, and how often a harmful edit does not lower the score.

    \b
    tesla stress -r ref.txt sysA.txt sysB.txt -m x,bleu,chrf++
    tesla stress -r ref.txt -m x --kinds negation,number --texts damaged.tsv
    """
    if len(set(systems)) < len(systems):
        raise click.UsageError("a system is given twice")
    chosen_kinds = choose_kinds(name.strip() for given in kinds for name in given.split(",") if name.strip())
    chunks = list(read_chunks(references, systems, source))
    outputs = {
        name: [text for chunk in chunks for text in chunk.systems[place]]
        for place, name in enumerate(systems)
    }
    streams = whole_streams(chunks)
    sources = [text for chunk in chunks for text in chunk.sources or ()]
    sample = [text for stream in streams for text in stream[:SAMPLE] if text]
    language = identified_language(language, sample)
    chosen = choose_metrics(metrics, language)
    with progress("scoring (texts)") as bar:
        result = run_stress(
            chosen, streams, language, outputs, sources if source else None,
            kinds=chosen_kinds, seed=seed, jobs=jobs, progress=bar,
        )  # fmt: skip
    if damaged_texts is not None:
        write_output(tsv_lines(_damaged_rows(result)), Path(damaged_texts))
    if output_format == "json":
        write_lines([json.dumps(result.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)])
        return
    write_lines(_tables(result))
    for kind, reason in result.left_out.items():
        note(f"{kind}: left out, {reason}")


def _damaged_rows(result: StressResult) -> Iterator[Sequence[object]]:
    names = ("reference", *result.systems)
    yield "segment", "kind", "made_from", "text"
    for one in result.texts:
        yield one.segment + 1, one.kind.name, names[one.made_from + 1], " ".join(one.text.split())


_TITLES = {
    DEGENERATE: "degenerate texts: share above the real outputs of their segment",
    HARMFUL: "harmful edits: share that does not lower the score",
    HARMLESS: "harmless edits",
}
_TITLE_WITHOUT_OUTPUTS = "degenerate texts: share above harmless edits of the reference"


def _tables(result: StressResult) -> Iterator[str]:
    """One table per family: kinds down, metrics across."""
    metrics = list(result.signatures)
    for family, title in _TITLES.items():
        cells = {(row.kind, row.metric): row for row in result.rows if row.family == family}
        if not cells:
            continue
        bare = family == DEGENERATE and not result.systems
        yield f"{_TITLE_WITHOUT_OUTPUTS if bare else title} (in brackets the median drop{_unit(result)})"
        rows = [["kind", "texts", *map(visible, metrics)]]
        for kind in dict.fromkeys(kind for kind, _ in cells):
            texts = str(cells[kind, metrics[0]].texts)
            rows.append([kind, texts, *(_shown(cells[kind, metric], bare) for metric in metrics)])
        yield from aligned(rows, numeric=range(1, len(rows[0])))
        yield ""
    yield from map(signature_line, metrics, result.signatures.values())


def _unit(result: StressResult) -> str:
    return " in typical differences between two systems" if len(result.systems) > 1 else ""


def _shown(row: StressRow, bare: bool) -> str:
    drop = row.drop if row.relative_drop is None else row.relative_drop
    share = row.above_harmless if bare else row.fooled
    return f"({drop:.2f})" if share is None else f"{share:.3f} ({drop:.2f})"
