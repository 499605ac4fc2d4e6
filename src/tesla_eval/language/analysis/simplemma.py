"""simplemma for the lemmatiser: the core reads its dictionaries; its own rules handle all other words.

Importing simplemma takes 35 ms. It is not imported until a word needs one of its strategies. In English that is only a
word with an accent and an apostrophe or hyphen, or one that is not listed and begins with an accented small letter.
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tesla_eval._core import FrontCodedDictionary

if TYPE_CHECKING:
    from simplemma.strategies import DefaultStrategy

_VERSION = re.compile(r"""^__version__ = ["']([^"']+)["']$""", re.MULTILINE)
_SIGNS = re.compile(r"[^\w\u2019-]+")
"""Words of signs alone, which only the dictionary can know; simplemma strips hyphens and curly apostrophes."""
_DICTIONARY = "strategies/dictionaries/data/{}.plzma"
_KNOWN_VERSION = "2.0.0"
_KNOWN_ENDS: dict[str, tuple[str, ...]] = {
    "en": ("cies", "doms", "isms", "ists", "ments", "nces", "ships", "tions", "ums", "ized", "erves"),
    **dict.fromkeys(("cy", "fa", "fr", "ga", "hbs", "hi"), ()),
}
"""The result of `ends_that_rules_look_at` for this version, for the languages that have one."""


@dataclass
class Simplemma:
    """simplemma for one language, without its cache: callers ask once per word type."""

    _code: str
    name: str
    """What it is, with its version."""

    @classmethod
    def of(cls, code: str) -> Simplemma | None:
        """simplemma for the language that it calls so, `None` if it has no such language."""
        folder, version = _installed()
        return cls(code, f"simplemma-{version}") if (folder / _DICTIONARY.format(code)).exists() else None

    @property
    def in_core(self) -> tuple[FrontCodedDictionary | None, tuple[str, ...] | None, bool]:
        """The dictionary, the ends of words that simplemma may change though they are not in it, and whether the core
        takes all its steps for English.
        """
        dictionary = core_dictionary(self._code)
        english = self._code == "en" and _installed()[1] == _KNOWN_VERSION
        ends = () if english else ends_of_unknown_words(self._code)
        return dictionary, None if dictionary is None else ends, english

    def lemma(self, word: str) -> str | None:
        """simplemma's lemma of the word; `None` if it has none."""
        if _SIGNS.fullmatch(word) and (dictionary := core_dictionary(self._code)) is not None:
            return dictionary.get(word)
        return self._strategy.get_lemma(word, self._code)

    def knows(self, word: str) -> bool:
        """Whether the word is in its dictionary, as it is or in lower case."""
        return any(self._strategy.is_dictionary_member(form, self._code) for form in (word, word.lower()))

    @cached_property
    def _strategy(self) -> DefaultStrategy:
        from simplemma.strategies import DefaultStrategy
        from simplemma.strategies.dictionaries.dictionary_factory import (
            DEFAULT_DICTIONARY_FACTORY,
            DictionaryFactory,
        )

        class CoreDictionaryFactory(DictionaryFactory):
            """Dictionaries that decode only the entries asked for; simplemma reads those in another format."""

            def get_dictionary(self, lang: str) -> Mapping[str, str]:
                """The dictionary of a language, read once per process."""
                dictionary = core_dictionary(lang)
                if dictionary is None:
                    return DEFAULT_DICTIONARY_FACTORY.get_dictionary(lang)
                return cast("Mapping[str, str]", dictionary)  # strategies of simplemma only ever call `get`

        return DefaultStrategy(dictionary_factory=CoreDictionaryFactory())


@cache
def core_dictionary(code: str) -> FrontCodedDictionary | None:
    """The dictionary of a language in the core, `None` where simplemma stores it in another way."""
    try:
        return FrontCodedDictionary(
            lzma.decompress((_installed()[0] / _DICTIONARY.format(code)).read_bytes())
        )
    except (OSError, ValueError, lzma.LZMAError):
        return None


def ends_of_unknown_words(code: str) -> tuple[str, ...] | None:
    """The ends of words of letters that simplemma may change though they are not in its dictionary.

    `None` where it does more with such words than to apply rules for their ends.

    >>> ends_of_unknown_words("fr"), ends_of_unknown_words("de")
    ((), None)
    """
    return _KNOWN_ENDS.get(code) if _installed()[1] == _KNOWN_VERSION else ends_that_rules_look_at(code)


def ends_that_rules_look_at(code: str) -> tuple[str, ...] | None:
    """`ends_of_unknown_words` as the installed simplemma's own lists have it."""
    from simplemma.strategies.affix_decomposition import AFFIX_LANGS
    from simplemma.strategies.clitic_decomposition import CLITIC_LANGS
    from simplemma.strategies.defaultprefixes import DEFAULT_KNOWN_PREFIXES
    from simplemma.strategies.defaultrules import RULE_FUNCTIONS
    from simplemma.strategies.defaultrules.en import ENGLISH_IES_ENDING, ENGLISH_S_ENDING
    from simplemma.strategies.morpheme_decomposition import MORPHEME_LANGS

    taken_apart = code in AFFIX_LANGS or code in MORPHEME_LANGS or code in DEFAULT_KNOWN_PREFIXES
    if taken_apart or any(map(str.isalpha, CLITIC_LANGS.get(code, ()))):
        return None
    with_rules = {"en": (*ENGLISH_IES_ENDING, *ENGLISH_S_ENDING, "ized", "erves")}
    return with_rules.get(code) if code in RULE_FUNCTIONS else ()


@cache
def _installed() -> tuple[Path, str]:
    """Where simplemma is, and its version, read from its file; importing it takes 35 ms."""
    spec = find_spec("simplemma")
    assert spec is not None and spec.origin is not None  # a dependency of the package
    folder = Path(spec.origin).parent
    stated = _VERSION.search((folder / "__metadata__.py").read_text(encoding="utf-8"))
    if stated:
        return folder, stated[1]
    from simplemma import __version__

    return folder, __version__
