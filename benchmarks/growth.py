"""How cost grows with the length of sentences and with the number of segments, beside sacreBLEU's sentence BLEU.

python -m benchmarks growth
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.common import cpu_seconds, wall_seconds, wmt14_pairs
from tesla_eval import TeslaM

LENGTHS = (10, 20, 50, 100, 200)
SEGMENTS = (1_000, 10_000, 100_000, 1_000_000)


def by_length() -> None:
    from sacrebleu.metrics import BLEU

    pairs = wmt14_pairs(5_000)
    words = [" ".join(side).split() for side in zip(*pairs, strict=True)]
    metric, bleu = TeslaM(lang="en"), BLEU(effective_order=True)
    print(f"{'words':>8}{'TESLA-M us':>12}{'BLEU us':>10}{'BLEU/TESLA-M':>14}")
    for length in LENGTHS:
        count = min(20_000 // length, 400)
        sides = [[" ".join(w[i * length : (i + 1) * length]) for i in range(count)] for w in words]
        metric.corpus_score(sides[0], [sides[1]])
        metric.analysis.forget_batches()
        ours = cpu_seconds(lambda s=sides: metric.corpus_score(s[0], [s[1]])) / count
        theirs = (
            cpu_seconds(lambda s=sides: [bleu.sentence_score(h, [r]) for h, r in zip(*s, strict=True)])
            / count
        )
        print(f"{length:>8}{ours * 1e6:>12.1f}{theirs * 1e6:>10.1f}{theirs / ours:>14.2f}")


def by_segments() -> None:
    pairs = wmt14_pairs(5_000)
    print(f"{'segments':>10}{'seconds':>10}{'segments/s':>12}{'peak MB':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for count in SEGMENTS:
            files = [Path(folder) / name for name in ("sys", "ref")]
            for side, path in enumerate(files):
                with path.open("w", encoding="utf-8") as out:
                    for i in range(count):
                        # A number keeps the lines different from each other.
                        out.write(f"{pairs[i % len(pairs)][side]} {i}\n")
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
            command = [sys.executable, "-m", "tesla_eval.cli", "score", "-r", str(files[1]), str(files[0])]
            seconds = wall_seconds(lambda c=command: subprocess.run(c, check=True, capture_output=True))
            peak = max(before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1024
            print(f"{count:>10,}{seconds:>10.1f}{count / seconds:>12,.0f}{peak:>10.0f}")


def main() -> None:
    by_length()
    print()
    by_segments()


if __name__ == "__main__":
    main()
