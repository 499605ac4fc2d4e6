"""TESLA-X with and without pivots and language model: trained on WMT12 into English, measured on later years.

    python tools/study_groups.py [--train wmt12-rr wmt13-rr] [--lp de-en ...]

Prints the mean Kendall τ (WMT's form) over the language pairs of WMT14, WMT20 and WMT21, and their mean. All rows are
trained on the same judgements; features are computed once and kept in the cache of `tesla meta`.
"""

from __future__ import annotations

import argparse
import sys
from statistics import fmean

from ablate_weights import SHIPPED_WITHOUT, Sample, judged
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.metrics.tesla_x import TeslaX
from tesla_eval.pivot import installed_pivots
from tesla_eval.training import collect
from tesla_eval.training.recipe import Recipe, probes_for

TESTS = {"WMT14": "wmt14-rr", "WMT20": "wmt20-mqm", "WMT21": "wmt21-da-toen"}
PENALTIES = (0.003, 0.1)
"""What X ships with, and a stronger one, for rows with many more features."""


def read(files: list[str], lps: set[str], cache: ScoreCache) -> Sample:
    probe_for = probes_for(Recipe(TeslaX, "en"), workers=2)
    sets = {}
    for file in files:
        print(f"features of {file}", file=sys.stderr, flush=True)
        wanted = (one for one in judged(file, True) if not lps or one.outputs.lp in lps)
        sets[file] = collect(wanted, probe_for, cache, threshold=0.5)
    return Sample(probe_for("de-en").features.names, sets)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--train", nargs="+", default=["wmt12-rr"], metavar="SET")
    parser.add_argument("--lp", action="append", default=[], help="only these language pairs")
    wishes = parser.parse_args()
    pivots = set(installed_pivots("en"))
    rows = {"X": pivots | {"lm"}, "X + lm": pivots, "X + pivots": {"lm"}, "X + pivots + lm": set()}
    with ScoreCache() as cache:
        sample = read([*wishes.train, *TESTS.values()], set(wishes.lp), cache)
    train = [one for file in wishes.train for one in sample.sets[file]]
    print(f"| | penalty | {' | '.join(TESTS)} | mean |\n|---|--:|{'--:|' * (len(TESTS) + 1)}")
    for title, without in rows.items():
        for penalty in PENALTIES:
            left_out = SHIPPED_WITHOUT["en"] | without
            values = [sample.measure(train, sample.sets[test], left_out, penalty) for test in TESTS.values()]
            cells = " | ".join(f"{value:.4f}" for value in [*values, fmean(values)])
            print(f"| {title} | {penalty:g} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
