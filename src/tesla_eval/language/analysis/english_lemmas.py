"""What simplemma does with English words, step by step, without importing it.

Importing simplemma takes 45 ms, most of it for the rules of other languages. A test compares both on many words.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Protocol

__all__ = ["EnglishSteps"]

_APOSTROPHES = "'’ʼ"
_FOLDED = str.maketrans("’ʼ", "''")
_CLITICS = ("n't", "'re", "'ve", "'ll", "'m", "'s", "'d")
_MOST_CLITICS = 2
_IRREGULAR = frozenset({"can't", "won't", "shan't"})
_HYPHEN = re.compile("([-_])")
_SHORTEST_IN_CIES = 8
_LOSE_LAST_LETTER = ("doms", "isms", "ists", "ments", "nces", "ships", "tions", "ums", "ized", "erves")


class Lookup(Protocol):
    """A dictionary from forms to lemmas."""

    def get(self, form: str) -> str | None:
        """The lemma of a form, `None` if it is not listed."""


class EnglishSteps:
    """The steps from a word to its lemma; each is tried where those before it find nothing.

    >>> steps = EnglishSteps({"worker": "worker", "do": "do"})
    >>> steps.lemma("co-worker"), steps.lemma("Do’s"), steps.lemma("crematized"), steps.lemma("blorb")
    ('co-worker', 'do', 'crematize', None)
    """

    def __init__(self, dictionary: Lookup) -> None:
        self._dictionary = dictionary

    def lemma(self, word: str) -> str | None:
        """The lemma of a word, `None` if no step knows it."""
        if word.isnumeric():
            return word
        return self._listed(word) or self._without_clitics(word) or self._hyphenated(word) or _by_ending(word)

    def _listed(self, word: str) -> str | None:
        """What the dictionary says of the word, in either case and with any apostrophe."""
        for variant in _variants(word):
            for form in (variant, variant.lower() if variant[:1].isupper() else variant.capitalize()):
                if (lemma := self._dictionary.get(form)) is not None:
                    return lemma
        return None

    def _without_clitics(self, word: str) -> str | None:
        stem = word.translate(_FOLDED)
        if stem.lower() in _IRREGULAR:
            return None
        for _ in range(_MOST_CLITICS):
            clitic = next((end for end in _CLITICS if stem.endswith(end) and len(stem) > len(end)), None)
            if clitic is None:
                return None
            stem = stem.removesuffix(clitic)
            plain = _without_accents(stem)
            lemma = self._listed(stem)
            if lemma is None and plain != stem:
                lemma = self._listed(plain)
            if lemma is not None:
                return lemma
        return None

    def _hyphenated(self, word: str) -> str | None:
        """The lemma of the word without its hyphens, else the word with the lemma of its last part."""
        *first, last = _HYPHEN.split(word)
        if not first or not last:
            return None
        joined = "".join([part for part in (*first, last) if part not in ("-", "_")]).lower()
        whole = self._listed(joined.capitalize() if word[0].isupper() else joined)
        if whole is not None:
            return whole
        end = self._listed(last)
        return None if end is None else "".join([*first, end])


def _variants(word: str) -> tuple[str, ...]:
    """The word, then the same with each kind of apostrophe."""
    straight = word.translate(_FOLDED)
    if "'" not in straight:
        return (word,)
    return tuple(dict.fromkeys((word, *(straight.replace("'", sign) for sign in _APOSTROPHES))))


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    letters = [c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c)]
    return unicodedata.normalize("NFC", "".join(letters))


def _by_ending(word: str) -> str | None:
    if len(word) >= _SHORTEST_IN_CIES and word.endswith("cies"):
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith(_LOSE_LAST_LETTER) else None
