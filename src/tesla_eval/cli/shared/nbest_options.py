"""The option that says what an n-best list looks like, for the commands that read one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., object])

nbest_format_option: Callable[[Command], Command] = click.option(
    "--nbest-format",
    metavar="FORMAT",
    help="moses, zmert, joshua, marian, fairseq, json or plain:K (K lines per segment).  [default: detected]",
)
