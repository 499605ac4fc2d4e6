"""Text in pictures: escaped, with an estimated width, and with its direction."""

from __future__ import annotations

import unicodedata
from html import escape

__all__ = ["escaped", "estimated_width", "is_right_to_left", "printable", "shortened"]

_JOINERS = "\u200c\u200d"
_NARROW = frozenset("iljftrI.,:;'!|()[]/ ")
_WIDE = frozenset("mwMWOQG@%")


def printable(text: str) -> str:
    """`text` without what XML cannot hold and without characters that could reorder the page.

    >>> printable("a\\x00b\\u202ec")
    'a\\ufffdb\\ufffdc'
    """
    return "".join(c if c.isprintable() or c in _JOINERS else "\ufffd" for c in text)


def escaped(text: str) -> str:
    """`text` for the content or an attribute of HTML or SVG.

    >>> escaped('</script><b title="x">')
    '&lt;/script&gt;&lt;b title=&quot;x&quot;&gt;'
    """
    return escape(printable(text), quote=True)


def estimated_width(text: str, size: float) -> float:
    """About how wide `text` is in a sans-serif font of so many pixels; a little more rather than less.

    >>> estimated_width("雨伞", 10) > estimated_width("in", 10)
    True
    """
    return size * sum(map(_share, text))


def _share(character: str) -> float:
    """The width of a character as a share of the font size."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05 if character < "\U0001f000" else 1.35  # emoji are wider than ideographs
    if character in _NARROW:
        return 0.33
    if character in _WIDE:
        return 0.9
    return 0.7 if character.isupper() else 0.58


def is_right_to_left(text: str) -> bool:
    """Whether most letters of `text` are written from right to left.

    >>> is_right_to_left("ذهبت إلى IBM"), is_right_to_left("IBM went")
    (True, False)
    """
    kinds = [unicodedata.bidirectional(c) for c in text]
    return kinds.count("R") + kinds.count("AL") > kinds.count("L")


def shortened(text: str, most: int) -> str:
    """`text` with its middle left out if it is longer than `most`; no combining mark loses its letter.

    >>> shortened("abcdefghij", 7)
    'abc…hij'
    """
    if len(text) <= most:
        return text
    head, tail = text[: (most - 1) // 2], text[len(text) - (most - 1) // 2 :]
    while tail and unicodedata.category(tail[0]) in ("Mn", "Me", "Mc", "Cf"):
        tail = tail[1:]
    return f"{head}…{tail}"
