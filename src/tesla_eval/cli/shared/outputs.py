"""The option `-o` of `score` and `compare`: write results to a file that appears only when it is complete."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from tesla_eval.base.errors import UsageError
from tesla_eval.base.files import replacing
from tesla_eval.cli.shared.terminal import write_lines

_STANDARD_OUTPUT = Path("-")
Command = TypeVar("Command", bound=Callable[..., object])

output_option: Callable[[Command], Command] = click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False, writable=True, allow_dash=True), metavar="FILE",
    is_eager=True,
    help="Write the results to FILE instead of standard output. FILE appears only when it is complete.",
)  # fmt: skip
score_output_option: Callable[[Command], Command] = click.option(
    "-o", "--output", type=click.Path(path_type=Path, writable=True, allow_dash=True), metavar="FILE|FOLDER",
    is_eager=True,
    help="Write the results to FILE instead of standard output. FILE appears only when it is complete. If it ends in "
    ".parquet, it gets the rows of a Parquet table with their scores. FOLDER goes with --engine.",
)  # fmt: skip


def check_output(output: Path | None, inputs: Sequence[str], option: str = "--output") -> None:
    """Refuse a file that cannot be written, or that is one of the `inputs`, before any work is done."""
    if output is None or output == _STANDARD_OUTPUT:
        return
    folder = output.resolve().parent
    if not folder.is_dir():
        raise UsageError(f"{option} {output}: there is no folder {folder}")
    if output.is_dir():
        raise UsageError(f"{option} {output}: is a directory; name a file")
    is_device = output.exists() and not output.is_file()  # a pipe, or /dev/null
    if not is_device and not os.access(folder, os.W_OK):
        raise UsageError(f"{option} {output}: the folder {folder} is not writable")
    if output.is_file():
        for name in inputs:
            if Path(name).is_file() and output.samefile(name):
                raise UsageError(f"{option} {output}: is also an input; name another file")


class OutputPath(click.Path):
    """A file to write, whose folder is looked at before any work is done."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, dir_okay=False, writable=True, allow_dash=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path, if it can be written."""
        path = Path(str(super().convert(value, param, ctx)))
        check_output(path, ())
        return path


def write_output(lines: Iterable[str], output: Path | None) -> None:
    """Write `lines` to standard output or to `output`."""
    if output is None or output == _STANDARD_OUTPUT:
        write_lines(lines)
        return
    with (
        replacing(output) as temporary,
        temporary.open("w", encoding="utf-8", newline="\n", errors="backslashreplace") as out,
    ):
        out.writelines(f"{line}\n" for line in lines)
