"""Language codes as users write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tesla_eval.base.errors import UsageError
from tesla_eval.language.analysis.languages import (
    LANGUAGES,
    known_languages,
    resolve_language,
    target_of_pair,
)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("en", "en"), ("eng", "en"), ("EN", "en"), ("en-US", "en"), ("en_GB.UTF-8", "en"), ("english", "en"),
        ("deu", "de"), ("ger", "de"), ("German", "de"), ("cze", "cs"), ("ces", "cs"),
        ("zh-CN", "zh"), ("zh_Hans", "zh"), ("zh-Hant-TW", "zh"), ("cmn", "zh"),
        ("pt-BR", "pt"), ("nb", "no"), ("nob", "no"), ("no", "no"), ("nno", "nn"), ("nn-NO", "nn"),
        ("iw", "he"), (" fr ", "fr"), ("und", "und"),
    ],
)  # fmt: skip
def test_aliases_name_their_language(written: str, meant: str) -> None:
    assert resolve_language(written) == meant


@pytest.mark.parametrize(
    ("tag", "meant"),
    [
        ("nl-BE", "nl"), ("fr-CA", "fr"), ("es-AR", "es"), ("es-SV", "es"), ("en-CA", "en"), ("ar-DZ", "ar"),
        ("sv-FI", "sv"), ("nn-NO", "nn"), ("pt-BR", "pt"), ("zh-Hant-HK", "zh"), ("en-IN", "en"),
    ],
)  # fmt: skip
def test_a_region_is_a_region_in_capitals_and_without(tag: str, meant: str) -> None:
    for written in (tag, tag.lower(), tag.upper(), tag.replace("-", "_").lower()):
        assert resolve_language(written) == meant
        assert target_of_pair(written) is None


@pytest.mark.parametrize(
    ("pair", "target"),
    [("en-de", "de"), ("de-en", "en"), ("EN-DE", "de"), ("en-uk", "uk"), ("deu_eng", "en")],
)
def test_a_pair_of_languages_means_its_target(pair: str, target: str) -> None:
    assert resolve_language(pair) == target_of_pair(pair) == target


def test_what_is_no_text_is_no_language() -> None:
    with pytest.raises(TypeError, match="a code, such as 'en', not None"):
        resolve_language(None)  # type: ignore[arg-type]


def test_every_code_and_alias_leads_to_one_language_only() -> None:
    for language in LANGUAGES.values():
        for name in (language.code, language.name, *language.aliases):
            assert resolve_language(name) == language.code


@pytest.mark.parametrize("code", ["xx", "", "klingon", "-", "und2", "enn"])
def test_unknown_languages_are_refused_with_the_list_of_known_ones(code: str) -> None:
    with pytest.raises(UsageError) as caught:
        resolve_language(code)
    assert repr(code) in str(caught.value)
    assert "af, ar, be" in str(caught.value)
    assert "'und'" in str(caught.value)


def test_scripts_without_spaces() -> None:
    assert {code for code, language in LANGUAGES.items() if not language.spaces} == {"zh", "ja", "th"}


def test_a_language_the_user_built_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tagger-eo.tesla").touch()
    monkeypatch.setenv("TESLA_EVAL_DATA", str(tmp_path))
    assert resolve_language("eo-XX") == "eo"
    assert "eo" in known_languages()
