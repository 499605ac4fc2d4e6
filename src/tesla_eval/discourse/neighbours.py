"""Non-explicit relations: what is known about two neighbouring sentences."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from tesla_eval.discourse.document import PUNCTUATION_TAGS, SentenceWords

__all__ = ["SentenceFacts", "inner_features", "pair_features"]

_NEGATIONS = frozenset(
    {"not", "no", "never", "none", "nothing", "nobody", "neither", "nor", "without", "cannot"}
)
_PRONOUNS = frozenset({"PRP", "PRP$", "DT", "WP", "EX"})
_MODALS = frozenset({"MD"})
_OPENING_WORDS = 3


class SentenceFacts:
    """What one sentence tells by itself; made once, used with the sentence before and the one after."""

    def __init__(self, sentence: SentenceWords) -> None:
        self.sentence = sentence
        lower, tags, lemmas = sentence.lower, sentence.tags, sentence.lemmas
        inner = [place for place, tag in enumerate(tags) if tag not in PUNCTUATION_TAGS]
        self.length = len(inner)
        self.first = [lower[place] for place in inner[:_OPENING_WORDS]]
        self.first_tags = [tags[place] for place in inner[:_OPENING_WORDS]]
        self.last = lower[inner[-1]] if inner else ""
        self.end = lower[-1] if tags and tags[-1] in PUNCTUATION_TAGS else "-"
        verbs = [place for place in inner if tags[place].startswith(("VB", "MD"))]
        self.verb_tag = tags[verbs[0]] if verbs else "-"
        self.verb = lemmas[verbs[0]] if verbs else "-"
        self.main_verbs = {lemmas[place] for place in verbs}
        self.negated = any(lemmas[place] in _NEGATIONS for place in inner)
        self.modal = any(tags[place] in _MODALS for place in inner)
        self.numbers = any(tags[place] == "CD" for place in inner)
        self.pronoun = any(tag in ("PRP", "PRP$") for tag in self.first_tags)
        self.words = {lower[place] for place in inner}
        self.subject = next((lower[p] for p in inner if tags[p] in ("PRP", "NN", "NNS", "NNP", "NNPS")), "-")
        self.kind = "h" if not verbs else "q" if self.end == "?" else "s"
        self.nouns = {lemmas[p] for p in inner if tags[p].startswith("NN")}
        self.names = {lemmas[p] for p in inner if tags[p].startswith("NNP")}

    @cached_property
    def as_first(self) -> list[str]:
        """The features of the sentence as Arg1."""
        return self._features("1")

    @cached_property
    def as_second(self) -> list[str]:
        """The features of the sentence as Arg2."""
        return self._features("2")

    def _features(self, side: str) -> list[str]:
        shape = f"{self.kind}{int(self.negated)}{int(self.modal)}{int(self.numbers)}{int(self.pronoun)}"
        return [
            f"{side}f={' '.join(self.first[:1])}", f"{side}f2={' '.join(self.first[:2])}",
            f"{side}f3={' '.join(self.first)}", f"{side}t={'.'.join(self.first_tags[:1])}",
            f"{side}t3={'.'.join(self.first_tags)}", f"{side}e={self.end}", f"{side}l={self.last}",
            f"{side}v={self.verb}", f"{side}vt={self.verb_tag}", f"{side}s={shape}", f"{side}k={self.kind}",
            f"{side}n={_size(self.length)}", f"{side}sub={self.subject}",
            *(f"{side}w={word}" for word in sorted(self.words)),
        ]  # fmt: skip


def pair_features(first: SentenceFacts, second: SentenceFacts) -> list[str]:
    """What the classifiers of type and of sense know about two neighbouring sentences."""
    shared = first.sentence.content & second.sentence.content
    nouns = first.nouns & second.nouns
    names = first.names & second.names
    words = first.words & second.words
    smaller = max(1, min(len(first.words), len(second.words)))
    longer = "=" if abs(first.length - second.length) < 4 else "<" if first.length < second.length else ">"
    facts = (
        f"sh={min(len(shared), 3)}", f"no={min(len(nouns), 2)}", f"na={min(len(names), 2)}",
        f"ov={10 * len(words) // smaller}", f"k={first.kind}{second.kind}", f"e={first.end}{second.end}",
        f"neg={int(first.negated)}{int(second.negated)}", f"mod={int(first.modal)}{int(second.modal)}",
        f"num={int(first.numbers)}{int(second.numbers)}", f"pro={int(first.pronoun)}{int(second.pronoun)}",
        f"vt={first.verb_tag}.{second.verb_tag}", f"len={_size(first.length)}{_size(second.length)}",
        f"lo={longer}", f"sub={first.subject}.{second.subject}",
        f"same={int(first.first[:1] == second.first[:1])}{int(first.subject == second.subject)}",
        f"v={first.verb}.{second.verb}", f"shv={int(bool(first.main_verbs & second.main_verbs))}",
        f"f={' '.join(first.first[:1])}|{' '.join(second.first[:1])}",
        f"t={'.'.join(first.first_tags[:1])}|{'.'.join(second.first_tags[:1])}",
        f"kp={second.kind}{int(second.pronoun)}{min(len(nouns), 2)}",
    )  # fmt: skip
    return [*facts, *first.as_first, *second.as_second]


def inner_features(sentence: SentenceWords, left: Sequence[int], right: Sequence[int]) -> list[str]:
    """The same about two neighbouring clauses of one sentence."""
    pair = pair_features(SentenceFacts(sentence.part(left)), SentenceFacts(sentence.part(right)))
    return ["in", *(f"in|{feature}" for feature in pair)]


def _size(length: int) -> str:
    return str(min(length // 4, 9))
