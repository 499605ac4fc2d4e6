"""Tokens of a text, for tests of the tokenisers."""

from __future__ import annotations

from tesla_eval.language.analysis.tokenisers import checked, compose, load_tokeniser

__all__ = ["tokenise"]


def tokenise(text: str, language: str = "en") -> list[str]:
    """The tokens of `text`, brought to NFC first."""
    composed = compose(checked(text))
    return [composed[start:end] for start, end in load_tokeniser(language).spans(composed)]
