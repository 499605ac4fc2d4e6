"""Texts as units with their synonyms (specification §9): what TESLA-CELAB matches."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import Index
from tesla_eval.base.errors import InputError
from tesla_eval.base.records import Unit
from tesla_eval.language.analysis.compounds import load_compound_splitter
from tesla_eval.language.analysis.languages import UNDETERMINED, resolve_language
from tesla_eval.language.analysis.pipeline import NO_SYNONYMS
from tesla_eval.language.analysis.senses import NONE, load_senses, synonym_file
from tesla_eval.language.analysis.synonym_formats import read_synonym_sets
from tesla_eval.matching.bags.units import UnitSplitter


class SynonymSets:
    """A synonym dictionary: from joined texts of n-grams to the sets that hold them; words are compared as units are.

    >>> SynonymSets([["伞", "雨伞"], ["Straße", "Weg"]]).lookup(["雨伞", "strasse"])[1].tolist()
    [0, 1]
    """

    def __init__(
        self,
        sets: Iterable[Iterable[str]],
        joined_key: Callable[[str], str] | None = None,
        fingerprint: str | None = None,
    ) -> None:
        key_of = joined_key or UnitSplitter().joined_key
        self._ids: dict[str, list[int]] = {}
        checksum = 0
        for number, words in enumerate(sets):
            keys = dict.fromkeys(map(key_of, words))
            checksum = zlib.crc32("\t".join([*keys, "\n"]).encode(), checksum)
            for key in keys:
                self._ids.setdefault(key, []).append(number)
        self.fingerprint = fingerprint or f"{checksum:08x}"
        """What the signature names it by: given, or made of the content."""

    def __len__(self) -> int:
        return len(self._ids)

    def lookup(self, lemmas: Sequence[str], /) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """Offsets and ids: those of text i are `ids[offsets[i] : offsets[i + 1]]`."""
        none: list[int] = []
        sets = [self._ids.get(lemma, none) for lemma in lemmas]
        offsets = np.cumsum([0, *map(len, sets)], dtype=np.int64)
        return offsets, np.array([number for ids in sets for number in ids], np.int32)


@cache
def load_synonym_sets(language: str, wish: str | None, *, pre_tokenized: bool) -> SynonymSets | None:
    """The dictionary that the option `synonyms` asks for, or the language's own; `None` if there is none.

    Every code of Cilin is a category here, whatever it ends in (specification §9).
    """
    units = UnitSplitter(load_compound_splitter(language), pre_tokenized=pre_tokenized)
    if wish is None:
        table = load_senses(language)
        if table is None:
            return None
        return SynonymSets(table.sets(), units.joined_key, table.resource.fingerprint)
    path = synonym_file(wish, language)
    if path is None:
        return None
    sets = SynonymSets(read_synonym_sets(path, every_category=True), units.joined_key)
    if not len(sets):
        raise InputError(f"{path}: contains no words")
    return sets


@dataclass(frozen=True)
class UnitBatch:
    """Texts as lists of unit keys, in the place of an analysed batch of words."""

    texts: tuple[str, ...]
    keys: tuple[list[str], ...]
    splitter: UnitSplitter

    @cached_property
    def lengths(self) -> Index:
        """The number of units of each text."""
        return np.array([len(keys) for keys in self.keys], np.int64)

    @cached_property
    def has_empty_text(self) -> bool:
        """Whether some text has no unit."""
        return not all(self.keys)

    def tokens(self, index: int) -> list[Unit]:
        """The units of one text as records."""
        return self.splitter.split(self.texts[index])


class UnitAnalysis:
    """Cuts texts into units (specification §9), in the place of an analysis into words."""

    tagged = False

    def __init__(self, lang: str, synonyms: str | None, *, pre_tokenized: bool) -> None:
        self.language = resolve_language(lang)
        self._pre_tokenized = pre_tokenized
        self._compounds = None if pre_tokenized else load_compound_splitter(self.language)
        self._asked_for_none = synonyms == NONE
        self.splitter = UnitSplitter(self._compounds, pre_tokenized=pre_tokenized)
        self.synonyms = load_synonym_sets(self.language, synonyms, pre_tokenized=pre_tokenized)

    @property
    def signature(self) -> dict[str, str]:
        """The entries in a metric's signature that identify this cutting into units."""
        return {
            "lang": self.language,
            **({} if self._compounds is None else {"compounds": self._compounds.fingerprint}),
            "senses": "none" if self.synonyms is None else self.synonyms.fingerprint,
            **({"units": "pre-tokenized"} if self._pre_tokenized else {}),
        }

    @property
    def shortcomings(self) -> list[str]:
        """What this language lacks, for a warning."""
        missing = self.synonyms is None and not self._asked_for_none and self.language != UNDETERMINED.code
        return [NO_SYNONYMS] if missing else []

    def analyse(self, *groups: Sequence[str]) -> list[Any]:
        """One batch for each group of texts."""
        return [
            UnitBatch(tuple(texts), tuple(map(self.splitter.keys, texts)), self.splitter) for texts in groups
        ]
