"""Connectives: where words of the inventory occur, what is known about each place, and their usual senses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tesla_eval_papers.discourse.document import PUNCTUATION_TAGS, Sense, SentenceWords

_BY_SENSE: dict[Sense, str] = {
    "Temporal": (
        "after, afterward, afterwards, as soon as, before, by then, earlier, ever since, finally, in the meantime, "
        "later, meantime, meanwhile, next, once, previously, simultaneously, since, subsequently, then, thereafter, "
        "till, ultimately, until, upon, when, whenever, while"
    ),
    "Contingency": (
        "accordingly, as a result, as long as, because, because of, by, cause, consequently, cuz, for, given, hence, "
        "if, if .. then, in case, in order, insofar as, lest, now that, provided, so, so as, so that, therefore, "
        "thereby, thus, unless"
    ),
    "Comparison": (
        "albeit, although, as if, as though, but, but then, by comparison, by contrast, conversely, despite, even if, "
        "even so, even though, however, in comparison, in contrast, in spite of, like, much as, nevertheless, "
        "nonetheless, no matter, notwithstanding, on the contrary, on the other hand, regardless, regardless of, "
        "similarly, still, then again, though, whereas, whilst, yet"
    ),
    "Expansion": (
        "additionally, also, alternatively, and, as an alternative, as well, as well as, besides, either .. or, "
        "except, for example, for instance, further, furthermore, in addition, in fact, in other words, "
        "in particular, in short, in sum, in that, indeed, instead, instead of, likewise, moreover, namely, "
        "neither .. nor, nor, not only .. but, not only .. but also, on the whole, or, otherwise, overall, plus, "
        "rather, rather than, separately, specifically, that is, with, without"
    ),
}

USUAL_SENSE: dict[str, Sense] = {
    name: sense for sense, names in _BY_SENSE.items() for name in names.split(", ")
}
"""By connective, written as `Inventory` does. Connectives of several senses stand under their commonest one."""


Phrase = tuple[str, ...]
_FINITE = frozenset({"VBD", "VBP", "VBZ", "MD"})
_SUBJECTS = frozenset({"PRP", "NN", "NNS", "NNP", "NNPS", "EX", "WP", "DT"})
_EDGE = "<s>"


@dataclass(frozen=True)
class ConnectiveCandidate:
    """Words that may be a connective: token numbers within a sentence, in one or two pieces (`if` … `then`)."""

    name: str
    tokens: tuple[int, ...]

    @property
    def first(self) -> int:
        """Its first token."""
        return self.tokens[0]

    @property
    def head_end(self) -> int:
        """The token after its first piece."""
        end = self.tokens[0] + 1
        while end in self.tokens:
            end += 1
        return end

    def others(self, length: int) -> tuple[int, ...]:
        """The other tokens of its sentence of `length` tokens."""
        return tuple(token for token in range(length) if token not in self.tokens)


class Inventory:
    """The connectives that were seen: lower-cased words, two pieces apart from each other joined by `..`.

    >>> inventory = Inventory(["if", "if .. then", "then"])
    >>> [candidate.tokens for candidate in inventory.candidates(("if", "so", ",", "then", "go"))]
    [(0,), (0, 3), (3,)]
    """

    SEPARATOR = " .. "

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(sorted(names))

    @cached_property
    def _by_first_word(self) -> dict[str, list[tuple[str, Phrase, Phrase]]]:
        phrases: dict[str, list[tuple[str, Phrase, Phrase]]] = {}
        for name in self.names:
            head, _, tail = name.partition(self.SEPARATOR)
            pieces = tuple(head.split(" ")), tuple(tail.split(" ")) if tail else ()
            phrases.setdefault(pieces[0][0], []).append((name, *pieces))
        return phrases

    def candidates(self, lower: Sequence[str]) -> Iterator[ConnectiveCandidate]:
        """All places of a sentence where a connective of the inventory stands; they may overlap."""
        by_first = self._by_first_word
        for start, word in enumerate(lower):
            for name, head, tail in by_first.get(word, ()):
                end = start + len(head)
                if tuple(lower[start:end]) != head:
                    continue
                tokens = tuple(range(start, end))
                if tail:
                    place = _find(lower, tail, end + 1)
                    if place is None:
                        continue
                    tokens += tuple(range(place, place + len(tail)))
                yield ConnectiveCandidate(name, tokens)


def _find(lower: Sequence[str], phrase: Phrase, start: int) -> int | None:
    for place in range(start, len(lower) - len(phrase) + 1):
        if tuple(lower[place : place + len(phrase)]) == phrase:
            return place
    return None


def without_overlap(candidates: Sequence[ConnectiveCandidate], scores: Sequence[int]) -> list[int]:
    """The numbers of the candidates with a positive score, the best first where they overlap, in text order."""
    taken: set[int] = set()
    chosen = []
    for number in sorted(range(len(candidates)), key=lambda n: (-scores[n], n)):
        if scores[number] > 0 and taken.isdisjoint(candidates[number].tokens):
            taken.update(candidates[number].tokens)
            chosen.append(number)
    return sorted(chosen, key=lambda n: candidates[n].tokens)


def connective_features(sentence: SentenceWords, candidate: ConnectiveCandidate) -> list[str]:
    """What the classifiers of use and of sense know about a candidate: itself, its surroundings, the verbs around."""
    lower, tags = sentence.lower, sentence.tags
    length = len(lower)
    start, end = candidate.first, candidate.head_end
    name = candidate.name

    def word(place: int) -> str:
        return lower[place] if 0 <= place < length else _EDGE

    def tag(place: int) -> str:
        return tags[place] if 0 <= place < length else _EDGE

    before, after = word(start - 1), word(end)
    tag_before, tag_after = tag(start - 1), tag(end)
    left = _left_clause(sentence, start)
    right = _right_clause(sentence, end)
    own = ".".join(tags[start:end])
    place = "first" if start == 0 else "second" if start == 1 else "last" if end >= length - 1 else "inside"
    facts = (
        f"p={place}", f"o={own}", f"-1={before}", f"+1={after}", f"-t={tag_before}", f"+t={tag_after}",
        f"-2t={tag(start - 2)}.{tag_before}", f"+2t={tag_after}.{tag(end + 1)}",
        f"+3t={tag_after}.{tag(end + 1)}.{tag(end + 2)}", f"tt={tag_before}.{tag_after}",
        f"+2={word(end + 1)}", f"-2={word(start - 2)}", f"l={left}", f"r={right}", f"lr={left}.{right}",
        f"rt={right}.{tag_after}", f"lt={left}.{tag_before}.{tag_after}",
        f"s={_starts_clause(tags, end)}", f"q={word(length - 1)}",
        f"n={min(length // 8, 5)}",
    )  # fmt: skip
    usual = USUAL_SENSE.get(name, "-")
    known = [f"u={usual}", f"u={usual}|p={place}", f"u={usual}|o={own}", f"u={usual}|rt={right}.{tag_after}"]
    return [f"c={name}", *known, *facts, *(f"{name}|{fact}" for fact in facts), *_earlier(lower, start, name)]


def _earlier(lower: Sequence[str], start: int, name: str) -> list[str]:
    """Words that announce a connective: `if` before `then`, `either` before `or`."""
    return [
        f"{name}|e={word}"
        for word in ("if", "when", "either", "not", "whether", "both", "between", "neither")
        if word in lower[:start]
    ]


def _left_clause(sentence: SentenceWords, start: int) -> str:
    """The last verb before the place and whether a comma stands between."""
    comma = "0"
    for place in range(start - 1, -1, -1):
        tag = sentence.tags[place]
        if tag in PUNCTUATION_TAGS:
            comma = "1"
        elif tag in _FINITE or tag.startswith("VB"):
            return tag + comma
    return "-" + comma


def _right_clause(sentence: SentenceWords, end: int) -> str:
    """The first verb after the place, whether a subject comes before it, and whether a comma stands between."""
    subject, comma = "0", "0"
    for place in range(end, len(sentence.tags)):
        tag = sentence.tags[place]
        if tag in PUNCTUATION_TAGS:
            comma = "1"
        elif tag in _SUBJECTS:
            subject = "1"
        elif tag in _FINITE or tag.startswith("VB"):
            return tag + subject + comma
    return "-" + subject + comma


def _starts_clause(tags: Sequence[str], end: int) -> str:
    """The tags up to the first verb, shortened to what tells a clause from a phrase."""
    shape = []
    for tag in tags[end : end + 6]:
        if tag.startswith(("VB", "MD")):
            shape.append(tag)
            break
        if tag in PUNCTUATION_TAGS or tag in ("IN", "CC", "TO"):
            shape.append(tag)
            break
        if tag in _SUBJECTS and (not shape or shape[-1] != "S"):
            shape.append("S")
    return "".join(shape)
