"""TESLA-X against TESLA-M and sacreBLEU's chrF on the same WMT14 pairs, one thread, cold; and its parts.

python -m benchmarks learned
"""

from __future__ import annotations

from benchmarks.common import interleaved
from benchmarks.throughput import PAIRS, cold

PEERS = ("tesla-m", "chrf", "chrf++")


def main() -> None:
    seconds = interleaved({name: lambda name=name: cold(name, 0) for name in ("tesla-x", *PEERS)})  # type: ignore[misc]
    print(f"{PAIRS} WMT14 pairs, one thread, cold, CPU time, median of 5 interleaved runs")
    for name in PEERS:
        print(f"TESLA-X is {seconds[name] / seconds['tesla-x']:.2f} times as fast as {name}")


if __name__ == "__main__":
    main()
