"""The Porter stemmer (Porter 1980) for English: `relational` and `relate` become `relat`."""

from __future__ import annotations

from itertools import pairwise

__all__ = ["porter_stem"]

_VOWELS = "aeiou"

_STEP2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("abli", "able"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"),
)  # fmt: skip
_STEP3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
_STEP4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
)  # fmt: skip


def porter_stem(word: str) -> str:
    """The stem of a lower-cased English word; anything else than ASCII letters is left as it is.

    >>> [porter_stem(word) for word in ("caresses", "ponies", "hopping", "relational", "adjustable", "controlling")]
    ['caress', 'poni', 'hop', 'relat', 'adjust', 'control']
    """
    if len(word) <= 2 or not (word.isascii() and word.isalpha()):
        return word
    for step in (_step1a, _step1b, _step1c, _step2, _step3, _step4, _step5):
        word = step(word)
    return word


def _is_consonant(word: str, i: int) -> bool:
    if word[i] in _VOWELS:
        return False
    return word[i] != "y" or i == 0 or not _is_consonant(word, i - 1)


def _measure(stem: str) -> int:
    """m: how often a consonant follows a vowel."""
    kinds = [_is_consonant(stem, i) for i in range(len(stem))]
    return sum(not before and after for before, after in pairwise(kinds))


def _has_vowel(stem: str) -> bool:
    return any(not _is_consonant(stem, i) for i in range(len(stem)))


def _ends_double(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _is_consonant(word, len(word) - 1)


def _ends_cvc(word: str) -> bool:
    """*o: consonant, vowel, consonant, and the last is not w, x or y."""
    end = len(word) - 1
    return (
        end >= 2
        and _is_consonant(word, end)
        and not _is_consonant(word, end - 1)
        and _is_consonant(word, end - 2)
        and word[end] not in "wxy"
    )


def _step1a(word: str) -> str:
    for suffix, replacement in (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")):
        if word.endswith(suffix):
            return word[: -len(suffix)] + replacement
    return word


def _step1b(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        stem = word.removesuffix(suffix)
        if stem != word:
            return _after_ed(stem) if _has_vowel(stem) else word
    return word


def _after_ed(stem: str) -> str:
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if _ends_double(stem) and stem[-1] not in "lsz":
        return stem[:-1]
    return stem + "e" if _measure(stem) == 1 and _ends_cvc(stem) else stem


def _step1c(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and _has_vowel(word[:-1]) else word


def _replaced(word: str, rules: tuple[tuple[str, str], ...]) -> str:
    """The longest suffix that fits decides, whether its condition holds or not."""
    fitting = [rule for rule in rules if word.endswith(rule[0])]
    if not fitting:
        return word
    suffix, replacement = max(fitting, key=lambda rule: len(rule[0]))
    stem = word[: -len(suffix)]
    return stem + replacement if _measure(stem) > 0 else word


def _step2(word: str) -> str:
    return _replaced(word, _STEP2)


def _step3(word: str) -> str:
    return _replaced(word, _STEP3)


def _step4(word: str) -> str:
    fitting = [suffix for suffix in _STEP4 if word.endswith(suffix)]
    if not fitting:
        return word
    suffix = max(fitting, key=len)
    stem = word[: -len(suffix)]
    if _measure(stem) <= 1 or (suffix == "ion" and not stem.endswith(("s", "t"))):
        return word
    return stem


def _step5(word: str) -> str:
    if word.endswith("e"):
        stem = word[:-1]
        if _measure(stem) > 1 or (_measure(stem) == 1 and not _ends_cvc(stem)):
            word = stem
    if _measure(word) > 1 and _ends_double(word) and word.endswith("l"):
        word = word[:-1]
    return word
