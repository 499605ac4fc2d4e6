"""Compare the speed of two checkouts: the same cold WMT14 pairs, CPU time, runs that take turns.

python tools/compare_speed.py OLD/.venv/bin/python NEW/.venv/bin/python m x s m:one-by-one [--rounds 7]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.common import ratio, rounds_of, wmt14_pairs

ONE_BY_ONE = "one-by-one"
PAIRS = 5_000
SCORE = """
import json, sys, time
from tesla_eval import create_metric
name, way = sys.argv[1:3]
pairs = json.load(sys.stdin)
metric = create_metric(name, "en")
metric.sentence_score("Resources load.", ["Resources are loaded."])
start = time.process_time()
if way:
    scores = [metric.sentence_score(h, [r]).score for h, r in pairs]
else:
    metric.corpus_score([h for h, _ in pairs], [[r for _, r in pairs]])
print(time.process_time() - start)
"""


def main() -> None:
    import json

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", help="the interpreter of one checkout")
    parser.add_argument("new", help="that of the other")
    parser.add_argument("metrics", nargs="+", help=f"a metric, or METRIC:{ONE_BY_ONE}")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    pairs = json.dumps(wmt14_pairs(PAIRS))

    def seconds(python: str, asked: str) -> float:
        name, _, way = asked.partition(":")
        run = subprocess.run(
            [python, "-c", SCORE, name, way], input=pairs, capture_output=True, text=True, check=True
        )
        return float(run.stdout)

    for asked in options.metrics:
        sides = {"old": options.old, "new": options.new}
        found = rounds_of(
            {
                side: lambda python=python, asked=asked: seconds(python, asked)
                for side, python in sides.items()
            },  # type: ignore[misc]
            options.rounds,
        )
        print(f"{asked}: {ratio(found['old'], found['new'])} times as fast", flush=True)


if __name__ == "__main__":
    main()
