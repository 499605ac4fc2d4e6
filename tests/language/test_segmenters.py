"""Words in scripts without spaces: shipped models, and training one's own."""

from __future__ import annotations

import time
import unicodedata
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval.base.errors import BuildError, ResourceError
from tesla_eval.language.analysis.tokenisers import (
    Tokeniser,
    load_segmenter,
    load_tokeniser,
    make_segmenter,
)
from tests.language.tokens import tokenise
from word_lists import SegmenterSettings, train_segmenter

SEGMENTED = ("ar", "ja", "th", "zh")


@pytest.mark.parametrize(
    ("language", "marked"),
    [
        ("zh", "我们|在|2024|年|去|了|北京|。"), ("zh", "大约|有|20万|人|使用|iPhone|。"),
        ("ja", "私|は|昨日|東京|へ|行っ|た|。"), ("th", "เขา|ไม่|ได้|ไป|ที่|นั่น ใน|วัน|จันทร์"),
        ("ar", "و|كان في|ه الكثير من|ها|."),
    ],
)  # fmt: skip
def test_words_are_found(language: str, marked: str) -> None:
    assert tokenise(marked.replace("|", ""), language) == marked.replace("|", " ").split()


def test_scripts_around_a_word_are_those_that_the_model_learned() -> None:
    """Language detection has scripts of its own: for a while the linker took its function for the segmenter's."""
    assert tokenise("展出。（维琴察·西索提供）", "zh") == [
        "展出",
        "。",
        "（",
        "维琴察",
        "·",
        "西索",
        "提供",
        "）",
    ]


def test_traditional_characters_are_cut_as_the_simplified_ones() -> None:
    simplified, traditional = "这个国家的经济发展很快", "這個國家的經濟發展很快"
    assert load_tokeniser("zh").spans(traditional) == load_tokeniser("zh").spans(simplified)


@given(text=st.text("กขมาิี่้ๆะเแ们漢字ひガーا و\u064e2a。", max_size=40), language=st.sampled_from(SEGMENTED))
def test_no_token_begins_with_a_mark_that_has_a_base(text: str, language: str) -> None:
    for start, _ in load_tokeniser(language).spans(text):
        mark = unicodedata.category(text[start]).startswith("M")
        assert not mark or start == 0 or text[start - 1].isspace()


@pytest.mark.parametrize("language", SEGMENTED)
def test_a_megabyte_of_letters_takes_linear_time_and_no_word_is_lost(language: str) -> None:
    letter = {"ar": "ب", "ja": "ひ", "th": "ก", "zh": "漢"}[language]
    begin = time.perf_counter()
    spans = load_tokeniser(language).spans(letter * 300_000)
    assert time.perf_counter() - begin < 10  # quadratic work would take hours
    assert [start for start, _ in spans] == [0, *(end for _, end in spans[:-1])]
    assert spans[-1][1] == 300_000


def test_training_learns_its_texts_and_is_deterministic() -> None:
    texts = [("我爱北京", [(0, 1), (1, 2), (2, 4)]), ("北京很大", [(0, 2), (2, 3), (3, 4)])] * 3
    first, second = (train_segmenter(texts, "zh", lexicon=["北京"]) for _ in range(2))
    assert all(np.array_equal(first.arrays[name], second.arrays[name]) for name in first.arrays)
    tokeniser = Tokeniser("zh", make_segmenter(first))
    assert [tokeniser.spans(text) for text, _ in texts] == [words for _, words in texts]


def test_nothing_to_learn_from_is_an_error() -> None:
    with pytest.raises(BuildError):
        train_segmenter([], "zh", settings=SegmenterSettings(epochs=1))


@pytest.mark.parametrize("name", ["feature_places", "weights", "transitions", "word_deltas"])
def test_arrays_that_do_not_fit_are_refused(name: str) -> None:
    found = load_segmenter("ar")
    assert found is not None
    resource = found[1]
    damaged = {"word_deltas": np.zeros((4, 3), np.uint8)}.get(name, resource.arrays[name][1:])
    with pytest.raises(ResourceError, match="rebuild"):
        make_segmenter(replace(resource, arrays={**resource.arrays, name: damaged}))


@pytest.mark.parametrize("language", SEGMENTED)
def test_shipped_models_say_where_they_come_from(language: str) -> None:
    found = load_segmenter(language)
    assert found is not None
    resource = found[1]
    assert resource.provenance.sources
    assert "CC BY-SA" in resource.provenance.licence
    assert resource.info["test F1"] > 90
