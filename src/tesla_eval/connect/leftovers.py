"""Ends the processes of a local cluster when the command that started it has ended, even if it was killed.

A separate process does this; it waits until a pipe from the command closes. Only Linux shows the environment of
other processes, by which those of the cluster are known; elsewhere Ray's own clean-up has to do.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

_MARK = "TESLA_EVAL_CLUSTER"
_SECONDS = 0.2  # between two looks: less than an interpreter takes to start


@contextmanager
def no_leftovers() -> Iterator[None]:
    """Processes that are started inside end with this process at the latest."""
    if sys.platform != "linux":
        yield
        return
    mark = uuid4().hex
    command = [sys.executable, "-m", __name__, mark]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True):  # waits for it at the end
        os.environ[_MARK] = mark
        try:
            yield
        finally:
            del os.environ[_MARK]


class _Watch:
    """The processes of a cluster, known by the mark in their environment.

    Some of them overwrite it when they give themselves a name, so each is looked at soon after its start.
    """

    def __init__(self, mark: str) -> None:
        self._entry = f"{_MARK}={mark}".encode()
        self._others: set[str] = set()
        self._started: dict[str, str] = {}

    def look(self) -> None:
        """Take note of new processes."""
        present = {folder.name for folder in Path("/proc").glob("[0-9]*")}
        self._others &= present
        for pid in present - self._others - self._started.keys():
            try:
                marked = self._entry in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            except OSError:  # has ended, or is another user's
                continue
            if marked:
                self._started[pid] = _start(pid)
            else:
                self._others.add(pid)

    def end(self) -> bool:
        """Kill the processes that are still alive; return whether there were any."""
        alive = [pid for pid, start in self._started.items() if start and _start(pid) == start]
        for pid in alive:
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                continue
        return bool(alive)


def _start(pid: str) -> str:
    """When a process was started: a number that is used again has another time. Empty if it has ended."""
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return ""
    return "" if state == "Z" else fields[18]


def _main(mark: str) -> None:
    watch = _Watch(mark)
    while not select.select([sys.stdin], [], [], _SECONDS)[
        0
    ]:  # nothing is ever written: it ends with the command
        watch.look()
    watch.look()
    while watch.end():
        time.sleep(0.1)
        watch.look()


if __name__ == "__main__":
    _main(sys.argv[1])
