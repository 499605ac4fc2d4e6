"""`tesla resources`: the table of languages, the details of one, and what the package's own figures vouch for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tesla_eval.base.resources import (
    Resource,
    find_resource,
    installed_resources,
    read_resource,
    shipped_folder,
    write_resource,
)
from tesla_eval.cli.resources import _plugged_resources
from tesla_eval.language.analysis.languages import LANGUAGES, MEASURED_PARTS, measured_figures, quality_of

NOT_EUROPEAN = {"af", "ar", "fa", "he", "hi", "hy", "id", "ja", "ka", "ko", "th", "tr", "vi", "zh"}
EUROPEAN = sorted(LANGUAGES.keys() - NOT_EUROPEAN)
LICENCES = shipped_folder() / "licences"


def test_every_language_has_a_row_with_its_figures(tesla: Any) -> None:
    lines = tesla("resources").out.splitlines()
    assert lines[0].split() == ["language", "tokeniser", "tagger", "lemmas", "synonyms", "also"]
    rows = {line.split()[0]: line for line in lines[1 : len(LANGUAGES) + 1]}
    assert set(rows) == set(LANGUAGES)
    german = measured_figures()["de"]
    assert f"{german['tokens']:.1f}" in rows["de"]
    assert f"{german['lemmas']:.1f}" in rows["de"]
    assert "95.2 / 93.8" in rows["de"]
    assert "words" in rows["de"]
    assert "compounds" in rows["de"]
    assert "?" not in "".join(rows.values()), "everything shipped was measured"


def test_a_language_in_detail_has_versions_sources_and_licences(tesla: Any) -> None:
    out = tesla("resources", "-l", "German").out
    tagger = read_resource(Path(str(find_resource("tagger", "de"))))
    assert tagger.fingerprint in out
    assert tagger.provenance.licence in out
    assert "OpenThesaurus" in out
    assert "WordNet" not in out


def test_everything_as_json(tesla: Any) -> None:
    found = json.loads(tesla("resources", "--json").out)
    assert {"tagger", "senses"} <= {item["kind"] for item in found["resources"] if item["language"] == "en"}
    assert all(item["licence"] and item["sources"] for item in found["resources"])
    assert found["languages"]["de"]["quality"]["universal_tags"] > 94.5
    assert found["languages"]["no"]["name"] == "Norwegian Bokmål"


def test_files_are_listed_with_licences(tesla: Any) -> None:
    out = tesla("resources", "--files").out
    assert len(out.splitlines()) == 1 + len({*installed_resources(), *_plugged_resources()})
    assert "WordNet 3.0" in out


def test_an_unknown_language_is_an_error(tesla: Any) -> None:
    assert tesla("resources", "-l", "xx").status == 2


def test_a_language_without_resources_is_said_to_have_none(tesla: Any) -> None:
    outcome = tesla("resources", "-l", "lo")
    assert (outcome.status, len(outcome.out.splitlines())) == (0, 1)
    assert "nothing is installed for 'lo'" in outcome.out


def test_a_table_of_two_languages_makes_no_row(
    tesla: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_resource(tmp_path / "pairs-de-en.tesla", Resource("pairs", "de-en", {}))
    monkeypatch.setenv("TESLA_EVAL_DATA", str(tmp_path))
    assert "de-en" not in tesla("resources").out
    assert "de-en" in tesla("resources", "--files").out


def test_figures_say_nothing_of_the_users_own_tables(
    tesla: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = read_resource(Path(str(find_resource("lemmas", "de"))))
    own = Resource("lemmas", "de", shipped.arrays, info={**shipped.info, "trust": 0.1})
    write_resource(tmp_path / "lemmas-de.tesla", own)
    monkeypatch.setenv("TESLA_EVAL_DATA", str(tmp_path))
    described = json.loads(tesla("resources", "-l", "de", "--json").out)["languages"]["de"]
    assert described["own"] == ["lemmas"]
    assert described["quality"]["lemmas"] is None
    assert described["quality"]["tokens"] is not None


def test_the_figures_were_measured_with_the_tables_that_are_shipped() -> None:
    for code, figures in measured_figures().items():
        shipped = [read_resource(path) for path in shipped_folder().glob(f"*-{code}.tesla")]
        fingerprints = {r.kind: r.fingerprint for r in shipped if r.kind in MEASURED_PARTS}
        assert figures["fingerprints"] == fingerprints, f"{code}: run tools/make_languages.py"
        assert quality_of(shipped, figures).tokens == figures["tokens"]


@pytest.mark.parametrize("code", EUROPEAN)
def test_tokens_of_european_languages_are_found(code: str) -> None:
    assert measured_figures()[code]["tokens"] >= 98


def test_chinese_words_are_found_and_lemmas_are_no_worse_than_simplemmas() -> None:
    assert measured_figures()["zh"]["tokens"] >= 90
    for figures in measured_figures().values():
        if "simplemma" in figures:
            assert figures["lemmas"] >= figures["simplemma"]


@pytest.mark.parametrize("kind", ["tagger", "segmenter", "lemmas", "senses", "compounds"])
def test_every_shipped_file_is_named_in_a_notice(kind: str) -> None:
    notices = "\n".join(path.read_text("utf-8") for path in LICENCES.glob("*.txt"))
    files = list(shipped_folder().glob(f"{kind}-*.tesla"))
    assert files
    unnamed = [path.name for path in files if path.name not in notices]
    assert not unnamed, "run tools/make_notices.py, or name them in data/licences"
