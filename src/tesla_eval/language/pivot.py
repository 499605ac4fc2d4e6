"""The phrase table (specification §6): phrases of the target language, their counts, and their pivot phrases.

In the file it is a trie of target phrases over sorted words, as the core reads it: nothing is built when it is loaded,
and arrays that were stored plain are memory-mapped. A compact file stores offsets as steps and numbers as narrow as
they are; these are widened when it is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tesla_eval import _core
from tesla_eval.base.errors import ResourceError
from tesla_eval.base.resources import (
    SUFFIX,
    Resource,
    find_resource,
    installed_resources,
    interpreting,
    missing_resource,
    read_resource,
)
from tesla_eval.language.analysis.conllu import UNIVERSAL_TAGS
from tesla_eval.language.analysis.pipeline import load_pipeline, load_stems

KIND = "phrases"
STEMS = "stems"
"""What the header of PEM's own tables says of their keys, and how their files are called: `phrases-stems-en-zh`."""
LEAST_PROBABILITY = 0.1
"""Specification §6: pivot phrases with this probability or less are dropped, save the best one of a segment."""

LAYOUT = 1
"""Of the arrays; tables of another layout are refused."""

OFFSETS = ("target_ends", "pivot_ends", "node_child", "node_option", "phrase_ends")
NUMBERS = ("node_word", "node_count", "option_phrase", "option_count", "phrase_words")
BYTES = ("target_words", "pivot_words", "pivot_tags")
FUNCTION_BIT = 0x80
STEPS = ".steps"


class FunctionTag(NamedTuple):
    """What a pivot word is most often: its universal tag, and whether it is a function word."""

    tag: str
    function: bool


@dataclass(frozen=True)
class PhraseTable:
    """What the phrases of one language mean in another one; made once, shared by threads.

    >>> load_phrase_table("en", "fr").look_up(["the", "house"])[0][0]
    ('le', 'maison')
    """

    resource: Resource
    core: _core.PhraseTable

    @classmethod
    def from_resource(cls, resource: Resource) -> PhraseTable:
        """The table that a resource holds; `ResourceError` if its arrays make none."""
        info = resource.info
        with interpreting(resource, "phrase table", _advice(resource)):
            if info.get("layout") != LAYOUT or info.get("tags") != " ".join(UNIVERSAL_TAGS):
                raise ValueError("it was made by another version of tesla-eval")
            return cls(resource, _core.PhraseTable(**_unpacked(resource.arrays), total=float(info["total"])))

    @property
    def language(self) -> str:
        """The code of the language whose texts are scored."""
        return self.resource.language

    @property
    def pivot(self) -> str:
        """The code of the pivot language."""
        return str(self.resource.info["pivot"])

    @property
    def min_probability(self) -> float:
        """Pivot phrases with this probability or less were left out of the table, save the best of each phrase."""
        return float(self.resource.info["min_probability"])

    @property
    def signature(self) -> str:
        """The pivot language, the table's fingerprint and, if rare phrases were dropped, the least count that stayed.

        >>> load_phrase_table("en", "fr").signature.split(".")[::2]
        ['fr', 'min5']
        """
        least = int(self.resource.info.get("min_count", 1))
        return f"{self.pivot}.{self.resource.fingerprint}" + (f".min{least}" if least > 1 else "")

    def count(self, phrase: Sequence[str]) -> int:
        """N(p) of a phrase, given as lemmas; 0 if it is not in the table."""
        return self.core.look_up(list(phrase))[0]

    def look_up(self, phrase: Sequence[str]) -> list[tuple[tuple[str, ...], float]]:
        """The pivot phrases of a phrase, given as lemmas, with Pr(f | p), the most probable first."""
        count, options = self.core.look_up(list(phrase))
        return [(words, joint / count) for words, joint in options]

    def words(self) -> list[str]:
        """The lemmas of the table, in its order."""
        arrays = _unpacked(self.resource.arrays)
        raw, ends = arrays["target_words"].tobytes(), arrays["target_ends"].tolist()
        return [raw[start:end].decode() for start, end in pairwise(ends)]

    def check_analysis(self) -> None:
        """Refuse a table whose lemmas are not those that the language's analysis gives today."""
        load = load_stems if self.resource.info.get(STEMS) else load_pipeline
        here = load(self.language).lemma_fingerprint
        if self.resource.analysis != here:
            trained_with = self.resource.analysis or "unknown"
            raise ResourceError(
                f"{self.resource.path or KIND}: was made with the analysis {trained_with}, but {here} is installed; "
                f"{_advice(self.resource)}"
            )


def _advice(resource: Resource) -> str:
    pivot, stems = resource.info.get("pivot", "PIVOT"), bool(resource.info.get(STEMS))
    return f"rebuild it with `{_command(resource.language or 'LANGUAGE', pivot, stems)}`"


def _command(language: str, pivot: str, stems: bool) -> str:
    return f"tesla train phrase-table -l {language} --pivot {pivot}" + (" --stems" if stems else "")


def _unpacked(arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, Any]:
    unpacked: dict[str, Any] = {name: arrays[name] for name in BYTES}
    for name in ("target_words", "pivot_words"):
        arrays[name].tobytes().decode("utf-8")  # a `ValueError` unless it is text
    unpacked |= {name: arrays[name].astype(np.uint32, copy=False) for name in NUMBERS}
    for name in OFFSETS:
        steps = arrays.get(f"{name}{STEPS}")
        unpacked[name] = arrays[name] if steps is None else np.cumsum(steps, dtype=np.uint32)
    return unpacked


def read_phrase_table(path: Path) -> PhraseTable:
    """The table in a file, which may lie anywhere; `ResourceError` unless it is sound and of today's analysis."""
    table = PhraseTable.from_resource(read_resource(path, KIND))
    table.check_analysis()
    return table


@cache
def load_phrase_table(language: str, pivot: str, *, stems: bool = False) -> PhraseTable:
    """The user's own or the shipped table of a language and a pivot language; it is read once per process.

    `stems` asks for the kind that PEM reads.
    """
    path = find_resource(f"{KIND}-{STEMS}" if stems else KIND, f"{language}-{pivot}")
    if path is None:
        pivots = ", ".join(installed_pivots(language, stems=stems)) or "none"
        raise missing_resource(
            f"phrase table{' of stems' if stems else ''} to {pivot!r}", language, _command(language, pivot, stems),
            note=f" (installed pivot languages: {pivots})",
        )  # fmt: skip
    return read_phrase_table(path)


def installed_pivots(language: str, *, stems: bool = False) -> list[str]:
    """The pivot languages for which `language` has a table, in alphabetical order.

    >>> installed_pivots("de")
    ['en']
    """
    start = f"{KIND}-{STEMS}-{language}-" if stems else f"{KIND}-{language}-"
    names = [path.name for path in installed_resources() if path.name.startswith(start)]
    return sorted({name[len(start) : -len(SUFFIX)] for name in names})
