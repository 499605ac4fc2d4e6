"""Bags of character n-grams (SPEC §8b): the raw text in NFC, without white space."""

from __future__ import annotations

from collections.abc import Sequence

from tesla_eval._core import CharacterBags
from tesla_eval.analysis.normalise import compose, not_a_text

__all__ = ["LONGEST_CHARACTER_NGRAM", "build_character_bags"]

LONGEST_CHARACTER_NGRAM = 6
"""SPEC §8b: n-grams of one to six characters."""


def build_character_bags(texts: Sequence[str]) -> CharacterBags:
    """The character n-grams of every text.

    >>> len(build_character_bags(["A text.", "Another."]))
    2
    """
    try:
        return CharacterBags([compose(text) for text in texts])
    except UnicodeEncodeError as error:
        raise not_a_text(error) from error
