"""Leave one year out over ../shared/data/wmt: the study behind TESLA-X's choices, its figures, and its weights.

    loyo.py study [en|und|f-en]                what each choice gives where a year is left out
    loyo.py report [-o docs/x-results.md]      the tables of the docs; `f-en -o docs/f-results.md` of TESLA-F
    loyo.py ablation [-o docs/x-ablation.md]   without one family of features each
    loyo.py groups [-o docs/x-groups.md]       weights by group of languages, out of English
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
from time import process_time
from typing import Any

import numpy as np

from tesla_eval import TeslaF, TeslaX, create_metric
from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.records import Signature
from tesla_eval.judgements.meta import read_preferences, read_system_scores
from tesla_eval.judgements.meta.run import JudgedSet, target_language, wmt_sets
from tesla_eval.language.analysis import load_pipeline
from tesla_eval.language.analysis.languages import known_languages, resolve_language
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.metrics.features import Feature
from tesla_eval.models.linear import ANY_LANGUAGE, LinearModel, write_weights
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
OF_X = ("en", "und")
_GROUPS = ("target", "tags", "chars", "surface")
_PRECISION = tuple(f"{kind}.p" for kind in (
    "content", "function", "rareword", "rarelemma", "number", "capital", "lcs", "punct"))  # fmt: skip
_CHARACTERS = tuple(f"chr.{n}.r" for n in range(1, 7)) + tuple(f"chr.{n}.f" for n in range(4, 7))
RECIPES = {
    "en": Recipe(TeslaX, "en", groups=(*_GROUPS, "vectors", "fluency"), penalty=0.01, floors={"pos": 0.075},
                 without=("order", "long", "fluency", "vec.best0.r", "vec.best0.f"), date="2026-11-15"),
    "und": Recipe(TeslaX, "und", groups=_GROUPS, penalty=0.1, floors={"pos": 0.05, "chr": 0.5}, date="2026-11-16",
                  without=("order", "long", "foreign", *_PRECISION, *_CHARACTERS)),
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
            if lp.endswith("-en") == into_english and target_language(lp) in known_languages():
                yield file[:5], file[5:].lstrip("-"), one


def collect(
    direction: str, jobs: int, names: Sequence[str] = ("m", "chrf++")
) -> tuple[list[YearlySet], tuple[Feature, ...]]:
    recipe = RECIPES[direction]
    uncombined = features_for(replace(recipe, floors={}), jobs)
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


def fit_options(direction: str) -> dict[str, Any]:
    recipe = RECIPES[direction]
    return {
        "kept": recipe.keeps, "learner": recipe.learner, "penalty": recipe.penalty, "floors": recipe.floors,
    }  # fmt: skip


def study(direction: str, jobs: int) -> None:
    """What each choice gives where a year is left out: mean τ and mean system Pearson over sets, then year by year."""
    sets, features = collect(direction, jobs)
    print(len(sets), "sets,", sum(len(one.features) for one in sets), "outputs,", len(features), "features")
    chosen, name = fit_options(direction), RECIPES[direction].metric.id
    first = leave_out(sets, features, name=name, **chosen)
    for metric in (*BASELINES, name):
        print(line(metric, first, metric), flush=True)
    free = "svm" if chosen["learner"] == "signed-svm" else "logistic"
    trials: dict[str, dict[str, Any]] = {
        **{f"penalty {penalty}": {**chosen, "penalty": penalty} for penalty in (0.3, 0.1, 0.03, 0.01, 0.003)},
        "free weights": {**chosen, "floors": {}, "learner": free},
        "every feature": {**chosen, "kept": lambda feature: True},
    }
    if chosen["floors"]:
        for share in (0.0, 0.05, 0.1, 0.15):
            trials[f"floor {share}"] = {**chosen, "floors": {**chosen["floors"], "pos": share}}
    for kind in sorted({feature.kind for feature in features if chosen["kept"](feature)}):
        floors = {kept: share for kept, share in chosen["floors"].items() if kept != kind}
        kept = partial(_without, (kind,), chosen["kept"])
        trials[f"without {kind}"] = {**chosen, "kept": kept, "floors": floors}
    for title, options in trials.items():
        print(line(title, leave_out(sets, features, name=name, **options), name), flush=True)


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
    name = RECIPES[directions[0]].metric.id
    arguments = "-o docs/x-results.md" if name == NAME else f"{' '.join(directions)} -o docs/f-results.md"
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


GROUPS_HEAD = """# TESLA-X: weights by group of languages

Out of English one file of weights serves all languages. Here every group has weights of its own: learned from the
group's sets alone, or from all sets with the group's counting four times. As on [the page of results](x-results.md), a
year is measured by weights of all other years, here with at most 1,000 pairs per set. Differences (95 % intervals by
resampling segments) are against the common weights. Where no other year of a group has judged segments, the common
weights are used. For Chinese and Japanese also [TESLA-CELAB](celab.md), alone and as the mean of both. Written by
`python tools/loyo.py groups -o docs/x-groups.md`.

| languages | weights from | τ | difference | systems, Pearson | difference |
|---|---|--:|--:|--:|--:|"""
LANGUAGE_GROUPS = {
    "Slavic (cs, ru, uk)": ("cs", "ru", "uk"), "Germanic (de, is)": ("de", "is"), "Romance (es, fr)": ("es", "fr"),
    "Hindi": ("hi",), "Chinese, Japanese": ("zh", "ja"),
}  # fmt: skip
GROUP_WEIGHT = 4.0
COMMON = "all"


def groups(directions: Sequence[str], jobs: int) -> Iterator[str]:
    """Weights of a group of languages against those of all, each time with a year left out."""
    yield GROUPS_HEAD
    sets, features = collect("und", jobs, ())
    chosen = {**fit_options("und"), "most_pairs": ABLATION_PAIRS}
    common = {one.data: one.scores[NAME] for one in leave_out(sets, features, name=NAME, **chosen)}
    for title, languages in LANGUAGE_GROUPS.items():
        own = [one for one in sets if one.reported and target_language(one.lp) in languages]
        years = {one.year for one in own if one.has_pairs}
        # Those that another year with judged segments can teach.
        learned = [one for one in own if len(years) > 1 or one.year not in years]
        rest = [replace(one, reported=False) for one in sets if one not in own]
        raised = [replace(one, weight=GROUP_WEIGHT) for one in own]
        trials = {
            "the group": [*learned, *(replace(one, reported=False) for one in own if one not in learned)],
            f"all, the group × {GROUP_WEIGHT:.0f}": [*raised, *rest],
        }
        scores = {COMMON: [common[one] for one in own]}
        for trial, given in trials.items():
            found = {
                (one.data.year, one.data.lp, one.data.name): one.scores[NAME]
                for one in leave_out(given, features, name=NAME, **chosen)
            }
            scores[trial] = [found.get((one.year, one.lp, one.name), common[one]) for one in own]
        if "zh" in languages:
            scores |= celab(own, scores[COMMON])
        for trial, values in scores.items():
            figures = [
                Figures(one, {trial: value, COMMON: common[one]})
                for one, value in zip(own, values, strict=True)
            ]
            tau, pearson = means(figures, trial)
            against = [difference(figures, trial, COMMON, statistic) for statistic in ("tau", "pearson")]
            shown = against if trial != COMMON else ["", ""]
            yield f"| {title} | {trial} | {tau:.4f} | {shown[0]} | {pearson:.4f} | {shown[1]} |"


def celab(own: Sequence[YearlySet], common: Sequence[FloatArray]) -> dict[str, list[FloatArray]]:
    """TESLA-CELAB's scores of the same outputs, and the means with TESLA-X's."""
    wanted = [(one.year, one.lp, one.name) for one in own]
    chosen = [found for found in judged(False) if _key(*found) in wanted]
    characters = features_for(Recipe(TeslaX, "und", groups=("chars",)))
    with ScoreCache() as kept:
        found = gather(
            chosen, characters("en-zh").features, characters,
            lambda lp: [create_metric("celab", target_language(lp))], kept,
        )  # fmt: skip
    scores = {(one.year, one.lp, one.name): one.baselines["tesla-celab"] for one in found}
    alone = [scores[key] for key in wanted]
    return {
        "(TESLA-CELAB)": alone,
        "(mean of both)": [(x + y) / 2 for x, y in zip(alone, common, strict=True)],
    }


def _key(year: str, kind: str, one: JudgedSet) -> tuple[str, str, str]:
    return year, one.outputs.lp, f"{kind} {one.outputs.testset}"


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
    path = ROOT / "src" / "tesla_eval" / "data" / f"weights-x-{model.language}.json"
    write_weights(path, model)
    print(f"{path}: {len(model.features)} features, {process_time() - start:.0f} s of CPU time")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["study", "report", "ablation", "groups", "train"])
    parser.add_argument("directions", nargs="*", metavar="en|und|f-en", choices=[*RECIPES, []])
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    given = parser.parse_args()
    given.directions = given.directions or list(OF_X)
    if given.what in ("train", "ablation") and not set(given.directions) <= set(OF_X):
        parser.error(f"{given.what} is for TESLA-X: {', '.join(OF_X)}")
    if given.what in ("report", "ablation", "groups"):
        write = {"report": report, "ablation": ablation, "groups": groups}[given.what]
        text = "\n".join(write(given.directions, given.jobs)) + "\n"
        print(text) if given.output is None else given.output.write_text(text, encoding="utf-8")
        return
    for direction in given.directions:
        study(direction, given.jobs) if given.what == "study" else train(direction, given.jobs)


if __name__ == "__main__":
    main()
