"""The Porter stemmer (Porter 1980) for English: `relational` and `relate` become `relat`.

`rouge_stem` is the variant that the package rouge-score uses, which is NLTK's: some irregular words, and gentler rules
for `-y`, `-ies` and `-ied`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

__all__ = ["porter_stem", "rouge_stem"]

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


_IRREGULAR = {
    "skies": "sky", "sky": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news", "innings": "inning",
    "inning": "inning", "outings": "outing", "outing": "outing", "cannings": "canning", "canning": "canning",
    "howe": "howe", "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}  # fmt: skip
_ROUGE_STEP2 = (
    *(rule for rule in _STEP2 if rule[0] not in ("abli", "alli")),
    ("bli", "ble"),
    ("fulli", "ful"),
)


@lru_cache(maxsize=1 << 16)
def rouge_stem(word: str) -> str:
    """The stem that rouge-score gives a token: letters a to z and digits; short words stay as they are.

    >>> [rouge_stem(word) for word in ("flies", "dies", "enjoy", "skies", "geology", "its")]
    ['fli', 'die', 'enjoy', 'sky', 'geolog', 'its']
    """
    if len(word) <= 3:
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    for step in (_rouge_step1a, _rouge_step1b, _rouge_step1c, _rouge_step2, _step3, _step4, _rouge_step5):
        word = step(word)
    return word


def _rouge_step1a(word: str) -> str:
    return word[:-1] if word.endswith("ies") and len(word) == 4 else _step1a(word)


def _rouge_step1b(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    return _step1b(word, _rouge_ends_cvc)


def _rouge_step1c(word: str) -> str:
    after_consonant = len(word) > 2 and _consonants(word[:-1])[-1]
    return word[:-1] + "i" if word.endswith("y") and after_consonant else word


def _rouge_step2(word: str) -> str:
    while word.endswith("alli") and _measure(word[:-4]) > 0:
        word = word[:-2]
    if word.endswith("logi"):  # the l belongs to the stem, so that "geo" is long enough
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _replaced(word, _ROUGE_STEP2)


def _rouge_step5(word: str) -> str:
    return _step5(word, _rouge_ends_cvc)


def _consonants(word: str) -> list[bool]:
    """For each letter whether it is a consonant: y is one unless it follows a consonant."""
    kinds: list[bool] = []
    for letter in word:
        kinds.append(letter not in _VOWELS and not (letter == "y" and kinds and kinds[-1]))
    return kinds


def _measure(stem: str) -> int:
    """m: how often a consonant follows a vowel."""
    return sum(not before and after for before, after in pairwise(_consonants(stem)))


def _has_vowel(stem: str) -> bool:
    return not all(_consonants(stem))


def _ends_double(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _consonants(word)[-1]


def _ends_cvc(word: str) -> bool:
    """*o: consonant, vowel, consonant, and the last is not w, x or y."""
    return _consonants(word)[-3:] == [True, False, True] and word[-1] not in "wxy"


def _rouge_ends_cvc(word: str) -> bool:
    return _ends_cvc(word) or _consonants(word) == [False, True]


def _step1a(word: str) -> str:
    for suffix, replacement in (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")):
        if word.endswith(suffix):
            return word[: -len(suffix)] + replacement
    return word


def _step1b(word: str, ends_cvc: Callable[[str], bool] = _ends_cvc) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        stem = word.removesuffix(suffix)
        if stem != word:
            return _after_ed(stem, ends_cvc) if _has_vowel(stem) else word
    return word


def _after_ed(stem: str, ends_cvc: Callable[[str], bool]) -> str:
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if _ends_double(stem) and stem[-1] not in "lsz":
        return stem[:-1]
    return stem + "e" if _measure(stem) == 1 and ends_cvc(stem) else stem


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


def _step5(word: str, ends_cvc: Callable[[str], bool] = _ends_cvc) -> str:
    if word.endswith("e"):
        stem = word[:-1]
        if _measure(stem) > 1 or (_measure(stem) == 1 and not ends_cvc(stem)):
            word = stem
    if _measure(word) > 1 and _ends_double(word) and word.endswith("l"):
        word = word[:-1]
    return word
