"""Drawing for the terminal: tables, text that cannot take over the screen, progress, warnings."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click

from tesla_eval.parallel import NO_PROGRESS, Progress

__all__ = [
    "aligned",
    "complain",
    "progress",
    "resumable",
    "visible",
    "warn",
    "width",
    "write_lines",
]

_FIRST_STRONG_ISOLATE, _POP_ISOLATE = "\u2068", "\u2069"
_SHOWN_BY_US = f"\t\u200c\u200d{_FIRST_STRONG_ISOLATE}{_POP_ISOLATE}"
_RIGHT_TO_LEFT = frozenset({"R", "AL"})


def visible(text: str) -> str:
    """`text` for a terminal: control and format characters shown, not obeyed; right-to-left words kept in their place.

    >>> visible("a\\x1b[31mb\\u202e")
    'a\\\\x1b[31mb\\\\u202e'
    """
    shown = _without_controls(text, "\u200c\u200d")
    if any(unicodedata.bidirectional(c) in _RIGHT_TO_LEFT for c in shown):
        return f"{_FIRST_STRONG_ISOLATE}{shown}{_POP_ISOLATE}"
    return shown


def _without_controls(text: str, harmless: str) -> str:
    """Control and format characters as escapes, but for the `harmless` ones, such as the joiners that shape letters."""
    return "".join(
        c.encode("unicode_escape").decode("ascii")
        if c not in harmless and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        else c
        for c in text
    )


def _on_terminal() -> bool:
    return sys.stdout.isatty()


def write_lines(lines: Iterable[str]) -> None:
    """Results on standard output: as they are in a file or pipe, with no control character obeyed on a terminal.

    `click.echo` would take out of a text what looks like a colour wherever the output is no terminal.
    """
    shown = _on_terminal()
    for line in lines:
        sys.stdout.write(f"{_without_controls(line, _SHOWN_BY_US) if shown else line}\n")


def width(text: str) -> int:
    """The columns that `text` takes on a terminal."""
    return sum(
        0
        if unicodedata.category(c) in ("Mn", "Me", "Cf")
        else 2
        if unicodedata.east_asian_width(c) in "WF"
        else 1
        for c in text
    )


def aligned(rows: Iterable[Sequence[str]], numeric: Iterable[int] = ()) -> Iterator[str]:
    """The rows as lines with aligned columns; the `numeric` ones to the right.

    >>> list(aligned([("a", "1"), ("bb", "10")], numeric=[1]))
    ['a    1', 'bb  10']
    """
    table = [list(row) for row in rows]
    right = set(numeric)
    widths = [max(map(width, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = [
            " " * (w - width(cell)) + cell if i in right else cell + " " * (w - width(cell))
            for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def warn(message: str) -> None:
    """A warning on standard error."""
    complain(f"warning: {message}")


def complain(message: str) -> None:
    """A message on standard error; names of files in it cannot take over the terminal."""
    for line in message.split("\n"):
        click.echo(f"tesla: {visible(line)}", err=True)


class _Bars:
    """Progress as bars on standard error, one after the other."""

    def __init__(self) -> None:
        self._open = ExitStack()
        self._advance: Callable[[int], None] = NO_PROGRESS.advance

    def stage(self, name: str, total: int | None = None) -> None:
        """Replace the bar of the last stage by a new one."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self.close()
        columns = (TextColumn(name), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
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


@contextmanager
def progress(stage: str | None = None, total: int | None = None) -> Iterator[Progress]:
    """Progress bars on standard error, if that is a terminal; the first one is of `stage`, if it is given."""
    if not sys.stderr.isatty():
        yield NO_PROGRESS
        return
    bars = _Bars()
    try:
        if stage is not None:
            bars.stage(stage, total)
        yield bars
    finally:
        bars.close()


@contextmanager
def resumable(kept_in: Path | str | None) -> Iterator[None]:
    """Tell a user who interrupts long work how to continue; `None` if nothing is kept."""
    try:
        yield
    except (KeyboardInterrupt, click.Abort):
        if kept_in is not None:
            complain(f"finished work is kept in {kept_in}; run the same command again to continue")
        raise
