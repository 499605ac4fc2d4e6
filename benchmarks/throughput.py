"""TESLA-M against sacreBLEU's sentence metrics on the same 5,000 WMT14 pairs, cold, one thread; then two threads.

python -m benchmarks throughput
"""

from __future__ import annotations

import subprocess
import sys

from benchmarks.common import cpu_seconds, interleaved, wall_seconds, wmt14_pairs

PAIRS = 5_000
COLD = (
    "import sys; from benchmarks import throughput; print(throughput.measure(sys.argv[1], int(sys.argv[2])))"
)


def measure(name: str, workers: int = 1) -> float:
    """CPU seconds (elapsed, with several workers) of scoring all pairs once in this process, resources loaded."""
    pairs = wmt14_pairs(PAIRS)
    hypotheses, references = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    clock = cpu_seconds if workers == 0 else wall_seconds
    if name.startswith("tesla-"):
        from tesla_eval import create_metric

        metric = create_metric(name, "en", workers=max(workers, 1))
        metric.sentence_score("Resources load.", ["Resources are loaded."])
        return clock(lambda: metric.corpus_score(hypotheses, [references]))
    from sacrebleu.metrics import BLEU, CHRF, TER

    baseline = {
        "bleu": lambda: BLEU(effective_order=True), "chrf": CHRF, "chrf++": lambda: CHRF(word_order=2), "ter": TER,
    }[name]()  # fmt: skip
    return clock(
        lambda: [baseline.sentence_score(h, [r]) for h, r in zip(hypotheses, references, strict=True)]
    )


def cold(name: str, workers: int) -> float:
    """`measure` in a process of its own: nothing is cached from an earlier run."""
    found = subprocess.run(
        [sys.executable, "-c", COLD, name, str(workers)], capture_output=True, text=True, check=True
    )
    return float(found.stdout)


def main() -> None:
    peers = ["bleu", "chrf", "chrf++", "ter"]
    seconds = interleaved({name: lambda name=name: cold(name, 0) for name in ["tesla-m", *peers]})  # type: ignore[misc]
    print(f"{PAIRS} WMT14 pairs, one thread, cold, CPU time, median of 5 interleaved runs")
    print(f"{'metric':<10}{'segments/s':>12}{'TESLA-M is':>14}")
    for name, value in seconds.items():
        print(f"{name:<10}{PAIRS / value:>12,.0f}{value / seconds['tesla-m']:>13.2f}x")
    two = interleaved({"one": lambda: cold("tesla-m", 1), "two": lambda: cold("tesla-m", 2)})
    print(f"two workers against one, elapsed: {two['one'] / two['two']:.2f}x")


if __name__ == "__main__":
    main()
