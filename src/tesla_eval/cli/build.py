"""`tesla build`: make one's own models and tables."""

from __future__ import annotations

import click

from tesla_eval.cli.build_discourse import discourse
from tesla_eval.cli.build_language import language
from tesla_eval.cli.build_lm import lm
from tesla_eval.cli.build_phrase_table import phrase_table
from tesla_eval.cli.build_tagger import tagger

__all__ = ["build"]


@click.group()
def build() -> None:
    """Build models and tables from your own data."""


build.add_command(discourse)
build.add_command(language)
build.add_command(lm)
build.add_command(phrase_table)
build.add_command(tagger)
