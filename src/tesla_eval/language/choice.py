"""Chooses the language, for the command line and for Python: the one the user names, or the one of the texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tesla_eval.base.errors import UsageError
from tesla_eval.language.analysis.languages import LANGUAGES, UNDETERMINED, resolve_language, target_of_pair

AUTO = "auto"
"""The value of `lang` that means the language of the texts."""

_SAMPLE = 128  # texts that are looked at, spread evenly
_SHORT = 20  # with fewer words a guess is good enough, if it is said that it is one
_LIKELY, _FEW = 0.5, 2  # the probability and the words from which a guess beats the usual language
_LONGEST_WORD = 16  # text with fewer spaces than that is written without them
_NUMBER = re.compile(r"\d+")


class ChosenLanguage(NamedTuple):
    """The language that a result is computed for, and how it was found."""

    code: str
    assumed: bool = False
    """Whether the texts were too short to tell: it is the best guess, or English."""
    message: str = ""
    """How it was found, for the user; empty if the user named it."""


def choose(lang: str, texts: Sequence[str], what: str = "references") -> ChosenLanguage:
    """The language that `lang` names; for `auto`, the one that `texts` are written in. Messages call them `what`.

    For short texts that is the best guess, or English. Longer texts whose language is uncertain are a `UsageError`.

    >>> choose("auto", ["Der Hund hat den Mann gebissen."])
    ChosenLanguage(code='de', assumed=False, message='German (de), identified from the references')
    >>> choose("auto", ["Hello!"]).assumed
    True
    """
    if lang != AUTO:
        code = resolve_language(lang)
        is_pair = target_of_pair(lang) is not None
        return ChosenLanguage(code, message=f"{_named(code)}, the target of {lang}" if is_pair else "")
    # A table is read: only when asked for.
    from tesla_eval.language.analysis.detection import USUAL_LANGUAGE, identify

    count = len(texts)
    spread = texts if count <= _SAMPLE else [texts[i * count // _SAMPLE] for i in range(_SAMPLE)]
    # Lines that are repeated, or differ in their numbers only, tell nothing new.
    guess = identify(list({_NUMBER.sub("0", text): text for text in spread}.values()))
    if guess.certain:
        return ChosenLanguage(guess.language, message=f"{_named(guess.language)}, identified from the {what}")
    is_known = guess.language != UNDETERMINED.code
    if guess.words >= _SHORT:
        best = f"; the best guess is {_named(guess.language)}" if is_known else ""
        raise UsageError(
            f"cannot tell the language of the {what} ({guess.note}{best})",
            hint="give it with -l (in Python lang=), for example -l en",
        )
    is_likely = is_known and (
        guess.script != "Latin" or (guess.probability >= _LIKELY and guess.words >= _FEW)
    )
    code = guess.language if is_likely else USUAL_LANGUAGE
    return ChosenLanguage(
        code,
        any(texts),
        f"{_named(code)} is assumed, because the {what} are too short to tell; -l (in Python lang=) sets another",
    )


def resolve(
    lang: str, texts: Sequence[str], say: Callable[[str], None] | None = None, what: str = "references"
) -> str:
    """The code of the language by `choose`; `say` gets a note of how it was found.

    >>> resolve("deu", []), resolve("auto", ["Der Hund schläft unter dem Tisch, und die Katze sitzt auf dem Dach."])
    ('de', 'de')
    """
    chosen = choose(lang, texts, what)
    if say is not None and chosen.message:
        say(f"language: {chosen.message}")
    return chosen.code


def other_language(lang: str, texts: Sequence[str]) -> str | None:
    """What `texts` look like, if they are clearly not in the language `lang`; for a warning.

    >>> other_language("en", ["Der Hund schläft unter dem Tisch, und die Katze sitzt auf dem Dach."] * 3)
    'German (de)'
    """
    if lang not in LANGUAGES or is_short(texts):
        return None
    from tesla_eval.language.analysis.detection import contradicts

    other = contradicts(lang, texts)
    if other is None:
        return None
    unknown = other.language == UNDETERMINED.code
    return f"text in another script ({other.script})" if unknown else _named(other.language)


def is_short(texts: Sequence[str]) -> bool:
    """Whether there is too little text to tell its language for certain."""
    return sum(max(len(text.split()), len(text) // _LONGEST_WORD) for text in texts) < _SHORT


def _named(code: str) -> str:
    return f"{LANGUAGES[code].name} ({code})" if code in LANGUAGES else code
