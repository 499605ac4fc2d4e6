"""Lexica for taggers from wordnets: the words as they are, for English with their regular inflections."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

_VOWELS = "aeiou"


def wordnet_words(path: Path) -> Iterator[tuple[str, str]]:
    """Single words and their parts of speech: `n`, `v`, `a`, `r`. A line is synset, words joined by `|`, more."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            identifier, words, *_ = line.rstrip("\n").split("\t")
            kind = identifier[-1].replace("s", "a")  # satellite adjectives are adjectives
            for word in words.split("|"):
                word = word.removesuffix("+的")  # noqa: PLW2901 (Chinese Open Wordnet: a particle that may follow)
                if word and "_" not in word and " " not in word:
                    yield word, kind


def english_forms(path: Path) -> Iterator[tuple[str, str]]:
    """WordNet's words and their regular inflections (`ns`, `vd`, ...)."""
    for word, kind in wordnet_words(path):
        yield word, kind
        if word[0].islower():
            yield from inflections(word, kind)


def inflections(word: str, kind: str) -> Iterator[tuple[str, str]]:
    if kind == "n":
        yield _with_s(word), "ns"
    elif kind == "v":
        stem = _stem(word)
        yield _with_s(word), "vs"
        yield (f"{word[:-1]}ied" if _ends_in_y(word) else f"{stem}ed"), "vd"
        yield f"{stem}ing", "vg"
    elif kind == "a" and len(word) < 8:  # longer ones take more and most
        stem = word[:-1] + "i" if _ends_in_y(word) else word.removesuffix("e")
        yield f"{stem}er", "ac"
        yield f"{stem}est", "as"


def _ends_in_y(word: str) -> bool:
    return len(word) > 2 and word[-1] == "y" and word[-2] not in _VOWELS


def _with_s(word: str) -> str:
    if _ends_in_y(word):
        return f"{word[:-1]}ies"
    return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")


def _stem(verb: str) -> str:
    """What -ed and -ing are put to: a final e goes, a final consonant of a short word is doubled."""
    if verb.endswith("e"):
        return verb[:-1]
    short = (
        2 < len(verb) < 6
        and verb[-1] not in f"{_VOWELS}wxyr"
        and verb[-2] in _VOWELS
        and verb[-3] not in _VOWELS
    )
    return verb + verb[-1] if short else verb
