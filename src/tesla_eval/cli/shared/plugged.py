"""What other packages add through entry points; above all commands.

A package adds a command through the entry-point group `tesla_eval.commands`: the entry's name is `NAME` or
`train NAME`, its value a command of click. It is imported when it is asked for.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import click

from tesla_eval.base.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "tesla_eval.commands"


@cache
def plugged(group: str) -> list[tuple[str, EntryPoint]]:
    """The entry points of a group, each with the name of its package, sorted by their own names."""
    from importlib.metadata import entry_points  # takes 20 ms: only when asked for

    points = sorted(entry_points(group=group), key=lambda point: point.name)
    return [(point.dist.name if point.dist is not None else "another package", point) for point in points]


class PluggedGroup(click.Group):
    """A group of commands to which other packages add theirs; they cannot replace one of its own."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of its own commands and of those that were added."""
        start = f"{self.name} "
        names = [point.name for _, point in plugged(ENTRY_POINTS)]
        added = [name.removeprefix(start) for name in names if name.startswith(start)]
        return sorted({*super().list_commands(ctx), *added})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, if there is one."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        return added_command(f"{self.name} {cmd_name}")


def added_commands() -> list[str]:
    """The names of the commands of `tesla` itself that other packages add."""
    return [point.name for _, point in plugged(ENTRY_POINTS) if " " not in point.name]


def added_command(name: str) -> click.Command | None:
    """The command that another package adds under a name, if any."""
    package, point = next((one for one in plugged(ENTRY_POINTS) if one[1].name == name), ("", None))
    if point is None:
        return None
    short = name.rpartition(" ")[2]
    try:
        command = point.load()
    except Exception as error:  # a module of others may raise anything
        return _broken(short, f"`tesla {name}` of {package} cannot be loaded: {error}")
    if not isinstance(command, click.Command):
        return _broken(short, f"`tesla {name}` of {package} is not a command")
    return command


def _broken(name: str, why: str) -> click.Command:
    """A placeholder for a command that failed to load: its help works, and calling it says why it failed."""

    def refuse(arguments: tuple[str, ...]) -> None:
        raise UsageError(why)

    rest = click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED)
    settings = {"ignore_unknown_options": True}
    return click.Command(name, callback=refuse, params=[rest], help=why, context_settings=settings)
