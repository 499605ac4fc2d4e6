"""Words whose loss or change alters the meaning: negations and numbers, for the languages with word lists.

A negation is a particle (`not`, French `ne`), or a negative word that may stand beside a particle in the same clause
(French `rien`, Czech `nikdo`). In some languages verbs are negated by a prefix.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tesla_eval import _core
from tesla_eval.base.resources import shipped_folder
from tesla_eval.language.analysis.batch import (
    HAS_APOSTROPHE,
    HAS_DIGIT,
    LOWERING,
    AnalysedBatch,
    PerVocabulary,
    Vocabulary,
)
from tesla_eval.language.analysis.conllu import UNIVERSAL_IDS

PARTICLE, NEGATIVE_WORD = _core.PARTICLE, _core.NEGATIVE_WORD
"""The values of `negations`; 0 is any other word."""
_VERB_IDS = [UNIVERSAL_IDS["VERB"], UNIVERSAL_IDS["AUX"]]

_NO_PREFIX = re.compile(
    "nes(?:l[aioy]?|e|e[mšt]|eme|ete|ou|u|a|ė)|nechte|ne(?:ch(?:a|á(?!p)|ť)|náv|guj|gov|utral|rv[uo]).*"
)
"""Verbs of these languages that deny nothing although they begin so: to carry, to let, to hate, to negate."""
_GROUPED = re.compile(r"(?<=\d)[.,'’٬  ](?=\d{3}(?!\d))")
_DECIMAL = re.compile(r"(?<=\d)[,٫](?=\d)")
_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_ENTITIES = ("&amp;", "&apos;", "&gt;", "&lt;", "&nbsp;", "&quot;")
_NUMERIC_ENTITY = re.compile("&#x?[0-9a-f]+;", re.IGNORECASE)
MARKUP = _core.MARKUP
"""The value of `numbers` for `&quot;` and `&#39;`, which some systems write for punctuation."""


def number_text(form: str, language: str = "") -> str:
    """The number in a word, written one way; empty if there is none.

    >>> number_text("1,500"), number_text("1.500th"), number_text("2,5%"), number_text("٣٤"), number_text("cat")
    ('1500', '1500', '2.5', '34', '')
    >>> number_text("12:30"), number_text("12.30"), number_text("12h30")
    ('12.30', '12.30', '12.30')
    >>> number_text("Three", "en"), number_text("three", "de")
    ('3', '')
    """
    if form.isascii() and form.isdigit():  # most numbers
        return form
    if not any(map(str.isdigit, form)):
        return words_of(language).numbers.get(form.lower(), "")
    plain = form if form.isascii() else "".join(str(unicodedata.digit(c)) if c.isdigit() else c for c in form)
    return ".".join(_DIGITS.findall(_DECIMAL.sub(".", _GROUPED.sub("", plain))))


class Words(NamedTuple):
    """The word lists of a language; empty for a language without lists."""

    particles: Sequence[str] = ()
    negative_words: Sequence[str] = ()
    not_before: Sequence[str] = ()
    """Words that a negation before them does not negate: `not only`."""
    verb_prefix: str = ""
    numbers: Mapping[str, str] = {}
    """Each word for a number, with its digits. In Chinese `一` is an article; `20 тысяч` is `20 000`, two words."""


@cache
def words_of(language: str) -> Words:
    """The word lists of `critical-words.json`."""
    lists = _lists().get(language, {})
    return Words(
        lists.get("particles", "").split(),
        lists.get("negative words", "").split(),
        lists.get("not before", "").split(),
        lists.get("verb prefix", ""),
        {form: value for value, forms in lists.get("numbers", {}).items() for form in forms.split()},
    )


@cache
def _lists() -> dict[str, dict[str, Any]]:
    lists: dict[str, dict[str, Any]] = json.loads(
        (shipped_folder() / "critical-words.json").read_text("utf-8")
    )
    return lists


class CriticalWords:
    """Marks the numbers and negations of analysed texts of one language.

    >>> from tesla_eval.language.analysis import load_pipeline
    >>> (batch,) = load_pipeline("en").analyse(["Not only did 3 cats not sleep"])
    >>> words = CriticalWords("en")
    >>> words.negations(batch).tolist(), (words.numbers(batch) > MARKUP).tolist()
    ([0, 0, 0, 0, 0, 1, 0], [False, False, False, True, False, False, False])
    """

    def __init__(self, language: str) -> None:
        words = words_of(language)
        self.knows_negations = bool(words.particles)
        number_ids = {"": 0, "&": MARKUP}
        listed_numbers = dict.fromkeys(_ENTITIES, MARKUP) | {
            word: _id(number, number_ids) for word, number in words.numbers.items()
        }
        listed = {
            **dict.fromkeys(words.not_before, _core.TAKES_BACK),
            **dict.fromkeys(words.negative_words, NEGATIVE_WORD),
            **dict.fromkeys(words.particles, PARTICLE),
        }
        prefix = words.verb_prefix

        def numbers_of(forms: list[str]) -> list[int]:
            return [
                MARKUP
                if form.startswith("&") and _NUMERIC_ENTITY.fullmatch(form)
                else _id(number_text(form, language), number_ids)
                for form in forms
            ]

        def negations_of(forms: list[str]) -> list[int]:
            return [_negation(form.lower(), prefix) for form in forms]

        contracts = HAS_APOSTROPHE if language == "en" else 0

        numbers = _core.WordMarks(listed_numbers, HAS_DIGIT, "", numbers_of)
        negations = _core.WordMarks(listed, contracts, prefix, negations_of)

        def made(vocabulary: Vocabulary) -> _core.CriticalWords:
            return _core.CriticalWords(
                vocabulary.lexicon, LOWERING, numbers, negations, self.knows_negations, _VERB_IDS
            )

        self.core = PerVocabulary(made)

    def numbers(self, batch: AnalysedBatch) -> npt.NDArray[np.uint32]:
        """For every token the id of the number that it is, `MARKUP`, or 0. Ids hold for this object only."""
        return self.core[batch.vocabulary].numbers(batch.core)

    def negations(self, batch: AnalysedBatch) -> npt.NDArray[np.uint8]:
        """For every token `PARTICLE`, `NEGATIVE_WORD` or 0."""
        return self.core[batch.vocabulary].negations(batch.core)


def _id(number: str, ids: dict[str, int]) -> int:
    return ids.setdefault(number, len(ids))


def _negation(word: str, prefix: str) -> int:
    """What a word is that is not listed: a contraction of `not`, or a verb with a prefix if it is tagged as a verb."""
    if not prefix:
        return PARTICLE * word.endswith(("n't", "n’t"))
    return 0 if len(word) < len(prefix) + 2 or _NO_PREFIX.fullmatch(word) else _core.NEGATED_VERB
