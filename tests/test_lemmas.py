"""Lemmas: what matching wants of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval.analysis.lemmas import Lemmatiser


@pytest.fixture(scope="module")
def english() -> Lemmatiser:
    return Lemmatiser("en")


@pytest.mark.parametrize(
    ("word", "lemma"),
    [
        ("houses", "house"), ("went", "go"), ("Children", "child"), ("Google", "google"), ("1,000", "1,000"),
        ("n't", "not"), ("n’t", "not"), ("N'T", "not"), ("'ll", "will"), ("’ll", "will"), ("'re", "be"),
        ("ca", "can"), ("wo", "will"), ("'s", "'s"), ("’s", "'s"),
        ("me", "i"), ("him", "he"), ("us", "we"), ("US", "us"), ("my", "my"),
    ],
)  # fmt: skip
def test_english_lemmas(english: Lemmatiser, word: str, lemma: str) -> None:
    assert english.lemmas([word]) == [lemma]


@given(words=st.lists(st.text(min_size=1)))
def test_a_lemma_depends_on_its_word_alone(english: Lemmatiser, words: list[str]) -> None:
    together = english.lemmas(words)
    assert together == [english.lemmas([word])[0] for word in words]
    assert together == [lemma.lower() for lemma in together]


def test_a_language_without_a_dictionary_keeps_the_word() -> None:
    assert Lemmatiser("und").lemmas(["Häuser", "L’eau"]) == ["häuser", "l'eau"]


def test_a_word_without_end_is_its_own_lemma(english: Lemmatiser) -> None:
    word = "S" * 1_000_000
    assert english.lemmas([word]) == [word.lower()]
