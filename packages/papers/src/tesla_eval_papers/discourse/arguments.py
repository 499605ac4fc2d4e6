"""Arguments of explicit relations, and features of neighbouring sentences for non-explicit ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

from tesla_eval_papers.discourse.classifier import WEIGHT_UNITS
from tesla_eval_papers.discourse.connectives import ConnectiveCandidate
from tesla_eval_papers.discourse.document import PUNCTUATION_TAGS, SentenceWords

_EDGE = "<s>"
BOUNDARY_THRESHOLD = -2 * WEIGHT_UNITS
"""Clauses are cut at low margins: too many do less harm than too few, because their labels join them again."""
FURTHEST_CLAUSE = 50
"""Clauses further away from the connective belong to no argument. Sentences that people write have fewer; text without
full stops has thousands, and to look at each from every connective would take minutes and gigabytes."""


def boundary_features(sentence: SentenceWords) -> list[list[str]]:
    """For each token but the first: what tells whether a clause begins with it."""
    lower, tags = sentence.lower, sentence.tags
    length = len(lower)
    words = (_EDGE, _EDGE, *lower, _EDGE, _EDGE)
    kinds = (_EDGE, _EDGE, *tags, _EDGE, _EDGE)
    verbs_before = _distances(tags, backwards=False)
    verbs_after = _distances(tags, backwards=True)
    opening = lower[0] if lower else _EDGE
    commas = 0
    features = []
    for place in range(1, length):
        at = place + 2
        commas += lower[place - 1] == ","
        (wb, w, wa), (tb, t, ta) = words[at - 1 : at + 2], kinds[at - 1 : at + 2]
        before, after = verbs_before[place - 1], verbs_after[place]
        features.append([
            f"w={w}", f"t={t}", f"-w={wb}", f"-t={tb}", f"+w={wa}", f"+t={ta}",
            f"wt={w}.{ta}", f"-wt={tb}.{w}", f"tt={tb}.{t}.{ta}", f"-tt={kinds[at - 2]}.{tb}.{t}",
            f"+tt={t}.{ta}.{kinds[at + 2]}", f"v={before}.{after}", f"wv={w}.{before}.{after}",
            f"tv={tb}.{t}.{before}.{after}", f"ww={wb}.{w}", f"w+w={w}.{wa}", f"-2w={words[at - 2]}.{wb}",
            f"e={min(length - place, 4)}", f"b={min(place, 3)}",
                f"o={opening}.{tb}.{min(commas, 2)}", f"ot={tags[0]}.{tb}.{min(commas, 2)}.{t}",
        ])  # fmt: skip
    return features


def _distances(tags: Sequence[str], *, backwards: bool) -> list[str]:
    """For each token the nearest verb's tag, itself included, on one side, and whether punctuation stands between."""
    distances = [""] * len(tags)
    last, comma = "-", ""
    places = range(len(tags) - 1, -1, -1) if backwards else range(len(tags))
    for place in places:
        tag = tags[place]
        if tag.startswith(("VB", "MD")):
            last, comma = tag, ""
        elif tag in PUNCTUATION_TAGS:
            comma = ","
        distances[place] = last + comma
    return distances


def cut_clauses(
    length: int, margins: Sequence[int], connective: Sequence[int], *, fewest: int = 1
) -> list[tuple[int, ...]]:
    """The tokens of a sentence in clauses: a new one where a margin is large enough and after pieces of a connective.

    `margins` are those of the sentence's second, third, ... token. The connective's own tokens belong to no clause. If
    there would be less than `fewest` clauses, the likeliest other place is taken too.

    >>> cut_clauses(6, [-9000, -9000, -9000, 500, -9000], [2])
    [(0, 1), (3,), (4, 5)]
    >>> cut_clauses(4, [-9000, -7000, -9000], [], fewest=2)
    [(0, 1), (2, 3)]
    """
    own = set(connective)
    tokens = [token for token in range(length) if token not in own]
    inner = [token for before, token in pairwise(tokens) if before == token - 1]
    cuts = {token for before, token in pairwise(tokens) if before != token - 1}
    cuts.update(token for token in inner if margins[token - 1] > BOUNDARY_THRESHOLD)
    if len(cuts) + 1 < fewest and inner:
        cuts.add(max(inner, key=lambda token: margins[token - 1]))
    clauses: list[list[int]] = []
    for token in tokens:
        if not clauses or token in cuts:
            clauses.append([])
        clauses[-1].append(token)
    return [tuple(clause) for clause in clauses]


def clauses_around(
    length: int, margins: Sequence[int], candidate: ConnectiveCandidate
) -> list[tuple[int, ...]]:
    """The clauses of which a connective's arguments may consist: two at least, the nearest ones on either side."""
    clauses = cut_clauses(length, margins, candidate.tokens, fewest=2)
    before = sum(clause[0] < candidate.first for clause in clauses)
    return clauses[max(0, before - FURTHEST_CLAUSE) : before + FURTHEST_CLAUSE]


def location_features(
    sentence: SentenceWords, candidate: ConnectiveCandidate, connective: Sequence[str]
) -> list[str]:
    """What tells whether Arg1 lies in the connective's own sentence: the connective's features, and its place."""
    place = candidate.first
    verbs = sum(tag.startswith(("VB", "MD")) for tag in sentence.tags[:place])
    rest = sum(tag.startswith(("VB", "MD")) for tag in sentence.tags[place:])
    facts = (
        f"at={min(place, 4)}", f"vb={min(verbs, 2)}", f"va={min(rest, 3)}", f"vv={min(verbs, 2)}{min(rest, 3)}",
        f"c={int(',' in sentence.lower[place:])}",
    )  # fmt: skip
    return [*connective, *facts, *(f"{candidate.name}|{fact}" for fact in facts)]


def clause_features(
    sentence: SentenceWords, candidate: ConnectiveCandidate, clauses: Sequence[tuple[int, ...]]
) -> list[list[str]]:
    """For each clause: what tells whether it is part of Arg1, of Arg2 or of neither."""
    lower, tags = sentence.lower, sentence.tags
    heads = [_shape(tags, clause) for clause in clauses]
    before = sum(clause[0] < candidate.first for clause in clauses)
    total = len(clauses)
    own = set(candidate.tokens)
    # Connectives that are rare share what is known of their kind: the tag, and whether they open the sentence.
    kind = f"{tags[candidate.first]}{int(candidate.first == 0)}"
    features = []
    for number, clause in enumerate(clauses):
        step = max(-4, min(4, number - before))  # -1: just before the connective, 0: just after
        first, last = clause[0], clause[-1]
        ahead = lower[first - 1] if first else _EDGE
        behind = lower[last + 1] if last + 1 < len(lower) else _EDGE
        touch = f"{int(first - 1 in own)}{int(last + 1 in own)}"
        left, right = heads[number - 1] if number else "-", heads[number + 1] if number + 1 < total else "-"
        facts = (
            f"r={step}", f"rb={step}.{min(before, 3)}", f"rt={step}.{min(total - before, 3)}", f"x={touch}.{step}",
            f"h={heads[number]}.{step}", f"w={lower[first]}.{step}", f"t={tags[first]}.{step}",
            f"a={ahead}.{step}", f"z={lower[last]}.{step}", f"zb={behind}.{step}", f"n={min(len(clause), 6)}.{step}",
            f"hl={left}.{heads[number]}.{step}", f"hr={heads[number]}.{right}.{step}",
            f"all={step}.{min(before, 3)}.{min(total - before, 3)}",
            f"f={tags[clauses[0][0]]}.{step}", f"lst={number == total - 1}.{step}",
        )  # fmt: skip
        features.append(
            [*facts, *(f"{candidate.name}|{fact}" for fact in facts), *(f"{kind}|{fact}" for fact in facts)]
        )
    return features


def _shape(tags: Sequence[str], clause: tuple[int, ...]) -> str:
    """The first verb's tag and the first token's, with the punctuation that ends the clause."""
    verb = next((tags[token] for token in clause if tags[token].startswith(("VB", "MD"))), "-")
    end = tags[clause[-1]] if tags[clause[-1]] in PUNCTUATION_TAGS else ""
    return f"{verb}{end}"


_NEGATIONS = frozenset(
    {"not", "no", "never", "none", "nothing", "nobody", "neither", "nor", "without", "cannot"}
)
_MODALS = frozenset({"MD"})
_OPENING_WORDS = 3


class SentenceFacts:
    """The features of one sentence; computed once, used with the sentences before and after it."""

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
