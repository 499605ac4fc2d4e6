"""The kinds of pieces that the weights of TESLA-N tell apart: by their letters, and by how frequent they are.

Vocabularies list their whole words from frequent to rare, nearly; so their order stands for frequency.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["PIECE_KINDS", "piece_kinds"]

_RANKS = (32, 128, 512, 2048, 8192)
_PUNCTUATION, _NUMBER, _CONTINUATION, _LETTER, _FIRST_RANK = range(5)
PIECE_KINDS = (
    "punctuation", "number", "continuation", "letter", *(f"first {rank}" for rank in _RANKS), "rare",
)  # fmt: skip
"""Marks; pieces with digits; pieces that do not begin a word; single letters; whole words by their rank."""


def piece_kinds(vocabulary: Sequence[str], *, begins: str = "", continues: str = "") -> npt.NDArray[np.uint8]:
    """The kind of each piece. `begins` marks a piece that begins a word, or `continues` one that does not.

    >>> [PIECE_KINDS[k] for k in piece_kinds(["the", "##ing", ",", "1999", "a"], continues="##")]
    ['first 32', 'continuation', 'punctuation', 'number', 'letter']
    """
    kinds = np.full(len(vocabulary), len(PIECE_KINDS) - 1, np.uint8)
    rank = 0
    for number, piece in enumerate(vocabulary):
        marked = continues and len(piece) > len(continues) and piece.startswith(continues)
        inner = bool(marked) or (bool(begins) and not piece.startswith(begins))
        body = piece.removeprefix(begins) if begins else piece[len(continues) :] if marked else piece
        if not any(map(str.isalnum, body)):
            kinds[number] = _PUNCTUATION
        elif any(map(str.isdigit, body)):
            kinds[number] = _NUMBER
        elif inner:
            kinds[number] = _CONTINUATION
        elif len(body) == 1:
            kinds[number] = _LETTER
        elif body.isalpha():
            kinds[number] = _FIRST_RANK + int(np.searchsorted(_RANKS, rank, side="right"))
            rank += 1
    return kinds
