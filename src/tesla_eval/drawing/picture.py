"""What the picture of a match shows: the words of two texts and the links between them, from an explanation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from tesla_eval.base.explanations import LinkPart

__all__ = [
    "KINDS",
    "UNMATCHED",
    "Kind",
    "Picture",
    "Span",
    "Tie",
    "Word",
    "joined_partners",
    "kind_of_link",
    "partners",
    "picture_of",
    "places_of",
    "ties_of",
]

Span = tuple[int, int]


class Kind(NamedTuple):
    """How a kind of link looks, and what it means."""

    label: str
    colour: str
    dash: str


KINDS = {
    "exact": Kind("same word", "#1a7f37", ""),
    "lemma": Kind("same lemma", "#0e7490", "9 3"),
    "synonym": Kind("synonym", "#8250df", "6 3 2 3"),
    "vector": Kind("similar by vectors", "#0969da", "3 3"),
    "pos": Kind("same part of speech only", "#9a6700", "1.5 3.5"),
}
"""From the closest to the loosest."""

_LOOSENESS = {name: place for place, name in enumerate(KINDS)}

UNMATCHED = Kind("no partner", "#cf222e", "3 2")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of one of the texts."""

    text: str
    tag: str = ""
    function: bool = False


@dataclass(frozen=True, slots=True)
class Tie:
    """A link between spans of words."""

    reference: Span
    hypothesis: Span
    kind: str
    similarity: float
    weight: float


@dataclass(frozen=True, slots=True)
class Picture:
    """Two texts and the links between them."""

    reference: tuple[Word, ...]
    hypothesis: tuple[Word, ...]
    ties: tuple[Tie, ...]
    tagged: bool = False
    """Whether the tags are shown below the words."""
    skips: bool = False
    """Whether the links join skip bigrams: the words between the first and the last take no part."""

    joined: bool = False
    """Whether a link may stand for several of neighbouring words, so that it can be cut where a row ends."""

    def matched(self, side: Literal["reference", "hypothesis"]) -> set[int]:
        """The words of a side that a link reaches."""
        return {place for tie in self.ties for place in places_of(getattr(tie, side), self.skips)}


def picture_of(reference: Mapping[str, Any], feature: str | None = None) -> Picture | None:
    """The picture of a feature against one reference, as `explain` gives it; None if it has no links between words.

    Without a name it is the first feature that compares words by more than their parts of speech.
    """
    ties = ties_of(reference, feature)
    if ties is None:
        return None
    words = [tuple(map(_word, reference.get(side, ()))) for side in ("reference", "hypothesis")]
    if _is_covering(reference):
        return Picture(words[0], words[1], ties, joined=True)
    shown = _chosen(reference["features"], feature)
    assert shown is not None
    return Picture(
        words[0], words[1], ties, tagged=shown["similarity"] == "pos", skips=bool(shown.get("gap"))
    )


def ties_of(reference: Mapping[str, Any], feature: str | None = None) -> tuple[Tie, ...] | None:
    """The links of that picture; None if there is none."""
    if _is_covering(reference):
        pairs = reference["partners"] if "partners" in reference else covering_partners(reference["links"])
        return (
            None
            if feature
            else tuple(
                Tie(tuple(x), tuple(y), "exact" if equal else "synonym", 1.0, 1.0) for x, y, equal in pairs
            )
        )
    shown = _chosen(reference.get("features", ()), feature)
    if shown is None:
        return None
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


def _is_covering(reference: Mapping[str, Any]) -> bool:
    return "links" in reference or "partners" in reference


def places_of(span: Sequence[int], skips: bool) -> Iterable[int]:
    """The words of an n-gram; of a skip bigram the first and the last."""
    return (span[0], span[1] - 1) if skips else range(*span)


def _word(token: Mapping[str, Any]) -> Word:
    return Word(token["surface"], token.get("pos", ""), token.get("function", False))


def _chosen(features: Sequence[Mapping[str, Any]], name: str | None) -> Mapping[str, Any] | None:
    drawable = [one for one in features if "flow" in one and "pivot" not in one]
    if name is not None:
        return next((one for one in drawable if one["name"] == name), None)
    return next((one for one in drawable if one["similarity"] != "pos"), drawable[0] if drawable else None)


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
    support: dict[LinkPart, float] = {}
    for carried, parts in links:
        for part in parts:
            support[part] = support.get(part, 0.0) + carried
    chosen: list[LinkPart] = []
    taken: tuple[set[int], set[int]] = set(), set()
    for part in sorted(support, key=lambda part: (-support[part], part)):
        units = range(*part.reference), range(*part.hypothesis)
        if taken[0].isdisjoint(units[0]) and taken[1].isdisjoint(units[1]):
            chosen.append(part)
            taken[0].update(units[0])
            taken[1].update(units[1])
    return sorted(chosen)


def covering_partners(links: Iterable[Mapping[str, Any]]) -> list[LinkPart]:
    """The joined partners of a covering's links, given as plain data."""
    return joined_partners(
        partners(
            (
                link["weight"] * (link["reference"][1] - link["reference"][0]),
                (LinkPart(tuple(p["reference"]), tuple(p["hypothesis"]), p["equal"]) for p in link["parts"]),
            )
            for link in links
        )
    )


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
