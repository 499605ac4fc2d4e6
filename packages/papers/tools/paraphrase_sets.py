"""Sets of paraphrases that people judged for meaning, as PEM-X learns from them: each with a scale of its own."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import InputError
from tesla_eval.texts.lines import LineReader

__all__ = ["ParaphraseSet", "read_paraphrase_set"]


@dataclass(frozen=True)
class ParaphraseSet:
    """Pairs of texts and what people said of their meaning; higher is nearer, on the set's own scale."""

    name: str
    originals: tuple[str, ...]
    paraphrases: tuple[str, ...]
    meaning: FloatArray
    groups: tuple[str, ...]
    """Pairs of one group share an original."""

    def __len__(self) -> int:
        return len(self.originals)


@dataclass(frozen=True)
class _Layout:
    """The columns of a kind of table."""

    original: str
    paraphrase: str
    meaning: str
    also: tuple[str, ...] = ()
    """More columns that tell this kind from others."""

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.original, self.paraphrase, self.meaning, *self.also)


_LAYOUTS = {
    "ParaBank": _Layout("reference", "candidate", "adequacy_mean", ("adequacy_all", "grammar_all")),
    "ParaScore-Twitter": _Layout("source", "candidate", "score"),
    "MRPC": _Layout("sent1", "sent2", "label"),
    "STS-B": _Layout("sent1", "sent2", "score"),
    "plain": _Layout("original", "paraphrase", "meaning"),
}
_NO_RATING = 0.0
"""ParaBank: where all raters found nonsense, none gave adequacy."""


def read_paraphrase_set(path: str) -> ParaphraseSet:
    """The pairs of a table with a header, separated by tabs: original, paraphrase, meaning, or a known data set."""
    reader = LineReader(path)
    rows = csv.reader(iter(reader), delimiter="\t", quoting=csv.QUOTE_NONE)
    header = next(rows, [])
    layout = _find_layout(path, header)
    place = {name: header.index(name) for name in layout.columns}
    number = _reader_of_numbers(path, reader)
    cells = []
    for row in rows:
        if len(row) != len(header):
            raise InputError(
                f"{path}, line {reader.count}: has {len(row)} columns, but the first line has {len(header)}"
            )
        cells.append(
            (row[place[layout.original]], row[place[layout.paraphrase]], number(row[place[layout.meaning]]))
        )
    if not cells:
        raise InputError(f"{path}: has no pairs")
    originals, paraphrases, meaning = zip(*cells, strict=True)
    return ParaphraseSet(_name(path), originals, paraphrases, np.array(meaning), originals)


def _find_layout(path: str, header: list[str]) -> _Layout:
    for layout in _LAYOUTS.values():
        if set(layout.columns) <= set(header):
            return layout
    raise InputError(
        f"{path}: the first line must name the columns original, paraphrase and meaning, separated by tabs"
    )


def _reader_of_numbers(path: str, reader: LineReader) -> Callable[[str], float]:
    def number(text: str) -> float:
        if not text:
            return _NO_RATING
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise InputError(f"{path}, line {reader.count}: {text!r} is not a number")
        return value

    return number


def _name(path: str) -> str:
    """The file's name without its endings.

    >>> _name("data/mrpc.tsv.gz")
    'mrpc'
    """
    return Path(path).name.partition(".")[0]
