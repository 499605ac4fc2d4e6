"""Chooses the language, for the command line and for Python: the one the user names, or the one of the texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from tesla_eval.base.errors import UsageError
from tesla_eval.language.analysis.languages import LANGUAGES, UNDETERMINED, resolve_language, target_of_pair

AUTO = "auto"
"""The value of `lang` that means the language of the texts."""

_SAMPLE = 128  # texts that are looked at, spread evenly
_SHORT = 20  # with fewer words a guess is good enough
_LONGEST_WORD = 16  # text with fewer spaces than that is written without them
_FALLBACK = "en"
_NUMBER = re.compile(r"\d+")


def resolve(
    lang: str, texts: Sequence[str], say: Callable[[str], None] | None = None, what: str = "references"
) -> str:
    """The code of the language that `lang` names; for `auto`, of the language that `texts` are written in.

    For short texts that is the best guess, or English. Longer texts whose language is uncertain are a `UsageError`.
    `say` is told what was identified; `what` is what messages call the texts.

    >>> resolve("deu", []), resolve("auto", ["Der Hund schläft unter dem Tisch, und die Katze sitzt auf dem Dach."])
    ('de', 'de')
    """
    if lang != AUTO:
        code = resolve_language(lang)
        if say is not None and target_of_pair(lang) is not None:
            say(f"language: {_named(code)}, the target of {lang}")
        return code
    from tesla_eval.language.analysis.detection import identify  # reads a table: only when asked for

    count = len(texts)
    spread = texts if count <= _SAMPLE else [texts[i * count // _SAMPLE] for i in range(_SAMPLE)]
    # Lines that are repeated, or differ in their numbers only, tell nothing new.
    guess = identify(list({_NUMBER.sub("0", text): text for text in spread}.values()))
    language = guess.language
    message = f"{_named(language)}, identified from the {what}"
    if not guess.certain:
        if guess.words >= _SHORT:
            best = "" if language == UNDETERMINED.code else f"; the best guess is {_named(language)}"
            raise UsageError(
                f"cannot tell the language of the {what} ({guess.note}{best}); give it with -l (in Python lang=), "
                "for example -l en"
            )
        if language == UNDETERMINED.code or guess.script == "Latin":
            language = _FALLBACK
        message = f"{_named(language)} is assumed, because the text is too short to tell; -l sets another one"
    if say is not None:
        say(f"language: {message}")
    return language


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
