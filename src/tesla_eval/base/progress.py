"""Progress as bars on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from tesla_eval.base.parallel import NO_PROGRESS, Progress


@contextmanager
def progress_bars(
    stage: str | None = None, total: int | None = None, *, wanted: bool = True
) -> Iterator[Progress]:
    """Progress bars on standard error, if that is a terminal and they are wanted; `stage` names the first one."""
    if not wanted or not sys.stderr.isatty():
        yield NO_PROGRESS
        return
    bars = _Bars()
    try:
        if stage is not None:
            bars.stage(stage, total)
        yield bars
    finally:
        bars.close()


class _Bars:
    """Progress as bars on standard error, one after the other."""

    def __init__(self) -> None:
        self._open = ExitStack()
        self._advance: Callable[[int], None] = NO_PROGRESS.advance

    def stage(self, name: str, total: int | None = None) -> None:
        """Replace the bar of the last stage by a new one."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
        from rich.text import Text

        class _Count(ProgressColumn):
            """How many are done, and of how many where that is known."""

            def render(self, task: Task) -> Text:
                if task.total is None and not task.completed:
                    return Text("")  # a stage that counts nothing, or not yet
                of_all = "" if task.total is None else f"/{int(task.total)}"
                return Text(f"{int(task.completed)}{of_all}", style="progress.download")

        self.close()
        columns = (TextColumn(name), BarColumn(), _Count(), TimeElapsedColumn())
        # Rich would else print on standard error what goes to standard output meanwhile.
        bar = self._open.enter_context(
            Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False)
        )
        task = bar.add_task(name, total=total)
        self._advance = lambda done: bar.advance(task, done)

    def advance(self, done: int) -> None:
        """Move the bar on."""
        self._advance(done)

    def close(self) -> None:
        """Take the bar away."""
        self._open.close()
