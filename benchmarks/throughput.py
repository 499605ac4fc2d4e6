"""TESLA-M and TESLA-X against sacreBLEU's sentence metrics on 5,000 cold WMT14 pairs; two workers against one.

Our BLEU and ROUGE, which the core counts, stand beside sacreBLEU's and rouge-score's.

python -m benchmarks throughput

`in batch` is one `corpus_score` of all pairs, `one by one` a call of `sentence_score` for each: sacreBLEU's way.
Two processes that have nothing in common say how much the machine itself has left for a second worker.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys

from benchmarks.common import cpu_seconds, ratio, rounds_of, wall_seconds, wmt14_pairs

PAIRS = 5_000
FEW = 250  # for TER, which is slow
ROUNDS = 7
ROUNDS_OF_WORKERS = 21  # elapsed time is noisier than CPU time
COLD = (
    "import sys; from benchmarks import throughput; "
    "print(throughput.measure(sys.argv[1], sys.argv[2], int(sys.argv[3])))"
)
READY = "ready"
IN_BATCH, ONE_BY_ONE = "in batch", "one by one"
OURS = "tesla:"  # before the name of a metric that others have too
ROUGE = {"rouge1": "rouge1", "rouge2": "rouge2", "rougel": "rougeL"}  # by rouge-score's names
BASELINES = [
    (("tesla:bleu", IN_BATCH), ("bleu", IN_BATCH)),
    (("tesla:bleu", ONE_BY_ONE), ("bleu", ONE_BY_ONE)),
    *(((f"tesla:{name}", IN_BATCH), (name, ONE_BY_ONE)) for name in ROUGE),
]
"""Ours, and what it is measured against; rouge-score has no batches."""


def measure(name: str, way: str, workers: int) -> float:
    """Microseconds of CPU time a pair (elapsed, if `workers` is not 0), all pairs scored once, resources loaded."""
    pairs = wmt14_pairs(FEW if name == "ter" else PAIRS)
    hypotheses, references = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    scorer = make(name, workers)
    scorer.sentence_score("Resources load.", ["Resources are loaded."])
    print(READY, flush=True)
    sys.stdin.readline()  # so that several processes can begin at the same time
    clock = wall_seconds if workers else cpu_seconds
    if way == IN_BATCH:
        seconds = clock(lambda: scorer.corpus_score(hypotheses, [references]))
    else:
        seconds = clock(lambda: [scorer.sentence_score(h, [r]) for h, r in pairs])
    return seconds / len(pairs) * 1e6


def make(name: str, workers: int):  # type: ignore[no-untyped-def]
    if name.startswith(("tesla-", OURS)):
        from tesla_eval import create_metric

        return create_metric(name.removeprefix(OURS), "en", workers=max(workers, 1))
    if name in ROUGE:
        return RougeScore(ROUGE[name])
    from sacrebleu.metrics import BLEU, CHRF, TER

    return {
        "bleu": lambda: BLEU(effective_order=True), "chrf": CHRF, "chrf++": lambda: CHRF(word_order=2), "ter": TER,
    }[name]()  # fmt: skip


class RougeScore:
    """rouge-score with the method that all others have."""

    def __init__(self, name: str) -> None:
        from rouge_score.rouge_scorer import RougeScorer

        self._scorer = RougeScorer([name], use_stemmer=True)

    def sentence_score(self, hypothesis: str, references: list[str]) -> object:
        return self._scorer.score(references[0], hypothesis)


def cold(name: str, way: str, workers: int = 0, processes: int = 1) -> float:
    """`measure` in a process of its own: nothing is cached from an earlier run. The slowest of several at once."""
    command = [sys.executable, "-c", COLD, name, way, str(workers)]
    # A module that is imported late would be compiled while the clock runs, as no installed package is.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        for _ in range(processes)
    ]
    if [process.stdout.readline().strip() for process in started if process.stdout] != [READY] * processes:
        raise SystemExit(f"{name}: a process ended before it measured anything")
    for process in started:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    found = [process.communicate()[0] for process in started]
    if any(process.returncode for process in started):
        raise SystemExit(f"{name}: a process ended while it was measured")
    return max(map(float, found))


def main() -> None:
    ours = [("tesla-m", IN_BATCH), ("tesla-m", ONE_BY_ONE), ("tesla-x", IN_BATCH), ("tesla-x", ONE_BY_ONE)]
    runs = [*ours, *((peer, ONE_BY_ONE) for peer in ("bleu", "chrf", "chrf++", "ter"))]
    times = rounds_of({" ".join(run): lambda run=run: cold(*run) for run in runs}, ROUNDS)  # type: ignore[misc]
    print(
        f"{PAIRS} WMT14 pairs, one thread, cold, CPU time; medians of {ROUNDS} interleaved runs (lowest to highest)"
    )
    columns = [" ".join(run) for run in ours[:3]]
    print(f"{'':<20}{'us a pair':>10}" + "".join(f"{f'{column}: times':>30}" for column in columns))
    for name, taken in times.items():
        ratios = "".join(f"{ratio(taken, times[column]):>30}" for column in columns)
        print(f"{name:<20}{statistics.median(taken):>10.1f}{ratios}")
    pairs_of_runs = [run for runs_compared in BASELINES for run in runs_compared]
    times = rounds_of(
        {" ".join(run): lambda run=run: cold(*run) for run in pairs_of_runs},  # type: ignore[misc]
        ROUNDS,
    )
    for ours_run, peer in (map(" ".join, runs_compared) for runs_compared in BASELINES):
        own, other = (statistics.median(times[run]) for run in (ours_run, peer))
        print(
            f"{ours_run}: {own:.1f} us a pair; {peer}: {other:.1f}; {ratio(times[peer], times[ours_run])} times as fast"
        )
    print(f"two against one, elapsed; medians of {ROUNDS_OF_WORKERS} interleaved runs")
    for name in ("tesla-m", "tesla-x"):
        elapsed = rounds_of(
            {
                "one": lambda n=name: cold(n, IN_BATCH, 1),  # type: ignore[misc]
                "two workers": lambda n=name: cold(n, IN_BATCH, 2),  # type: ignore[misc]
                "two processes": lambda n=name: cold(n, IN_BATCH, 1, processes=2) / 2,  # type: ignore[misc]
            },
            ROUNDS_OF_WORKERS,
        )
        for what in ("two workers", "two processes"):
            fastest = min(elapsed["one"]) / min(elapsed[what])
            print(
                f"{name}, {what}: {ratio(elapsed['one'], elapsed[what])} times as fast; fastest runs {fastest:.2f}"
            )


if __name__ == "__main__":
    main()
