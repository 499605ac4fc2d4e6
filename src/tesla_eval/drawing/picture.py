"""The links between the words of two texts, from an explanation, and why two words are linked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tesla_eval.base.explanations import LinkPart
from tesla_eval.base.records import Span

KINDS = {
    "exact": "same word",
    "lemma": "same lemma",
    "synonym": "synonym",
    "vector": "similar by vectors",
    "pos": "same part of speech only",
}
"""From the closest to the loosest."""

_LOOSENESS = {name: place for place, name in enumerate(KINDS)}

UNMATCHED = "no partner"


@dataclass(frozen=True, slots=True)
class Tie:
    """A link between spans of words."""

    reference: Span
    hypothesis: Span
    kind: str
    similarity: float
    weight: float


def ties_of(reference: Mapping[str, Any]) -> tuple[Tie, ...] | None:
    """The links against one reference, as `compact` gives it; None if there are none between words.

    They are those of the first feature that compares words by more than their parts of speech.
    """
    if "partners" in reference:
        return tuple(
            Tie(tuple(x), tuple(y), "exact" if equal else "synonym", 1.0, 1.0)
            for x, y, equal in reference["partners"]
        )
    drawable = [one for one in reference.get("features", ()) if "flow" in one and "pivot" not in one]
    if not drawable:
        return None
    shown = next((one for one in drawable if one["similarity"] != "pos"), drawable[0])
    similarity, skips = shown["similarity"], bool(shown.get("gap"))
    x, y = reference["reference"], reference["hypothesis"]
    ties = []
    for link in shown["flow"]:
        first, second = tuple(link["reference"]), tuple(link["hypothesis"])
        if similarity != "pos" and first[1] - first[0] == second[1] - second[0] == 1:
            kind = _word_kind(similarity, x[first[0]], y[second[0]])
        else:
            words = [x[k] for k in places_of(first, skips)], [y[k] for k in places_of(second, skips)]
            kind = kind_of_link(similarity, *words)
        ties.append(Tie(first, second, kind, link["similarity"], link["weight"]))
    return tuple(ties)


def places_of(span: Sequence[int], skips: bool) -> Iterable[int]:
    """The words of an n-gram; of a skip bigram the first and the last."""
    return (span[0], span[1] - 1) if skips else range(*span)


def kind_of_link(similarity: str, reference: Sequence[Any], hypothesis: Sequence[Any]) -> str:
    """Why two n-grams are similar: the loosest reason of their words."""
    if similarity == "pos":
        return "pos"
    kinds = [_word_kind(similarity, x, y) for x, y in zip(reference, hypothesis, strict=False)]
    return max(kinds, key=_LOOSENESS.__getitem__, default="exact")


def _word_kind(similarity: str, x: Mapping[str, Any], y: Mapping[str, Any]) -> str:
    if x["surface"].casefold() == y["surface"].casefold():
        return "exact"
    if x.get("lemma") == y.get("lemma"):
        return "lemma"
    if similarity.startswith(("vec", "ctx")):
        return "vector"
    return "synonym" if set(x.get("senses", ())) & set(y.get("senses", ())) else "pos"


def partners(links: Iterable[tuple[float, Iterable[LinkPart]]]) -> list[LinkPart]:
    """The units that belong together, in the order of the reference, given each link's weight × length and its parts.

    The parts that carry most come first; no unit is taken twice.
    """
    # Links share the objects of their parts: counting them by identity first is much quicker than by value.
    by_identity: dict[int, float] = {}
    objects: dict[int, LinkPart] = {}
    for carried, parts in links:
        for part in parts:
            key = id(part)
            by_identity[key] = by_identity.get(key, 0.0) + carried
            objects[key] = part
    support: dict[LinkPart, float] = {}
    for key, part in objects.items():
        support[part] = support.get(part, 0.0) + by_identity[key]
    chosen: list[LinkPart] = []
    taken: tuple[set[int], set[int]] = set(), set()
    for part in sorted(support, key=lambda part: (-support[part], part)):
        units = range(*part.reference), range(*part.hypothesis)
        if taken[0].isdisjoint(units[0]) and taken[1].isdisjoint(units[1]):
            chosen.append(part)
            taken[0].update(units[0])
            taken[1].update(units[1])
    return sorted(chosen)


def joined_partners(parts: Iterable[LinkPart]) -> list[LinkPart]:
    """Partners with those that are neighbours on both sides, and alike, made one."""
    joined: list[LinkPart] = []
    for part in parts:
        last = joined[-1] if joined else None
        if last and (last.reference[1], last.hypothesis[1], last.equal) == (
            part.reference[0], part.hypothesis[0], part.equal,
        ):  # fmt: skip
            spans = (last.reference[0], part.reference[1]), (last.hypothesis[0], part.hypothesis[1])
            joined[-1] = LinkPart(*spans, part.equal)
        else:
            joined.append(part)
    return joined
