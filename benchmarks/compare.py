"""Paired tests of `tesla compare` beside sacreBLEU's: the same statistics, resamples and systems in the same run.

python -m benchmarks compare
"""

from __future__ import annotations

import numpy as np

from benchmarks.common import cpu_seconds, interleaved, wmt14_pairs
from tesla_eval.metrics import create_metric
from tesla_eval.metrics.comparison import SystemTable, compare_systems
from tesla_eval.statistics.resampling import approximate_randomisation, paired_bootstrap

RESAMPLES = 1000
SEGMENTS = 3000
SYSTEMS = 10
METRICS = 5


def main() -> None:
    against_sacrebleu()
    print()
    many_systems()


def against_sacrebleu() -> None:
    """Corpus BLEU of three systems: the tests alone, the statistics being there."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.significance import PairedTest

    pairs = wmt14_pairs(2 * SEGMENTS)
    references = [reference for _, reference in pairs[:SEGMENTS]]
    good = [hypothesis for hypothesis, _ in pairs[:SEGMENTS]]
    # Worse systems: every so many sentences lose their last words.
    systems = [
        [text if i % step else " ".join(text.split()[:-3]) for i, text in enumerate(good)]
        for step in (99999, 5, 2)
    ]
    metric = create_metric("bleu", "en")
    rows = np.stack([metric.score_segments(s, [references]).statistics for s in systems], axis=1)
    table = SystemTable("bleu", ("a", "b", "c"), rows[:, :, 0], True, rows, metric.formula_of_sums)
    named = list(zip("abc", systems, strict=True))
    print(f"{'test':<28}{'ours s':>9}{'sacreBLEU s':>13}{'ratio':>8}   (3 systems, CPU time, 3 rounds)")
    for name, kind, ours in (
        ("paired bootstrap", "bs", paired_bootstrap),
        ("approximate randomisation", "ar", approximate_randomisation),
    ):
        # sacreBLEU computes the statistics when the test is made and the test when it is called.
        test = PairedTest(
            named, {"BLEU": BLEU(references=[references])}, None, test_type=kind, n_samples=RESAMPLES
        )
        seconds = interleaved(
            {
                "ours": lambda run=ours: cpu_seconds(lambda: run(table.candidates(), resamples=RESAMPLES)),
                "sacrebleu": lambda t=test: cpu_seconds(t),
            },
            rounds=3,
        )
        ratio = seconds["sacrebleu"] / seconds["ours"]
        print(f"{name:<28}{seconds['ours']:>9.2f}{seconds['sacrebleu']:>13.2f}{ratio:>8.1f}")


def many_systems() -> None:
    """The whole of `tesla compare` after scoring: both tests of all pairs, effect sizes, clusters."""
    draw = np.random.default_rng(1)
    means = draw.random((SEGMENTS, SYSTEMS))
    bleu = draw.integers(0, 40, (SEGMENTS, SYSTEMS, 10)).astype(np.float64)
    names = tuple(f"s{i}" for i in range(SYSTEMS))
    formula = create_metric("bleu", "en").formula_of_sums
    tables = {
        "means of segments": SystemTable("m", names, means),
        "corpus BLEU": SystemTable("bleu", names, means, True, bleu, formula),
    }
    print(f"{RESAMPLES} resamples x {SEGMENTS} segments x {SYSTEMS} systems x {METRICS} metrics")
    for name, table in tables.items():
        seconds = METRICS * cpu_seconds(lambda t=table: compare_systems(t, resamples=RESAMPLES))
        print(f"{name:<28}{seconds:>9.2f} s CPU")


if __name__ == "__main__":
    main()
