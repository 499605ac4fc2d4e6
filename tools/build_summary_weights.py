"""Learn the shipped weights of s-x and cremer-x, and print what leaving out each data set gives.

    python tools/build_summary_weights.py [--measure] [--date YYYY-MM-DD]

Data: ../shared/data/summaries. Writes src/tesla_eval/data/weights-{s-x,cremer-x}-und.json. Only numbers are stored.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from build_dicomer import within_topics
from tesla_eval.judgements.summaries import read_summaries
from tesla_eval.metrics.cremer_x import CremerX
from tesla_eval.metrics.summary_parts import SummaryParts
from tesla_eval.metrics.tesla_s_x import TeslaSX
from tesla_eval.models.linear import write_weights
from tesla_eval.training.summary_weights import (
    LEARNERS,
    JudgedParts,
    judged_parts,
    learn_cremer_x,
    linear_model,
)

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "summaries"
SETS = ("newsroom", "realsumm", "summeval")
METRICS: dict[str, type[SummaryParts]] = {"s-x": TeslaSX, "cremer-x": CremerX}


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--measure", action="store_true", help="write nothing")
    options.add_argument("--date", default="2026-11-16", help="stored in the files")
    given = options.parse_args()
    summaries = [read_summaries(str(DATA / name)) for name in SETS]
    for name, kind in METRICS.items():
        equal = np.full(len(kind.part_names), 1 / len(kind.part_names))
        metric = kind(weights=linear_model(kind, equal, ()))
        sets = [judged_parts(one, metric) for one in summaries]
        for held in sets:
            weights = LEARNERS[name]([one for one in sets if one is not held])
            tau = held.kendall(weights[None])[0]
            print(f"{name} without {held.name}: {weights.tolist()}, tau within topics there {tau:.4f}")
        if name == "cremer-x":
            print_without_ridge(sets)
        weights = LEARNERS[name](sets)
        print(f"{name} from all: {dict(zip(kind.part_names, weights.tolist(), strict=True))}")
        if not given.measure:
            path = ROOT / "src" / "tesla_eval" / "data" / f"weights-{name}-und.json"
            write_weights(path, linear_model(kind, weights, SETS, given.date))


def print_without_ridge(sets: Sequence[JudgedParts]) -> None:
    taus = []
    for held in sets:
        weights = learn_cremer_x([one for one in sets if one is not held], ridge=0.0)
        taus.append(within_topics(held.parts @ weights, held.overall))
    print(f"cremer-x without a ridge: mean tau-b of the sets left out {np.mean(taus):.3f}")


if __name__ == "__main__":
    main()
