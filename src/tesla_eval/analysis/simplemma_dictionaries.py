"""simplemma's dictionaries, looked up in the core: its own loader takes 1.5 s for German, 5 s for Finnish."""

from __future__ import annotations

import lzma
from collections.abc import Mapping
from functools import cache
from typing import cast

from simplemma.strategies.dictionaries.dictionary_factory import (
    DATA_FOLDER,
    DEFAULT_DICTIONARY_FACTORY,
    DictionaryFactory,
)

from tesla_eval._core import FrontCodedDictionary

__all__ = ["CoreDictionaryFactory", "core_dictionary"]


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
