"""`-l`: the language of the references, identified or compared with the texts before any metric is made."""

from __future__ import annotations

from collections.abc import Sequence

from tesla_eval.base.errors import UsageError
from tesla_eval.cli.shared.terminal import note, warn
from tesla_eval.language.analysis.languages import UNDETERMINED
from tesla_eval.language.analysis.tokenisers import LATIN_LETTERS
from tesla_eval.language.choice import AUTO, other_language, resolve

SAMPLE = 128
"""Texts that are looked at."""
_INSIST = "!"
"""What follows a language that is right although the texts look like another one."""


def identified_language(
    asked: str, sample: Sequence[str], what: str = "references", *, from_files: bool = True
) -> str:
    """The language that `-l` names, or with `auto` that of the sample, which is said on standard error.

    A given language that the texts contradict is an error for files, unless the user insists (`-l de!`), and a warning
    for single sentences.
    """
    named = asked.removesuffix(_INSIST)
    code = resolve(named, sample, note, what)
    if code == UNDETERMINED.code and named not in (AUTO, code):
        note(without_analysis(named))
    if code in LATIN_LETTERS:
        note(f"language {code!r}: Cyrillic letters are compared as Latin ones, so both scripts match")
    other = None if asked in (AUTO, named + _INSIST) else other_language(code, sample)
    if other is not None:
        message = f"-l {asked}, but the {what} look like {other}"
        if from_files:
            raise UsageError(
                f"{message}; leave -l out to take their language, or insist with -l {code}{_INSIST}"
            )
        warn(message)
    return code


def without_analysis(language: str) -> str:
    """What it means that we have no analysis of a language."""
    return f"language {language!r} has no analysis: words are compared as written, without lemmas, tags and synonyms"
