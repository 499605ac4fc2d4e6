"""The Porter stemmer (Porter 1980) for English: `relational` and `relate` become `relat`.

The core has it, and the variant that ROUGE uses.
"""

from __future__ import annotations

from tesla_eval import _core


def porter_stem(word: str) -> str:
    """The stem of a lower-cased English word; anything else than ASCII letters is left as it is.

    >>> [porter_stem(word) for word in ("caresses", "ponies", "hopping", "relational", "adjustable", "controlling")]
    ['caress', 'poni', 'hop', 'relat', 'adjust', 'control']
    """
    return _core.porter_stem(word, nltk=False) if word.isascii() and word.isalpha() else word


class PorterStems:
    """Stems in the place of English lemmas (specification §13).

    >>> PorterStems().full_lemma("Adjustable")
    'adjust'
    """

    name = "porter"
    plain = None
    """The core has no table of stems."""

    def full_lemma(self, word: str) -> str:
        """The stem of a word as it is written."""
        return porter_stem(word.lower())
