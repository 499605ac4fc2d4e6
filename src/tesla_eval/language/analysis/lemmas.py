"""The dictionary form of a word: from the language's table, else from simplemma, else by rules for word ends."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING

from tesla_eval._core import PlainLemmas
from tesla_eval.base.resources import Resource, find_resource, interpreting, read_resource

if TYPE_CHECKING:
    from tesla_eval.language.analysis.simplemma import Simplemma

KIND = "lemmas"
LONGEST_SUFFIX = 5
"""Code points of a word's end that a rule may ask for."""

_SIMPLEMMA_CODES = {"no": "nb", "hr": "hbs", "sr": "hbs"}
_NOT_IN_SIMPLEMMA = frozenset({"af", "be", "ja", "ko", "mt", "th", "und", "vi", "zh"})
_INFLECTED_NUMBERS = frozenset({"ko"})
_LONGEST_WORD = 100  # code points; no dictionary knows longer ones, and hostile input must not cost time
_APOSTROPHES = dict.fromkeys(map(ord, "\u2018\u2019\u02bc"), "'")
_ARABIC_SIGNS = dict.fromkeys([0x0640, *range(0x064B, 0x0660), 0x0670])
_HEBREW_POINTS = dict.fromkeys([*range(0x0591, 0x05BE), 0x05BF, 0x05C1, 0x05C2, 0x05C4, 0x05C5, 0x05C7])
_FOLDED = {
    language: {**_APOSTROPHES, **signs}
    for language, signs in (("ar", _ARABIC_SIGNS), ("fa", _ARABIC_SIGNS), ("he", _HEBREW_POINTS))
}


class Lemmatiser:
    """Lemmas of one language; `table` takes the place of the installed table.

    >>> Lemmatiser("en").lemmas(["Children", "did", "n’t", "sleep", "."])
    ['child', 'do', 'not', 'sleep', '.']
    """

    def __init__(self, language: str, table: Resource | None = None) -> None:
        self.language = language
        path = find_resource(KIND, language) if table is None else None
        self._resource = table if path is None else read_resource(path, KIND)
        self._forms = _edits(self._resource, "form")
        self._suffixes = _edits(self._resource, "suffix")
        asked = self._resource is None or self._resource.info.get("simplemma", True)
        self._simplemma: Simplemma | None = None
        if asked and language not in _NOT_IN_SIMPLEMMA:
            from tesla_eval.language.analysis.simplemma import Simplemma  # saves 5 ms where it is not needed

            self._simplemma = Simplemma.of(_SIMPLEMMA_CODES.get(language, language))
        names = [
            self._resource.fingerprint if self._resource else "",
            self._simplemma.name if self._simplemma else "",
        ]
        self.name = "+".join(filter(None, names)) or "none"
        """The lemmatiser and its version, for the fingerprint of the analysis."""

    @cached_property
    def plain(self) -> PlainLemmas:
        """The lemmas that need no more than tables, a dictionary and the rules for word ends, found in the core."""
        dictionary, open_ends, english = self._simplemma.in_core if self._simplemma else (None, (), False)
        return PlainLemmas(
            list(self._forms), list(self._forms.values()), list(self._suffixes), list(self._suffixes.values()),
            dictionary, open_ends, self.language not in _INFLECTED_NUMBERS, english,
        )  # fmt: skip

    def lemmas(self, words: Sequence[str]) -> list[str]:
        """The lemma of each word; the core is asked first, which is four times as fast."""
        plain = self.plain.lookup(words)
        return [lemma or self.full_lemma(word) for word, lemma in zip(words, plain, strict=True)]

    def knows(self, word: str) -> bool:
        """Whether the word is in simplemma's dictionary, as it is or in lower case."""
        return self._simplemma is not None and self._simplemma.knows(word)

    def full_lemma(self, word: str) -> str:
        """The lemma of a word by all the steps, from the table to the rules."""
        word = normalise_form(word, self.language)
        lower = word.lower()
        if len(word) > _LONGEST_WORD or is_number(word, self.language):
            return lower
        edit = self._forms.get(word) or self._forms.get(lower)
        if edit is None and self._simplemma is not None:
            lemma = self._simplemma.lemma(word)
            if lemma is not None:
                return normalise_form(lemma, self.language).lower()
        return apply_edit(lower, edit or self._rule(lower))

    def _rule(self, word: str) -> str | None:
        """The edit for the longest end of the word that has one; the end is never the whole word."""
        if self._suffixes:
            for start in range(max(1, len(word) - LONGEST_SUFFIX), len(word) + 1):
                if edit := self._suffixes.get(word[start:]):
                    return edit
        return None


@cache
def load_lemmatiser(language: str) -> Lemmatiser:
    """The lemmatiser of a language, made once per process."""
    return Lemmatiser(language)


def normalise_form(word: str, language: str) -> str:
    """`word` as tables hold it: straight apostrophes, no vowel signs of Arabic and Hebrew; case is kept."""
    return word.translate(_FOLDED.get(language, _APOSTROPHES))


def is_number(word: str, language: str) -> bool:
    """Whether a word holds a digit and so is its own lemma; Korean particles follow numbers as they follow words."""
    return language not in _INFLECTED_NUMBERS and any(map(str.isdigit, word))


def edit_between(word: str, lemma: str) -> str:
    """How to turn `word` into `lemma`: one character for how many to take off its end, then what to add.

    >>> edit_between("houses", "house"), edit_between("went", "go"), edit_between("be", "be")
    ('1', '4go', '0')
    """
    common = 0
    while common < min(len(word), len(lemma)) and word[common] == lemma[common]:
        common += 1
    return chr(ord("0") + len(word) - common) + lemma[common:]


def apply_edit(word: str, edit: str | None) -> str:
    """`word` after the edit, itself without one.

    >>> apply_edit("cities", "3y"), apply_edit("went", "4go"), apply_edit("be", None)
    ('city', 'go', 'be')
    """
    if edit is None:
        return word
    return word[: max(0, len(word) - (ord(edit[0]) - ord("0")))] + edit[1:]


def _edits(resource: Resource | None, name: str) -> dict[str, str]:
    """The edits of a table, stored as two arrays of lines; no lines are one empty line."""
    if resource is None:
        return {}
    with interpreting(resource):
        keys, edits = (resource.text(f"{name}_{part}").split("\n") for part in ("keys", "edits"))
        if edits == keys == [""]:
            return {}
        if not all(edits):
            raise ValueError("an edit is empty")
        return dict(zip(keys, edits, strict=True))
