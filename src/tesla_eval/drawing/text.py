"""Text in pictures: escaped, and with an estimated width."""

from __future__ import annotations

import unicodedata
from html import escape

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
