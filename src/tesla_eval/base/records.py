"""Record types used in all packages: tokens, units, signatures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tesla_eval.base import version
from tesla_eval.base.identity import OWN

Span = tuple[int, int]
"""A stretch [start, end) of tokens or units."""


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a text, as the metrics see it (specification §1).

    `start` and `end` count code points of the raw text. `pos` is the fine tag where the language has one, else the
    universal tag; an empty `pos` equals no other, and n-grams with such a word take no part where tags are compared.
    `senses` are the ids of the synonym sets of the lemma.
    """

    surface: str
    start: int
    end: int
    lemma: str
    pos: str
    function: bool
    senses: tuple[int, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The token as plain data."""
        return {"surface": self.surface, "start": self.start, "end": self.end, "lemma": self.lemma,
                "pos": self.pos, "function": self.function, "senses": list(self.senses)}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit of TESLA-CELAB: its form in the raw text, and the key by which units are compared."""

    surface: str
    start: int
    end: int
    key: str

    def to_dict(self) -> dict[str, Any]:
        """The unit as plain data."""
        return {"surface": self.surface, "start": self.start, "end": self.end, "key": self.key}


class Signature(Mapping[str, str]):
    """What produced a score: metric, version, language, parameters that differ from the default, resources.

    The signature of a metric, of another package too, has the number of `scoring` after its version.

    >>> str(Signature({"metric": "tesla-m", "version": "0.9.0", "lang": "en"}))
    'metric:tesla-m|version:0.9.0|scoring:4|lang:en'
    """

    def __init__(self, items: Mapping[str, str]) -> None:
        self._items = dict(items)
        if "metric" in items and "scoring" not in items:
            first = {key: self._items.pop(key) for key in ("metric", "version") if key in items}
            self._items = {**first, "scoring": str(version.SCORING), **self._items}

    def __getitem__(self, key: str) -> str:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __str__(self) -> str:
        return "|".join(f"{key}:{value}" for key, value in self._items.items())

    def __repr__(self) -> str:
        return f"Signature({str(self)!r})"

    @property
    def is_of_this_process(self) -> bool:
        """Whether it names a function or a class that other processes do not know: such scores are not kept."""
        return any(OWN in value for value in self._items.values())

    def with_items(self, items: Mapping[str, str]) -> Signature:
        """The signature with more items, or with other values of some."""
        return Signature({**self._items, **items})

    def with_references(self, count: int | str) -> Signature:
        """The signature of a result: how many references each segment had, `var` if not all had the same number.

        >>> str(Signature({"lang": "en"}).with_references(2))
        'lang:en|nrefs:2'
        """
        return Signature({**self._items, "nrefs": str(count)}) if count else self

    def of_segments(self, count: int | str) -> Signature:
        """The signature of the segments' scores, where these are made with other settings than a corpus score."""
        return self.with_references(count)


def signature_line(metric: str, signature: str) -> str:
    """A signature that says which metric it is of; sacreBLEU's own does not, but can be pasted as it is.

    >>> signature_line("bleu", "nrefs:1|case:mixed"), signature_line("tesla-m", "metric:tesla-m|lang:en")
    ('bleu|nrefs:1|case:mixed', 'metric:tesla-m|lang:en')
    """
    return signature if signature.startswith("metric:") else f"{metric.partition(':')[0]}|{signature}"
