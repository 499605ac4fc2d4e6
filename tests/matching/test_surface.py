"""The surface features (specification §8b), each against the plainest way to compute it."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval import TeslaX
from tesla_eval._core import SURFACE_FEATURES
from tesla_eval.language.analysis import load_pipeline
from tesla_eval.metrics.features.surface import SurfaceGroup

WORDS = ["the", "cat", "sat", "on", "mat", "Spain", "2012", "dog", "of", "house"]


def surface(hypothesis: str, reference: str) -> dict[str, float]:
    analysis = load_pipeline("en")
    group = SurfaceGroup().bind(analysis)
    y, x = analysis.analyse([hypothesis], [reference])
    only = np.zeros(1, np.int64)
    row = group.compare(group.prepare(x), group.prepare(y), only, only)[0]
    return dict(zip(SURFACE_FEATURES, row.tolist(), strict=True))


def longest_common_subsequence(x: list[str], y: list[str]) -> int:
    table = np.zeros((len(x) + 1, len(y) + 1), int)
    for i, a in enumerate(x):
        for j, b in enumerate(y):
            table[i + 1, j + 1] = table[i, j] + 1 if a == b else max(table[i, j + 1], table[i + 1, j])
    return int(table[-1, -1])


def test_a_text_against_itself_is_perfect() -> None:
    found = surface("In 2012, the cat sat in Spain.", "In 2012, the cat sat in Spain.")
    for name, value in found.items():
        if name.endswith((".p", ".r")) or name == "order":
            assert value == 1.0, name
    for name in ("fragments", "short", "long", "foreign", "unknown", "repeated"):
        assert found[name] == 0.0, name


def test_word_order_counts() -> None:
    straight = surface("the cat sat on the mat", "the cat sat on the mat")
    turned = surface("on the mat sat the cat", "the cat sat on the mat")
    assert turned["lcs.r"] < straight["lcs.r"]
    assert turned["order"] < straight["order"] == 1.0
    assert turned["fragments"] > straight["fragments"]


def test_common_subsequences_equal_the_textbook(real_pairs) -> None:
    analysis = load_pipeline("en")
    group = SurfaceGroup().bind(analysis)
    pairs = real_pairs[:60]
    y, x = analysis.analyse([pair[0] for pair in pairs], [pair[1] for pair in pairs])
    every = np.arange(len(pairs))
    found = group.compare(group.prepare(x), group.prepare(y), every, every)
    column = SURFACE_FEATURES.index("lcs.r")
    for k in range(len(pairs)):
        lemmas = [[token.lemma for token in side.tokens(k)] for side in (x, y)]
        assert found[k, column] == pytest.approx(longest_common_subsequence(*lemmas) / max(1, len(lemmas[0])))


@given(st.integers(1, 4), st.integers(1, 200), st.integers(1, 200), st.randoms(use_true_random=False))
def test_common_subsequences_of_long_and_repetitive_texts(kinds: int, m: int, n: int, random: Random) -> None:
    x, y = (random.choices(WORDS[:kinds], k=length) for length in (m, n))
    expected = longest_common_subsequence(x, y)
    found = surface(" ".join(y), " ".join(x))
    assert (found["lcs.r"], found["lcs.p"]) == (expected / m, expected / n)


def test_rare_words_weigh_more() -> None:
    found = surface("the xylophone", "the trombone xylophone")
    lost_common = surface("trombone xylophone", "the trombone xylophone")
    assert found["rareword.r"] < lost_common["rareword.r"]


def test_numbers_and_names_by_themselves() -> None:
    found = surface("He came to Spain in 2013.", "He came to France in 2012.")
    assert found["number.r"] == 0.0
    assert found["capital.r"] == 0.5  # He, but not France


def test_letters_of_another_script_are_foreign() -> None:
    assert surface("the кот sat", "the cat sat")["foreign"] == pytest.approx(3 / 9)


def test_punctuation_is_compared() -> None:
    found = surface("Yes, no.", "Yes: no.")
    assert (found["punct.p"], found["punct.r"]) == (0.5, 0.5)


def test_lengths() -> None:
    found = surface("one two", "one two three four five")
    assert (found["short"], found["long"]) == (pytest.approx(1 - 3 / 6), 0.0)


@pytest.mark.parametrize("seed", range(20))
def test_content_words_equal_a_plain_count(seed: int) -> None:
    random = np.random.default_rng(seed)
    texts = [" ".join(random.choice(WORDS, 8)) for _ in range(2)]
    analysis = load_pipeline("en")
    tokens = [batch.tokens(0) for batch in analysis.analyse([texts[0]], [texts[1]])]
    y, x = (Counter(token.lemma for token in side if not token.function) for side in tokens)
    expected = sum((x & y).values()) / sum(x.values()) if x else float(not y)
    assert surface(*texts)["content.r"] == pytest.approx(expected)


@pytest.mark.parametrize(("of_x", "of_y"), [(20, 25), (64, 64), (64, 65), (66, 50), (130, 70)])
def test_sentences_and_long_texts_equal_a_plain_count(of_x: int, of_y: int) -> None:
    """Texts of up to 64 words are compared another way than longer ones, and with an alignment of tokens."""
    random = Random(of_x)
    metric = TeslaX("en")
    for _ in range(10):
        reference, hypothesis = (" ".join(random.choices(WORDS, k=size)) for size in (of_x, of_y))
        x, y = (side.tokens(0) for side in load_pipeline("en").analyse([reference], [hypothesis]))
        assert (len(x), len(y)) == (of_x, of_y)
        functions_x, functions_y = (Counter(t.lemma for t in side if t.function) for side in (x, y))
        contents_x, contents_y = (Counter(t.lemma for t in side if not t.function) for side in (x, y))
        repeated = sum(max(0, count - max(contents_x[lemma], 1)) for lemma, count in contents_y.items())
        common = longest_common_subsequence([t.lemma for t in x], [t.lemma for t in y])
        expected = {
            "function.p": sum((functions_x & functions_y).values()) / sum(functions_y.values()),
            "repeated": repeated / of_y,
            "lcs.p": common / of_y,
            "lcs.r": common / of_x,
        }
        scored = metric.sentence_score(hypothesis, [reference]).features
        for found in (scored, surface(hypothesis, reference)):
            assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_many_repetitions_stay_quick() -> None:
    found = surface("the " * 100_000, "the " * 100_000)
    assert found["order"] == found["lcs.r"] == 1.0


def test_no_word_at_all_may_come_first() -> None:
    analysis = load_pipeline("en")
    analysis._begin_vocabulary()
    assert surface("", "")["short"] == surface("", "")["long"] == 0.0


def test_words_that_nobody_knows_are_a_penalty_unless_the_reference_has_them() -> None:
    assert surface("the qwzzx sat here", "the cat sat here")["unknown"] == 1 / 4
    assert surface("the qwzzx sat here", "the qwzzx sat there")["unknown"] == 0.0
    assert surface("the 12x34 sat here", "the cat sat here")["unknown"] == 0.0


def test_repeating_a_word_more_often_than_the_reference_is_a_penalty() -> None:
    assert surface("house house house", "house cat mat")["repeated"] == 2 / 3
    assert (
        surface("house house", "house house")["repeated"]
        == surface("house cat", "dog mat")["repeated"]
        == 0.0
    )


@given(st.lists(st.sampled_from(WORDS), max_size=12), st.lists(st.sampled_from(WORDS), max_size=12))
def test_every_feature_is_bounded(x: list[str], y: list[str]) -> None:
    values = surface(" ".join(x), " ".join(y)).values()
    assert all(0 <= value <= 1 for value in values)
