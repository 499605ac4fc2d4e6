"""One warning with the count of the empty references and outputs that are scored (specification §5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tesla_eval.base.errors import warn
from tesla_eval.metrics.scoring import Chunk
from tesla_eval.metrics.segments import blank_places

_REFERENCES = "references"


class EmptyTexts:
    """Counts empty references and outputs; a segment's reference is empty if all of its references are missing.

    `unit` is what holds a segment, for the message.

    >>> empty = EmptyTexts()
    >>> empty.add(Chunk([["a", ""]], [["the a", "the b"]]))
    >>> empty.message
    'empty texts are scored as texts without words: 1 of 2 outputs (first: segment 2)'
    """

    def __init__(self, systems: Sequence[str] = ("",), unit: str = "segment") -> None:
        self._systems = [f"outputs of {name}" if name else "outputs" for name in systems]
        self._unit = unit
        self._segments = 0
        self._counts: dict[str, tuple[int, int]] = {}
        """By kind of text how many are empty, and the number of the first of these."""

    def watch(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """The chunks as they pass by."""
        for chunk in chunks:
            self.add(chunk)
            yield chunk

    def add(self, chunk: Chunk) -> None:
        """Take in more segments."""
        for stream in chunk.present[:1]:  # among several references, the rule keeps a blank one only here
            self._note(_REFERENCES, [place for place in blank_places(stream) if stream[place] is not None])
        for system, texts in zip(self._systems, chunk.systems, strict=True):
            self._note(system, blank_places(texts))
        self._segments += chunk.segments

    def _note(self, kind: str, places: Sequence[int]) -> None:
        if places:
            count, first = self._counts.get(kind, (0, self._segments + places[0] + 1))
            self._counts[kind] = count + len(places), first

    @property
    def message(self) -> str:
        """The warning; empty if no text is."""
        parts = [
            f"{count} of {self._segments} {kind} (first: {self._unit} {first})"
            for kind in (_REFERENCES, *self._systems)
            for count, first in ([self._counts[kind]] if kind in self._counts else [])
        ]
        return f"empty texts are scored as texts without words: {', '.join(parts)}" if parts else ""

    def warn(self) -> None:
        """Warn, if any text is empty."""
        if self._counts:
            warn(self.message)
