"""Bitext to phrase tables, and phrase tables to look words up in (specification §6)."""

from tesla_eval.pivot.table import PhraseTable, installed_pivots, load_phrase_table, read_phrase_table

__all__ = ["PhraseTable", "installed_pivots", "load_phrase_table", "read_phrase_table"]
