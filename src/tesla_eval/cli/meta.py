"""`tesla meta`: metrics against human judgements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from tesla_eval.analysis.languages import resolve_language
from tesla_eval.cli.meta_formats import META_FORMATS, PREFERENCE_FORMATS, draw_plots, write_scores
from tesla_eval.cli.options import (
    create_metrics,
    language_option,
    metrics_option,
    need_matplotlib,
    synonyms_option,
)
from tesla_eval.cli.terminal import progress, resumable, warn, write_lines
from tesla_eval.errors import UsageError
from tesla_eval.judgements.nouns import Key
from tesla_eval.meta import preferences_of, read_preferences, read_rankings, read_system_scores
from tesla_eval.meta.run import (
    JudgedSet,
    Study,
    Wish,
    mtme_sets,
    score_and_join,
    summary_sets,
    target_language,
    wmt_sets,
)
from tesla_eval.meta.significance import preference_reports
from tesla_eval.metrics import Metric
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.stats.resampling import DEFAULT_RESAMPLES, DEFAULT_SEED

__all__ = ["meta"]

_DRAWN_BY_DEFAULT = (Wish("segment", "kendall_wmt"), Wish("system", "pearson"))


@click.command(context_settings={"max_content_width": 110})
@click.option(
    "--segments", multiple=True, metavar="FILE", help="Outputs, references, human scores: *.seg.tsv[.gz]."
)
@click.option("--pairs", metavar="FILE", help="Pairwise preferences: *.pairs.tsv[.gz].")
@click.option("--rankings", metavar="FILE", help="Raw rankings: *.rawranks.tsv[.gz].")
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
    help="Summaries with human scores, instead of --segments: JSON Lines, or a folder as of REALSumm or SummEval. "
    "Segments are topics; every kind of human score is a test set (--human-score: only that one). All references "
    "of a topic are used.",
)
@language_option
@click.option(
    "--lp", "lps", multiple=True, metavar="LP", help="Only this language pair, such as de-en; repeatable."
)
@metrics_option
@synonyms_option
@click.option(
    "--format", "output_format", type=click.Choice(sorted(META_FORMATS)), default="text", show_default=True
)
@click.option("--all-references", is_flag=True, help="Score with all references instead of only the first.")
@click.option(
    "--all-segments", is_flag=True, help="System scores over all segments instead of only the judged ones."
)
@click.option(
    "--human-score",
    metavar="TYPE",
    help="The kind of human scores to use if there are several. Default: for systems the kind that covers most of "
    "them, of these the official one, then the more careful protocol (trueskill_official, mqm, esa, da_z, ...).",
)
@click.option(
    "--significance",
    multiple=True,
    metavar="[LEVEL:]STATISTIC",
    help="Compare the metrics by this statistic (at segment level; for system level put system: before it): intervals, "
    "resampling, paired permutation, rank clusters. Repeatable.",
)
@click.option("--resamples", type=click.IntRange(1), default=DEFAULT_RESAMPLES, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=DEFAULT_SEED, show_default=True)
@click.option(
    "--plots",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Draw metric against human per system, and correlations as bars with intervals, into DIR.",
)
@click.option(
    "--plot-format",
    type=click.Choice(["svg", "png"]),
    default="svg",
    show_default=True,
    help="PNG needs matplotlib.",
)
@click.option(
    "--write-scores",
    "score_folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write all scores as mt-metrics-eval's .score files under DIR/TESTSET/metric-scores.",
)
@click.option("-j", "--jobs", type=click.IntRange(1), default=1, show_default=True, help="Threads.")
@click.option("--no-cache", is_flag=True, help="Do not use the cache on disk.")
def meta(
    segments: tuple[str, ...], pairs: str | None, rankings: str | None, systems: str | None, mtme: Path | None,
    summaries: str | None, language: str, lps: tuple[str, ...], metrics: str | None, synonyms: str | None,
    output_format: str, all_references: bool, all_segments: bool,
    human_score: str | None, significance: tuple[str, ...], resamples: int, seed: int, plots: Path | None,
    plot_format: str, score_folder: Path | None, jobs: int, no_cache: bool,
) -> None:  # fmt: skip
    """Measure how well metrics agree with human judgements.

    Scores are kept on disk (in $TESLA_EVAL_CACHE or the platform's cache folder): a second run is quick, and one that
    was interrupted goes on where it stopped.

    \b
    tesla meta --segments wmt14.seg.tsv.gz --pairs wmt14.pairs.tsv.gz --systems scores.tsv.gz -m m,bleu,chrf
    tesla meta --segments wmt21.seg.tsv.gz --lp en-de -m m,chrf --significance kendall --format json
    tesla meta --mtme mt-metrics-eval-v2/wmt22 --lp en-de -m m --write-scores mt-metrics-eval-v2
    tesla meta --summaries summeval -m s,rouge1,rouge2 --human-score relevance --significance system:pearson
    tesla meta --rankings rawranks.tsv.gz            agreement of judges, expected wins, sign tests
    """
    wishes = [Wish.parse(text) for text in significance]
    if output_format == "tsv" and wishes:
        raise click.UsageError("--format tsv contains only the results: use text or json with --significance")
    if plots is not None and plot_format == "png":
        need_matplotlib("--plot-format png")
    ranked = read_rankings(rankings) if rankings else {}
    preferred = read_preferences(pairs) if pairs else {}
    sources = sum(map(bool, (segments, mtme, summaries)))
    if not sources:
        if not (ranked or preferred):
            raise click.UsageError("give judgements: --segments, --mtme, --summaries, --rankings or --pairs")
        reports = [r for r in preference_reports(ranked, preferred) if not lps or r.lp in lps]
        write_lines(PREFERENCE_FORMATS[output_format](reports))
        return
    if sources > 1:
        raise click.UsageError("give only one of --segments, --mtme and --summaries")
    preferred = {**{key: preferences_of(of_set) for key, of_set in ranked.items()}, **preferred}
    if summaries:
        sets = summary_sets(summaries, resolve_language(language), human_score, lps)
    elif mtme is not None:
        sets = mtme_sets(mtme, lps, human_score)
    else:
        sets = wmt_sets(segments, preferred, read_system_scores(systems) if systems else {}, lps)
    study = Study(wishes, resamples, seed, warn)
    with (
        resumable(None if no_cache else "the cache"),
        ScoreCache(on_disk=not no_cache) as cache,
        progress("outputs") as bar,
    ):
        for judged, chosen in _with_metrics(sets, metrics, synonyms, jobs):
            joined = score_and_join(
                judged, chosen, cache, score_type=None if summaries else human_score,
                all_references=all_references or summaries is not None,
                all_segments=all_segments, score_everything=score_folder is not None, progress=bar,
            )  # fmt: skip
            comparisons = study.add(joined, chosen)
            if plots is not None:
                drawn = comparisons or Study(_DRAWN_BY_DEFAULT, resamples, seed).compare(joined)
                draw_plots(joined, drawn, plots, plot_format)
            if score_folder is not None:
                write_scores(joined, score_folder, "all" if all_references else "ref")
    _warn_of_unused({key for key in preferred if not lps or key[0] in lps}, study)
    if not study.test_sets:
        raise UsageError("there is no language pair to evaluate; see the warnings above and check --lp")
    write_lines(META_FORMATS[output_format](study))


def _with_metrics(
    sets: Iterable[JudgedSet], names: str | None, synonyms: str | None, workers: int
) -> Iterator[tuple[JudgedSet, list[Metric]]]:
    """The test sets with the metrics for their target languages; those whose language is unknown are left out."""
    for judged in sets:
        lp = judged.outputs.lp
        try:
            resolve_language(target_language(lp))
        except UsageError:
            warn(f"{lp}: skipped, the target language {target_language(lp)!r} is unknown")
            continue
        yield judged, create_metrics(names, target_language(lp), synonyms=synonyms, workers=workers)


def _warn_of_unused(preferred: set[Key], study: Study) -> None:
    """Say which preferences found no outputs: a test set of another name would otherwise go unnoticed."""
    used = {(test_set.lp, test_set.testset) for test_set in study.test_sets}
    if used and preferred.isdisjoint(used) and preferred:
        names = ", ".join(" ".join(key) for key in sorted(preferred))
        warn(f"no preference belongs to an evaluated test set; the preferences are for {names}")
