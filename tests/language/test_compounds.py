"""Splitting compounds: the search against a textbook version, the German list against words of our own choosing."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval.base.errors import BuildError, ResourceError
from tesla_eval.base.resources import Resource, read_resource, write_resource
from tesla_eval.language.analysis.compounds import FILLERS, CompoundSplitter, load_compound_splitter
from word_lists import compound_resource

GERMAN_WORDS = Path(__file__).parents[1] / "data" / "compounds-de.tsv"
Spans = tuple[tuple[int, int], ...]


def parts(splitter: CompoundSplitter, word: str) -> list[str]:
    return [word[start:end] for start, end in splitter.split(word)]


def all_splits(text: str, levels: dict[str, int], start: int = 0) -> Iterator[Spans]:
    """Every way to cut `text` into known parts with fillers between them."""
    for end in range(start + 3, len(text) + 1):
        if text[start:end] in levels:
            if end == len(text):
                yield ((start, end),)
            for filler in FILLERS if end < len(text) else ():
                if text.startswith(filler, end):
                    for rest in all_splits(text, levels, end + len(filler)):
                        yield ((start, end), *rest)


def textbook_split(text: str, levels: dict[str, int]) -> Spans:
    """Specification §1 word for word; ties as the docstring of `split` says."""

    def rank(spans: Spans) -> tuple[Fraction, int, list[tuple[int, int]]]:
        mean = Fraction(sum(levels[text[start:end]] for start, end in spans), len(spans))
        # Parts that end later and then begin earlier, from left to right.
        return mean, -len(spans), [(-start, end) for start, end in spans]

    return max(all_splits(text, levels), key=rank, default=((0, len(text)),))


@st.composite
def lists_and_words(draw: st.DrawFn) -> tuple[dict[str, int], str]:
    """A list of frequencies and a word that can be cut in many ways."""
    known = st.text("aens", min_size=3, max_size=5)
    levels = draw(st.dictionaries(known, st.integers(0, 4), min_size=3, max_size=25))
    pieces = st.sampled_from([*levels, *FILLERS])
    return levels, "".join(draw(st.lists(pieces, min_size=2, max_size=6)))


@given(lists_and_words())
def test_the_split_is_the_best_of_all_splits(case: tuple[dict[str, int], str]) -> None:
    levels, word = case
    expected = textbook_split(word, levels) if len(word) >= 6 else ((0, len(word)),)
    assert CompoundSplitter(levels).split(word) == expected


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ({"regen": 450, "schirm": 390}, ["Regen", "schirm"]),
        ({"regen": 450, "schirm": 390, "regenschirm": 326}, ["Regen", "schirm"]),
        ({"regen": 450, "schirm": 390, "regenschirm": 421}, ["Regenschirm"]),
        ({"regen": 450, "schirm": 390, "regenschirm": 420}, ["Regenschirm"]),  # equal means: fewer parts
        ({"regen": 450}, ["Regenschirm"]),  # every part must be known
    ],
)
def test_the_highest_geometric_mean_wins(levels: dict[str, int], expected: list[str]) -> None:
    assert parts(CompoundSplitter(levels), "Regenschirm") == expected


@pytest.mark.parametrize("filler", FILLERS)
def test_letters_that_join_two_parts_belong_to_neither(filler: str) -> None:
    splitter = CompoundSplitter({"haus": 500, "boot": 500})
    assert parts(splitter, f"Haus{filler}boot") == ["Haus", "boot"]
    assert parts(splitter, f"Hausboot{filler}") == (["Hausboot" + filler] if filler else ["Haus", "boot"])


def test_parts_have_three_letters() -> None:
    assert parts(CompoundSplitter({"öl": 500, "preis": 500}), "Ölpreis") == ["Ölpreis"]
    assert parts(CompoundSplitter({"tee": 500, "haus": 500}), "Teehaus") == ["Tee", "haus"]


def test_hostile_words_are_left_alone() -> None:
    splitter = CompoundSplitter({"aaa": 500, "aaaa": 500})
    assert splitter.split("a" * 1_000_000) == ((0, 1_000_000),)
    assert splitter.split("") == ((0, 0),)
    assert splitter.split("İİİaaaaaa") == ((0, 9),)  # its lower case is longer: offsets would be wrong
    assert len(splitter.split("a" * 80)) == 20  # equal means: as few parts as possible


def test_a_list_survives_its_file(tmp_path: Path) -> None:
    path = tmp_path / "compounds-de.tesla"
    write_resource(path, compound_resource({"straße": 1000.0, "bahn": 5000.0}, "de"))
    assert parts(CompoundSplitter.from_resource(read_resource(path, "compounds")), "Straßenbahn") == [
        "Straße",
        "bahn",
    ]


def test_lists_that_cannot_be_are_refused() -> None:
    for frequencies in ({}, {"haus": 0.0}, {"haus": 0.5}):
        with pytest.raises(BuildError):
            compound_resource(frequencies, "de")
    sound = compound_resource({"haus": 1000.0, "boot": 1000.0}, "de")
    arrays = {**sound.arrays, "levels": sound.arrays["levels"][:1]}
    with pytest.raises(ResourceError, match="is not a valid table"):
        CompoundSplitter.from_resource(Resource(kind="compounds", language="de", arrays=arrays))


@pytest.mark.parametrize(
    ("language", "word", "expected"),
    [
        ("nl", "levensomstandigheden", ["leven", "omstandigheden"]),
        ("nl", "wereldrecord", ["wereld", "record"]),
        ("sv", "bostadsmarknaden", ["bostad", "marknaden"]),
        ("sv", "statens", ["statens"]),
        ("no", "arbeidsledighet", ["arbeid", "ledighet"]),
        ("no", "kultur", ["kultur"]),
        ("fi", "jalkapalloa", ["jalka", "palloa"]),
        ("fi", "rakennuksia", ["rakennuksia"]),
    ],
)
def test_other_languages_whose_compounds_are_split(language: str, word: str, expected: list[str]) -> None:
    splitter = load_compound_splitter(language)
    assert splitter is not None
    assert parts(splitter, word) == expected


def test_languages_whose_compounds_are_left_whole() -> None:
    assert load_compound_splitter("en") is None
    assert load_compound_splitter("da") is None


@pytest.fixture(scope="module")
def german() -> CompoundSplitter:
    splitter = load_compound_splitter("de")
    assert splitter is not None
    return splitter


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Regenschirm", ["Regen", "schirm"]),
        ("Donaudampfschifffahrt", ["Donau", "dampf", "schiff", "fahrt"]),
        ("Aktionsplan", ["Aktion", "plan"]),
        ("Straßenbahn", ["Straße", "bahn"]),
        ("Freitag", ["Freitag"]),
        ("Regierung", ["Regierung"]),
    ],
)
def test_german_examples(german: CompoundSplitter, word: str, expected: list[str]) -> None:
    assert parts(german, word) == expected


def test_german_words_come_out_as_they_should(german: CompoundSplitter) -> None:
    """At least 97 of 100: what is left are words more frequent than their parts, and Hoch-zeit."""
    lines = GERMAN_WORDS.read_text(encoding="utf-8").splitlines()
    words = [line.split("\t") for line in lines if not line.startswith("#")]
    wrong = [word for word, *good in words if "|".join(parts(german, word)) not in good]
    assert len(words) > 150
    assert len(wrong) <= 0.03 * len(words), wrong
