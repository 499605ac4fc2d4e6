"""The dictionary form of a word: the language's own table first, then simplemma, then the word itself.

A lemma depends on the word form alone, so it is computed once per word type and the same in every text. It is
lower-cased and its apostrophes are straight. What that means for English:

- the parts of contractions get the word they stand for: n't → not, 'll → will, ca → can, wo → will; 's stays
  's, because the form does not say whether it is a possessive, `is` or `has`;
- pronouns lose their case: me → i, him → he, them → they; possessives stay (my, his, her). The country
  US → us is kept apart from the pronoun us → we.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

__all__ = ["Lemmatiser"]

_SIMPLEMMA_CODES = {"no": "nb", "hr": "hbs", "sr": "hbs"}
_LONGEST_WORD = 100  # code points; no dictionary knows longer ones, and hostile input must not cost time
_STRAIGHTEN = str.maketrans("\u2019\u02bc", "''")


class Lemmatiser:
    """Lemmas of one language.

    >>> Lemmatiser("en").lemmas(["Children", "did", "n’t", "sleep", "."])
    ['child', 'do', 'not', 'sleep', '.']
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self._simplemma = _simplemma(_SIMPLEMMA_CODES.get(language, language))

    @property
    def name(self) -> str:
        """What makes the lemmas, with its version: part of an analysis's fingerprint."""
        if self._simplemma is None:
            return "none"
        import simplemma

        return f"simplemma-{simplemma.__version__}"

    def lemmas(self, words: Sequence[str]) -> list[str]:
        """The lemma of each word."""
        return [self._lemma(word.translate(_STRAIGHTEN)) for word in words]

    def _lemma(self, word: str) -> str:
        if self._simplemma is None or len(word) > _LONGEST_WORD:
            return word.lower()
        return (self._simplemma(word) or word).lower()


def _simplemma(code: str) -> Callable[[str], str | None] | None:
    """simplemma's look-up for that language, without its cache: callers ask once per word type."""
    from simplemma.strategies import DefaultStrategy
    from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

    if code not in SUPPORTED_LANGUAGES:
        return None
    strategy = DefaultStrategy()
    return lambda word: strategy.get_lemma(word, code)
