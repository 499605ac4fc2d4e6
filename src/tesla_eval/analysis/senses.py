"""Which words are synonyms: a memory-mapped table from lemma to the ids of its synonym sets (SPEC §1).

The table is a sorted array of the lemmas' CRC-32 checksums and, row by row beside it, their bytes and their
ids. Nothing is built when it is loaded. A look-up is one binary search over integers and one comparison of
bytes, so that equal checksums of different words (`plumless` and `buckeroo`) do no harm.
"""

from __future__ import annotations

import unicodedata
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval._core import SenseIndex
from tesla_eval.errors import ResourceError
from tesla_eval.resources import Resource, find_resource, read_resource

__all__ = ["SenseTable", "load_senses", "sense_key"]

KIND = "senses"
_LONGEST_LEMMA = 255  # bytes; the length is stored in one


class SenseTable:
    """The synonym sets of one language.

    >>> table = SenseTable.from_sets([["car", "auto"], ["car", "railcar"], ["alone"]], "en")
    >>> table.senses("car"), table.senses("auto"), table.senses("alone")
    ((0, 1), (0,), ())
    """

    def __init__(self, resource: Resource) -> None:
        self.resource = resource
        arrays = resource.arrays
        self._keys: npt.NDArray[np.uint32] = arrays["keys"]
        self._ids = arrays["ids"]
        self._text = arrays["lemmas"].data
        self._text_ends = _ends(arrays["lengths"])
        self._id_ends = _ends(arrays["counts"])
        try:
            self.index = SenseIndex(
                self._keys, arrays["lemmas"], self._text_ends, self._id_ends, self._ids.astype(np.uint32)
            )
        except (TypeError, ValueError) as error:
            name = resource.path or f"senses-{resource.language}"
            raise ResourceError(f"{name}: {error}; rebuild it") from error

    @classmethod
    def from_sets(
        cls, sets: Iterable[Iterable[str]], language: str, *, sources: Sequence[str] = (), licence: str = "",
        date: str = "", info: Mapping[str, Any] | None = None,
    ) -> SenseTable:  # fmt: skip
        """The table of `sets`, each one sense; entries of several words and sets of one word are left out."""
        members: set[tuple[str, ...]] = set()
        ordered: list[tuple[str, ...]] = []
        for words in sets:
            kept = tuple(sorted({key for word in words if (key := sense_key(word)) is not None}))
            if len(kept) > 1 and kept not in members:
                members.add(kept)
                ordered.append(kept)
        senses: defaultdict[str, list[int]] = defaultdict(list)
        for number, kept in enumerate(ordered):
            for word in kept:
                senses[word].append(number)
        rows = sorted((zlib.crc32(text := word.encode()), text, ids) for word, ids in senses.items())
        arrays: dict[str, npt.NDArray[Any]] = {
            "keys": np.array([key for key, _, _ in rows], np.uint32),
            "lemmas": np.frombuffer(b"".join(text for _, text, _ in rows), np.uint8),
            "lengths": np.array([len(text) for _, text, _ in rows], np.uint8),
            "counts": _narrow([len(ids) for _, _, ids in rows]),
            "ids": _narrow([number for _, _, ids in rows for number in ids]),
        }
        content = b"".join(array.tobytes() for array in arrays.values())
        return cls(
            Resource(
                kind=KIND, language=language, arrays=arrays, sources=tuple(sources), licence=licence,
                date=date, info={**(info or {}), "lemmas": len(rows), "sets": len(ordered)},
                fingerprint=f"{zlib.crc32(content):08x}",
            )
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, lemma: str) -> bool:
        return bool(self.senses(lemma))

    def senses(self, lemma: str) -> tuple[int, ...]:
        """The ids of the sets that hold `lemma`, ascending; none for an unknown word."""
        return tuple(self.lookup([lemma])[1].tolist())

    def lookup(self, lemmas: Sequence[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
        """Offsets and ids: those of lemma i are `ids[offsets[i] : offsets[i + 1]]`."""
        return self.index.lookup(lemmas)

    def sets(self) -> list[list[str]]:
        """All sets with their words, by id."""
        sets: list[list[str]] = [[] for _ in range(int(self._ids.max()) + 1 if len(self._ids) else 0)]
        for row in range(len(self)):
            word = bytes(self._text[self._text_ends[row] : self._text_ends[row + 1]]).decode()
            for number in self._ids[self._id_ends[row] : self._id_ends[row + 1]].tolist():
                sets[number].append(word)
        return [sorted(words) for words in sets]


def sense_key(word: str) -> str | None:
    """`word` as the table holds it: NFC, lower-cased; `None` for what no single token can be.

    >>> sense_key(" Mensch "), sense_key("physical_entity"), sense_key("zu Fuß")
    ('mensch', None, None)
    """
    key = unicodedata.normalize("NFC", word).strip().lower()
    single = key and "_" not in key and not any(map(str.isspace, key))
    return key if single and len(key.encode()) <= _LONGEST_LEMMA else None


def load_senses(language: str) -> SenseTable | None:
    """The user's own or the shipped table of `language`, `None` where there is none."""
    path = find_resource(KIND, language)
    return None if path is None else SenseTable(read_resource(path, KIND))


def _ends(lengths: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """0 and the running sums of `lengths`."""
    ends = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    return ends


def _narrow(numbers: list[int]) -> npt.NDArray[Any]:
    """`numbers` in the smallest unsigned type that holds them: it halves the file."""
    return np.array(numbers, np.min_scalar_type(max(numbers, default=0)))
