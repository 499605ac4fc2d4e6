"""The nouns that every room speaks in: tokens, scores, explanations, signatures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["CorpusScore", "Explanation", "Score", "Signature", "Token"]


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a text, as the metrics see it (SPEC §1).

    `start` and `end` count code points of the raw text. `pos` is the fine tag where the language has one, else the
    universal tag; an empty `pos` is like no other, and n-grams with such a word take no part where tags are compared.
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
        """The token as SPEC §17 writes it."""
        return {"surface": self.surface, "start": self.start, "end": self.end, "lemma": self.lemma,
                "pos": self.pos, "function": self.function, "senses": list(self.senses)}  # fmt: skip


class Signature(Mapping[str, str]):
    """What produced a score: metric, version, language, parameters that differ from the default, resources.

    >>> str(Signature({"metric": "tesla-m", "lang": "en"}))
    'metric:tesla-m|lang:en'
    """

    def __init__(self, items: Mapping[str, str]) -> None:
        self._items = dict(items)

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


@dataclass(frozen=True)
class Score:
    """The score of one segment with its named features; a feature that does not exist is NaN."""

    metric: str
    score: float
    features: Mapping[str, float]
    signature: Signature

    def __str__(self) -> str:
        return f"{self.metric} = {self.score:.4f} ({self.signature})"


@dataclass(frozen=True)
class CorpusScore:
    """The score of a system, of each of its segments, and their features: one row a segment, one column a name."""

    metric: str
    score: float
    segments: npt.NDArray[np.float64]
    features: npt.NDArray[np.float64]
    feature_names: tuple[str, ...]
    signature: Signature

    def __str__(self) -> str:
        return f"{self.metric} = {self.score:.4f} ({self.signature})"


@dataclass(frozen=True)
class Explanation:
    """A score with everything that produced it; `to_dict` is SPEC §17."""

    metric: str
    signature: Signature
    score: float
    hypothesis: str
    references: tuple[str, ...]
    details: tuple[Mapping[str, Any], ...] = field(repr=False)
    """For each reference: its score, both sides' tokens, the features with their flows."""

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain data, ready for JSON."""
        return {
            "metric": self.metric,
            "signature": str(self.signature),
            "score": self.score,
            "references": [dict(detail) for detail in self.details],
        }

    def _repr_html_(self) -> str:
        """A notebook's view: each reference with its features, and the links of the first feature."""
        from html import escape

        parts = [
            f"<p><b>{escape(self.metric)}</b> {self.score:.4f} <code>{escape(str(self.signature))}</code></p>"
        ]
        for reference, detail in zip(self.references, self.details, strict=True):
            rows = "".join(
                "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _feature_cells(feature)) + "</tr>"
                for feature in detail["features"]
            )
            parts.append(
                f"<p dir='auto'>hypothesis: {escape(self.hypothesis)}</p><p dir='auto'>reference: {escape(reference)}"
                f" ({detail['score']:.4f})</p><table><tr><th>feature</th><th>P</th><th>R</th><th>F</th></tr>"
                f"{rows}</table>{_links_html(detail)}"
            )
        return "".join(parts)


def _feature_cells(feature: Mapping[str, Any]) -> list[str]:
    if "f" in feature:
        return [feature["name"], *(f"{feature[key]:.4f}" for key in ("precision", "recall", "f"))]
    return [feature["name"], "", "", f"{feature['value']:.4f}"]


def _links_html(detail: Mapping[str, Any]) -> str:
    from html import escape

    flow = detail["features"][0].get("flow", []) if detail["features"] else []
    if "links" in detail:  # TESLA-CELAB: n-grams are linked or not
        flow = [{**link, "similarity": 1.0} for link in detail["links"] if link["essential"]]
    rows = []
    for entry in flow:
        left = " ".join(t["surface"] for t in detail["hypothesis"][slice(*entry["hypothesis"])])
        right = " ".join(t["surface"] for t in detail["reference"][slice(*entry["reference"])])
        rows.append(
            f"<tr><td dir='auto'>{escape(left)}</td><td dir='auto'>{escape(right)}</td>"
            f"<td>{entry['similarity']:g}</td><td>{entry['weight']:g}</td></tr>"
        )
    if not rows:
        return ""
    head = "<tr><th>hypothesis</th><th>reference</th><th>similarity</th><th>weight</th></tr>"
    return f"<table>{head}{''.join(rows)}</table>"
