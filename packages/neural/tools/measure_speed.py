"""What TESLA-N costs on one thread, beside TESLA-X and chrF++: CPU time, the least of several runs of each pair.

    measure_speed.py [--pairs 100] [--runs 5]

Pairs are evenly chosen from newstest2019 into English (../shared/data/wmt). Cold: neither text was seen before.
Further: another candidate against the same reference, in a batch of 50. MBR: 100 candidates against each other by
`all_pairs`. Start-up: a process that scores one pair, less one that does nothing but start Python.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import tesla_eval
from tesla_eval_neural.encoder import load_encoder

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "wmt" / "wmt19-darr.seg.tsv.gz"

_BATCH = 500


def rows() -> list[dict[str, str]]:
    with gzip.open(DATA, "rt", encoding="utf-8", newline="\n") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def forget() -> None:
    encoder = load_encoder("en")
    encoder._cache.clear()
    encoder._cached_bytes = 0


def least(run: Callable[[], object], runs: int) -> float:
    """The least CPU time of several runs, in milliseconds."""
    times = []
    for _ in range(runs):
        forget()
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return 1000 * min(times)


def start_up(code: str, runs: int) -> float:
    """The least CPU time of a process, in seconds."""
    times = []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    everything = rows()
    some = everything[:: max(1, len(everything) // given.pairs)][: given.pairs]
    many = everything[:: max(1, len(everything) // _BATCH)][:_BATCH]
    corpus = [row["hypothesis"] for row in many], [[row["reference"] for row in many]]
    pieces = [len(load_encoder("en").pieces(row["hypothesis"]).ids) for row in some]
    print(f"{len(some)} pairs, {sum(pieces) / len(pieces):.1f} pieces per output")
    for name in ("n", "x", "chrf++"):
        metric = tesla_eval.create_metric(name, "en")
        metric.sentence_score("A first text.", ["Another text."])

        def one(row: dict[str, str], metric: tesla_eval.Metric = metric) -> object:
            return metric.sentence_score(row["hypothesis"], [row["reference"]])

        for row in some:  # words and lemmas are looked up once per process
            one(row)
        alone = sum(least(lambda row=row: one(row), given.runs) for row in some) / len(some)  # type: ignore[misc]
        batch = least(lambda metric=metric: metric.score_segments(*corpus), given.runs) / len(many)  # type: ignore[misc]
        print(
            f"{name:8} cold pair {alone:.2f} ms alone, {batch:.2f} ms in a batch of {len(many)}", flush=True
        )
    metric = tesla_eval.create_metric("n", "en")
    hypotheses = [row["hypothesis"] for row in everything[:50]]
    reference = everything[0]["reference"]

    def further(count: int) -> Callable[[], object]:
        return lambda: metric.score_segments(hypotheses[:count], [[reference] * count])

    print(
        f"further candidate {(least(further(50), given.runs) - least(further(1), given.runs)) / 49:.2f} ms (new text)"
    )
    load_encoder("en").encode(hypotheses)
    known = _known(lambda: metric.score_segments(hypotheses, [[reference] * 50]), given.runs)
    print(f"further candidate {known / 50:.2f} ms (text already encoded)")
    candidates = list(dict.fromkeys(row["hypothesis"] for row in everything))[:100]
    metric.all_pairs(candidates)  # type: ignore[attr-defined]
    print(
        f"MBR 100 x 100: {least(lambda: metric.all_pairs(candidates), given.runs) / 1000:.2f} s per segment"
    )  # type: ignore[attr-defined]
    pair = "import tesla_eval; tesla_eval.create_metric({!r}).sentence_score('Two men.', ['Two women.'])"
    nothing = start_up("pass", given.runs)
    for name in ("n", "x"):
        print(f"start-up and one pair, {name}: {start_up(pair.format(name), given.runs) - nothing:.2f} s")


def _known(run: Callable[[], object], runs: int) -> float:
    return 1000 * min(_timed(run) for _ in range(runs))


def _timed(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


if __name__ == "__main__":
    main()
