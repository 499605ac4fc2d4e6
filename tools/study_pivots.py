"""TESLA-M, and TESLA-B with one pivot language to all of them, against human judgements into English.

    python tools/study_pivots.py [--tables FOLDER] [--every 1] [--detail]

Prints Kendall's τ in the form of WMT at segment level: the mean over language pairs of WMT14 (rankings), WMT20 (MQM)
and WMT21 (direct assessment), and the mean of the three. Features are computed once, every row is another mean of them.
`--tables` takes phrase tables from another folder (other prunings, other pivots); `--every N` takes each N-th segment.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt

from make_results import SECTIONS, Section, read
from tesla_eval.meta import evaluate
from tesla_eval.meta.join import join
from tesla_eval.meta.run import JudgedSet
from tesla_eval.meta.scoring import MetricScores, score_outputs
from tesla_eval.metrics.ngram_metric import mean_of_existing
from tesla_eval.metrics.tesla_b import TeslaB
from tesla_eval.pivot import read_phrase_table

Floats = npt.NDArray[np.float64]
Variant = tuple[str, ...]
"""Names of pivot languages; none: TESLA-M."""

SETS = {"WMT14": "wmt14-rr", "WMT20": "wmt20-mqm", "WMT21": "wmt21-da-toen"}
STATISTIC = ("segment", "kendall_wmt")
TARGET_FEATURES, PIVOT_FEATURES = 6, 6


def metric_of(tables: Path | None) -> TeslaB:
    found = (
        [read_phrase_table(path) for path in sorted(tables.glob("phrases-en-*.tesla"))] if tables else None
    )
    return TeslaB("en", pivots=found, workers=2)


def pivots_of(metric: TeslaB) -> list[str]:
    return list(dict.fromkeys(name.split(".")[0] for name in metric.feature_names[TARGET_FEATURES:]))


def variants(pivots: Sequence[str]) -> list[Variant]:
    return [some for size in range(len(pivots) + 1) for some in combinations(pivots, size)]


def score(features: Floats, pivots: Sequence[str], variant: Variant) -> Floats:
    """SPEC §7 with only these pivot languages."""
    target = mean_of_existing(features[:, :TARGET_FEATURES])
    columns = [
        TARGET_FEATURES + pivots.index(name) * PIVOT_FEATURES + k
        for name in variant
        for k in range(PIVOT_FEATURES)
    ]
    there = ~np.isnan(features[:, columns]).all(axis=1) if columns else np.zeros(len(features), bool)
    found = target.copy()
    found[there] = (target[there] + mean_of_existing(features[there][:, columns])) / 2
    return found


def scores_of(judged: JudgedSet, metric: TeslaB, every: int) -> dict[Variant, MetricScores]:
    """The scores of all variants, from one computation of the features."""
    segments = judged.scored_segments(False)
    segments[np.arange(len(segments)) % every != 0] = False
    pivots = pivots_of(metric)
    kept: list[Floats] = []

    def features(hypotheses: Sequence[str], references: Sequence[Sequence[str | None]]) -> Floats:
        kept.append(metric.corpus_score(hypotheses, references).features)
        return score(kept[0], pivots, ())

    target = score_outputs(judged.outputs, features, segments=segments)
    found = {(): MetricScores(target)}
    for variant in variants(pivots)[1:]:
        table = score_outputs(
            judged.outputs, lambda h, r, v=variant: score(kept[0], pivots, v), segments=segments
        )
        found[variant] = MetricScores(table)
    return found


def taus(section: Section, metric: TeslaB, every: int) -> dict[Variant, float]:
    """The mean over the language pairs of a section, by variant."""
    values: dict[Variant, list[float]] = {}
    for judged in read(section):
        scores = scores_of(judged, metric, every)
        named = {"+".join(variant): found for variant, found in scores.items()}
        joined = join(judged.outputs, named, preferences=judged.preferences, system_scores=judged.systems)
        for row in evaluate(joined, permutations=1):
            if (row.level, row.statistic) == STATISTIC and not math.isnan(row.value):
                values.setdefault(tuple(filter(None, row.metric.split("+"))), []).append(row.value)
    return {variant: sum(some) / len(some) for variant, some in values.items()}


def rows(found: Mapping[str, Mapping[Variant, float]], detail: bool) -> Iterator[tuple[str, list[float]]]:
    names = list(next(iter(found.values())))
    yield "M", [by[()] for by in found.values()]
    most = max(map(len, names))
    for size in range(1, most + 1):
        same = [name for name in names if len(name) == size]
        if size == 1 or detail or len(same) == 1:
            for name in same:
                yield f"B, {' + '.join(name)}", [by[name] for by in found.values()]
        if len(same) > 1:
            means = [sum(by[name] for name in same) / len(same) for by in found.values()]
            yield f"B, {size} pivot{'s' * (size > 1)}, mean of the {len(same)} choices", means


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=Path, metavar="FOLDER")
    parser.add_argument("--every", type=int, default=1, metavar="N")
    parser.add_argument("--detail", action="store_true", help="every choice of pivots")
    options = parser.parse_args()
    metric = metric_of(options.tables)
    by_file = {section.file: section for section in reversed(SECTIONS) if section.into_english}
    found = {name: taus(by_file[file], metric, options.every) for name, file in SETS.items()}
    print(f"| | {' | '.join(found)} | mean |\n|---|{'--:|' * (len(found) + 1)}")
    for name, values in rows(found, options.detail):
        print(f"| {name} | {' | '.join(f'{value:.4f}' for value in [*values, sum(values) / len(values)])} |")


if __name__ == "__main__":
    main()
