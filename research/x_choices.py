"""What each choice of TESLA-X gives where a year is left out: penalty, floors, free weights, kinds of features.

    python -m research.x_choices [en|und|f-en]

Features and the baselines' scores come from the cache that tools/loyo.py fills.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from loyo import BASELINES, OF_X, RECIPES, collect, fit_options, line
from tesla_eval.metrics.features import Feature
from yearly import leave_out


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
        "every feature": {**chosen, "kept": replace(RECIPES[direction], without=()).keeps},
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directions", nargs="*", metavar="en|und|f-en", choices=[*RECIPES, []])
    parser.add_argument("-j", "--jobs", type=int, default=1)
    given = parser.parse_args()
    for direction in given.directions or OF_X:
        study(direction, given.jobs)


if __name__ == "__main__":
    main()
