"""TESLA-B with four pivot languages against TESLA-M on the same 5,000 WMT14 pairs, cold, one thread; loading of tables.

python -m benchmarks pivots
"""

from __future__ import annotations

import subprocess
import sys

from benchmarks.common import cpu_seconds, interleaved, wmt14_pairs

PAIRS = 5_000
FOUR = ("cs", "de", "es", "fr")
COLD = "import sys; from benchmarks import pivots; print(pivots.measure(sys.argv[1]))"


def measure(name: str) -> float:
    """CPU seconds of scoring all pairs once in this process, resources loaded."""
    from tesla_eval import TeslaB, TeslaM

    metric = TeslaM(lang="en") if name == "tesla-m" else TeslaB(lang="en", pivots=FOUR)
    metric.sentence_score("Resources load.", ["Resources are loaded."])
    pairs = wmt14_pairs(PAIRS)
    hypotheses, references = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return cpu_seconds(lambda: metric.corpus_score(hypotheses, [references]))


def cold(name: str) -> float:
    """`measure` in a process of its own: nothing is cached from an earlier run."""
    found = subprocess.run([sys.executable, "-c", COLD, name], capture_output=True, text=True, check=True)
    return float(found.stdout)


def main() -> None:
    from tesla_eval.base.resources import find_resource
    from tesla_eval.language.analysis import load_pipeline
    from tesla_eval.language.pivot import KIND, read_phrase_table

    seconds = interleaved({name: lambda name=name: cold(name) for name in ("tesla-m", "tesla-b")})  # type: ignore[misc]
    print(f"{PAIRS} WMT14 pairs, one thread, cold, CPU time, median of 5 interleaved runs")
    for name, value in seconds.items():
        print(f"{name:<10}{PAIRS / value:>12,.0f} segments/s, {seconds['tesla-m'] / value:.2f} of TESLA-M")
    load_pipeline("en")  # its fingerprint is asked for when a table is loaded
    for pivot in FOUR:
        path = find_resource(KIND, f"en-{pivot}")
        if path is not None:
            seconds_to_load = interleaved(
                {"load": lambda path=path: cpu_seconds(lambda: read_phrase_table(path))}
            )["load"]  # type: ignore[misc]
            print(
                f"loading {path.name}: {seconds_to_load:.3f} s of CPU time, {path.stat().st_size / 1e6:.1f} MB"
            )


if __name__ == "__main__":
    main()
