"""What each choice of TESLA-X gives where a year is left out: penalties, families of features, groups of languages.

    python -m research.x_choices study [en|und|f-en]                  penalties, floors, free weights, kinds of features
    python -m research.x_choices ablation [-o research/x-ablation.md] without one family of features each
    python -m research.x_choices groups [-o research/x-groups.md]     weights by group of languages, out of English

Features and the baselines' scores come from the cache that tools/loyo.py fills.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from loyo import BASELINES, NAME, OF_X, RECIPES, TITLES, collect, difference, fit_options, judged, line, means
from tesla_eval import TeslaX, create_metric
from tesla_eval.base.arrays import FloatArray
from tesla_eval.judgements.meta.run import JudgedSet, target_language
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.metrics.features import Feature
from tesla_eval.training.recipe import Recipe, features_for
from yearly import Figures, YearlySet, gather, leave_out


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


ABLATION_HEAD = """# TESLA-X without a family of features

What is left where a family of features is left out. As on [the page of results](x-results.md), a year is
measured by weights that were learned from all other years, here with at most 1,000 pairs per set. Written by `python -m
research.x_choices ablation -o research/x-ablation.md`."""
ABLATION_PAIRS = 1000
FAMILIES = {
    "words (`syn`, `lem`)": ("syn", "lem"), "parts of speech": ("pos",), "characters": ("chr",),
    "vectors": ("vectors",), "rare words": ("rareword", "rarelemma"),
    "content and function words": ("content", "function"), "numbers and names": ("number", "capital"),
    "order (`lcs`, `fragments`)": ("lcs", "fragments"), "punctuation": ("punct",), "`short`": ("short",),
    "`unknown`": ("unknown",), "`repeated`": ("repeated",),
}  # fmt: skip


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
group's sets alone, or from all sets with the group's counting four times. As on [the page of
results](x-results.md), a year is measured by weights of all other years, here with at most 1,000 pairs per set.
Differences (95 % intervals by resampling segments) are against the common weights. Where no other year of a group has
judged segments, the common weights are used. For Chinese and Japanese also [TESLA-CELAB](../docs/celab.md), alone and
as the mean of both. Written by `python -m research.x_choices groups -o research/x-groups.md`.

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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["study", "ablation", "groups"])
    parser.add_argument("directions", nargs="*", metavar="en|und|f-en", choices=[*RECIPES, []])
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    given = parser.parse_args()
    given.directions = given.directions or list(OF_X)
    if given.what == "study":
        for direction in given.directions:
            study(direction, given.jobs)
        return
    if not set(given.directions) <= set(OF_X):
        parser.error(f"{given.what} is for TESLA-X: {', '.join(OF_X)}")
    write = {"ablation": ablation, "groups": groups}[given.what]
    text = "\n".join(write(given.directions, given.jobs)) + "\n"
    print(text) if given.output is None else given.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
