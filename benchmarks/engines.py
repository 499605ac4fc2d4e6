"""TESLA-M over a Parquet file: our own threads and DuckDB, each with two workers, in processes of their own.

python -m benchmarks engines               100,000 segments; ENGINE_SEGMENTS=2000000 for more, ENGINE_ROUNDS=3
make bench-engines                         the same in an environment that has the engines

CPU time is that of all processes that an engine starts. Memory is the largest sum of their proportional set sizes.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from benchmarks.common import wmt14_pairs

SEGMENTS = int(os.environ.get("ENGINE_SEGMENTS", "100000"))
ROUNDS = int(os.environ.get("ENGINE_ROUNDS", "1"))
WORKERS = 2
_SUBREAPER = (
    36  # PR_SET_CHILD_SUBREAPER: processes that outlive their parents become ours, so that they are counted
)
_SECONDS_PER_TICK = 1 / os.sysconf("SC_CLK_TCK")

DUCKDB = """
import sys, duckdb
from tesla_eval.connect.duckdb import register
data, output, threads = sys.argv[1:]
connection = duckdb.connect()
connection.execute(f"SET threads = {threads}")
register(connection, "m", "en")
connection.execute(f"COPY (SELECT id, tesla_m(mt, ref) AS \\"tesla-m\\" FROM '{data}') TO '{output}' (FORMAT parquet)")
"""


@dataclass
class Usage:
    """CPU seconds of all processes below this one, and their memory, as they are seen now and then."""

    seconds: dict[tuple[int, str], float] = field(default_factory=dict)
    peak: float = 0.0

    def look(self, *, memory: bool) -> None:
        total = 0.0
        for pid in _descendants():
            try:
                stat = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
                self.seconds[pid, stat[19]] = (int(stat[11]) + int(stat[12])) * _SECONDS_PER_TICK
                if memory:
                    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
                    total += sum(int(x.split()[1]) for x in rollup.splitlines() if x.startswith("Pss:"))
            except (OSError, IndexError):  # it has ended
                continue
        self.peak = max(self.peak, total / 1024)

    @property
    def cpu(self) -> float:
        return sum(self.seconds.values())


def _descendants() -> list[int]:
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(") ")[2].split()[1])
            except (OSError, IndexError):
                continue
            parents.setdefault(parent, []).append(int(entry.name))
    found, waiting = [], [os.getpid()]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


def watch(command: list[str], usage: Usage) -> None:
    """Run a command and look at its processes until it ends."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        looks = 0
        while process.poll() is None:
            usage.look(memory=looks % 10 == 0)
            looks += 1
            time.sleep(0.1)
    if process.returncode:
        raise SystemExit(f"{' '.join(command[:6])} ... failed")


def write_segments(path: Path, count: int) -> None:
    """Real pairs over and over; a number keeps them different from each other."""
    import pyarrow
    from pyarrow import parquet

    pairs = wmt14_pairs(5_000)
    schema = pyarrow.schema([("id", pyarrow.int64()), ("mt", pyarrow.string()), ("ref", pyarrow.string())])
    with parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, count, 100_000):
            ids = range(start, min(count, start + 100_000))
            sides = [[f"{pairs[i % len(pairs)][side]} {i}" for i in ids] for side in (0, 1)]
            table = pyarrow.table(
                [pyarrow.array(ids, pyarrow.int64()), *map(pyarrow.array, sides)], schema=schema
            )
            writer.write_table(table)


def own_threads(data: Path, output: Path) -> Usage:
    usage = Usage()
    tesla = [sys.executable, "-m", "tesla_eval.cli", "score", str(data), "-l", "en", "-m", "m", "--quiet"]
    watch([*tesla, "-j", str(WORKERS), "-o", str(output)], usage)
    return usage


def with_duckdb(data: Path, output: Path) -> Usage:
    usage = Usage()
    watch([sys.executable, "-c", DUCKDB, str(data), str(output), str(WORKERS)], usage)
    return usage


def scores_of(path: Path) -> list[object]:
    """The ids and scores, without what else a file says of its columns."""
    from pyarrow import dataset

    return dataset.dataset(str(path)).to_table(columns=["id", "tesla-m"]).sort_by("id").columns


def main() -> None:
    if not sys.platform.startswith("linux"):
        raise SystemExit("this benchmark reads /proc")
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    engines: dict[str, Callable[[Path, Path], Usage]] = {"own threads": own_threads}
    for module, name, run in (("duckdb", "DuckDB", with_duckdb),):
        if find_spec(module) is None:
            print(f"{name} is not installed here: make bench-engines")
        else:
            engines[name] = run
    chosen = os.environ.get("ENGINES")
    engines = {name: run for name, run in engines.items() if chosen is None or name in chosen}
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.parquet"
        write_segments(data, SEGMENTS)
        print(f"{SEGMENTS:,} segments, TESLA-M, {WORKERS} workers, CPU time, median of {ROUNDS} rounds")
        print(
            f"{'engine':<14}{'CPU s':>9}{'us/segment':>12}{'own threads':>13}{'peak MB':>9}{'same bits':>11}"
        )
        seconds: dict[str, list[float]] = {name: [] for name in engines}
        peaks: dict[str, float] = dict.fromkeys(engines, 0.0)
        same: dict[str, bool] = dict.fromkeys(engines, True)
        first = None
        for number in range(ROUNDS):
            for name, run in engines.items():
                output = Path(folder) / f"{name}-{number}.parquet"
                usage = run(data, output)
                seconds[name].append(usage.cpu)
                peaks[name] = max(peaks[name], usage.peak)
                scores = scores_of(output)
                first = first or scores
                same[name] &= scores == first
        for name, found in seconds.items():
            ratio = median(mine / own for mine, own in zip(found, next(iter(seconds.values())), strict=True))
            cost = median(found)
            print(
                f"{name:<14}{cost:>9.1f}{cost / SEGMENTS * 1e6:>12.1f}{ratio:>12.3f}x{peaks[name]:>9.0f}"
                f"{'yes' if same[name] else 'NO':>11}"
            )


if __name__ == "__main__":
    main()
