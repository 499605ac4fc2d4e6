"""Unicode NFC with a way back: tokens are found in the composed text, their offsets count the raw one."""

from __future__ import annotations

import unicodedata

import numpy as np
import numpy.typing as npt

from tesla_eval.errors import InputError

__all__ = ["checked", "compose", "not_a_text", "raw_offsets"]


_FIRST_COMBINING = "\u0300"  # whatever comes before it in Unicode composes with nothing in front of it


def not_a_text(error: UnicodeEncodeError) -> InputError:
    """What to raise where the core cannot take a text."""
    return InputError(f"a text holds a lone surrogate, which is no character: {error}")


def checked(text: str) -> str:
    """`text` itself, if the core can take it: an `InputError` if it holds half a character."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise not_a_text(error) from error
    return text


def compose(text: str) -> str:
    """`text` in NFC; the same object where it already is."""
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return text
    return unicodedata.normalize("NFC", text)


def raw_offsets(raw: str) -> npt.NDArray[np.int64]:
    """For every position of the composed text (its end included) the position in `raw` where it begins.

    Characters that compose with each other, or change places, are taken together.

    >>> raw_offsets("re\\u0301sume\\u0301!").tolist()
    [0, 1, 3, 4, 5, 6, 8, 9]
    """
    positions: list[int] = []
    start = 0
    for end in range(1, len(raw) + 1):
        if end < len(raw) and not _boundary(raw[end - 1], raw[end]):
            continue
        cluster = unicodedata.normalize("NFC", raw[start:end])
        # Inside a cluster several composed characters may share the raw ones: each but the first begins where it may.
        positions.extend(min(start + k, end - 1) for k in range(len(cluster)))
        start = end
    positions.append(len(raw))
    return np.array(positions, np.int64)


def _boundary(before: str, after: str) -> bool:
    """Whether NFC can be taken on both sides of this place apart."""
    if after < _FIRST_COMBINING:
        return True
    if unicodedata.combining(after):
        return False
    together = unicodedata.normalize("NFC", before + after)
    return together == unicodedata.normalize("NFC", before) + unicodedata.normalize("NFC", after)
