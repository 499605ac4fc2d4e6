"""What the tests of the engines share: a table, its scores by one process, and processes to be killed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

from tesla_eval.connect.batches import BatchScorer, metrics_by_name
from tesla_eval.connect.parquet import score_parquet
from tesla_eval.texts.tables import Columns
from tests.conftest import shipped_pairs

ROOT = Path(__file__).resolve().parents[2]
PLAIN = Columns(hyp=("mt",), ref=("ref",))


def write_pairs(path: Path, count: int, *, row_group: int, first: int = 0) -> None:
    """Rows with ids, no two alike."""
    import pyarrow
    from pyarrow import parquet

    pairs = shipped_pairs("en")
    ids = range(first, first + count)
    sides = [[f"{pairs[i % len(pairs)][side]} {i}" for i in ids] for side in (0, 1)]
    table = pyarrow.table({"id": ids, "mt": sides[0], "ref": sides[1]})
    parquet.write_table(table, path, row_group_size=row_group)


def own_scores(*paths: Path) -> Any:
    """Ids and scores by one process and one thread."""
    import pyarrow
    from pyarrow import parquet

    scorer = BatchScorer(metrics_by_name("m", "en"), PLAIN)
    tables = []
    for path in paths:
        output = path.with_suffix(".own")
        score_parquet(str(path), output, scorer)
        tables.append(parquet.read_table(output))
    return pyarrow.concat_tables(tables)


def same_rows(found: Any, expected: Any) -> bool:
    """Whether ids and scores are the same to the last bit, whatever the order of rows."""
    found, expected = found.sort_by("id"), expected.sort_by("id")
    return found["id"].equals(expected["id"]) and found["tesla-m"].equals(expected["tesla-m"])


def processes_below(pid: int) -> dict[int, tuple[int, str, float]]:
    """Processes that a process started, directly or not: their parent, name and CPU seconds."""
    known: dict[int, tuple[int, str, float]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text().rpartition(") ")[2].split()
                name = (entry / "cmdline").read_text().replace("\0", " ").strip()
            except OSError:  # it has ended
                continue
            seconds = (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
            known[int(entry.name)] = int(stat[1]), name, seconds
    below = {pid}
    while more := {child for child, (parent, *_) in known.items() if parent in below} - below:
        below |= more
    return {child: known[child] for child in below - {pid} if child in known}


class Killer:
    """Kills one process as soon as `choose` names it, while the body of the `with` statement runs."""

    def __init__(self, choose: Callable[[], int | None]) -> None:
        self._choose = choose
        self._stop = False
        self.killed: int | None = None

    def __enter__(self) -> Killer:
        self._thread = Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop = True
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop:
            pid = self._choose()
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
                self.killed = pid
                return
            time.sleep(0.02)
