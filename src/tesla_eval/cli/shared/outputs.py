"""Where results go: `-o`, a file that appears only when it is complete; cells of LaTeX, Markdown and CSV tables."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, TypeVar

import click

from tesla_eval.base.errors import UsageError
from tesla_eval.base.files import replacing
from tesla_eval.cli.shared.terminal import write_lines
from tesla_eval.metrics.registry import BUILT_IN, metric_key
from tesla_eval.texts.lines import is_number

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
    help="Write the results to FILE instead of standard output. FILE appears only when it is complete. If the "
    "input is a table and FILE ends in .parquet (of Parquet), .csv or .tsv, it gets the rows of the table with their "
    "scores.",
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


class _OutputPath(click.Path):
    """A file to write, whose folder is looked at before any work is done."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path, if it can be written."""
        path = Path(str(super().convert(value, param, ctx)))
        check_output(path, ())
        return path


OUTPUT_PATH = _OutputPath(path_type=Path, dir_okay=False, writable=True, allow_dash=True)


def model_option(file: str, reader: str, *, required: bool = True) -> Callable[[Command], Command]:
    """`-o` of a command that learns a model, which `reader` finds under the name of `file`."""
    return click.option(
        "-o", "--output", required=required, type=OUTPUT_PATH,
        help=f"File for the model. {reader} finds it as {file} in your data folder.",
    )  # fmt: skip


def resource_option(file: str) -> Callable[[Command], Command]:
    """`-o` of a command that builds a resource, by default under the name of `file` where it is found."""
    return click.option(
        "-o", "--output", type=click.Path(path_type=Path, dir_okay=False),
        help=f"Where it goes.  [default: {file} among your own resources ($TESLA_EVAL_DATA or the platform's data "
        "folder), where it is found]",
    )  # fmt: skip


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


_LATEX_ESCAPES = str.maketrans(
    {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {character: "\\" + character for character in "&%$#_{}"}
)
_SPACES = re.compile(r"[\t\n\r]")
_PROPER = {"chrf": "chrF", "maxsim": "MaxSim", "rougelsum": "ROUGE-Lsum"}


def latex_escaped(text: str) -> str:
    """`text` with the characters escaped that mean something to LaTeX."""
    return text.translate(_LATEX_ESCAPES)


def proper_name(metric: str) -> str:
    """A metric as papers write it; metrics of other packages keep their names.

    >>> [proper_name(name) for name in ("tesla-m", "bleu:tok=intl", "chrf++", "rouge2", "tesla-s-recall", "own")]
    ['TESLA-M', 'BLEU (tok=intl)', 'chrF++', 'ROUGE-2', 'TESLA-S recall', 'own']
    """
    name, _, options = metric.partition(":")
    if metric_key(name) in BUILT_IN:
        stem, dash, rest = name.partition("-recall")
        plain = stem.rstrip("+")
        proper = _PROPER.get(plain, plain.upper().replace("ROUGE", "ROUGE-"))
        name = proper + stem[len(plain) :] + (" recall" + rest if dash else "")
    return f"{name} ({options})" if options else name


def latex_table(metrics: Iterable[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A row per system, its name first, with a column per metric; cells are LaTeX already."""
    names = [latex_escaped(proper_name(metric)) for metric in metrics]
    yield f"\\begin{{tabular}}{{l{'r' * len(names)}}}"
    yield "\\toprule"
    yield " & ".join(["System", *names]) + r" \\"
    yield "\\midrule"
    for system, *cells in rows:
        yield " & ".join([latex_escaped(system), *cells]) + r" \\"
    yield "\\bottomrule"
    yield "\\end{tabular}"


def markdown_table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows as a table of Markdown; the first is the head, and all columns but the first are numbers."""
    head, *body = ([cell.replace("|", "\\|") for cell in row] for row in rows)
    yield f"| {' | '.join(head)} |"
    yield f"|---|{'--:|' * (len(head) - 1)}"
    yield from (f"| {' | '.join(row)} |" for row in body)


def tsv_lines(rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Rows with tabs between the cells; in a cell, white space such as a tab is a space."""
    return ("\t".join(_SPACES.sub(" ", str(cell)) for cell in row) for row in rows)


def csv_lines(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Rows as CSV, quoted as RFC 4180 says; spreadsheets must not take a text for a formula."""
    for row in rows:
        line = StringIO()
        csv.writer(line, lineterminator="").writerow(map(_cell, row))
        yield line.getvalue()


def _cell(text: str) -> str:
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") and not is_number(text) else text
