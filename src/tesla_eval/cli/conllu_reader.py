"""CoNLL-U files as `tesla score --analysed` reads them: one sentence a segment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from tesla_eval.analysis.conllu import parse_conllu
from tesla_eval.textio import LineReader

__all__ = ["ConlluReader"]


class ConlluReader(LineReader):
    """The sentences of a file, each still as text; a sentence of comments only is an empty segment.

    Each sentence is checked here, where file and line are known.
    """

    unit: ClassVar[str] = "sentence"

    def __iter__(self) -> Iterator[str]:
        block: list[str] = []
        sentences = lines = 0
        for line in super().__iter__():
            lines += 1
            if line:
                block.append(line)
            elif block:
                sentences += 1
                yield self._checked(block, lines - len(block))
                block = []
        if block:
            sentences += 1
            yield self._checked(block, lines - len(block) + 1)
        self.count = sentences  # not lines

    def _checked(self, block: list[str], first_line: int) -> str:
        if not all(line.startswith("#") for line in block):
            for _ in parse_conllu(block, self.name, first_line):
                pass
        return "\n".join(block)
