"""TESLA-X with and without pivots and language model: trained on WMT12 into English, measured on later years.

    python tools/study_groups.py [--train wmt12-rr wmt13-rr] [--lp de-en ...]

Prints the mean Kendall τ (WMT's form) over the language pairs of WMT14, WMT20 and WMT21, and their mean. All rows are
trained on the same judgements; features are computed once and kept in the cache of `tesla meta`.
"""

from __future__ import annotations

import argparse
import sys
from statistics import fmean

from ablate_weights import Variant, kendall_of, preferences_of
from tesla_eval.meta.run import wmt_sets
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.metrics.groups import Feature
from tesla_eval.metrics.tesla_x import TeslaX
from tesla_eval.training import TrainingSet, collect
from tesla_eval.training.recipe import Recipe, features_for
from train_weights import LEFT_OUT
from wmt_sections import DATA

TESTS = {"WMT14": "wmt14-rr", "WMT20": "wmt20-mqm", "WMT21": "wmt21-da-toen"}
PIVOTS, LANGUAGE_MODEL = "pivots", "lm"
"""Names of the groups."""
PENALTIES = (0.003, 0.1)
"""What X ships with, and a stronger one, for rows with many more features."""


def read(
    files: list[str], lps: set[str], cache: ScoreCache
) -> tuple[dict[str, list[TrainingSet]], tuple[Feature, ...]]:
    """The training sets of every file into English, with all features that there are."""
    uncombined = features_for(Recipe(TeslaX, "en"), workers=2)
    sets = {}
    for file in files:
        print(f"features of {file}", file=sys.stderr, flush=True)
        judged = (
            one
            for one in wmt_sets([str(DATA / f"{file}.seg.tsv.gz")], preferences_of(file))
            if one.outputs.lp.endswith("-en") and (not lps or one.outputs.lp in lps)
        )
        sets[file] = collect(judged, uncombined, cache, threshold=0.5)
    return sets, uncombined("de-en").features


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--train", nargs="+", default=["wmt12-rr"], metavar="SET")
    parser.add_argument("--lp", action="append", default=[], help="only these language pairs")
    wishes = parser.parse_args()
    with ScoreCache() as cache:
        sets, features = read([*wishes.train, *TESTS.values()], set(wishes.lp), cache)
    shipped = set(LEFT_OUT["en"])
    pivots = {feature.kind for feature in features if feature.group == PIVOTS}
    models = {feature.kind for feature in features if feature.group == LANGUAGE_MODEL}
    rows = {
        "X": shipped | pivots | models, "X + lm": shipped | pivots, "X + pivots": shipped | models,
        "X + pivots + lm": shipped,
    }  # fmt: skip
    train = [one for file in wishes.train for one in sets[file]]
    print(f"| | penalty | {' | '.join(TESTS)} | mean |\n|---|--:|{'--:|' * (len(TESTS) + 1)}")
    for title, without in rows.items():
        for penalty in PENALTIES:
            model = Variant(title, without, {}).fit(train, features, penalty)
            values = [
                fmean(kendall_of(model, one, features) for one in sets[test] if len(one.better))
                for test in TESTS.values()
            ]
            cells = " | ".join(f"{value:.4f}" for value in [*values, fmean(values)])
            print(f"| {title} | {penalty:g} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
