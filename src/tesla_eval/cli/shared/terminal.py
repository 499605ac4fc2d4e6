"""Terminal output: tables, texts without active control characters, progress, warnings."""

from __future__ import annotations

import os
import re
import sys
import unicodedata
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import pairwise
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap
from typing import Any, TypeVar

import click

from tesla_eval.base.errors import TeslaWarning
from tesla_eval.base.parallel import Progress
from tesla_eval.base.progress import progress_bars

Item = TypeVar("Item")

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


def write_lines(lines: Iterable[str], paint: Callable[[str], str] | None = None) -> None:
    """Results on standard output: as they are in a file or pipe, with no control character obeyed on a terminal.

    There, `paint` adds colours, unless the environment variable NO_COLOR is set. `click.echo` would take out of a text
    what looks like a colour wherever the output is no terminal.
    """
    on_terminal = sys.stdout.isatty()
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    coloured = paint if on_terminal and not plain else None
    for line in lines:
        shown = _without_controls(line, _SHOWN_BY_US) if on_terminal else line
        sys.stdout.write(f"{coloured(shown) if coloured is not None else shown}\n")


LINES = {"exact": "═══", "lemma": "═─═", "synonym": "≈≈≈", "vector": "───", "pos": "┄┄┄", "": "···"}
"""How the terminal draws each kind of link (`drawing.picture`), and what has no partner."""
_COLOURS = ("green", "cyan", "magenta", "blue", "yellow", "red")
_LINK_COLOURS = dict(zip(LINES.values(), _COLOURS, strict=True))
_LINK = re.compile("|".join(map(re.escape, _LINK_COLOURS)))


def links_coloured(line: str) -> str:
    """A drawn line with its links in the colours of their kinds, from green for equals to red for no partner."""
    return _LINK.sub(lambda link: click.style(link[0], fg=_LINK_COLOURS[link[0]], bold=True), line)


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


def aligned(
    rows: Iterable[Sequence[str]],
    numeric: Iterable[int] = (),
    keys: int | None = None,
    joined: Collection[int] = (),
) -> Iterator[str]:
    """The rows as lines with aligned columns; the `numeric` ones to the right.

    A table that is too wide for the terminal is cut into several, one below the other, if the first `keys` columns
    tell its rows apart; never before one of the `joined` columns, which belong to the column on their left.

    >>> list(aligned([("a", "1"), ("bb", "10")], numeric=[1]))
    ['a    1', 'bb  10']
    """
    table = [list(row) for row in rows]
    right = set(numeric)
    widths = [max(map(width, column)) for column in zip(*table, strict=True)]
    if (
        keys is not None
        and sys.stdout.isatty()
        and sum(widths, 2 * len(widths)) > get_terminal_size().columns + 2
    ):
        yield from _in_pieces(table, right, keys, joined, get_terminal_size().columns)
        return
    for row in table:
        padded = [(cell, " " * (wide - width(cell))) for cell, wide in zip(row, widths, strict=True)]
        yield "  ".join(
            blank + cell if i in right else cell + blank for i, (cell, blank) in enumerate(padded)
        ).rstrip()


_SHORTEST_NAME, _ROOM_FOR_NUMBERS = 8, 40  # columns of a terminal


def _in_pieces(
    table: list[list[str]], right: set[int], keys: int, joined: Collection[int], room: int
) -> Iterator[str]:
    """Tables that fit into the room, each with the `keys` columns; a last cell that is too long goes on below."""
    longest = max(_SHORTEST_NAME, (room - _ROOM_FOR_NUMBERS) // keys)
    table = [[*(_end_of(cell, longest) for cell in row[:keys]), *row[keys:]] for row in table]
    widths = [max(map(width, column)) for column in zip(*table, strict=True)]
    starts = [column for column in range(keys, len(widths)) if column not in joined]
    pieces: list[list[int]] = []
    for start, end in pairwise([*starts, len(widths)]):
        group = range(start, end)
        if pieces and sum(widths[i] + 2 for i in (*pieces[-1], *group)) <= room + 2:
            pieces[-1] += group
        else:
            pieces.append([*range(keys), *group])
    for number, columns in enumerate(pieces):
        if number:
            yield ""
        spare = max(1, room - sum(widths[i] + 2 for i in columns[:-1]))
        lines = []
        for row in table:
            *cells, last = (row[i] for i in columns)
            first, *rest = wrap(last, spare) if width(last) > spare else [last]
            lines += [[*cells, first], *([*[""] * len(cells), more] for more in rest)]
        yield from aligned(lines, [place for place, i in enumerate(columns) if i in right])


def _end_of(name: str, longest: int) -> str:
    """The end of a name that is too long: paths differ there."""
    if width(name) <= longest:
        return name
    while width(name) >= longest:
        name = name[1:]
    return f"…{name}"


class _Quiet:
    """Whether the user asked for silence (`--quiet`)."""

    wanted = False


def be_quiet(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    """From now on no warnings and no progress bars, if the option says so."""
    _Quiet.wanted = wanted


def warn(message: str) -> None:
    """A warning on standard error, unless the user asked for silence."""
    if not _Quiet.wanted:
        complain(message, "warning")


def show_warnings() -> None:
    """Show the warnings of all packages in the format of the command line."""
    show_others = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *place: Any, **options: Any) -> None:
        if issubclass(category, TeslaWarning):
            warn(str(message))
        else:
            show_others(message, category, *place, **options)

    warnings.simplefilter("always", TeslaWarning)
    warnings.showwarning = show


def note(message: str) -> None:
    """Something to know, on standard error, unless the user asked for silence."""
    if not _Quiet.wanted:
        complain(message, "note")


def complain(message: str, kind: str = "error") -> None:
    """A message on standard error: each line starts with its kind (error, warning, note or hint).

    Names of files in it cannot take over the terminal. A line that starts with `hint: ` keeps that kind.
    """
    for line in message.split("\n"):
        shown = visible(line)
        click.echo(shown if shown.startswith("hint: ") else f"{kind}: {shown}", err=True)


def progress(
    stage: str | None = None, total: int | None = None, *, wanted: bool = True
) -> AbstractContextManager[Progress]:
    """Progress bars on standard error, if that is a terminal and they are wanted; `stage` names the first one."""
    return progress_bars(stage, total, wanted=wanted and not _Quiet.wanted)


def counted(stage: str, items: Iterable[Item], total: int | None = None) -> list[Item]:
    """All items; a bar counts them as they come."""
    with progress(stage, total) as bar:
        kept = []
        for item in items:
            kept.append(item)
            bar.advance(1)
    return kept


@contextmanager
def resumable(kept_in: Path | str | None) -> Iterator[None]:
    """Tell a user who interrupts long work how to continue; `None` if nothing is kept."""
    try:
        yield
    except (KeyboardInterrupt, click.Abort):
        if kept_in is not None:
            complain(f"finished work is kept in {kept_in}; run the same command again to continue", "hint")
        raise
