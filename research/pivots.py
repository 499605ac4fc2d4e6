"""TESLA-M, and TESLA-B with one pivot language to all of them, against human judgements into English.

    python -m research.pivots [--tables FOLDER] [--every 1] [--detail] [--weights FILE ...]

Prints Kendall's τ in the form of WMT at segment level: the mean over language pairs of WMT14 (rankings), WMT20 (MQM)
and WMT21 (direct assessment), and the mean of the three. Features are computed once, every row is another mean of them.
`--tables` takes phrase tables from another folder (other prunings, other pivots); `--every N` takes each N-th segment.
`--weights` measures learned metrics with these weights (`tesla train f|x ... -o FILE`) instead.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt

from research.scored_outputs import score_outputs
from research.wmt_sections import SECTIONS, Section, read
from tesla_eval.judgements.meta.evaluate import evaluate
from tesla_eval.judgements.meta.join import MetricScores, join
from tesla_eval.judgements.meta.run import JudgedSet
from tesla_eval.language.pivot import read_phrase_table
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.combinations import Mean
from tesla_eval.metrics.tesla_b import TeslaB
from tesla_eval.metrics.tesla_f import TeslaF
from tesla_eval.metrics.tesla_x import TeslaX
from tesla_eval.models.linear import read_weights

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


def learned_metric(path: Path) -> Metric:
    kind = TeslaF if read_weights(path).metric == TeslaF.id else TeslaX
    return kind("en", weights=path, workers=2)


def pivots_of(metric: TeslaB) -> list[str]:
    return list(dict.fromkeys(name.split(".")[0] for name in metric.feature_names[TARGET_FEATURES:]))


def variants(pivots: Sequence[str]) -> list[Variant]:
    return [some for size in range(len(pivots) + 1) for some in combinations(pivots, size)]


def score(features: Floats, pivots: Sequence[str], variant: Variant) -> Floats:
    """Specification §7 with only these pivot languages."""
    target = Mean().score(features[:, :TARGET_FEATURES])
    columns = [
        TARGET_FEATURES + pivots.index(name) * PIVOT_FEATURES + k
        for name in variant
        for k in range(PIVOT_FEATURES)
    ]
    there = ~np.isnan(features[:, columns]).all(axis=1) if columns else np.zeros(len(features), bool)
    found = target.copy()
    found[there] = (target[there] + Mean().score(features[there][:, columns])) / 2
    return found


def chosen_segments(judged: JudgedSet, every: int) -> npt.NDArray[np.bool_]:
    segments = judged.scored_segments(False)
    segments[np.arange(len(segments)) % every != 0] = False
    return segments


def scores_of(judged: JudgedSet, metric: TeslaB, every: int) -> dict[str, MetricScores]:
    """The scores of all variants, from one computation of the features."""
    segments = chosen_segments(judged, every)
    pivots = pivots_of(metric)
    kept: list[Floats] = []

    def features(hypotheses: Sequence[str], references: Sequence[Sequence[str | None]]) -> Floats:
        kept.append(metric.corpus_score(hypotheses, references).features)
        return score(kept[0], pivots, ())

    target = score_outputs(judged.outputs, features, segments=segments)
    found = {"": MetricScores(target)}
    for variant in variants(pivots)[1:]:
        table = score_outputs(
            judged.outputs, lambda h, r, v=variant: score(kept[0], pivots, v), segments=segments
        )
        found["+".join(variant)] = MetricScores(table)
    return found


def learned_scores(judged: JudgedSet, metrics: Mapping[str, Metric], every: int) -> dict[str, MetricScores]:
    """The scores of metrics that know their own weights."""
    segments = chosen_segments(judged, every)
    return {
        name: MetricScores(
            score_outputs(judged.outputs, lambda h, r, m=m: m.corpus_score(h, r).segments, segments=segments)
        )
        for name, m in metrics.items()
    }


def taus(section: Section, scores_of_set: Callable[[JudgedSet], dict[str, MetricScores]]) -> dict[str, float]:
    """The mean over the language pairs of a section, by name."""
    values: dict[str, list[float]] = {}
    for judged in read(section):
        named = scores_of_set(judged)
        joined = join(judged.outputs, named, preferences=judged.preferences, system_scores=judged.systems)
        for row in evaluate(joined, permutations=1):
            if (row.level, row.statistic) == STATISTIC and not math.isnan(row.value):
                values.setdefault(row.metric, []).append(row.value)
    return {name: sum(some) / len(some) for name, some in values.items()}


def rows(found: Mapping[str, Mapping[str, float]], detail: bool) -> Iterator[tuple[str, list[float]]]:
    names = list(next(iter(found.values())))
    yield "M", [by[""] for by in found.values()]
    for size in range(1, max(name.count("+") for name in names) + 2):
        same = [name for name in names if name and name.count("+") == size - 1]
        if size == 1 or detail or len(same) == 1:
            for name in same:
                yield f"B, {name.replace('+', ' + ')}", [by[name] for by in found.values()]
        if len(same) > 1:
            means = [sum(by[name] for name in same) / len(same) for by in found.values()]
            yield f"B, {size} pivot{'s' * (size > 1)}, mean of the {len(same)} choices", means


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=Path, metavar="FOLDER")
    parser.add_argument("--every", type=int, default=1, metavar="N")
    parser.add_argument("--detail", action="store_true", help="every choice of pivots")
    parser.add_argument(
        "--weights", type=Path, nargs="+", metavar="FILE", help="weights of TESLA-F or TESLA-X"
    )
    options = parser.parse_args()
    by_file = {section.file: section for section in reversed(SECTIONS) if section.into_english}
    if options.weights:
        metrics = {path.stem: learned_metric(path) for path in options.weights}
        found = {
            name: taus(by_file[file], lambda judged: learned_scores(judged, metrics, options.every))
            for name, file in SETS.items()
        }
        table = [(name, [by[name] for by in found.values()]) for name in metrics]
    else:
        metric = metric_of(options.tables)
        found = {
            name: taus(by_file[file], lambda judged: scores_of(judged, metric, options.every))
            for name, file in SETS.items()
        }
        table = list(rows(found, options.detail))
    print(f"| | {' | '.join(found)} | mean |\n|---|{'--:|' * (len(found) + 1)}")
    for name, values in table:
        print(f"| {name} | {' | '.join(f'{value:.4f}' for value in [*values, sum(values) / len(values)])} |")


if __name__ == "__main__":
    main()
