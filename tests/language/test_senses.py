"""Synonym sets: what the table keeps, finds and ships."""

from __future__ import annotations

import time
import unicodedata
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval.base.errors import ResourceError
from tesla_eval.base.resources import Provenance, Resource, read_resource, shipped_folder, write_resource
from tesla_eval.language.analysis.senses import SenseTable, load_senses

words = st.text(min_size=1, max_size=6)
synonym_sets = st.lists(st.lists(words, max_size=5), max_size=20)


def single_words(entries: list[str]) -> frozenset[str]:
    """The textbook version of what a set keeps."""
    keys = {unicodedata.normalize("NFC", entry).strip().lower() for entry in entries}
    return frozenset(key for key in keys if key and "_" not in key and len(key.split()) == 1)


@given(sets=synonym_sets, others=st.lists(words))
def test_a_word_has_the_senses_of_the_sets_that_hold_it(sets: list[list[str]], others: list[str]) -> None:
    table = SenseTable.from_sets(sets, "en")
    members = table.sets()
    expected = {kept for entries in sets if len(kept := single_words(entries)) > 1}
    for word in [word for entries in expected for word in entries] + others:
        found = {frozenset(members[sense]) for sense in table.senses(word)}
        assert found == {entries for entries in expected if word in entries}


@given(sets=synonym_sets, lemmas=st.lists(words, max_size=30))
def test_a_batch_finds_what_single_look_ups_find(sets: list[list[str]], lemmas: list[str]) -> None:
    table = SenseTable.from_sets(sets, "en")
    offsets, ids = table.lookup(lemmas)
    assert len(offsets) == len(lemmas) + 1
    for index, lemma in enumerate(lemmas):
        assert tuple(ids[offsets[index] : offsets[index + 1]]) == table.senses(lemma)


def test_sets_of_one_word_and_entries_of_several_words_are_dropped() -> None:
    sets = [["dog"], ["dog", "domestic dog"], ["dog", "domestic_dog"], ["Dog", "dog"]]
    table = SenseTable.from_sets(sets, "en")
    assert len(table) == 0
    assert table.senses("dog") == ()


def test_equal_sets_are_one_sense_and_words_are_lower_cased_and_composed() -> None:
    table = SenseTable.from_sets([["Cafe\u0301", "bar"], ["bar", "café"]], "fr")
    assert table.senses("café") == table.senses("bar") == (0,)


def test_words_with_the_same_checksum_are_told_apart() -> None:
    assert zlib.crc32(b"plumless") == zlib.crc32(b"buckeroo")
    table = SenseTable.from_sets([["plumless", "fruitless"], ["buckeroo", "cowboy"]], "en")
    assert table.senses("plumless") == (0,)
    assert table.senses("buckeroo") == (1,)
    only_one = SenseTable.from_sets([["plumless", "fruitless"]], "en")
    assert only_one.senses("buckeroo") == ()


def test_a_table_survives_its_file(tmp_path: Path) -> None:
    table = SenseTable.from_sets(
        [["Wagen", "Auto"], ["Wagen", "Waggon"]], "de", provenance=Provenance(licence="CC0")
    )
    path = tmp_path / "senses-de.tesla"
    write_resource(path, table.resource, compress=False)
    again = SenseTable(read_resource(path, "senses"))
    assert again.sets() == table.sets()
    assert again.resource.provenance.licence == "CC0"


def test_arrays_that_do_not_fit_are_refused() -> None:
    sound = SenseTable.from_sets([["a", "b"]], "en").resource
    for name in sound.arrays:
        cut = {**sound.arrays, name: sound.arrays[name][:-1]}
        with pytest.raises(ResourceError, match="is not a valid table"):
            SenseTable(Resource(kind="senses", language="en", arrays=cut))


def test_no_table_for_a_language_without_one() -> None:
    assert load_senses("und") is None


def test_english_senses_are_wordnets() -> None:
    table = load_senses("en")
    assert table is not None
    automobile = set(table.senses("automobile"))
    assert automobile & set(table.senses("car"))
    assert not automobile & set(table.senses("dog"))
    # "buy" is a verb and a noun: ids run over all parts of speech.
    assert set(table.senses("buy")) & set(table.senses("purchase"))
    assert set(table.senses("buy")) & set(table.senses("bargain"))
    assert table.resource.provenance.licence
    assert table.resource.provenance.sources


def test_english_senses_load_in_ten_milliseconds() -> None:
    def seconds() -> float:
        started = time.perf_counter()
        table = load_senses("en")
        assert table is not None
        table.lookup(["car"])
        return time.perf_counter() - started

    assert min(seconds() for _ in range(5)) < 0.010


def test_the_answer_has_fixed_types() -> None:
    offsets, ids = SenseTable.from_sets([["a", "b"]], "en").lookup(["a", "c"])
    assert (offsets.dtype, ids.dtype) == (np.int64, np.uint32)


@pytest.mark.parametrize(
    ("language", "word", "synonym", "other"),
    [
        ("cs", "kopec", "vrch", "pes"), ("de", "auto", "wagen", "hund"),
        ("es", "coche", "automóvil", "perro"), ("fr", "voiture", "automobile", "chien"),
        ("ja", "捕手", "キャッチャー", "犬"),
        ("sk", "nacionalista", "vlastenec", "pes"), ("zh", "攻击", "袭击", "狗"),
    ],
)  # fmt: skip
def test_other_languages_have_synonyms_too(language: str, word: str, synonym: str, other: str) -> None:
    table = load_senses(language)
    assert table is not None
    assert set(table.senses(word)) & set(table.senses(synonym))
    assert not set(table.senses(word)) & set(table.senses(other))


def test_shipped_tables_name_their_sources_and_stay_within_their_six_megabytes() -> None:
    folder = shipped_folder()
    paths = sorted(folder.glob("senses-*.tesla"))
    assert sum(path.stat().st_size for path in paths) < 6_000_000
    notices = "".join(path.read_text(encoding="utf-8") for path in (folder / "licences").iterdir())
    for path in paths:
        resource = read_resource(path, "senses")
        assert resource.provenance.sources
        assert resource.provenance.licence
        assert path.name in notices
