"""Why two n-grams are linked (SPEC §9): the cut of both into parts that are equal or synonyms, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

__all__ = ["Part", "cut_link"]


class Part(NamedTuple):
    """One part of a link: its units on both sides, and whether they are equal (else they are synonyms)."""

    reference: tuple[int, int]
    hypothesis: tuple[int, int]
    equal: bool

    def to_dict(self) -> dict[str, object]:
        """The part as plain data."""
        return {"reference": list(self.reference), "hypothesis": list(self.hypothesis), "equal": self.equal}


class _Cut(NamedTuple):
    """A way to cut the rest of both n-grams: compared by equal units, then by the number of parts."""

    equal_units: int
    pieces: int
    parts: tuple[Part, ...]


def cut_link(
    reference: Sequence[str],
    hypothesis: Sequence[str],
    spans: tuple[int, int, int, int],
    synonymous: Callable[[str, str], bool],
) -> tuple[Part, ...]:
    """The finest cut of a linked pair of n-grams, with as many equal units as possible.

    >>> cut = cut_link("买雨伞", "买伞", (0, 3, 0, 2), lambda a, b: {a, b} == {"雨伞", "伞"})
    >>> [(part.reference, part.hypothesis, part.equal) for part in cut]
    [((0, 1), (0, 1), True), ((1, 3), (1, 2), False)]
    """
    a, b, c, d = spans
    best: dict[tuple[int, int], _Cut] = {(b, d): _Cut(0, 0, ())}
    for i in range(b - 1, a - 1, -1):
        for j in range(d - 1, c - 1, -1):
            for m in range(i + 1, b + 1):
                for n in range(j + 1, d + 1):
                    rest = best.get((m, n))
                    if rest is None:
                        continue
                    x, y = "".join(reference[i:m]), "".join(hypothesis[j:n])
                    equal = x == y
                    if not (equal or synonymous(x, y)):
                        continue
                    cut = _Cut(
                        rest.equal_units + (m - i if equal else 0),
                        rest.pieces + 1,
                        (Part((i, m), (j, n), equal), *rest.parts),
                    )
                    if (i, j) not in best or cut[:2] > best[i, j][:2]:
                        best[i, j] = cut
    return best[a, c].parts
