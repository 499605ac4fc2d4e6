"""Print whether `tesla compare` decides with its own number of draws as it does with many more.

    python -m research.draws [--metrics m,x,bleu] [--seeds 5] [--many 100000]

The systems of wmt21-mqm-news, Chinese to English: 13 systems, 78 pairs. A decision is that of `compare`: approximate
randomisation, Holm-corrected, level 0.05. A pair that is decided otherwise than with `--many` draws is listed, and
whether its corrected p-value lies within the Monte-Carlo error of the level.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path

from tesla_eval.judgements.wmt import read_segments
from tesla_eval.metrics import create_metric
from tesla_eval.metrics.comparison import PairTest, SystemTable, compare_systems
from tesla_eval.metrics.scoring import Chunk, NamedMetric, score_systems

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "wmt" / "wmt21-mqm-news.seg.tsv.gz"
LEVEL = 0.05
STANDARD_ERRORS = 3.0


def score_tables(names: list[str]) -> list[SystemTable]:
    """All systems under each metric."""
    (judged,) = read_segments(str(DATA), {"zh-en"})
    texts = [[text or "" for text in row] for row in judged.hypotheses]
    metrics = [NamedMetric(name, create_metric(name, "en")) for name in names]
    scored = score_systems(judged.systems, metrics, [Chunk(texts, [judged.references[0]])])
    return [scored.table(place) for place in range(len(metrics))]


def is_close(pair: PairTest, draws: int) -> bool:
    """Whether the corrected p-value differs from the level by no more than the error of a p-value of so many draws."""
    factor = pair.p_randomisation_holm / pair.p_randomisation
    p = LEVEL / factor
    return abs(pair.p_randomisation_holm - LEVEL) <= STANDARD_ERRORS * factor * math.sqrt(p * (1 - p) / draws)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--metrics", default="m,x,bleu")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--many", type=int, default=100_000)
    options = parser.parse_args()
    for table in score_tables(options.metrics.split(",")):
        many = compare_systems(table, resamples=options.many, seed=0, alpha=LEVEL)
        for seed in range(1, options.seeds + 1):
            start = time.process_time()
            few = compare_systems(table, seed=seed, alpha=LEVEL)
            seconds = time.process_time() - start
            other = [
                (own, exact)
                for own, exact in zip(few.pairs, many.pairs, strict=True)
                if own.is_significant(LEVEL) != exact.is_significant(LEVEL)
            ]
            significant = sum(pair.is_significant(LEVEL) for pair in few.pairs)
            print(
                f"{table.metric}, seed {seed}: {few.resamples} draws, {seconds:.1f} s of CPU, {significant} of "
                f"{len(few.pairs)} pairs differ, {len(set(few.clusters or ()))} clusters, "
                f"{len(other)} decided otherwise"
            )
            for own, exact in other:
                close = "within" if is_close(exact, few.resamples) else "BEYOND"
                print(
                    f"  {own.first} - {own.second}: p {own.p_randomisation_holm:.4f}, with {many.resamples} draws "
                    f"{exact.p_randomisation_holm:.4f}: {close} the Monte-Carlo error"
                )


if __name__ == "__main__":
    main()
