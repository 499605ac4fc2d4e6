"""`tesla score`: systems against references, streamed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from tesla_eval.cli.shared.command import command
from tesla_eval.cli.shared.gates import Gates
from tesla_eval.cli.shared.inputs import Inputs, open_inputs, summary_chunks, systems_or_standard_input
from tesla_eval.cli.shared.language import identified_language, sample_files
from tesla_eval.cli.shared.options import (
    analysed_option,
    are_prepared,
    auto_language_option,
    checked_reference_name,
    choose_metrics,
    columns_option,
    format_option,
    input_option,
    metrics_option,
    quiet_option,
    source_option,
)
from tesla_eval.cli.shared.outputs import check_output, score_output_option, write_output
from tesla_eval.cli.shared.score_formats import FORMATS, Intervals, Results, check_format
from tesla_eval.cli.shared.terminal import complain, progress, warn
from tesla_eval.metrics import Metric
from tesla_eval.metrics.scoring import Scored, score_systems
from tesla_eval.statistics import DEFAULT_RESAMPLES, DEFAULT_SEED
from tesla_eval.texts.lines import any_marked_up
from tesla_eval.texts.tables import is_summary_source, is_table

__all__ = ["open_outputs", "score"]

_LEVEL = 0.95


@command()
@click.option(
    "-r",
    "--reference",
    "references",
    multiple=True,
    metavar="FILE",
    help="A reference file; may be given several times. With several, an empty line is a missing reference.",
)
@click.argument("systems", nargs=-1, metavar="[SYSTEM... | TABLE... | SUMMARIES]")
@input_option
@source_option
@metrics_option
@auto_language_option
@columns_option
@format_option(FORMATS)
@score_output_option
@click.option("--segments", is_flag=True, help="Scores of every segment too.")
@click.option("--ci", is_flag=True, help="A 95 % confidence interval of every system score, by bootstrap.")
@click.option(
    "--resamples", type=click.IntRange(1), default=DEFAULT_RESAMPLES, show_default=True, help="For --ci."
)
@click.option("--seed", type=click.IntRange(0), default=DEFAULT_SEED, show_default=True, help="For --ci.")
@click.option("--min-score", "least", multiple=True, metavar="METRIC=VALUE",
              help="Exit with status 1 if a system is worse than this. May be given several times.")  # fmt: skip
@click.option("--max-drop", "drops", multiple=True, metavar="METRIC=VALUE",
              help="Exit with status 1 if a system is worse than the baseline by more than this.")  # fmt: skip
@click.option("--baseline", metavar="SYSTEM|FILE",
              help="For --max-drop: one of the systems, or a file that `tesla score --json` printed.")  # fmt: skip
@click.option("--reference-name", default="refA", show_default=True, metavar="NAME", callback=checked_reference_name,
              help="For --format mtme: the name of the reference, such as refA.")  # fmt: skip
@click.option("-j", "--jobs", type=click.IntRange(1), default=1, show_default=True,
              help="Threads; with --engine, workers (by default as many as there are CPUs).")  # fmt: skip
@click.option("--keep", metavar="NAME[,NAME...]|all|none", default=None,
              help="For .parquet outputs: columns to carry over.  [default: all but the texts]")  # fmt: skip
@click.option("--engine", type=click.Choice(["ray"]), default=None,
              help="Score Parquet files on a cluster, into the FOLDER of -o. A run that broke resumes.")  # fmt: skip
@click.option("--address", default=None, metavar="HOST:PORT",
              help="For --engine ray: the cluster.  [default: one on this machine, for this run]")  # fmt: skip
@analysed_option
@quiet_option
def score(
    references: tuple[str, ...], systems: tuple[str, ...], inputs: tuple[str, ...], source: str | None,
    metrics: tuple[str, ...], language: str, columns: str | None, output_format: str, output: Path | None,
    segments: bool, ci: bool, resamples: int, seed: int, least: tuple[str, ...], drops: tuple[str, ...],
    baseline: str | None, reference_name: str, jobs: int, keep: str | None, engine: str | None,
    address: str | None, analysed: bool,
) -> int:  # fmt: skip
    """Score the SYSTEM files against the reference files: line i of each is segment i.

    Files may be compressed (.gz, .bz2, .xz, .zst) and of any length; one of them may be standard input (-). Without a
    SYSTEM, standard input is scored; tabs in it separate several systems.

    SGML and XML of NIST, IWSLT and WMT (.sgm, .sgml, .xml) are aligned by document and segment.

    Without -r, a TABLE (.tsv, .csv, .jsonl, .parquet) has columns for hypotheses and references. SUMMARIES is a JSON
    Lines file (.jsonl) whose lines hold id, system, hypothesis, references and perhaps source, or a folder with
    peers/SYSTEM/TOPIC.txt and models/TOPIC.txt (or several models/TOPIC.NAME.txt).

    \b
    tesla score -r ref.txt sysA.txt sysB.txt
    tesla score -r ref1.txt -r ref2.txt sysA.txt -m m,bleu,chrf --json --segments
    tesla score -r ref.txt sys.txt -m bleu:tok=intl,lc=yes -m m --ci
    tesla score -r newstest2010-ref.en.sgm sysA.sgm sysB.sgm
    tesla score -r ref.txt sys.txt -m celab:synonyms=cilin            TESLA-CELAB, with the paper's dictionary
    tesla score -m s,s-recall,rouge2 -r model.txt summaries.txt       one summary per line
    tesla score -m s summaries.jsonl --segments                       several models per topic
    tesla score -m s-x,cremer-x -r model.txt -s source.txt sums.txt   content, and support by the source
    tesla score -m dicomer texts.txt                                  experimental: order of sentences, no reference
    tesla score comet.jsonl --columns hyp=mt,ref=ref,src=src          a table
    tesla score -r ref.txt sys.txt --min-score m=0.5                  a quality gate: exit status 1 if it fails
    tesla score -r ref.txt sys.txt --json --segments -o scores.json   a file that is there only when it is complete
    tesla score data.parquet -o scores.parquet -j 8                   larger than memory; ids are carried over
    tesla score --engine ray data/*.parquet -o out                    on a cluster; resumes a run that broke
    zcat sys.gz | tesla score -r ref.txt
    """
    files = systems_or_standard_input((*inputs, *systems))
    to_table = engine is not None or (output is not None and output.suffix == ".parquet")
    if to_table:
        from tesla_eval.cli.shared.score_parquet import (  # takes time to import
            check_table_request,
            score_to_table,
        )

        check_table_request(
            files, output, engine, address, other=[*references, *([] if source is None else [source])],
            refused={
                "--segments": segments, "--ci": ci, "--analysed": analysed, "--format mtme": output_format == "mtme",
                "--min-score and --max-drop": engine is not None and bool(least or drops),
            },
        )  # fmt: skip
    elif keep is not None or address is not None:
        raise click.UsageError("--keep goes with -o FILE.parquet or --engine, --address with --engine")
    if engine is None:
        check_output(output, (*references, *files, *([] if source is None else [source])))
    sample = sample_files(references, files, columns=columns, analysed=analysed)
    language = identified_language(language, sample)
    # A file of the format mtme holds one metric.
    chosen = choose_metrics(metrics, language, analysed=analysed, one=output_format == "mtme")
    check_format(output_format, len(chosen), segments, intervals=ci)
    gates = Gates.parse(least, drops, baseline, {one.name: one.metric.higher_is_better for one in chosen})
    if to_table:
        assert output is not None
        results = score_to_table(
            files, output, chosen, columns=columns, keep=keep, engine=engine, address=address, jobs=jobs,
            check=gates.check,
        )  # fmt: skip
        write_output(FORMATS[output_format](results), None)
        return _judged(gates, results)
    given = open_outputs(
        references, files, [one.metric for one in chosen], source=source,
        columns=columns, analysed=analysed, prepared=are_prepared(chosen),
    )  # fmt: skip
    gates.check(given.systems)
    with progress("segments", given.segments) as bar:
        scored = score_systems(
            given.systems, chosen, given.chunks, jobs=jobs, progress=bar,
            keep="everything" if ci else "scores" if segments else "nothing",
        )  # fmt: skip
    with scored:  # every file was read to its end and all agree: only now is anything written
        results = Results(
            systems=scored.systems,
            metrics=tuple(one.name for one in chosen),
            signatures=tuple(str(scored.signature(place)) for place in range(len(chosen))),
            scores=scored.scores,
            segments=scored.segment_scores if segments else None,
            names=given.topics,
            segment_signatures=tuple(str(scored.segment_signature(place)) for place in range(len(chosen))),
            intervals=_intervals(scored, resamples, seed) if ci else None,
            reference_name=reference_name,
        )
        write_output(FORMATS[output_format](results), output)
        return _judged(gates, results)


def _intervals(scored: Scored, resamples: int, seed: int) -> Intervals:
    """The bootstrap's intervals of all system scores."""
    from tesla_eval.statistics.resampling import paired_bootstrap  # takes time to import: only when asked for

    columns = []
    for place in range(len(scored.metrics)):
        candidates = scored.table(place).candidates()
        drawn = paired_bootstrap(candidates, resamples=resamples, seed=seed, level=_LEVEL)
        columns.append(list(zip(drawn.low.tolist(), drawn.high.tolist(), strict=True)))
    return Intervals(tuple(zip(*columns, strict=True)), _LEVEL, resamples, seed)


def _judged(gates: Gates, results: Results) -> int:
    """The exit status: 1 if a gate failed."""
    failures = list(gates.failures(results))
    for failure in failures:
        complain(failure)
    return 1 if failures else 0


def open_outputs(
    references: Sequence[str], systems: Sequence[str], metrics: Sequence[Metric], *, source: str | None,
    columns: str | None, analysed: bool, prepared: bool, source_is_shown: bool = False,
) -> Inputs:  # fmt: skip
    """Files of lines, tables, or summaries, whichever was given."""
    needed = any(metric.needs_references for metric in metrics)
    if source is not None and not source_is_shown and not any(metric.uses_source for metric in metrics):
        warn("--source has no effect: none of the metrics reads the source")
    marked_up = any_marked_up(*systems)
    is_plain = references or marked_up or columns is not None or (systems[0] != "-" and is_table(systems[0]))
    if not is_plain and (needed or is_summary_source(systems[0])):
        if len(systems) != 1 or not is_summary_source(systems[0]):
            raise click.UsageError(
                "give reference files with -r; without them, a table (.tsv, .csv, .jsonl, .parquet), or one JSON Lines "
                "file (.jsonl) or one folder of summaries"
            )
        if analysed:
            raise click.UsageError("--analysed reads files of CoNLL-U, with -r")
        from tesla_eval.judgements.summaries import (
            read_summaries,  # takes time to import: only when asked for
        )

        summaries = read_summaries(systems[0])
        return Inputs(summaries.systems, summary_chunks(summaries), len(summaries.topics), summaries.topics)
    inputs = open_inputs(
        references, systems, source=source, columns=columns, analysed=analysed, prepared=prepared
    )
    if needed and not inputs.has_references:
        if marked_up:
            raise click.UsageError(f"{systems[0]}: has no references; give them with -r")
        raise click.UsageError(
            f"{systems[0]}: which column holds the references? Write --columns hyp=NAME,ref=NAME"
        )
    return inputs
