"""The supported languages: codes, aliases, scripts, and the measured quality of each analysis."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tesla_eval.base.errors import UsageError
from tesla_eval.base.resources import Resource, installed_resources, shipped_folder


@dataclass(frozen=True)
class Language:
    """One language: its ISO 639-1 code, its English name, other codes in use, and how it is written."""

    code: str
    name: str
    aliases: tuple[str, ...]
    spaces: bool = True
    analysed_as: str = ""
    """The code itself; `und` where words are compared as they are written; `-` for metrics of characters only."""


UNDETERMINED = Language("und", "undetermined", ())
"""Any language, only when asked for: surface forms without tags, lemmas and senses."""

_LISTED = [
    Language(code, name, tuple(aliases.split()), spaces == "yes", analysed_as)
    for code, name, aliases, spaces, analysed_as in (
        line.split("\t")
        for line in (Path(__file__).parents[1] / "languages.tsv").read_text("utf-8").splitlines()[1:]
    )
]

_ANALYSIS_FILE = re.compile("(?:compounds|lemmas|segmenter|senses|tagger)-([a-z]{2,3})")
"""The names of files that are part of a language's analysis, with its code."""

LANGUAGES = {language.code: language for language in _LISTED if language.analysed_as == language.code}
"""The languages with an analysis of their own."""

_CODE_OF = {
    name: UNDETERMINED.code if language.analysed_as == UNDETERMINED.code else language.code
    for language in (*_LISTED, UNDETERMINED)
    for name in (language.code, language.name.lower(), *language.aliases)
}


_FORMER_CODES = ("in", "mo")  # of Indonesian and Moldavian; behind a hyphen they are India and Macau
_OWN_REGIONS = {
    "ar": ("dz", "km"), "ca": ("es",), "da": ("gl",), "de": ("be",), "el": ("cy",), "en": ("ca",),
    "es": ("ar", "bo", "sv"), "fa": ("af",), "fr": ("be", "ca", "dz", "ga", "km"), "gl": ("es",), "nl": ("be", "sr"),
    "nn": ("no",), "sv": ("fi",), "tr": ("cy",),
}  # fmt: skip
"""By language the regions that speak it whose codes are also those of languages: `be` is Belgium or Belarusian."""
_UNSPACED = frozenset(language.code for language in _LISTED if not language.spaces)


def resolve_language(code: str) -> str:
    """The ISO 639-1 code of what the user calls a language; region and script may follow the code.

    A pair of languages means its target. A region where the language is official is no target: `fr-ca`, `nl-be`.

    >>> [resolve_language(code) for code in ("en", "deu", "zh_Hans", "pt-br", "nb", "Welsh", "und", "et", "de-en")]
    ['en', 'de', 'zh', 'pt', 'no', 'cy', 'und', 'und', 'en']
    """
    if not isinstance(code, str):
        raise TypeError(f"a language is a code, such as 'en', not {code!r}")
    wanted = code.strip().lower()
    if wanted in _CODE_OF:
        return _CODE_OF[wanted]
    primary = wanted.replace("_", "-").split("-")[0]
    for name in (target_of_pair(code), primary):
        if name in _CODE_OF:
            return _CODE_OF[name]
    if primary and primary in _languages_of_resources():
        return primary
    raise UsageError(
        f"unknown language {code!r}; the known ones are {', '.join(known_languages())}; "
        f"{UNDETERMINED.code!r} accepts any text, but without lemmas, tags and synonyms"
    )


def target_of_pair(code: str) -> str | None:
    """The target of a pair of languages, `None` if `code` is no pair.

    >>> target_of_pair("de-en"), target_of_pair("deu_eng"), target_of_pair("de"), target_of_pair("fr-ca")
    ('en', 'en', None, None)
    """
    source, _, target = code.strip().replace("_", "-").partition("-")
    target = target.partition("-")[0]
    language, found = _CODE_OF.get(source.lower(), ""), _CODE_OF.get(target.lower())
    is_region = target.lower() in _OWN_REGIONS.get(language, ()) or (
        target.isupper() and not source.isupper()
    )
    is_code = len(target) in (2, 3) and target.lower() not in _FORMER_CODES
    return None if is_region or not is_code or found == language else found


def code_to_build(code: str) -> str:
    """The code under which resources of a language are stored, which need not be known yet.

    >>> code_to_build("nb"), code_to_build("eo")
    ('no', 'eo')
    """
    wanted = code.strip().lower()
    if _CODE_OF.get(wanted, UNDETERMINED.code) != UNDETERMINED.code:
        return _CODE_OF[wanted]
    if wanted == UNDETERMINED.code or re.fullmatch("[a-z]{2,3}", wanted) is None:
        raise UsageError(f"{code!r} is not a language code (two or three lower-case letters)")
    return wanted


def is_spaced(code: str) -> bool:
    """Whether words are written with spaces between them, as far as we know.

    >>> [is_spaced(code) for code in ("de", "zh-TW", "lo", "und")]
    [True, False, False, True]
    """
    return resolve_language(code) not in _UNSPACED


def known_languages() -> list[str]:
    """The built-in codes and those for which the user has built something."""
    return sorted(LANGUAGES.keys() | _languages_of_resources())


def _languages_of_resources() -> set[str]:
    """The languages with at least one installed analysis resource."""
    return {match[1] for path in installed_resources() if (match := _ANALYSIS_FILE.fullmatch(path.stem))}


MEASURED_PARTS = ("segmenter", "lemmas")
"""Figures of `languages.json` hold only for resources of these kinds with the same fingerprints."""


@dataclass(frozen=True)
class Quality:
    """Percent right on the test set, and the number of words with synonyms; `None` where nothing was measured."""

    tokens: float | None = None
    """F1 of the tokens as written."""
    universal_tags: float | None = None
    fine_tags: float | None = None
    lemmas: float | None = None
    simplemma: float | None = None
    """Lemmas of simplemma alone, where it has the language."""
    words_with_senses: int | None = None


def quality_of(resources: Iterable[Resource], figures: Mapping[str, Any]) -> Quality:
    """What is known of a language with these resources; `figures` are those of `measured_figures`.

    >>> quality_of([], {"tokens": 99.1, "lemmas": 97.0, "fingerprints": {"lemmas": "12345678"}})
    Quality(tokens=99.1, universal_tags=None, fine_tags=None, lemmas=None, simplemma=None, words_with_senses=None)
    """
    by_kind = {resource.kind: resource for resource in resources}
    measured_with = figures.get("fingerprints", {})

    def figure(name: str, part: str) -> float | None:
        fingerprint = by_kind[part].fingerprint if part in by_kind else None
        return figures.get(name) if measured_with.get(part) == fingerprint else None

    tags = by_kind["tagger"].info.get("accuracy", {}).get("test", {}) if "tagger" in by_kind else {}
    senses = by_kind.get("senses")
    lemmas = figure("lemmas", "lemmas")
    if lemmas is None and "lemmas" in by_kind:  # the user's own table may tell
        lemmas = by_kind["lemmas"].info.get("test accuracy")
    return Quality(
        tokens=figure("tokens", "segmenter"),
        universal_tags=tags.get("upos"),
        fine_tags=tags.get("xpos"),
        lemmas=lemmas,
        simplemma=figures.get("simplemma"),
        words_with_senses=None if senses is None else senses.info.get("lemmas"),
    )


@cache
def measured_figures() -> Mapping[str, Mapping[str, Any]]:
    """By language what `data/languages.json` holds."""
    path = shipped_folder() / "languages.json"
    figures = json.loads(path.read_text(encoding="utf-8"))["languages"]
    assert isinstance(figures, dict)  # ours: a test reads it
    return figures
