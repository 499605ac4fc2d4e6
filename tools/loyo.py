"""Leave one year out over ../shared/data/wmt: the weights of TESLA-X, and its figures on years that they did not see.

    loyo.py train [en|und]                     the shipped weights, learned from everything
    loyo.py report [-o research/x-results.md]      the tables of the docs; `f-en -o research/f-results.md` of TESLA-F

Features and the baselines' scores are computed once and kept in the cache; the same judgements give the same bytes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from tesla_eval import TeslaF, TeslaX, create_metric
from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import UsageError
from tesla_eval.base.records import Signature
from tesla_eval.judgements.meta.run import JudgedSet, target_language, wmt_sets
from tesla_eval.judgements.wmt import read_preferences, read_system_scores
from tesla_eval.language.analysis import load_pipeline
from tesla_eval.language.analysis.languages import resolve_language
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.metrics.features import Feature
from tesla_eval.models.documents import write_document
from tesla_eval.models.linear import ANY_LANGUAGE, LinearModel
from tesla_eval.training.recipe import Recipe, features_for
from yearly import Figures, YearlySet, fit_years, gather, interval, leave_out

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "wmt"
FILES = (
    "wmt12-rr", "wmt13-rr", "wmt14-rr", "wmt17-da-toen", "wmt19-darr", "wmt20-mqm", "wmt21-da-toen", "wmt21-mqm-news",
    "wmt21-mqm-ted", "wmt21-mqm-enru", "wmt14-outofen", "wmt21-sysonly-outofen", "wmt24-esa-outofen-odd",
    "wmt25-esa-outofen-odd",
)  # fmt: skip
NAME = "tesla-x"
BASELINES = ("tesla-m", "chrf++")
TITLES = {"en": "Into English", "und": "Out of English"}
OF_X = ("en", "und")
_GROUPS = ("target", "tags", "surface", "guards")
_PRECISION = tuple(f"{kind}.p" for kind in (
    "content", "function", "rareword", "rarelemma", "number", "capital", "lcs", "punct"))  # fmt: skip
RECIPES = {
    "en": Recipe(TeslaX, "en", groups=(*_GROUPS, "chars", "vectors"), penalty=0.01,
                 floors={"pos": 0.075, "long": 0.03, "padding": 0.5, "insertion": 0.7, "digression": 0.2,
                         "disorder": 0.1, "stutter": 0.4, "numbers": 0.04, "negation": 0.05},
                 without=("order", "surplus", "stray", "vec.best0.r", "vec.best0.f"), date="2026-11-18"),
    "und": Recipe(TeslaX, "und", groups=(*_GROUPS, "sliding"), penalty=0.1, date="2026-11-18",
                  floors={"pos": 0.05, "slide": 0.5, "padding": 0.9, "surplus": 1.6, "stray": 0.2,
                          "disorder": 0.31, "stutter": 0.2, "numbers": 0.005, "negation": 0.03},
                  without=("order", "long", "foreign", "insertion", "digression", *_PRECISION)),
    "f-en": Recipe(TeslaF, "en", learner="signed-svm", penalty=0.03),
}  # fmt: skip
HEAD = """# {metric} where a year is left out

Every figure of {metric} on this page is of weights that were learned from all *other* years. The page is written by
`python tools/loyo.py report {arguments}`. Year × language pair × kind of judgement counts alike. τ is
Kendall's τ over human pairs (for direct assessment of single outputs, WMT17, over pairs of outputs of different
segments); r is Pearson's correlation of system means with human system scores, acc the share of pairs of systems that
are ranked as people rank them, spa soft pairwise accuracy. Intervals (95 %) resample segments."""


def judged(into_english: bool) -> Iterator[tuple[str, str, JudgedSet]]:
    systems = read_system_scores(str(DATA / "system_scores.tsv.gz"))
    for file in FILES:
        pairs = DATA / f"{file}.pairs.tsv.gz"
        preferences = read_preferences(str(pairs)) if pairs.exists() else {}
        for one in wmt_sets([str(DATA / f"{file}.seg.tsv.gz")], preferences, systems):
            lp = one.outputs.lp
            if lp.endswith("-en") == into_english and _is_known(target_language(lp)):
                yield file[:5], file[5:].lstrip("-"), one


def _is_known(language: str) -> bool:
    try:
        return bool(resolve_language(language))
    except UsageError:
        return False


def collect(
    direction: str | Recipe, jobs: int, names: Sequence[str] = ("m", "chrf++")
) -> tuple[list[YearlySet], tuple[Feature, ...]]:
    """The judged sets with the features of all groups that any recipe of the metric asks for: computed once for all."""
    recipe = RECIPES[direction] if isinstance(direction, str) else direction
    groups = recipe.groups and (*_GROUPS, "chars", "sliding", "vectors")
    uncombined = features_for(replace(recipe, groups=groups, floors={}), jobs)
    features = uncombined("xx-en").features  # English has them all

    @cache
    def baselines(language: str) -> list[Metric]:
        return [create_metric(name, language) for name in names]

    def measured(lp: str) -> list[Metric]:
        return baselines(resolve_language(target_language(lp)))

    with ScoreCache() as scores:
        sets = gather(judged(recipe.language == "en"), features, uncombined, measured, scores, _told())
        if recipe.language != "en":
            more = gather(judged(True), features, uncombined, lambda lp: [], scores, _told())
            sets += [replace(one, reported=False) for one in more]
    return sets, features


def _told() -> Callable[[int], None]:
    """Says every 50,000 outputs how many are done."""
    done = 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        if done % 50_000 < more:
            print(f"{done:,} outputs", file=sys.stderr)

    return advance


def means(figures: list[Figures], metric: str) -> tuple[float, float]:
    taus = [one.tau(metric) for one in figures]
    pearsons = [one.pearson(metric) for one in figures]
    return float(np.nanmean(taus)), float(np.nanmean(pearsons))


def by_year(figures: list[Figures], metric: str) -> str:
    years = sorted({one.data.year for one in figures})
    return "  ".join(
        f"{year} {np.nanmean([one.tau(metric) for one in figures if one.data.year == year] or [np.nan]):.3f}/"
        f"{np.nanmean([one.pearson(metric) for one in figures if one.data.year == year] or [np.nan]):.3f}"
        for year in years
    )


def line(title: str, figures: list[Figures], metric: str) -> str:
    tau, pearson = means(figures, metric)
    return f"{title:28} {tau:.4f} {pearson:.4f}  {by_year(figures, metric)}"


def fit_options(direction: str) -> dict[str, Any]:
    recipe = RECIPES[direction]
    return {
        "kept": recipe.keeps, "learner": recipe.learner, "penalty": recipe.penalty, "floors": recipe.floors,
    }  # fmt: skip


STATISTICS = {
    "segments, τ": "tau", "systems, Pearson": "pearson", "systems, accuracy": "accuracy",
    "systems, soft accuracy": "soft_accuracy",
}  # fmt: skip
INTERVALS = ("tau", "pearson", "accuracy")


def report(directions: Sequence[str], jobs: int) -> Iterator[str]:
    """The page of results: one table per year, one row per language pair; intervals by resampling segments."""
    name = RECIPES[directions[0]].metric.id
    arguments = (
        "-o research/x-results.md" if name == NAME else f"{' '.join(directions)} -o research/f-results.md"
    )
    yield HEAD.format(metric=name.upper(), arguments=arguments)
    for direction in directions:
        sets, features = collect(direction, jobs)
        figures = leave_out(sets, features, name=name, **fit_options(direction))
        values = {one: measured(one, name) for one in figures}
        yield f"\n## {TITLES[RECIPES[direction].language]}\n"
        yield "| mean over sets | " + " | ".join((name, *BASELINES)) + " |"
        yield "|---|" + "--:|" * (1 + len(BASELINES))
        for title, means_of in zip(STATISTICS, np.nanmean(list(values.values()), axis=0), strict=True):
            yield f"| {title} | " + " | ".join(f"{value:.3f}" for value in means_of) + " |"
        yield ""
        for other in BASELINES:
            for title, statistic in STATISTICS.items():
                if statistic in INTERVALS:
                    found = difference(figures, name, other, statistic)
                    yield f"- {name} − {other}, {title}, mean over sets: {found}"
        for year in sorted({one.data.year for one in figures}):
            yield from of_year(
                year, name, {one: found for one, found in values.items() if one.data.year == year}
            )


def measured(one: Figures, name: str) -> FloatArray:
    """Every statistic of every metric on one set."""
    return np.array(
        [
            [getattr(one, statistic)(metric) for metric in (name, *BASELINES)]
            for statistic in STATISTICS.values()
        ]
    )


def difference(figures: Sequence[Figures], first: str, other: str, statistic: str) -> str:
    mean, low, high = interval(figures, first, other, statistic)
    return f"{mean:+.4f} [{low:+.4f}, {high:+.4f}]"


def of_year(year: str, name: str, figures: Mapping[Figures, FloatArray]) -> Iterator[str]:
    """The table of a year, and the differences with their intervals."""
    metrics = (name, *BASELINES)
    yield f"\n### {year.upper()}\n"
    columns = [f"{sign} {metric}" for sign in ("τ", "r", "acc", "spa") for metric in metrics]
    yield "| set | " + " | ".join(columns) + " |"
    yield "|---|" + "--:|" * len(columns)
    for one, values in figures.items():
        cells = ("–" if np.isnan(value) else f"{value:.3f}" for value in values.ravel().tolist())
        yield f"| {one.data.lp} {one.data.name} | " + " | ".join(cells) + " |"
    for other in BASELINES:
        for sign, statistic in (("τ", "tau"), ("r", "pearson")):
            usable = [one for one in figures if one.data.has(statistic)]
            if usable:
                yield f"\n{sign}: {name} − {other} = {difference(usable, name, other, statistic)}"


def learned(direction: str, jobs: int) -> LinearModel:
    """The weights of TESLA-X from all sets."""
    sets, features = collect(direction, jobs, ())
    recipe = RECIPES[direction]
    model = fit_years(sets, features, recipe.keeps, "signed", recipe.penalty or 0.01, recipe.floors).pruned()
    used = [feature for feature in features if feature.name in model.features]
    own = recipe.language != ANY_LANGUAGE
    return replace(
        model, metric=TeslaX.id, language=recipe.language, date=recipe.date,
        groups=tuple(dict.fromkeys(feature.group for feature in used)),
        analysis=str(Signature(load_pipeline(recipe.language).signature)) if own else "",
        data=tuple(f"{one.year} {one.lp} {one.name}: {one.counts.sum():.0f} pairs" for one in sets if one.has_pairs),
        training={
            "learner": "signed", "penalty": recipe.penalty, "floors": dict(recipe.floors),
            "without": list(recipe.without),
        },
    )  # fmt: skip


def train(direction: str, jobs: int) -> None:
    """Write the shipped weights, and say what they took."""
    start = process_time()
    model = learned(direction, jobs)
    path = ROOT / "packages" / "data" / "src" / "tesla_eval_data" / f"weights-x-{model.language}.json"
    write_document(path, model)
    print(f"{path}: {len(model.features)} features, {process_time() - start:.0f} s of CPU time")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["report", "train"])
    parser.add_argument("directions", nargs="*", metavar="en|und|f-en", choices=[*RECIPES, []])
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    given = parser.parse_args()
    given.directions = given.directions or list(OF_X)
    if given.what == "report":
        text = "\n".join(report(given.directions, given.jobs)) + "\n"
        print(text) if given.output is None else given.output.write_text(text, encoding="utf-8")
        return
    if not set(given.directions) <= set(OF_X):
        parser.error(f"train is for TESLA-X: {', '.join(OF_X)}")
    for direction in given.directions:
        train(direction, given.jobs)


if __name__ == "__main__":
    main()
