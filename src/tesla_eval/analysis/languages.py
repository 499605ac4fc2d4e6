"""Which languages there are, and what users call them: ISO codes, locale names, English names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tesla_eval.errors import UsageError
from tesla_eval.resources import installed_resources

__all__ = [
    "LANGUAGES",
    "UNDETERMINED",
    "Language",
    "code_to_build",
    "is_spaced",
    "known_languages",
    "resolve_language",
]


@dataclass(frozen=True)
class Language:
    """One language: its ISO 639-1 code, its English name, other codes in use, and how it is written."""

    code: str
    name: str
    aliases: tuple[str, ...]
    spaces: bool = True


UNDETERMINED = Language("und", "undetermined", ())
"""Any language, only when asked for: surface forms without tags, lemmas and senses."""

_BUILT_IN = (
    Language("af", "Afrikaans", ("afr",)),
    Language("ar", "Arabic", ("ara", "arb")),
    Language("be", "Belarusian", ("bel",)),
    Language("ca", "Catalan", ("cat",)),
    Language("cs", "Czech", ("ces", "cze", "cz")),
    Language("cy", "Welsh", ("cym", "wel")),
    Language("da", "Danish", ("dan",)),
    Language("de", "German", ("deu", "ger")),
    Language("el", "Greek", ("ell", "gre")),
    Language("en", "English", ("eng",)),
    Language("es", "Spanish", ("spa",)),
    Language("fa", "Persian", ("fas", "per", "pes")),
    Language("fi", "Finnish", ("fin",)),
    Language("fr", "French", ("fra", "fre")),
    Language("ga", "Irish", ("gle",)),
    Language("gl", "Galician", ("glg",)),
    Language("he", "Hebrew", ("heb", "iw")),
    Language("hi", "Hindi", ("hin",)),
    Language("hr", "Croatian", ("hrv",)),
    Language("hy", "Armenian", ("hye", "arm")),
    Language("id", "Indonesian", ("ind", "in")),
    Language("is", "Icelandic", ("isl", "ice")),
    Language("it", "Italian", ("ita",)),
    Language("ja", "Japanese", ("jpn", "jp"), spaces=False),
    Language("ka", "Georgian", ("kat", "geo")),
    Language("ko", "Korean", ("kor", "kr")),
    Language("lt", "Lithuanian", ("lit",)),
    Language("lv", "Latvian", ("lav", "lvs")),
    Language("mt", "Maltese", ("mlt",)),
    Language("nl", "Dutch", ("nld", "dut")),
    Language("nn", "Norwegian Nynorsk", ("nno", "nynorsk")),
    Language("no", "Norwegian Bokmål", ("nor", "nb", "nob", "norwegian", "bokmål", "bokmal")),
    Language("pl", "Polish", ("pol",)),
    Language("pt", "Portuguese", ("por",)),
    Language("ro", "Romanian", ("ron", "rum", "mo")),
    Language("ru", "Russian", ("rus",)),
    Language("sk", "Slovak", ("slk", "slo")),
    Language("sl", "Slovenian", ("slv", "slovene")),
    Language("sr", "Serbian", ("srp",)),
    Language("sv", "Swedish", ("swe",)),
    Language("th", "Thai", ("tha",), spaces=False),
    Language("tr", "Turkish", ("tur",)),
    Language("uk", "Ukrainian", ("ukr", "ua")),
    Language("vi", "Vietnamese", ("vie",)),
    Language("zh", "Chinese", ("zho", "chi", "cmn", "cn"), spaces=False),
)

_BY_CHARACTER = (
    Language("bo", "Tibetan", ("bod", "tib"), spaces=False),
    Language("dz", "Dzongkha", ("dzo",), spaces=False),
    Language("km", "Khmer", ("khm",), spaces=False),
    Language("lo", "Lao", ("lao",), spaces=False),
    Language("my", "Burmese", ("mya", "bur"), spaces=False),
)
"""Languages without a word segmenter, for metrics of characters (TESLA-CELAB) only."""

_ANALYSIS_FILE = re.compile("(?:compounds|lemmas|segmenter|senses|tagger)-([a-z]{2,3})")
"""The names of files that are part of a language's analysis, with its code."""

LANGUAGES = {language.code: language for language in _BUILT_IN}

_CODE_OF = {
    name: language.code
    for language in (*_BUILT_IN, *_BY_CHARACTER, UNDETERMINED)
    for name in (language.code, language.name.lower(), *language.aliases)
}


_UNSPACED = frozenset(language.code for language in (*_BUILT_IN, *_BY_CHARACTER) if not language.spaces)


def resolve_language(code: str) -> str:
    """The ISO 639-1 code of what the user calls a language; region and script may follow the code.

    >>> [resolve_language(code) for code in ("en", "deu", "zh_Hans", "pt-BR", "nb", "Welsh", "und")]
    ['en', 'de', 'zh', 'pt', 'no', 'cy', 'und']
    """
    wanted = code.strip().lower()
    primary = wanted.replace("_", "-").split("-")[0]
    for name in (wanted, primary):
        if name in _CODE_OF:
            return _CODE_OF[name]
    if primary and primary in _languages_of_resources():
        return primary
    raise UsageError(
        f"unknown language {code!r}; known are {', '.join(known_languages())}; "
        f"{UNDETERMINED.code!r} takes any text as it stands, without lemmas, tags and synonyms"
    )


def code_to_build(code: str) -> str:
    """The code under which resources of a language are stored, which need not be known yet.

    >>> code_to_build("nb"), code_to_build("eo")
    ('no', 'eo')
    """
    wanted = code.strip().lower()
    if wanted in _CODE_OF and wanted != UNDETERMINED.code:
        return _CODE_OF[wanted]
    if wanted == UNDETERMINED.code or re.fullmatch("[a-z]{2,3}", wanted) is None:
        raise UsageError(f"{code!r} is no language code (two or three small letters)")
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
    """The languages that something for analysing them is installed of."""
    return {match[1] for path in installed_resources() if (match := _ANALYSIS_FILE.fullmatch(path.stem))}
