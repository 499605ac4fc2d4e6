"""Sentence splitting: abbreviations, quotations, bullet points, lines, tokenised and lower-cased text."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval.language.analysis.sentences import split_sentences


def sentences(text: str, lang: str = "en") -> list[str]:
    return [text[start:end] for start, end in split_sentences(text, lang)]


@pytest.mark.parametrize(
    ("lang", "expected"),
    [
        ("en", ["Dr. A. B. Smith Jr. met Gen. Lee at 5 p.m. on Jan. 5.", "It rained."]),
        ("en", ["He moved to the U.S. in May.", "He left the U.S.", "The rest is known."]),
        ("en", ["The U.S. Army came.", "Apple Inc. paid $3.5 million, i.e. all."]),
        ("en", ['"It is over," he said.', '"Why?" she asked.', '"No!"', "He left."]),
        ("en", ["He said: “Go. ”", "(They went.)", "All was quiet…", "Then they came back."]),
        ("en", ["This was shown before.[1-3]", "Others disagree."]),
        ("en", ["Wait... what?", "See No. 5 and Op. 46."]),
        ("de", ["Am 3. Oktober kam Dr. Meier, bzw. seine Frau.", "Es war z. B. kalt."]),
        ("zh", ["你好。", "他说：“走吧！”", "然后呢？"]),
        ("es", ["¿Qué pasa?", "El Sr. López no vino.", "¡Vaya!"]),
    ],
)
def test_running_text(lang: str, expected: list[str]) -> None:
    text = ("" if lang == "zh" else " ").join(expected)
    assert sentences(text, lang) == expected


def test_tokenised_text_without_capitals() -> None:
    expected = [
        "a judge ordered v. stiviano to pay $ 2.6 million .",
        "who is she ?",
        "sterling 's wife sued her .",
    ]
    assert sentences(" ".join(expected)) == expected


def test_tokenised_quotation_closes_with_its_sentence() -> None:
    expected = ["`` We are suffering . ''", "The fear is not gone ."]
    assert sentences(" ".join(expected)) == expected


def test_bullets_and_numbers_begin_sentences() -> None:
    text = "Three points:\n- the first point\n* the second\n1. One thing. Another.\n2) Last\n\nHeading\n\nText follows"
    assert sentences(text) == [
        "Three points:", "- the first point", "* the second", "1. One thing.", "Another.", "2) Last", "Heading",
        "Text follows",
    ]  # fmt: skip


def test_wrapped_lines_go_on_and_short_lines_end() -> None:
    wrapped = (
        "This text was broken into lines because\nthey were full, and it goes on in the next\none until here."
    )
    assert len(sentences(wrapped)) == 1
    assert sentences("A headline without a stop\nA much longer line that says what the story is about") == [
        "A headline without a stop",
        "A much longer line that says what the story is about",
    ]


def test_a_sentence_a_line_stays_one() -> None:
    lines = [
        "koirala 's group is relying on bottled water",
        "these girls are vulnerable",
        "people will target them now",
    ]
    assert sentences("\n".join(lines)) == lines
    assert sentences("\n".join(lines[:2])) == lines[:2]


@pytest.mark.parametrize("text", ["", " \n ", "\t"])
def test_nothing_has_no_sentences(text: str) -> None:
    assert split_sentences(text) == []


def test_offsets_count_the_raw_text() -> None:
    text = unicodedata.normalize("NFD", "Él llegó. Así fue.")
    assert sentences(text, "es") == [unicodedata.normalize("NFD", part) for part in ("Él llegó.", "Así fue.")]


@given(st.text(alphabet="ab AB.!?\"'()\n-•1[]…", max_size=60))
def test_sentences_are_all_of_the_text_in_order(text: str) -> None:
    spans = split_sentences(text)
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())
    assert all(a < b for a, b in spans)
    assert all(first[1] <= second[0] for first, second in pairwise(spans))
