"""`tesla judge`: make blind sheets for human judges, read filled ones, and see how well judges agree."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import click

from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.base.files import write_text
from tesla_eval.cli.shared.agreement_formats import PREFERENCE_FORMATS
from tesla_eval.cli.shared.options import format_option
from tesla_eval.cli.shared.outputs import output_option, write_output
from tesla_eval.cli.shared.terminal import note, warn
from tesla_eval.judgements.judges import read_ratings
from tesla_eval.judgements.meta.significance import PreferenceReport, preference_reports
from tesla_eval.judgements.sheet_page import INSTRUCTIONS, sheet_page
from tesla_eval.judgements.sheets import (
    CRITERIA,
    RANKING,
    RATING,
    FilledSheets,
    JudgingKey,
    Material,
    Plan,
    cell,
    make_round,
    read_filled,
    read_key,
    sheet_lines,
    write_key,
)
from tesla_eval.judgements.wmt import read_preferences, read_rankings
from tesla_eval.texts.lines import read_lines

KEY_FILE, OUTPUTS_FILE = "key.json", "outputs.seg.tsv"
RANKINGS_FILE, RATINGS_FILE = "rankings.tsv", "ratings.tsv"


@click.group()
def judge() -> None:
    """Let people judge systems: `make` writes blind sheets, `read` reads filled ones, `agree` compares judges."""


@judge.command()
@click.argument("systems", nargs=-1, required=True, metavar="SYSTEM...")
@click.option(
    "-r", "--reference", metavar="FILE", help="The reference (or original), shown beside the outputs."
)
@click.option("-s", "--source", metavar="FILE", help="The source text, shown beside the outputs.")
@click.option("--judges", required=True, metavar="NAME,...", help="The judges; each gets a sheet.")
@click.option("--kind", type=click.Choice([RANKING, RATING]), default=RANKING,
              help="Rank up to five outputs with ties, or rate each output from 1 to 5.")  # fmt: skip
@click.option("--criteria", default="adequacy,fluency", metavar="NAME,...",
              help=f"What is rated: {', '.join(CRITERIA)}.")  # fmt: skip
@click.option("--items", type=click.IntRange(1), help="Draw this many lines.  [default: all]")
@click.option(
    "--judges-per-item", type=click.IntRange(1), help="Each line goes to this many judges.  [default: all]"
)
@click.option(
    "--outputs-per-task", type=click.IntRange(1, 5), help="[default: 5 for rankings, 1 for ratings]"
)
@click.option("--repeat", "repeated", type=click.FloatRange(0, 1), default=0.1,
              help="Share of the tasks that a judge sees twice, for self-agreement.")  # fmt: skip
@click.option("--lp", default="-", metavar="LP", help="Language pair for `tesla meta`, such as de-en.")
@click.option("--testset", default="judging", metavar="NAME", help="Name of the test set.")
@click.option("--seed", type=click.IntRange(0), default=0)
@click.option("-o", "--output", "folder", required=True, type=click.Path(path_type=Path, file_okay=False),
              help="Folder for sheets and key; must be new or empty.")  # fmt: skip
def make(
    *, systems: tuple[str, ...], reference: str | None, source: str | None, judges: str, kind: str, criteria: str,
    items: int | None, judges_per_item: int | None, outputs_per_task: int | None, repeated: float, lp: str,
    testset: str, seed: int, folder: Path,
) -> None:  # fmt: skip
    """Make a judging round: for each judge a sheet as a table (TSV) and as a page (HTML) that works without network.

    Outputs are shuffled and carry no names. Keep key.json to yourself; it is needed to read the filled sheets. The same
    files and options give the same round.

    \b
    tesla judge make -r ref.txt sysA.txt sysB.txt --judges ann,bob --items 100 --lp de-en -o round
    tesla judge make -r originals.txt p1.txt p2.txt --kind rating --criteria adequacy,fluency,dissimilarity,overall \\
        --judges ann,bob,eve -o round
    tesla judge read round/key.json filled-*.tsv -o judged
    tesla judge agree --rankings judged/rankings.tsv --judges --shares
    """
    names = _names(systems)
    material = Material(
        {name: read_lines(path) for name, path in names.items()},
        read_lines(reference) if reference else None,
        read_lines(source) if source else None,
    )
    plan = Plan(
        tuple(_listed(judges)), kind, tuple(_listed(criteria)), items, judges_per_item, outputs_per_task, repeated,
        seed, lp, testset,
    )  # fmt: skip
    key = make_round(material, plan)
    _claim(folder)
    write_key(folder / KEY_FILE, key)
    for sheet in key.sheets:
        stem = folder / f"sheet-{sheet.judge}"
        write_output(sheet_lines(sheet, key, material), Path(f"{stem}.tsv"))
        write_text(Path(f"{stem}.html"), sheet_page(sheet, key, material))
    write_output((INSTRUCTIONS[name] for name in key.fields), folder / "instructions.txt")
    if material.references is not None:
        write_output(_segment_rows(material, key), folder / OUTPUTS_FILE)
    tasks = ", ".join(f"{sheet.judge} {len(sheet.tasks)}" for sheet in key.sheets)
    click.echo(f"{folder}: {len(key.sheets)} sheets (tasks: {tasks}). Keep {KEY_FILE} from the judges.")


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _names(paths: Sequence[str]) -> dict[str, str]:
    """Files by the shortest names that tell them apart."""
    names = [Path(path).name for path in paths]
    if len(set(names)) != len(names):
        names = list(paths)
    if len(set(names)) != len(names):
        raise UsageError("a system is given twice")
    for name in names:
        if "\t" in name or "\n" in name:
            raise UsageError(f"{name!r} cannot be the name of a system")
    return dict(zip(names, paths, strict=True))


def _claim(folder: Path) -> None:
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder}: is not empty; choose a new folder, so that no key is lost")
    folder.mkdir(parents=True, exist_ok=True)


def _segment_rows(material: Material, key: JudgingKey) -> Iterable[str]:
    """All outputs as `tesla meta --segments` reads them, without human scores."""
    yield "\t".join(("lp", "testset", "system", "seg_id", "human_score", "hypothesis", "reference"))
    assert material.references is not None
    for item, reference in enumerate(material.references):
        for system, outputs in material.outputs.items():
            texts = (cell(text, " ") for text in (outputs[item], reference))  # metrics ignore a space
            yield "\t".join((key.lp, key.testset, system, str(item + 1), "", *texts))


@judge.command()
@click.argument("key_file", metavar="KEY")
@click.argument("sheets", nargs=-1, required=True, metavar="SHEET...")
@click.option("-o", "--output", "folder", required=True, type=click.Path(path_type=Path, file_okay=False),
              help="Folder for the judgements.")  # fmt: skip
@click.option("--partial", is_flag=True, help="Leave out tasks with gaps instead of refusing the sheets.")
def read(*, key_file: str, sheets: tuple[str, ...], folder: Path, partial: bool) -> int:
    """Read filled sheets: check that they are complete, undo the shuffling, and write judgements for `tesla meta`.

    KEY is key.json of `tesla judge make`; SHEET... are the tables that judges filled in or saved from the page.
    Rankings go to rankings.tsv, ratings to ratings.tsv. The exit status is 1 if tasks were left out (--partial).

    \b
    tesla judge read round/key.json filled-*.tsv -o judged
    tesla judge agree --rankings judged/rankings.tsv --judges --shares
    tesla meta --segments round/outputs.seg.tsv --rankings judged/rankings.tsv -m m,x,chrf
    """
    key = read_key(key_file)
    others = [path for path in sheets if Path(path).name in (OUTPUTS_FILE, RANKINGS_FILE, RATINGS_FILE)]
    if others:
        note(f"{', '.join(others)}: no sheet, not read")
    filled = read_filled(key, [path for path in sheets if path not in others], partial=partial)
    folder.mkdir(parents=True, exist_ok=True)
    ranked = key.kind == RANKING
    path = folder / (RANKINGS_FILE if ranked else RATINGS_FILE)
    write_output(_verdict_rows(key, filled), path)
    option = "--rankings" if ranked else "--ratings"
    click.echo(
        f"{path}: {len(filled.verdicts)} judgements; next: tesla judge agree {option} {path} --judges --shares"
    )
    if filled.missing:
        warn(f"incomplete: {len(filled.missing)} values are missing, first: {filled.missing[0]}")
    return 1 if filled.missing else 0


def _verdict_rows(key: JudgingKey, filled: FilledSheets) -> Iterable[str]:
    """Rankings or ratings as `tesla meta` reads them."""
    ranked = key.kind == RANKING
    head = "seg_id task judge system rank" if ranked else "item system judge criterion score"
    yield "\t".join(("lp", "testset", *head.split()))
    for one in filled.verdicts:
        cells = (one.task, one.judge, one.system) if ranked else (one.system, one.judge, one.field)
        yield "\t".join((key.lp, key.testset, one.item, *cells, str(one.value)))


@judge.command()
@click.option(
    "--rankings", metavar="FILE", help="Raw rankings: *.rawranks.tsv[.gz], or WMT's RNK_results.csv."
)
@click.option("--ratings", metavar="FILE",
              help="Scores by judges: a table with the columns item, system, judge and score.")  # fmt: skip
@click.option("--pairs", metavar="FILE", help="Pairwise preferences: *.pairs.tsv[.gz].")
@click.option(
    "--lp", "lps", multiple=True, metavar="LP", help="Only this language pair, such as de-en; repeatable."
)
@click.option("--shares", is_flag=True,
              help="How often each system is the best, is better or equal (score1), is strictly better (score2), and "
              "is preferred to each other system.")  # fmt: skip
@click.option("--judges", is_flag=True,
              help="Kappa of each pair of judges; with --ratings also the correlation of their scores.")  # fmt: skip
@format_option(PREFERENCE_FORMATS)
@output_option
def agree(
    *, rankings: str | None, ratings: str | None, pairs: str | None, lps: tuple[str, ...], shares: bool, judges: bool,
    output_format: str, output: Path | None,
) -> None:  # fmt: skip
    """Show how well judges agree, how often each system wins, and which differences people see (sign tests).

    \b
    tesla judge agree --rankings rawranks.tsv.gz
    tesla judge agree --ratings ratings.tsv --judges --shares
    """
    ranked = read_rankings(rankings) if rankings else {}
    preferred = read_preferences(pairs) if pairs else {}
    rated = read_ratings(ratings) if ratings else {}
    if not (ranked or preferred or rated):
        raise UsageError("give judgements: --rankings, --ratings or --pairs")
    reports = _reports(preference_reports(ranked, preferred, rated), lps, shares, judges)
    write_output(PREFERENCE_FORMATS[output_format](reports), output)


def _reports(
    reports: list[PreferenceReport], lps: Collection[str], shares: bool, judges: bool
) -> list[PreferenceReport]:
    """The judges' verdicts on each test set; with shares and single judges if requested."""
    reports = [report for report in reports if not lps or report.lp in lps]
    for wish, option in ((shares, "--shares"), (judges, "--judges")):
        if wish and not any(report.judges for report in reports):
            raise click.UsageError(
                f"{option} needs --rankings or --ratings: pairs of preferences contain no ties"
            )
    if not shares:
        reports = [replace(report, shares=None) for report in reports]
    if not judges:
        reports = [
            replace(report, judges=replace(report.judges, pairs=(), correlations=(), with_others=()))
            if report.judges
            else report
            for report in reports
        ]
    return reports
