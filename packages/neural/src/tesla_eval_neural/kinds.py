"""The kinds of pieces that the weights of TESLA-N tell apart: marks, single letters, and all others by their rank.

Vocabularies list their pieces from frequent to rare, nearly; so their order stands for frequency.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["PIECE_INFORMATION", "PIECE_KINDS", "PIECE_WEIGHTS", "piece_kinds"]

_BANDS = 18
"""Of ranks; each has twice as many as the one before, and the last has all others."""
_PUNCTUATION, _LETTER, _FIRST_BAND = range(3)
PIECE_KINDS = ("punctuation", "letter", *(f"rank {1 << band}" for band in range(_BANDS)))
"""Marks; single letters and digits; other pieces by their rank, each kind named after its first rank."""
PIECE_INFORMATION = (1.0, 4.5, *(band + 1.5 for band in range(_BANDS)))
"""About 1 + log2(rank): how much a piece of each kind tells. Weights learned from judgements rank no better."""
PIECE_WEIGHTS = tuple(round(64 * share / max(PIECE_INFORMATION)) for share in PIECE_INFORMATION)
"""The same in 64ths of the largest (specification §8b)."""
_SPECIAL = (("[", "]"), ("<", ">"))


def piece_kinds(vocabulary: Sequence[str], *, begins: str = "", continues: str = "") -> npt.NDArray[np.uint8]:
    """The kind of each piece. `begins` marks a piece that begins a word, or `continues` one that does not.

    >>> [PIECE_KINDS[k] for k in piece_kinds(["[PAD]", ",", "a", "the", "of", "##ing", "1999"], continues="##")]
    ['punctuation', 'punctuation', 'letter', 'rank 1', 'rank 2', 'rank 2', 'rank 4']
    """
    kinds = np.zeros(len(vocabulary), np.uint8)
    rank = 0
    for number, piece in enumerate(vocabulary):
        marked = continues and len(piece) > len(continues) and piece.startswith(continues)
        inner = bool(marked) or (bool(begins) and not piece.startswith(begins))
        body = piece.removeprefix(begins) if begins else piece[len(continues) :] if marked else piece
        special = len(body) > 1 and (body[0], body[-1]) in _SPECIAL
        if special or not any(map(str.isalnum, body)):
            kinds[number] = _PUNCTUATION
        elif len(body) == 1 and not inner:
            kinds[number] = _LETTER
        else:
            rank += 1
            kinds[number] = _FIRST_BAND + min(rank.bit_length(), _BANDS) - 1
    return kinds
