"""What the picture of a match shows: the words of two texts and the links between them, from an explanation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

__all__ = [
    "KINDS",
    "UNMATCHED",
    "Kind",
    "Partners",
    "Picture",
    "Span",
    "Tie",
    "Word",
    "chosen_partners",
    "picture_of",
    "places_of",
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


class Partners(NamedTuple):
    """Units of both sides that belong together; equal, or synonyms."""

    reference: Span
    hypothesis: Span
    equal: bool


def picture_of(reference: Mapping[str, Any], feature: str | None = None) -> Picture | None:
    """The picture of a feature against one reference, as `explain` gives it; None if it has no links between words.

    Without a name it is the first feature that compares words by more than their parts of speech.
    """
    words = [tuple(map(_word, reference.get(side, ()))) for side in ("reference", "hypothesis")]
    if "links" in reference:
        return (
            None
            if feature
            else Picture(words[0], words[1], tuple(_covering_ties(reference["links"])), joined=True)
        )
    shown = _chosen(reference.get("features", ()), feature)
    if shown is None:
        return None
    skips = bool(shown.get("gap"))
    ties = tuple(
        Tie(
            tuple(link["reference"]), tuple(link["hypothesis"]),
            _kind(shown["similarity"], *(
                [reference[side][place] for place in places_of(link[side], skips)]
                for side in ("reference", "hypothesis")
            )),
            link["similarity"], link["weight"],
        )
        for link in shown["flow"]
    )  # fmt: skip
    return Picture(words[0], words[1], ties, tagged=shown["similarity"] == "pos", skips=skips)


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


def _kind(similarity: str, reference: Sequence[Any], hypothesis: Sequence[Any]) -> str:
    """Why two n-grams are similar: the loosest reason of their words."""
    if similarity == "pos":
        return "pos"
    order = list(KINDS)
    kinds = [_word_kind(similarity, x, y) for x, y in zip(reference, hypothesis, strict=False)]
    return order[max(map(order.index, kinds), default=0)]


def _word_kind(similarity: str, x: Mapping[str, Any], y: Mapping[str, Any]) -> str:
    if x["surface"].casefold() == y["surface"].casefold():
        return "exact"
    if x.get("lemma") == y.get("lemma"):
        return "lemma"
    if similarity.startswith(("vec", "ctx")):
        return "vector"
    return "synonym" if set(x.get("senses", ())) & set(y.get("senses", ())) else "pos"


def _covering_ties(links: Sequence[Mapping[str, Any]]) -> list[Tie]:
    """The partners among the parts of the links; neighbours on both sides are joined."""
    support: dict[Partners, float] = {}
    for link in links:
        length = link["reference"][1] - link["reference"][0]
        for part in link["parts"]:
            pair = Partners(tuple(part["reference"]), tuple(part["hypothesis"]), part["equal"])
            support[pair] = support.get(pair, 0.0) + link["weight"] * length
    joined: list[Partners] = []
    for pair in chosen_partners(support):
        last = joined[-1] if joined else None
        if last and (last.reference[1], last.hypothesis[1], last.equal) == (
            pair.reference[0], pair.hypothesis[0], pair.equal,
        ):  # fmt: skip
            spans = (last.reference[0], pair.reference[1]), (last.hypothesis[0], pair.hypothesis[1])
            joined[-1] = Partners(*spans, pair.equal)
        else:
            joined.append(pair)
    return [Tie(x, y, "exact" if equal else "synonym", 1.0, 1.0) for x, y, equal in joined]


def chosen_partners(support: Mapping[Partners, float]) -> list[Partners]:
    """Which units belong together: those that carry most first, no unit twice; in the order of the reference."""
    chosen: list[Partners] = []
    taken: tuple[set[int], set[int]] = set(), set()
    for pair in sorted(support, key=lambda pair: (-support[pair], pair)):
        spans = set(range(*pair.reference)), set(range(*pair.hypothesis))
        if spans[0].isdisjoint(taken[0]) and spans[1].isdisjoint(taken[1]):
            chosen.append(pair)
            taken[0].update(spans[0])
            taken[1].update(spans[1])
    return sorted(chosen)
