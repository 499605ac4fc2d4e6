"""Which words only hold the others together: closed classes, by universal tag (SPEC §1)."""

from __future__ import annotations

__all__ = ["FUNCTION_TAGS", "is_function_tag"]

FUNCTION_TAGS = frozenset({"ADP", "AUX", "CCONJ", "DET", "PART", "PRON", "SCONJ"})
"""SPEC §1, decision "function words". Numbers and interjections are content."""


def is_function_tag(universal_tag: str) -> bool:
    """Whether words with that universal tag are function words.

    >>> is_function_tag("DET"), is_function_tag("NUM")
    (True, False)
    """
    return universal_tag in FUNCTION_TAGS
