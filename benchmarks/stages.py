"""Where TESLA-M's time goes: analysis (tokens, lemmas, tags), bags and matching; cold and warm.

python -m benchmarks stages
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks.common import wmt14_pairs
from tesla_eval import TeslaM
from tesla_eval.language.analysis.pipeline import load_pipeline
from tesla_eval.metrics.features.ngrams import NgramGroup

PAIRS = 5_000


def main() -> None:
    metric = TeslaM(lang="en")
    metric.sentence_score("Resources load.", ["Resources are loaded."])
    pipeline = load_pipeline("en")
    pairs = wmt14_pairs(PAIRS)
    print(f"{PAIRS} WMT14 pairs, microseconds of CPU a pair")
    print(f"{'stage':<22}{'cold':>8}{'warm':>8}")
    group = NgramGroup().bind(pipeline)  # TESLA-M's only group
    runs = [_stages(group, pipeline, pairs) for _ in range(2)]
    for stage in runs[0]:
        print(f"{stage:<22}{runs[0][stage]:>8.2f}{runs[1][stage]:>8.2f}")
    print(f"{'sum':<22}{sum(runs[0].values()):>8.2f}{sum(runs[1].values()):>8.2f}")


def _stages(group, pipeline, pairs):  # type: ignore[no-untyped-def]
    seconds: dict[str, float] = {}

    def timed(stage, work):  # type: ignore[no-untyped-def]
        start = time.process_time()
        result = work()
        seconds[stage] = seconds.get(stage, 0.0) + (time.process_time() - start) / len(pairs) * 1e6
        return result

    pipeline.forget_batches()
    sides = [pair[1] for pair in pairs], [pair[0] for pair in pairs]
    reference, hypothesis = timed("analysis", lambda: pipeline.analyse(*sides))
    everything = np.arange(len(pairs))
    timed("bags and matching", lambda: group.compare_segments([reference], hypothesis, [everything]))
    return seconds


if __name__ == "__main__":
    main()
