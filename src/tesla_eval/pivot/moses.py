"""Moses' phrase tables in text form (`source ||| target ||| scores ||| alignment ||| counts ||| …`), read as counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from tesla_eval._core import PhraseCounter
from tesla_eval.analysis.pipeline import Pipeline
from tesla_eval.errors import InputError
from tesla_eval.pivot.bitext import TagCounts, lemma_lines, lemma_names
from tesla_eval.textio import LineReader

__all__ = ["MosesPhrase", "count_moses_phrases", "parse_moses_line"]

_LINES_AT_ONCE = 4096
_COUNTS_FIELD = 4
_LARGEST_COUNT = 0xFFFFFFFF


@dataclass(frozen=True)
class MosesPhrase:
    """A phrase pair and how often it was extracted."""

    source: str
    target: str
    count: int


def parse_moses_line(line: str, where: str) -> MosesPhrase:
    """The phrase pair of a line; the joint count is the third number of the fifth field.

    >>> parse_moses_line("bon jour ||| good morning ||| 0.5 0.1 0.5 0.1 ||| 0-0 1-1 ||| 4 4 2 ||| |||", "line 1")
    MosesPhrase(source='bon jour', target='good morning', count=2)
    """
    fields = [field.strip() for field in line.split("|||")]
    if len(fields) <= _COUNTS_FIELD:
        raise InputError(
            f"{where}: has {len(fields)} fields; a Moses phrase table has counts in its fifth field"
        )
    counts = fields[_COUNTS_FIELD].split()
    try:
        count = float(counts[2])
        if not 0 <= count <= _LARGEST_COUNT:
            raise ValueError
    except (IndexError, ValueError):
        raise InputError(
            f"{where}: {fields[_COUNTS_FIELD]!r} are no counts (target, source and joint count of the pair)"
        ) from None
    return MosesPhrase(fields[0], fields[1], round(count))


def count_moses_phrases(
    path: str, pipelines: tuple[Pipeline, Pipeline], counter: PhraseCounter, tags: TagCounts, *, swapped: bool
) -> Iterator[int]:
    """Add the phrases of a table, analysed, to `counter`; yields how many more lines were read.

    `pipelines` are those of the target language and of the pivot; unless `swapped`, the table's source side is the
    target language.
    """
    reader = LineReader(path)
    lines = iter(reader)
    while chunk := list(islice(lines, _LINES_AT_ONCE)):
        first = reader.count - len(chunk) + 1
        pairs = [parse_moses_line(line, f"{reader.name}, line {first + k}") for k, line in enumerate(chunk)]
        sides = [[pair.source for pair in pairs], [pair.target for pair in pairs]]
        if swapped:
            sides.reverse()
        (x,), (y,) = (pipeline.analyse(side) for pipeline, side in zip(pipelines, sides, strict=True))
        names = lemma_names(y)
        tags.add(y, names)
        counts = np.array([pair.count for pair in pairs], np.uint32)
        counter.add_pairs(lemma_lines(x, lemma_names(x)), lemma_lines(y, names), counts)
        yield len(chunk)
