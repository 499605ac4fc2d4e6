"""Text to tokens: which rules and which segmenter the core cuts a language's text by."""

from __future__ import annotations

from functools import cache

from tesla_eval._core import Tokeniser
from tesla_eval.analysis.languages import UNDETERMINED, resolve_language
from tesla_eval.analysis.normalise import checked, compose
from tesla_eval.analysis.segmenters import load_segmenter

__all__ = ["Tokeniser", "load_tokeniser", "tokenise"]


@cache
def load_tokeniser(language: str) -> Tokeniser:
    """The tokeniser of a language; one without rules of its own gets those common to all."""
    code = resolve_language(language)
    rules = code if code in Tokeniser.languages() else UNDETERMINED.code
    found = load_segmenter(code)
    return Tokeniser(rules, found[0] if found else None)


def tokenise(text: str, language: str = "en") -> list[str]:
    """The tokens of `text`, brought to NFC first.

    >>> tokenise("Mr. Dent can't pay $1,000 for long-term care...")
    ['Mr.', 'Dent', 'ca', "n't", 'pay', '$', '1,000', 'for', 'long', '-', 'term', 'care', '...']
    >>> tokenise("我们在2024年去了北京。", "zh")
    ['我们', '在', '2024', '年', '去', '了', '北京', '。']
    """
    composed = compose(checked(text))
    return [composed[start:end] for start, end in load_tokeniser(language).spans(composed)]
