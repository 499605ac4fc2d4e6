"""simplemma's dictionaries, looked up in the core: its own loader takes 1.5 s for German, 5 s for Finnish."""

from __future__ import annotations

import lzma
from collections.abc import Mapping
from functools import cache
from typing import cast

from simplemma.strategies.affix_decomposition import AFFIX_LANGS
from simplemma.strategies.clitic_decomposition import CLITIC_LANGS
from simplemma.strategies.defaultprefixes import DEFAULT_KNOWN_PREFIXES
from simplemma.strategies.defaultrules import RULE_FUNCTIONS
from simplemma.strategies.defaultrules.en import ENGLISH_IES_ENDING, ENGLISH_S_ENDING
from simplemma.strategies.dictionaries.dictionary_factory import (
    DATA_FOLDER,
    DEFAULT_DICTIONARY_FACTORY,
    DictionaryFactory,
)
from simplemma.strategies.morpheme_decomposition import MORPHEME_LANGS

from tesla_eval._core import FrontCodedDictionary

__all__ = ["CoreDictionaryFactory", "core_dictionary", "ends_of_unknown_words"]


class CoreDictionaryFactory(DictionaryFactory):
    """Dictionaries of which only what is asked for is decoded; another format than ours is left to simplemma."""

    def get_dictionary(self, lang: str) -> Mapping[str, str]:
        """The dictionary of a language, read once a process."""
        found = core_dictionary(lang)
        if found is None:
            return DEFAULT_DICTIONARY_FACTORY.get_dictionary(lang)
        return cast("Mapping[str, str]", found)  # strategies of simplemma only ever call `get`


@cache
def core_dictionary(code: str) -> FrontCodedDictionary | None:
    """The dictionary of a language in the core, `None` where simplemma stores it in another way."""
    try:
        return FrontCodedDictionary(lzma.decompress((DATA_FOLDER / f"{code}.plzma").read_bytes()))
    except (OSError, ValueError, lzma.LZMAError):
        return None


_ENDS_WITH_RULES = {"en": (*ENGLISH_IES_ENDING, *ENGLISH_S_ENDING, "ized", "erves")}
"""What simplemma's rules for a language look at."""


def ends_of_unknown_words(code: str) -> tuple[str, ...] | None:
    """The ends of words of letters that simplemma may change though they are not in its dictionary.

    `None` where it does more with such words than to apply rules for their ends.

    >>> ends_of_unknown_words("fr"), ends_of_unknown_words("de")
    ((), None)
    """
    taken_apart = code in AFFIX_LANGS or code in MORPHEME_LANGS or code in DEFAULT_KNOWN_PREFIXES
    if taken_apart or any(map(str.isalpha, CLITIC_LANGS.get(code, ()))):
        return None
    return _ENDS_WITH_RULES.get(code) if code in RULE_FUNCTIONS else ()
