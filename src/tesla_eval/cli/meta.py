"""`tesla meta`: metrics against human judgements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import click

from tesla_eval.base.errors import TeslaError, UsageError, need_package
from tesla_eval.cli.shared.command import Command
from tesla_eval.cli.shared.language import identified_language, without_analysis
from tesla_eval.cli.shared.meta_formats import (
    META_FORMATS,
    draw_dimensions,
    draw_plots,
    write_scores,
)
from tesla_eval.cli.shared.options import (
    checked_reference_name,
    choose_metrics,
    metrics_option,
    quiet_option,
    refuse,
    resamples_option,
)
from tesla_eval.cli.shared.terminal import complain, progress, resumable, warn, write_lines
from tesla_eval.judgements.judges import read_ratings
from tesla_eval.judgements.meta.run import (
    JudgedSet,
    LevelStatistic,
    Study,
    analysed_language,
    marked_sets,
    mtme_sets,
    rated_sets,
    score_and_join,
    summary_sets,
    target_language,
    wmt_sets,
)
from tesla_eval.judgements.nouns import EvalSet, Key, preferences_of
from tesla_eval.judgements.wmt import read_eval_set, read_preferences, read_rankings, read_system_scores
from tesla_eval.language.analysis.languages import UNDETERMINED, resolve_language
from tesla_eval.language.choice import AUTO
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.metrics.scoring import NamedMetric
from tesla_eval.statistics import DEFAULT_SEED

_DRAWN_BY_DEFAULT = (LevelStatistic("segment", "kendall_wmt"), LevelStatistic("system", "pearson"))


@click.command(cls=Command)
@click.option(
    "--segments", "segment_files", multiple=True, metavar="FILE",
    help="Outputs, references, human scores: *.seg.tsv[.gz].",
)  # fmt: skip
@click.option(
    "-r", "--reference", "references", multiple=True, metavar="FILE",
    help="With --outputs: a refset in SGML or XML. Repeatable.",
)  # fmt: skip
@click.option(
    "--outputs", multiple=True, metavar="FILE",
    help="Outputs in SGML or XML (tstset, WMT's dataset), instead of --segments; judgements come from --rankings, "
    "--pairs or --systems. Repeatable.",
)  # fmt: skip
@click.option("--pairs", metavar="FILE", help="Pairwise preferences: *.pairs.tsv[.gz].")
@click.option(
    "--rankings", metavar="FILE", help="Raw rankings: *.rawranks.tsv[.gz], or WMT's RNK_results.csv."
)
@click.option(
    "--ratings",
    metavar="FILE",
    help="Scores by judges: a table with the columns item, system, judge and score, and optionally lp, testset and "
    "criterion. With --segments, the mean over the judges replaces the human scores; --human-score chooses a "
    "criterion.",
)
@click.option("--systems", metavar="FILE", help="Human scores of systems: system_scores.tsv[.gz].")
@click.option(
    "--mtme",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="A test set in the layout of mt-metrics-eval, instead of --segments.",
)
@click.option(
    "--summaries",
    metavar="PATH",
    help="Summaries with human scores, instead of --segments: JSON Lines, or a folder in the layout of REALSumm, "
    "SummEval, DUC or TAC. A segment is a topic, with all of its references. Each kind of human score is a test set; "
    "--human-score chooses one.",
)
@click.option(
    "-l", "--lang", "language", default="auto",
    help="The language of the outputs. auto means the target of the language pair; with --summaries it is identified "
    "from the references.",
)  # fmt: skip
@click.option(
    "--lp", "lps", multiple=True, metavar="LP", help="Only this language pair, such as de-en; repeatable."
)
@metrics_option
@click.option("--format", "output_format", type=click.Choice(sorted(META_FORMATS)), default="text")
@click.option("--all-references", is_flag=True, help="Score with all references instead of only the first.")
@click.option(
    "--all-segments", is_flag=True, help="System scores over all segments instead of only the judged ones."
)
@click.option(
    "--human-score",
    metavar="TYPE",
    help="The kind of human scores to use if there are several. Default for systems: the kind by which the segments "
    "were judged, else the kind that covers most systems; if several do, the first of trueskill_official, mqm, esa, "
    "da_z, ...",
)
@click.option(
    "--significance",
    multiple=True,
    metavar="[LEVEL:]STATISTIC",
    help="Compare the metrics by this statistic, with intervals, bootstrap, paired permutation and rank clusters. The "
    "level is segment, unless you write system: before the statistic. Repeatable.",
)
@resamples_option
@click.option("--seed", type=click.IntRange(0), default=DEFAULT_SEED)
@click.option(
    "--plots",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write plots into DIR: metric against human scores of the systems, correlations with intervals, and, for "
    "several test sets, Pearson's r of all metrics on all of them.",
)
@click.option("--plot-format", type=click.Choice(["svg", "png"]), default="svg", help="PNG needs matplotlib.")
@click.option(
    "--write-scores",
    "score_folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write all scores as mt-metrics-eval's .score files under DIR/TESTSET/metric-scores.",
)
@click.option(
    "--reference-name",
    default=None,
    metavar="NAME",
    callback=lambda context, option, name: name and checked_reference_name(name),
    help="With --write-scores: the reference's name in mt-metrics-eval.  [default: its name in --mtme, else refA]",
)
@click.option("-j", "--jobs", type=click.IntRange(1), default=1, help="Threads.")
@quiet_option
@click.option("--no-cache", is_flag=True, help="Do not use the cache on disk.")
def meta(
    segment_files: tuple[str, ...], references: tuple[str, ...], outputs: tuple[str, ...],
    pairs: str | None, rankings: str | None, ratings: str | None, systems: str | None,
    mtme: Path | None, summaries: str | None, language: str, lps: tuple[str, ...], metrics: tuple[str, ...],
    output_format: str, all_references: bool, all_segments: bool,
    human_score: str | None, significance: tuple[str, ...], resamples: int | None, seed: int, plots: Path | None,
    plot_format: str, score_folder: Path | None, reference_name: str | None, jobs: int, no_cache: bool,
) -> int:  # fmt: skip
    """Measure how well metrics agree with human judgements.

    Scores are cached on disk (in $TESLA_EVAL_CACHE or the platform's cache folder), so a second run is quick, and an
    interrupted run continues where it stopped. The exit status is 1 if something had to be left out, such as a metric
    without resources for one of the languages.

    \b
    tesla meta --segments wmt14.seg.tsv.gz --pairs wmt14.pairs.tsv.gz --systems scores.tsv.gz -m m,bleu,chrf
    tesla meta --segments wmt21.seg.tsv.gz --lp en-de -m m,chrf --significance kendall --format json
    tesla meta --mtme mt-metrics-eval-v2/wmt22 --lp en-de -m m --write-scores mt-metrics-eval-v2
    tesla meta -r ref.sgm --outputs sysA.sgm --outputs sysB.sgm --rankings RNK_results.csv -m m,bleu
    tesla meta --summaries GuidedSumm2011_eval -m s,rouge2 --human-score responsiveness
    tesla meta --summaries summeval -m s,rouge1,rouge2 --human-score relevance --significance system:pearson
    """
    compared = [LevelStatistic.parse(text) for text in significance]
    if output_format == "tsv" and compared:
        raise click.UsageError("--format tsv contains only the results: use text or json with --significance")
    if plots is not None and plot_format == "png":
        need_package("matplotlib", "matplotlib", "--plot-format png")
    ranked = read_rankings(rankings) if rankings else {}
    preferred = read_preferences(pairs) if pairs else {}
    rated = read_ratings(ratings) if ratings else {}
    sources = sum(map(bool, (segment_files, mtme, summaries, outputs)))
    if not sources:
        raise UsageError(
            "give outputs with human judgements: --segments, --outputs, --mtme or --summaries",
            hint="tesla judge agree shows how well judges agree, and how often each system wins",
        )
    refuse({
        "--segments, --outputs, --mtme and --summaries are sources of outputs: give one": sources > 1,
        "--ratings belong to the outputs of --segments": rated and not segment_files,
        "-r goes with --outputs: other sources bring their references": references and not outputs,
    })  # fmt: skip
    preferred = {**{key: preferences_of(of_set) for key, of_set in ranked.items()}, **preferred}
    system_scores = read_system_scores(systems) if systems else {}
    if summaries:
        sets = summary_sets(summaries, partial(identified_language, language), human_score, lps)
    elif mtme is not None:
        sets = mtme_sets(mtme, lps, human_score)
    else:
        sets = (
            marked_sets(references, outputs, preferred, system_scores, lps)
            if outputs
            else wmt_sets(segment_files, preferred, system_scores, lps)
        )
        sets = rated_sets(sets, rated, human_score) if rated else sets
    asked = AUTO if summaries else language  # the language of summaries is known by now
    study = Study(compared, resamples, seed, warn)
    missing = _Missing()
    with (
        resumable(None if no_cache else "the cache"),
        ScoreCache(on_disk=not no_cache) as cache,
        progress() as bar,
    ):
        for judged, named in _with_metrics(sets, metrics, asked, jobs, missing):
            chosen = [one.metric for one in named]
            total = len(chosen) * judged.count_outputs(all_segments or score_folder is not None)
            bar.stage(f"scoring {judged.outputs.lp} (outputs × metrics)", total)
            joined = score_and_join(
                judged, chosen, cache, score_type=None if summaries or rated else human_score,
                all_references=all_references or summaries is not None,
                all_segments=all_segments, score_everything=score_folder is not None, progress=bar,
                names=[one.name for one in named],
            )  # fmt: skip
            comparisons = study.add(joined, judged.systems.by_type if judged.systems else ())
            if plots is not None:
                drawn = comparisons or Study(_DRAWN_BY_DEFAULT, resamples, seed).compare(joined)
                draw_plots(joined, drawn, plots, plot_format)
            if score_folder is not None:
                used = "all" if all_references else next(iter(judged.outputs.reference_names), "refA")
                name = reference_name or used
                free = {one.name for one in named if not one.metric.needs_references}
                if mtme is not None:  # EvalSet's strict=True wants human translations scored too
                    everyone = JudgedSet(read_eval_set(mtme, judged.outputs.lp, human_translations=True))
                    joined = score_and_join(
                        everyone, chosen, cache, all_references=all_references, score_everything=True,
                        names=[one.name for one in named],
                    )  # fmt: skip
                missing.note_systems(joined.outputs, write_scores(joined, score_folder, name, free))
    _warn_of_unused({key for key in preferred if not lps or key[0] in lps}, study)
    if not study.test_sets:
        raise missing.first_error or UsageError(
            "there is no language pair to evaluate; see the warnings above and check --lp"
        )
    draw_dimensions(study, plots, plot_format)
    write_lines(META_FORMATS[output_format](study))
    return missing.status()


class _Missing:
    """A record of what was left out: reported when it happens, and again at the end."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.first_error: TeslaError | None = None

    def note(self, text: str, error: TeslaError | None = None) -> None:
        """Something is left out."""
        self.notes.append(text)
        self.first_error = self.first_error or error
        warn(text)

    def note_systems(self, outputs: EvalSet, systems: Iterable[str]) -> None:
        """Some systems cannot stand in a file of scores."""
        for system in systems:
            self.note(f"{' '.join(outputs.key)}: {system} lacks segments, not in the score files")

    def status(self) -> int:
        """The exit status, said in words where a long run has scrolled by."""
        if self.notes:
            complain(f"incomplete: {len(self.notes)} left out, see the warnings above")
        return 1 if self.notes else 0


def _with_metrics(
    sets: Iterable[JudgedSet],
    names: tuple[str, ...],
    asked: str,
    workers: int,
    missing: _Missing,
) -> Iterator[tuple[JudgedSet, list[NamedMetric]]]:
    """The test sets with the metrics for the language asked for, or with `auto` for their target languages.

    Metrics that lack resources for a language are left out and named.
    """
    for judged in sets:
        lp = judged.outputs.lp
        language = analysed_language(lp) if asked == AUTO else resolve_language(asked)
        if asked == AUTO and language == UNDETERMINED.code != target_language(lp):
            warn(
                f"{lp}: {without_analysis(target_language(lp))}; -l {UNDETERMINED.code} says that this is meant"
            )

        def left_out(metric: str, error: TeslaError, lp: str = lp) -> None:
            missing.note(f"{lp}: without {metric}: {error}", error)

        chosen = choose_metrics(names, language, workers=workers, on_missing=left_out)
        if chosen:
            yield judged, chosen


def _warn_of_unused(preferred: set[Key], study: Study) -> None:
    """Say which preferences found no outputs: a test set of another name would otherwise go unnoticed."""
    used = {(test_set.lp, test_set.testset) for test_set in study.test_sets}
    if used and preferred.isdisjoint(used) and preferred:
        names = ", ".join(" ".join(key) for key in sorted(preferred))
        warn(f"no preference belongs to an evaluated test set; the preferences are for {names}")
