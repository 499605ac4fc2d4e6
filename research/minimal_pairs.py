"""Write minimal-pairs.md: does PEM-X see small changes of meaning in sentences written by strangers?

    python -m research.minimal_pairs [-o FILE]

Data: ../shared/data/bitext, Tatoeba's English sentences with their French, Spanish, German and Czech translations. Two
English sentences mean the same if they share a French or a Spanish translation. A sentence is damaged if it differs
from the intact one in one small thing and shares no translation with either. Tatoeba's contributors wrote all of
them; a program pairs them, by frames of words and without the detectors.
"""

from __future__ import annotations

import argparse
import gzip
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from research.contradictions import CLEAR, marked
from tesla_eval import create_metric

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "bitext"
LANGUAGES = ("fr", "es", "de", "cs")
JUDGES = ("fr", "es")
"""Their translations say which sentences are equal; PEM-X's phrase table has seen the German ones."""
MOST_PAIRS, SEED = 60, 12345
METRICS = ("pem-x", "adequacy", "chrf", "bleu", "x")
LEAST_WORDS = 4

_NUMBERS = """two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million""".split()  # noqa: SIM905
_MODALS = "can could may might must shall should will would".split()  # noqa: SIM905
_QUANTIFIERS = "all every most many several some few no half both".split()  # noqa: SIM905
_CONVERSES = """buy/sell bought/sold buys/sells lend/borrow lent/borrowed teach/learn taught/learned before/after
    above/below over/under give/take gave/took older/younger taller/shorter bigger/smaller win/lose won/lost
    send/receive sent/received behind/before import/export""".split()  # noqa: SIM905
_SAME = ({"may", "might"}, {"shall", "should", "must"}, {"shall", "will"}, {"will", "would"}, {"can", "could"},
         {"all", "every", "both"}, {"some", "several"}, {"many", "several"})  # fmt: skip
"""Words that are not far enough from each other to change the meaning for certain."""
_SPOKEN = (("n't", " not"), ("cannot", "can not"), ("ca not", "can not"), ("wo not", "will not"),
           ("'re", " are"), ("'m", " am"), ("'ll", " will"), ("'ve", " have"))  # fmt: skip
_PRESENT_PAST = {
    "is": "was",
    "are": "were",
    "am": "was",
    "has": "had",
    "does": "did",
    "do": "did",
    "have": "had",
}

HEAD = """# Minimal pairs by strangers

Written by `python -m research.minimal_pairs`.

English sentences of Tatoeba (CC BY 2.0 FR; none of their text is here). Its contributors have not seen the detectors
of contradictions; the pairs were not read one by one. After they were made, false alarms
on pairs with a French and a Spanish translation were mended, and tense on pairs beyond those in the table; the last
figure is of pairs that were not looked at. An
original, an intact paraphrase (it shares a French or a Spanish translation with the original) and a damaged one (it
differs from the intact one in one small thing, and shares no translation into four languages with either) are drawn by
a program, which knows frames of words and no detector. Up to {most} pairs of each kind; an original or a frame comes
once. Some pairs are no fair question, such as exchanged names in a symmetric relation; nobody sorted them out.

"""


class Sentences:
    """All English sentences with their translations."""

    def __init__(self) -> None:
        self.translations: dict[str, dict[str, set[str]]] = {}
        by_other: dict[str, dict[str, list[str]]] = {}
        for language in LANGUAGES:
            files = (DATA / f"{language}-en" / f"tatoeba.{side}.gz" for side in ("en", language))
            sides = (gzip.decompress(file.read_bytes()).decode("utf-8").splitlines() for file in files)
            groups: dict[str, list[str]] = defaultdict(list)
            for english, other in zip(*sides, strict=True):
                if len(english.split()) >= LEAST_WORDS:
                    self.translations.setdefault(english, defaultdict(set))[language].add(other)
                    groups[other].append(english)
            by_other[language] = groups
        self.equals: dict[str, set[str]] = defaultdict(set)
        for group in (group for language in JUDGES for group in by_other[language].values()):
            for one, other in combinations(sorted(set(group)), 2):
                if plain(one) != plain(other) and other not in self.equals[one]:
                    self.equals[one].add(other)
                    self.equals[other].add(one)

    def surely_equal(self) -> Iterator[tuple[str, str]]:
        """Pairs that share a French and a German translation; those with a Spanish one were looked at."""
        for one, group in self.equals.items():
            for other in group:
                if one < other and not self.shared(one, other, "es") and self.shared(one, other, "de"):
                    yield one, other

    def shared(self, one: str, other: str, *languages: str) -> bool:
        a, b = self.translations[one], self.translations[other]
        return any(a.get(key, set()) & b.get(key, set()) for key in languages or LANGUAGES)


def plain(sentence: str) -> tuple[str, ...]:
    """Words without punctuation, contractions in full."""
    text = sentence.replace("’", "'")
    for short, full in _SPOKEN:
        text = text.replace(short, full)
    words = re.findall(r"[\w']+", text)
    return (words[0] if words and words[0] in _NAMES else words[0].lower(), *words[1:]) if words else ()


_NAMES = frozenset(
    "Tom Mary John Bob Jim Jane Ken Bill Alice Nancy Lucy Mike Taro Betty Paul Jack Emily".split()  # noqa: SIM905
)
Frame = tuple[str, ...]


def _masked(words: Frame, members: Sequence[str] | frozenset[str], many: bool = False) -> Frame | None:
    places = [k for k, word in enumerate(words) if word in members]
    if not places or (len(places) > 1 and not many):
        return None
    return tuple("*" if k in places else word for k, word in enumerate(words))


def _denied(words: Frame) -> Frame | None:
    rest = tuple(word for word in words if word != "not")
    return rest if len(words) - len(rest) <= 1 else None


def _timeless(words: Frame) -> Frame | None:
    present = tuple(_PRESENT_PAST.get(word, word) for word in words)
    return present if sum(word in (*_PRESENT_PAST, *_PRESENT_PAST.values()) for word in words) == 1 else None


def _one_converse(one: Frame, other: Frame) -> bool:
    differing = [{a, b} for a, b in zip(one, other, strict=False) if a != b]
    return len(differing) == 1 and any(differing[0] == set(pair.split("/")) for pair in _CONVERSES)


def _unlike(one: Frame, other: Frame) -> bool:
    differing = {*one} ^ {*other}
    return not any(differing <= same for same in _SAME)


_CONVERSE_WORDS = frozenset(word for pair in _CONVERSES for word in pair.split("/"))
KINDS: Mapping[str, tuple[Callable[[Frame], Frame | None], Callable[[Frame, Frame], bool]]] = {
    "negation": (_denied, lambda one, other: ("not" in one) != ("not" in other)),
    "number": (lambda words: _masked(words, _NUMBERS), lambda one, other: True),
    "roles": (
        lambda words: _masked(words, _NAMES, many=True),
        lambda one, other: sorted(one) == sorted(other) and len(set(one) & _NAMES) == 2,
    ),
    "tense": (
        _timeless,
        lambda one, other: {"had", "have", "do", "does", "did"}.isdisjoint({*one} ^ {*other}),
    ),
    "modality": (lambda words: _masked(words, _MODALS), _unlike),
    "quantifier": (lambda words: _masked(words, _QUANTIFIERS), _unlike),
    "converse": (lambda words: _masked(words, _CONVERSE_WORDS), _one_converse),
    "name": (lambda words: _masked(words, _NAMES), lambda one, other: True),
}
"""For each kind the frame that two sentences share, and what else must hold of them."""


class Triple(NamedTuple):
    """An original with an intact and a damaged paraphrase."""

    original: str
    intact: str
    damaged: str


def triples(sentences: Sentences, kind: str, draw: random.Random) -> list[Triple]:
    """Up to `MOST_PAIRS` triples of a kind, each original and each frame once."""
    frame_of, fits = KINDS[kind]
    frames: dict[Frame, list[str]] = defaultdict(list)
    for sentence in sentences.translations:
        if (frame := frame_of(plain(sentence))) is not None:
            frames[frame].append(sentence)
    candidates = sorted(frame for frame, members in frames.items() if len(members) > 1)
    draw.shuffle(candidates)
    found: list[Triple] = []
    for frame in candidates:
        options = [
            Triple(original, intact, damaged)
            for intact in frames[frame]
            for damaged in frames[frame]
            if plain(intact) != plain(damaged) and fits(plain(intact), plain(damaged))
            for original in sorted(sentences.equals.get(intact, ()))
            if not sentences.shared(intact, damaged) and not sentences.shared(original, damaged)
            and plain(original) != plain(damaged)
        ]  # fmt: skip
        if options:
            found.append(draw.choice(options))
        if len(found) == MOST_PAIRS:
            break
    return found


def kept_order(name: str, chosen: Sequence[Triple]) -> float:
    """The share of triples whose damaged sentence scores below the intact one."""
    metric = create_metric("pem-x" if name == "adequacy" else name, "en")
    originals, *sides = zip(*chosen, strict=True)
    scored = [metric.score_segments(side, [originals]) for side in sides]
    good, bad = (one.features[:, 0] if name == "adequacy" else one.scores for one in scored)
    return float((bad < good).mean())


def report(sentences: Sentences) -> Iterator[str]:
    draw = random.Random(SEED)
    chosen = {kind: triples(sentences, kind, draw) for kind in KINDS}
    yield f"| kind | pairs | {' | '.join(METRICS)} | detected | false alarms |"
    yield f"|---|--:|{'--:|' * (len(METRICS) + 2)}"
    every = [triple for group in chosen.values() for triple in group]
    for kind, group in (*chosen.items(), ("all", every)):
        shares = [kept_order(name, group) for name in METRICS]
        damaged, intact = (marked([(one.original, one[k]) for one in group])["any"].mean() for k in (2, 1))
        cells = " | ".join(f"{100 * share:.0f} %" for share in (*shares, damaged, intact))
        yield f"| {kind} | {len(group)} | {cells} |"
    pairs = list(sentences.surely_equal())
    masks = marked(pairs)
    yield f"\nFalse alarms on {len(pairs)} pairs that share a French and a German translation and no Spanish one:"
    yield f"{100 * masks['any'].mean():.1f} %; {', '.join(f'{kind} {int(masks[kind].sum())}' for kind in CLEAR)}."


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "research" / "minimal-pairs.md")
    wishes = parser.parse_args()
    text = HEAD.format(most=MOST_PAIRS) + "\n".join(report(Sentences())) + "\n"
    wishes.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
