"""Leave one year out over ../shared/data/wmt: the study behind TESLA-X's choices, its figures, and its weights.

    loyo.py study [en|und]                     what each choice gives where a year is left out
    loyo.py report [-o docs/x-results.md]      the tables of the docs
    loyo.py ablation [-o docs/x-ablation.md]   without one family of features each
    loyo.py train [en|und]                     the shipped weights, learned from everything

Features and the baselines' scores are computed once and kept in the cache; the same judgements give the same bytes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from tesla_eval import TeslaX, create_metric
from tesla_eval.analysis import load_pipeline
from tesla_eval.analysis.languages import known_languages, resolve_language
from tesla_eval.arrays import FloatArray
from tesla_eval.features import Feature
from tesla_eval.meta import read_preferences, read_system_scores
from tesla_eval.meta.run import JudgedSet, target_language, wmt_sets
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.models.linear import ANY_LANGUAGE, write_weights
from tesla_eval.records import Signature
from tesla_eval.training.recipe import Recipe, features_for
from tesla_eval.training.yearly import Figures, YearlySet, fit_years, gather, interval, leave_out

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "wmt"
FILES = (
    "wmt12-rr", "wmt13-rr", "wmt14-rr", "wmt17-da-toen", "wmt19-darr", "wmt20-mqm", "wmt21-da-toen", "wmt21-mqm-news",
    "wmt21-mqm-ted", "wmt21-mqm-enru", "wmt14-outofen", "wmt21-sysonly-outofen", "wmt24-esa-outofen-odd",
)  # fmt: skip
NAME = "tesla-x"
BASELINES = ("tesla-m", "chrf++")
TITLES = {"en": "Into English", "und": "Out of English"}
_GROUPS = ("target", "tags", "chars", "surface", "vectors", "fluency")
_LEFT_OUT = ("order", "long", "fluency")
_LONG_CHARACTERS = tuple(f"chr.{n}.{measure}" for n in (4, 5, 6) for measure in "rf")
RECIPES = {
    "en": Recipe(TeslaX, "en", groups=_GROUPS, without=(*_LEFT_OUT, "vec.best0.r", "vec.best0.f"), penalty=0.01,
                 floors={"pos": 0.075}, date="2026-11-15"),
    "und": Recipe(TeslaX, "und", groups=_GROUPS, penalty=0.3, floors={"pos": 0.05, "chr": 0.5}, date="2026-11-16",
                  without=(*_LEFT_OUT, "foreign", *_LONG_CHARACTERS)),
}  # fmt: skip
ENGLISH_TOO = 0.5
"""How much a set into English counts where weights for other languages are learned."""
HEAD = """# TESLA-X where a year is left out

Every figure of TESLA-X on this page is of weights that were learned from all *other* years. The page is written by
`python tools/loyo.py report -o docs/x-results.md`. Year × language pair × kind of judgement counts alike. τ is
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
            if lp.endswith("-en") == into_english and target_language(lp) in known_languages():
                yield file[:5], file[5:].lstrip("-"), one


def collect(
    direction: str, jobs: int, names: Sequence[str] = ("m", "chrf++")
) -> tuple[list[YearlySet], tuple[Feature, ...]]:
    uncombined = features_for(replace(RECIPES[direction], floors={}), jobs)
    features = uncombined("xx-en").features  # English has them all

    @cache
    def baselines(language: str) -> list[Metric]:
        return [create_metric(name, language) for name in names]

    def measured(lp: str) -> list[Metric]:
        return baselines(resolve_language(target_language(lp)))

    with ScoreCache() as scores:
        sets = gather(judged(direction == "en"), features, uncombined, measured, scores, _told())
        if direction != "en":
            more = gather(judged(True), features, uncombined, lambda lp: [], scores, _told())
            sets += [replace(one, weight=ENGLISH_TOO, reported=False) for one in more]
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


def fit_options(direction: str) -> dict[str, Any]:
    recipe = RECIPES[direction]
    return {"kept": recipe.keeps, "penalty": recipe.penalty, "floors": recipe.floors}


def study(direction: str, jobs: int) -> None:
    """What each choice gives where a year is left out: mean τ and mean system Pearson over sets, then year by year."""
    sets, features = collect(direction, jobs)
    print(len(sets), "sets,", sum(len(one.features) for one in sets), "outputs,", len(features), "features")
    chosen = fit_options(direction)
    first = leave_out(sets, features, name=NAME, **chosen)
    for metric in (*BASELINES, NAME):
        print(line(metric, first, metric), flush=True)
    trials: dict[str, dict[str, Any]] = {
        **{f"penalty {penalty}": {**chosen, "penalty": penalty} for penalty in (0.1, 0.03, 0.003)},
        **{f"floor {share}": {**chosen, "floors": {"pos": share}} for share in (0.0, 0.05, 0.1, 0.15)},
        "free weights": {**chosen, "floors": {}, "learner": "logistic"},
        "every feature": {**chosen, "kept": lambda feature: True},
    }
    for kind in sorted({feature.kind for feature in features if chosen["kept"](feature)}):
        floors = {name: share for name, share in chosen["floors"].items() if name != kind}
        kept = partial(_without, (kind,), chosen["kept"])
        trials[f"without {kind}"] = {**chosen, "kept": kept, "floors": floors}
    for title, options in trials.items():
        print(line(title, leave_out(sets, features, name=NAME, **options), NAME), flush=True)


def _without(kinds: Sequence[str], kept: Callable[[Feature], bool], feature: Feature) -> bool:
    return kept(feature) and feature.kind not in kinds


def line(title: str, figures: list[Figures], metric: str) -> str:
    tau, pearson = means(figures, metric)
    return f"{title:28} {tau:.4f} {pearson:.4f}  {by_year(figures, metric)}"


ABLATION_HEAD = """# TESLA-X without a family of features

What is left where a family of features is left out. As on [the page of results](x-results.md), a year is measured by
weights that were learned from all other years, here with at most 1,000 pairs per set. Written by
`python tools/loyo.py ablation -o docs/x-ablation.md`."""
ABLATION_PAIRS = 1000
STATISTICS = {
    "segments, τ": "tau", "systems, Pearson": "pearson", "systems, accuracy": "accuracy",
    "systems, soft accuracy": "soft_accuracy",
}  # fmt: skip
INTERVALS = ("tau", "pearson", "accuracy")
FAMILIES = {
    "words (`syn`, `lem`)": ("syn", "lem"), "parts of speech": ("pos",), "characters": ("chr",),
    "vectors": ("vectors",), "rare words": ("rareword", "rarelemma"),
    "content and function words": ("content", "function"), "numbers and names": ("number", "capital"),
    "order (`lcs`, `fragments`)": ("lcs", "fragments"), "punctuation": ("punct",), "`short`": ("short",),
    "`unknown`": ("unknown",), "`repeated`": ("repeated",),
}  # fmt: skip


def report(directions: Sequence[str], jobs: int) -> Iterator[str]:
    """The page of results: one table per year, one row per language pair; intervals by resampling segments."""
    yield HEAD
    for direction in directions:
        sets, features = collect(direction, jobs)
        figures = leave_out(sets, features, name=NAME, **fit_options(direction))
        values = {one: measured(one) for one in figures}
        yield f"\n## {TITLES[direction]}\n"
        yield "| mean over sets | " + " | ".join((NAME, *BASELINES)) + " |"
        yield "|---|" + "--:|" * (1 + len(BASELINES))
        for title, means_of in zip(STATISTICS, np.nanmean(list(values.values()), axis=0), strict=True):
            yield f"| {title} | " + " | ".join(f"{value:.3f}" for value in means_of) + " |"
        yield ""
        for other in BASELINES:
            for title, statistic in STATISTICS.items():
                if statistic in INTERVALS:
                    yield f"- {NAME} − {other}, {title}, mean over sets: {difference(figures, other, statistic)}"
        for year in sorted({one.data.year for one in figures}):
            yield from of_year(year, {one: found for one, found in values.items() if one.data.year == year})


def measured(one: Figures) -> FloatArray:
    """Every statistic of every metric on one set."""
    return np.array(
        [
            [getattr(one, statistic)(metric) for metric in (NAME, *BASELINES)]
            for statistic in STATISTICS.values()
        ]
    )


def difference(figures: Sequence[Figures], other: str, statistic: str) -> str:
    mean, low, high = interval(figures, NAME, other, statistic)
    return f"{mean:+.4f} [{low:+.4f}, {high:+.4f}]"


def of_year(year: str, figures: Mapping[Figures, FloatArray]) -> Iterator[str]:
    """The table of a year, and the differences with their intervals."""
    metrics = (NAME, *BASELINES)
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
                yield f"\n{sign}: {NAME} − {other} = {difference(usable, other, statistic)}"


def ablation(directions: Sequence[str], jobs: int) -> Iterator[str]:
    """What is lost where a family of features is left out, each time with a year left out too."""
    yield ABLATION_HEAD
    for direction in directions:
        sets, features = collect(direction, jobs)
        chosen = {**fit_options(direction), "most_pairs": ABLATION_PAIRS}
        learned = {feature.kind for feature in features if chosen["kept"](feature)}
        whole = means(leave_out(sets, features, name=NAME, **chosen), NAME)
        yield f"\n## {TITLES[direction]}\n\n| without | τ | systems, Pearson |\n|---|--:|--:|"
        yield f"| (nothing left out) | {whole[0]:.4f} | {whole[1]:.4f} |"
        for title, kinds in FAMILIES.items():
            if learned.intersection(kinds):
                floors = {kind: share for kind, share in chosen["floors"].items() if kind not in kinds}
                kept = partial(_without, kinds, chosen["kept"])
                found = leave_out(sets, features, name=NAME, **{**chosen, "kept": kept, "floors": floors})
                tau, pearson = means(found, NAME)
                yield f"| {title} | {tau:.4f} ({tau - whole[0]:+.4f}) | {pearson:.4f} ({pearson - whole[1]:+.4f}) |"


def train(direction: str, jobs: int) -> None:
    """The shipped weights, from all sets."""
    sets, features = collect(direction, jobs, ())
    recipe = RECIPES[direction]
    model = fit_years(sets, features, recipe.keeps, "signed", recipe.penalty or 0.01, recipe.floors).pruned()
    used = [feature for feature in features if feature.name in model.features]
    own = recipe.language != ANY_LANGUAGE
    described = replace(
        model, metric=TeslaX.id, language=recipe.language, date=recipe.date,
        groups=tuple(dict.fromkeys(feature.group for feature in used)),
        analysis=str(Signature(load_pipeline(recipe.language).signature)) if own else "",
        data=tuple(f"{one.year} {one.lp} {one.name}: {one.counts.sum():.0f} pairs" for one in sets if one.has_pairs),
        training={
            "learner": "signed", "penalty": recipe.penalty, "floors": dict(recipe.floors),
            "without": list(recipe.without), **({} if direction == "en" else {"english": ENGLISH_TOO}),
        },
    )  # fmt: skip
    path = ROOT / "src" / "tesla_eval" / "data" / f"weights-x-{recipe.language}.json"
    write_weights(path, described)
    print(path, len(described.features), "features")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["study", "report", "ablation", "train"])
    parser.add_argument("directions", nargs="*", metavar="en|und")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    given = parser.parse_args()
    given.directions = given.directions or list(RECIPES)
    if given.what in ("report", "ablation"):
        write = report if given.what == "report" else ablation
        text = "\n".join(write(given.directions, given.jobs)) + "\n"
        print(text) if given.output is None else given.output.write_text(text, encoding="utf-8")
        return
    for direction in given.directions:
        study(direction, given.jobs) if given.what == "study" else train(direction, given.jobs)


if __name__ == "__main__":
    main()
