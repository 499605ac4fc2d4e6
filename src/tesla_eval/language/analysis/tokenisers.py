"""Text to tokens: NFC with a way back to the raw text, segmenters for scripts without spaces, tokeniser rules."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np

from tesla_eval._core import Segmenter, Tokeniser
from tesla_eval.base.arrays import Index
from tesla_eval.base.errors import InputError
from tesla_eval.base.resources import Kind, Resource, from_byte_planes, interpreting
from tesla_eval.language.analysis.languages import UNDETERMINED, resolve_language

_FIRST_COMBINING = "\u0300"  # whatever comes before it in Unicode composes with nothing in front of it


def not_a_text(error: UnicodeEncodeError) -> InputError:
    """The error for a text that the core cannot take."""
    return InputError(f"a text contains half a character (a lone surrogate): {error}")


def checked(text: str) -> str:
    """`text` itself, if the core can take it: an `InputError` if it contains half a character."""
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


def compose_all(texts: Iterable[str]) -> list[str]:
    """Texts in NFC. Most texts are ASCII, and a call for each of them would cost more than the test."""
    return [text if text.isascii() else compose(text) for text in texts]


_SERBIAN = dict(zip("абвгдђежзијклмнопрстћуфхцчш", "abvgdđežzijklmnoprstćufhcčš", strict=True)) | {
    "љ": "lj",
    "њ": "nj",
    "џ": "dž",
}
_LATIN_LETTERS = str.maketrans(_SERBIAN | {c.upper(): latin.capitalize() for c, latin in _SERBIAN.items()})
LATIN_LETTERS = frozenset({"sr"})
"""The languages whose Cyrillic letters are read as Latin ones: texts in either script match (specification §8b)."""


def compose_in_latin_letters(text: str) -> str:
    """Serbian text in NFC, with Latin letters in place of Cyrillic ones.

    >>> compose_in_latin_letters("Љубав и џез, Nis")
    'Ljubav i džez, Nis'
    """
    return compose(text).translate(_LATIN_LETTERS)


def raw_offsets(raw: str, in_latin: bool = False) -> Index:
    """For every position of the composed text (its end included) the position in `raw` where it begins.

    Characters that compose with each other, or change places, are taken together. `in_latin`: the composed text was
    then written in Latin letters.

    >>> raw_offsets("re\\u0301sume\\u0301!").tolist(), raw_offsets("љуб", in_latin=True).tolist()
    ([0, 1, 3, 4, 5, 6, 8, 9], [0, 0, 1, 2, 3])
    """
    positions: list[int] = []
    start = 0
    for end in range(1, len(raw) + 1):
        if end < len(raw) and not _boundary(raw[end - 1], raw[end]):
            continue
        cluster = unicodedata.normalize("NFC", raw[start:end])
        if in_latin:
            cluster = compose_in_latin_letters(cluster)
        # Inside a cluster several composed characters may share the raw ones: each but the first begins where it may.
        positions.extend(min(start + k, end - 1) for k in range(len(cluster)))
        start = end
    positions.append(len(raw))
    return np.array(positions, np.int64)


def spans_of_words(text: str, words: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Where words stand in the text that was cut into them, with or without blanks between.

    >>> list(spans_of_words("a bc d", ["a", "b", "c", "d"]))
    [(0, 1), (2, 3), (3, 4), (5, 6)]
    """
    end = 0
    for word in words:
        start = text.index(word, end)
        end = start + len(word)
        yield start, end


def _boundary(before: str, after: str) -> bool:
    """Whether the texts before and after this place can be normalised to NFC separately."""
    if after < _FIRST_COMBINING:
        return True
    if unicodedata.combining(after):
        return False
    together = unicodedata.normalize("NFC", before + after)
    return together == unicodedata.normalize("NFC", before) + unicodedata.normalize("NFC", after)


KIND = "segmenter"
WIDE_ARRAYS = frozenset({"feature_deltas", "word_deltas", "variants"})
"""Those of 32-bit numbers, which are stored as byte planes."""


def make_segmenter(resource: Resource) -> Segmenter:
    """The segmenter that a resource holds; raises `ResourceError` if its arrays make none."""
    with interpreting(resource, KIND):
        arrays: dict[str, Any] = {
            name: from_byte_planes(array) if name in WIDE_ARRAYS else array
            for name, array in resource.arrays.items()
        }
        return Segmenter(**arrays)


@cache
def load_segmenter(language: str) -> tuple[Segmenter, Resource] | None:
    """The installed segmenter of a language and where it comes from, `None` if it has none."""
    return Kind(KIND, lambda resource: (make_segmenter(resource), resource)).load(language)


def segmenter_signature(language: str) -> dict[str, str]:
    """What a signature says of the way a language is cut into words: its segmenter, if it has one."""
    segmenter = load_segmenter(language)
    return {} if segmenter is None else {"segmenter": segmenter[1].fingerprint}


@cache
def load_tokeniser(language: str) -> Tokeniser:
    """The tokeniser of a language; one without rules of its own gets those common to all."""
    code = resolve_language(language)
    rules = code if code in Tokeniser.languages() else UNDETERMINED.code
    segmenter = load_segmenter(code)
    return Tokeniser(rules, segmenter[0] if segmenter else None)
