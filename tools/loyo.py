"""Leave one year out over ../shared/data/wmt: the study behind TESLA-X's and TESLA-F's choices, and their figures.

    loyo.py study [--out-of-english]      penalties, learners and families of features
    loyo.py report -o docs/x-results.md   the tables of the docs (into and out of English)
    loyo.py train                         the shipped weights, learned from everything

Features and baselines are computed once and kept in the cache.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np

from tesla_eval import TeslaX, create_metric
from tesla_eval.analysis.languages import resolve_language
from tesla_eval.meta import read_preferences, read_system_scores
from tesla_eval.meta.run import JudgedSet, target_language, wmt_sets
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.training.recipe import Recipe, features_for
from tesla_eval.training.yearly import Figures, YearlySet, gather, interval, leave_out

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "wmt"
FILES = (
    "wmt12-rr", "wmt13-rr", "wmt14-rr", "wmt17-da-toen", "wmt19-darr", "wmt20-mqm", "wmt21-da-toen", "wmt21-mqm-news",
    "wmt21-mqm-ted", "wmt21-mqm-enru", "wmt14-outofen", "wmt21-sysonly-outofen", "wmt24-esa-outofen-odd",
)  # fmt: skip
NAME = "tesla-x"


def judged(into_english: bool) -> Iterator[tuple[str, str, JudgedSet]]:
    systems = read_system_scores(str(DATA / "system_scores.tsv.gz"))
    for file in FILES:
        pairs = DATA / f"{file}.pairs.tsv.gz"
        preferences = read_preferences(str(pairs)) if pairs.exists() else {}
        for one in wmt_sets([str(DATA / f"{file}.seg.tsv.gz")], preferences, systems):
            if one.outputs.lp.endswith("-en") == into_english:
                yield file[:5], file[5:].lstrip("-"), one


def collect(
    into_english: bool, jobs: int, names: tuple[str, ...] = ("m", "chrf++")
) -> tuple[list[YearlySet], tuple]:
    recipe = Recipe(TeslaX, "en" if into_english else "und", groups=GROUPS[into_english])
    uncombined = features_for(recipe, jobs)

    @cache
    def baselines(language: str) -> list[Metric]:
        return [create_metric(name, language) for name in names]

    done = 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        if sys.stderr.isatty() or done % 50_000 < more:
            print(f"{done:,} outputs", file=sys.stderr)

    with ScoreCache() as scores:
        sets = gather(
            judged(into_english), uncombined, lambda lp: baselines(resolve_language(target_language(lp))), scores, advance
        )
    return sets, uncombined(sets[0].lp).features


GROUPS = {True: ("target", "chars", "surface", "vectors", "fluency"), False: ("target", "chars", "surface")}


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


def study(into_english: bool, jobs: int) -> None:
    sets, features = collect(into_english, jobs)
    print(len(sets), "sets;", sum(len(one.features) for one in sets), "outputs;", len(features), "features")
    kinds = sorted({feature.kind for feature in features})
    first = leave_out(sets, features, name=NAME)
    for metric in ("tesla-m", "chrf++"):
        print(f"{metric:28}", "%.4f %.4f" % means(first, metric), by_year(first, metric))
    trials: dict[str, dict] = {
        "signed .01": {}, "signed .003": {"penalty": 0.003}, "signed .03": {"penalty": 0.03}, "signed .1": {"penalty": 0.1},
        "free .01": {"learner": "logistic"},
        **{f"without {kind}": {"kept": lambda feature, kind=kind: feature.kind != kind} for kind in kinds},
    }  # fmt: skip
    for title, options in trials.items():
        figures = leave_out(sets, features, name=NAME, **options)
        print(f"{title:28}", "%.4f %.4f" % means(figures, NAME), by_year(figures, NAME), flush=True)
    for other in ("tesla-m", "chrf++"):
        for statistic in ("tau", "pearson"):
            print(f"X - {other}, {statistic}: %.4f [%.4f, %.4f]" % interval(first, NAME, other, statistic))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["study"])
    parser.add_argument("--out-of-english", action="store_true")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    given = parser.parse_args()
    study(not given.out_of_english, given.jobs)


if __name__ == "__main__":
    main()
