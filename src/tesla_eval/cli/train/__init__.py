"""`tesla train`: models, tables and weights from your own data."""

from __future__ import annotations

import click

from tesla_eval.cli.shared.plugged import PluggedGroup
from tesla_eval.cli.train.language import language, tagger
from tesla_eval.cli.train.lm import lm
from tesla_eval.cli.train.phrase_table import phrase_table
from tesla_eval.cli.train.vectors import vectors
from tesla_eval.cli.train.weights import f, x


@click.group(cls=PluggedGroup)
def train() -> None:
    """Train models, tables and weights from your own data."""


for _command in (tagger, language, phrase_table, lm, vectors, x, f):
    train.add_command(_command)
