"""Synonym dictionaries for TESLA-CELAB (specification §9): from the joined text of an n-gram to its categories."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tesla_eval.analysis.senses import load_senses, synonym_file
from tesla_eval.analysis.synonym_formats import read_synonym_sets
from tesla_eval.arrays import Index
from tesla_eval.bags.units import UnitSplitter
from tesla_eval.errors import InputError

__all__ = ["SynonymSets", "SynonymTable", "are_synonyms", "load_synonym_sets"]


class SynonymTable(Protocol):
    """A synonym dictionary: from joined texts of n-grams to the ids of their categories."""

    def lookup(self, lemmas: Sequence[str], /) -> tuple[Index, npt.NDArray[np.int32]]:
        """Offsets and ids: those of text i are `ids[offsets[i] : offsets[i + 1]]`."""


class SynonymSets:
    """A synonym dictionary in memory, made of sets of words; words are compared as units are.

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
            checksum = zlib.crc32("\t".join(keys).encode(), checksum)
            for key in keys:
                self._ids.setdefault(key, []).append(number)
        self.fingerprint = fingerprint or f"{checksum:08x}"
        """What the signature names it by: given, or made of the content."""

    def __len__(self) -> int:
        return len(self._ids)

    def lookup(self, lemmas: Sequence[str], /) -> tuple[Index, npt.NDArray[np.int32]]:
        """Offsets and ids: those of text i are `ids[offsets[i] : offsets[i + 1]]`."""
        none: list[int] = []
        found = [self._ids.get(lemma, none) for lemma in lemmas]
        offsets = np.zeros(len(found) + 1, np.int64)
        np.cumsum([len(ids) for ids in found], out=offsets[1:])
        return offsets, np.array([number for ids in found for number in ids], np.int32)


def are_synonyms(table: SynonymTable | None, a: str, b: str) -> bool:
    """Whether two joined texts share a category.

    >>> are_synonyms(SynonymSets([["伞", "雨伞"]]), "伞", "雨伞"), are_synonyms(None, "伞", "雨伞")
    (True, False)
    """
    if table is None:
        return False
    offsets, ids = table.lookup([a, b])
    return not set(ids[: offsets[1]].tolist()).isdisjoint(ids[offsets[1] :].tolist())


def load_synonym_sets(language: str, wish: str | None, units: UnitSplitter) -> SynonymSets | None:
    """The dictionary that `--synonyms` asks for, or the language's own; `None` if there is none.

    Every code of Cilin is a category here, whatever it ends in (specification §9).
    """
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
        raise InputError(f"{path}: holds no words")
    return sets
