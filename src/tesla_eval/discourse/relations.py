"""The parts of a shallow discourse parse (specification §11): relations with type, sense, connective, two arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

__all__ = [
    "SENSES",
    "TYPES",
    "Relation",
    "RelationType",
    "Sense",
    "Span",
    "TokenIndex",
    "runs",
]

RelationType = Literal["Explicit", "Implicit", "AltLex", "EntRel", "NoRel"]
Sense = Literal["Temporal", "Contingency", "Comparison", "Expansion", "EntRel", "NoRel"]

TYPES: tuple[RelationType, ...] = ("Explicit", "Implicit", "AltLex", "EntRel", "NoRel")
SENSES: tuple[Sense, ...] = ("Temporal", "Contingency", "Comparison", "Expansion")
"""The four senses of level 1; EntRel and NoRel carry their own name (specification §11)."""

_SEPARATORS = frozenset({",", ";", ":", "-", "--", "–", "—"})

TokenIndex = tuple[int, int]
"""(sentence, token of that sentence), both from 0."""
Span = tuple[int, int]
"""[start, end) in characters of the text."""


@dataclass(frozen=True)
class Relation:
    """One relation of a text: its connective and arguments are token indices in text order."""

    type: RelationType
    sense: Sense
    connective: tuple[TokenIndex, ...]
    arg1: tuple[TokenIndex, ...]
    arg2: tuple[TokenIndex, ...]

    @property
    def explicit(self) -> bool:
        """Whether a connective says the relation; all other types are Non-Explicit."""
        return self.type == "Explicit"

    def to_dict(self, text: str, spans: Sequence[Sequence[Span]]) -> dict[str, Any]:
        """The relation as plain data: `spans[sentence][token]` are the characters of each token in `text`.

        Arguments are told without the commas that part them from each other and from the connective.
        """

        def part(indices: tuple[TokenIndex, ...], pieces: list[Span]) -> dict[str, Any]:
            return {
                "text": " … ".join(" ".join(text[start:end].split()) for start, end in pieces),
                "spans": [list(piece) for piece in pieces],
                "sentences": sorted({sentence for sentence, _ in indices}),
            }

        whole = [(spans[s][first][0], spans[s][last][1]) for s, first, last in runs(self.connective)]
        return {
            "type": self.type,
            "sense": self.sense,
            "connective": part(self.connective, whole) if self.connective else None,
            "arg1": part(self.arg1, _argument_pieces(self.arg1, text, spans)),
            "arg2": part(self.arg2, _argument_pieces(self.arg2, text, spans)),
        }


def _argument_pieces(
    indices: tuple[TokenIndex, ...], text: str, spans: Sequence[Sequence[Span]]
) -> list[Span]:
    """Where the unbroken pieces of an argument lie, without separators around them; those without words go."""
    pieces = []
    for sentence, first, last in runs(indices):
        tokens = spans[sentence][first : last + 1]
        words = [span for span in tokens if text[slice(*span)] not in _SEPARATORS] or tokens
        pieces.append((words[0][0], words[-1][1]))
    return [piece for piece in pieces if any(map(str.isalnum, text[slice(*piece)]))] or pieces


def runs(indices: Sequence[TokenIndex]) -> list[tuple[int, int, int]]:
    """Neighbouring tokens joined: (sentence, first, last) of each unbroken piece.

    >>> runs([(0, 1), (0, 2), (0, 5), (1, 0)])
    [(0, 1, 2), (0, 5, 5), (1, 0, 0)]
    """
    found: list[tuple[int, int, int]] = []
    for sentence, token in indices:
        if found and found[-1][0] == sentence and found[-1][2] + 1 == token:
            found[-1] = (sentence, found[-1][1], token)
        else:
            found.append((sentence, token, token))
    return found
