"""`tesla score`: systems against references, streamed."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from tesla_eval.cli.shared.command import Command
from tesla_eval.cli.shared.gates import Gates
from tesla_eval.cli.shared.inputs import Inputs, TextOptions, or_standard_input, text_options
from tesla_eval.cli.shared.language import SAMPLE, identified_language
from tesla_eval.cli.shared.opened import open_for_metrics
from tesla_eval.cli.shared.options import (
    analysed_option,
    auto_language_option,
    checked_reference_name,
    choose_metrics,
    format_option,
    is_format_of_ending,
    metrics_option,
    quiet_option,
    refuse,
)
from tesla_eval.cli.shared.outputs import (
    check_output,
    csv_lines,
    score_output_option,
    tsv_lines,
    write_output,
)
from tesla_eval.cli.shared.score_formats import FORMATS, Intervals, Results
from tesla_eval.cli.shared.score_rows import check_one_table, rows_with_scores
from tesla_eval.cli.shared.terminal import complain, progress
from tesla_eval.metrics.requests import parse_requests
from tesla_eval.metrics.scoring import Scored, score_systems
from tesla_eval.statistics import DEFAULT_RESAMPLES, DEFAULT_SEED
from tesla_eval.texts.tables import sample_references

_LEVEL = 0.95


@click.command(cls=Command)
@text_options
@metrics_option
@auto_language_option
@format_option(FORMATS)
@score_output_option
@click.option("--segments", is_flag=True, help="Print the score of every segment too.")
@click.option(
    "--ci", is_flag=True, help="Add a 95 % confidence interval to every system score, by bootstrap."
)
@click.option("--resamples", type=click.IntRange(1), default=DEFAULT_RESAMPLES, help="For --ci.")
@click.option("--seed", type=click.IntRange(0), default=DEFAULT_SEED, help="For --ci.")
@click.option("--min-score", "least", multiple=True, metavar="METRIC=VALUE",
              help="Exit with status 1 if a system is worse than this. May be given several times.")  # fmt: skip
@click.option("--max-drop", "drops", multiple=True, metavar="METRIC=VALUE",
              help="Exit with status 1 if a system is worse than the baseline by more than this.")  # fmt: skip
@click.option("--baseline", metavar="SYSTEM|FILE",
              help="For --max-drop: one of the systems, or a file that `tesla score --json` printed.")  # fmt: skip
@click.option("--junit", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Write the results of --min-score and --max-drop as JUnit XML.")  # fmt: skip
@click.option("--reference-name", default="refA", metavar="NAME",
              help="For --format mtme: the name of the reference, such as refA.")  # fmt: skip
@click.option("-j", "--jobs", type=click.IntRange(1), default=1,
              help="Threads.")  # fmt: skip
@click.option("--keep", metavar="NAME[,NAME...]|all|none", default=None,
              help="For rows of a table (-o FILE.parquet, .csv or .tsv): columns to carry over.  "
              "[default: all but the texts]")  # fmt: skip
@analysed_option
@quiet_option
def score(
    texts: TextOptions, metrics: tuple[str, ...], language: str, output_format: str, output: Path | None,
    segments: bool, ci: bool, resamples: int, seed: int, least: tuple[str, ...], drops: tuple[str, ...],
    baseline: str | None, junit: Path | None, reference_name: str, jobs: int, keep: str | None,
) -> int:  # fmt: skip
    """Score the SYSTEM files against the reference files: line i of each is segment i.

    Files may be compressed (.gz, .bz2, .xz, .zst) and of any length; one of them may be standard input (-). Without a
    SYSTEM, standard input is scored; tabs in it separate several systems.

    SGML and XML of NIST, IWSLT and WMT (.sgm, .sgml, .xml) are aligned by document and segment.

    Without -r, a TABLE (.tsv, .csv, .jsonl, .parquet) has columns for hypotheses and references, and perhaps one that
    names the system of each row. SUMMARIES is a JSON Lines file (.jsonl) whose lines hold id, system, hypothesis,
    references and perhaps source, or a folder with peers/SYSTEM/TOPIC.txt and models/TOPIC.txt (or several
    models/TOPIC.NAME.txt).

    \b
    tesla score -r ref.txt sysA.txt sysB.txt
    tesla score -r ref1.txt -r ref2.txt sysA.txt -m m,bleu,chrf --json --segments
    tesla score -r ref.txt sys.txt -m bleu:tok=intl,lc=yes -m m --ci
    tesla score -r newstest2010-ref.en.sgm sysA.sgm sysB.sgm
    tesla score -r ref.txt sys.txt -m celab:synonyms=cilin            TESLA-CELAB, with the paper's dictionary
    tesla score -m s,s-recall,rouge2 -r model.txt summaries.txt       one summary per line
    tesla score -m s summaries.jsonl --segments                       several models per topic
    tesla score -m s-recall,s-source -r model.txt -s source.txt sums.txt   content, and support by the source
    tesla score -m dicomer texts.txt                                  for research: discourse relations, no reference
    tesla score comet.jsonl --columns hyp=mt,ref=ref,src=src          a table
    tesla score wmt.csv -o scores.csv                                 the rows of a table with their scores
    cut -f 2,5 log.tsv | tesla score --columns hyp=1,ref=2            a table without a header
    tesla score -r ref.txt sys.txt --min-score m=0.5                  a quality gate: exit status 1 if it fails
    tesla score -r ref.txt sys.txt --json --segments -o scores.json   a file that appears only when it is complete
    tesla score data.parquet -o scores.parquet -j 8                   larger than memory; keeps ids
    zcat sys.gz | tesla score -r ref.txt
    """
    texts = or_standard_input(texts)
    to_table = output is not None and output.suffix == ".parquet"
    if to_table:
        from tesla_eval.cli.shared.score_parquet import (  # takes time to import
            check_table_request,
            score_to_table,
        )

        assert output is not None
        check_table_request(
            texts, output,
            refused={
                "--segments": segments, "--ci": ci, "--analysed": texts.analysed,
                "--format mtme": output_format == "mtme",
            },
        )  # fmt: skip
    check_output(output, texts.files)
    check_output(junit, texts.files, "--junit")
    one = output_format == "mtme"  # its files hold one metric
    if one:
        checked_reference_name(reference_name)
    given: Inputs | None = None
    if to_table:
        parse_requests(metrics)  # bad usage is reported before the language
        language = identified_language(language, sample_references(texts.systems[0], texts.columns, SAMPLE))
        chosen = choose_metrics(metrics, language, one=one)
    else:
        given, chosen, _ = open_for_metrics(texts, metrics, language, one=one)
    refuse({
        "--format mtme holds one metric per file: give one name to -m": one and len(chosen) > 1,
        f"--format {output_format} is a table of systems: leave out --segments":
            segments and output_format in ("latex", "markdown"),
        "--format mtme has no room for intervals: leave out --ci": one and ci,
        "--junit goes with --min-score or --max-drop": junit is not None and not (least or drops or baseline),
    })  # fmt: skip
    gates: Gates | None = None
    if least or drops or baseline is not None:
        gates = Gates.parse(least, drops, baseline, [one.name for one in chosen])
    if given is None:
        assert output is not None
        results = score_to_table(
            texts, output, chosen, keep=keep, jobs=jobs,
            check=None if gates is None else gates.check,
        )  # fmt: skip
        write_output(FORMATS[output_format](results), None)
        return 0 if gates is None else _judged(gates, results, junit)
    if gates is not None:
        gates.check(given.systems)
    writes_rows = given.is_table and not segments and not ci and is_format_of_ending(output, ".csv", ".tsv")
    if writes_rows:
        check_one_table(texts, f"-o {output}")
    elif keep is not None:
        raise click.UsageError(
            "--keep goes with --engine, or with a table and -o FILE.parquet, FILE.csv or FILE.tsv"
        )
    with progress("scoring (segments)", given.segments) as bar:
        scored = score_systems(
            given.systems, chosen, given.chunks, jobs=jobs, progress=bar,
            keep="everything" if ci else "scores" if segments or writes_rows else "nothing",
        )  # fmt: skip
    with closing(scored):  # every file was read to its end and all agree: only now is anything written
        results = Results.of(
            scored,
            scored.systems,
            segments=scored.segment_scores if segments else None,
            names=given.topics,
            segment_signatures=tuple(
                str(scored.segment_signature(place)) for place in range(len(chosen) if segments else 0)
            ),
            intervals=_intervals(scored, resamples, seed) if ci else None,
            reference_name=reference_name,
        )
        if writes_rows:
            as_lines = csv_lines if output_format == "csv" else tsv_lines
            write_output(as_lines(rows_with_scores(texts, scored, keep)), output)
            output, output_format = None, "text"
        write_output(FORMATS[output_format](results), output)
        return 0 if gates is None else _judged(gates, results, junit)


def _intervals(scored: Scored, resamples: int, seed: int) -> Intervals:
    """The bootstrap's intervals of all system scores."""
    from tesla_eval.statistics.resampling import paired_bootstrap  # takes time to import: only when asked for

    columns = []
    for place in range(len(scored.metrics)):
        candidates = scored.table(place).candidates()
        drawn = paired_bootstrap(candidates, resamples=resamples, seed=seed, level=_LEVEL)
        columns.append(list(zip(drawn.low.tolist(), drawn.high.tolist(), strict=True)))
    return Intervals(tuple(zip(*columns, strict=True)), _LEVEL, resamples, seed)


def _judged(gates: Gates, results: Results, junit: Path | None) -> int:
    """The exit status: 1 if a gate failed."""
    from tesla_eval.cli.shared.gates import append_step_summary, write_junit

    outcomes = list(gates.outcomes(results))
    failures = [one.failure for one in outcomes if one.failure]
    for failure in failures:
        complain(failure)
    append_step_summary(outcomes)
    if junit is not None:
        write_junit(outcomes, junit)
    return 1 if failures else 0
