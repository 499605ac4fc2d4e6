"""What the benchmarks share: real pairs, and CPU time measured in interleaved runs."""

from __future__ import annotations

import gzip
import statistics
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def wmt14_pairs(count: int) -> list[tuple[str, str]]:
    """`count` real (hypothesis, reference) pairs of WMT14 into English, spread over the file."""
    path = SHARED_DATA / "wmt" / "wmt14-rr.seg.tsv.gz"
    if not path.exists():
        raise SystemExit(f"{path} is needed for this benchmark")
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        next(lines)
        rows = [line.rstrip("\n").split("\t")[5:7] for line in islice(lines, 0, None, 27)]
    return [(hypothesis, reference) for hypothesis, reference in rows[:count]]


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU time of this process for `work`."""
    start = time.process_time()
    work()
    return time.process_time() - start


def wall_seconds(work: Callable[[], object]) -> float:
    """Elapsed time for `work`."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def rounds_of(works: dict[str, Callable[[], float]], rounds: int = 5) -> dict[str, list[float]]:
    """What each work measures of itself, round by round; they take turns, so that noise hits all alike."""
    found: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            found[name].append(work())
    return found


def interleaved(works: dict[str, Callable[[], float]], rounds: int = 5) -> dict[str, float]:
    """The median over `rounds` of what each work measures of itself."""
    return {name: statistics.median(values) for name, values in rounds_of(works, rounds).items()}


def ratio(numerators: list[float], denominators: list[float]) -> str:
    """The median of the ratios within a round, and the lowest and highest of them."""
    ratios = sorted(a / b for a, b in zip(numerators, denominators, strict=True))
    return f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
