"""Character n-grams that grow with the reference (specification §8b)."""

import numpy as np
import pytest

from tesla_eval.language.analysis import load_pipeline
from tesla_eval.metrics.features.ngrams import SlidingCharacterGroup
from tests.matching.given_matches import build_character_bags, match_characters

ONLY = np.zeros(1, np.int64)
WORDS = "the quick brown fox jumps over a lazy dog while seven wizards pack my box with liquor jugs "


def f_of(hypothesis: str, reference: str) -> list[float]:
    x, y = build_character_bags([reference]), build_character_bags([hypothesis])
    values: list[float] = match_characters(x, y, ONLY, ONLY, 5).f[0].tolist()
    return values


def slid(hypothesis: str, reference: str) -> list[float]:
    group = SlidingCharacterGroup().bind(load_pipeline("und"))
    x, y = load_pipeline("und").analyse([reference], [hypothesis])
    values: list[float] = group.compare(group.prepare(x), group.prepare(y), ONLY, ONLY)[0].tolist()
    return values


@pytest.mark.parametrize(("length", "share"), [(90, 0.0), (250, 0.0), (475, 0.5), (700, 1.0), (2000, 1.0)])
def test_orders_grow_by_two(length: int, share: float) -> None:
    reference = (WORDS * 30)[:length]
    hypothesis = reference[::-1][: length - 10]
    f = f_of(hypothesis, reference)
    assert slid(hypothesis, reference) == pytest.approx([f[n] + share * (f[n + 2] - f[n]) for n in range(3)])


@pytest.mark.parametrize("length", [1, 2, 300, 475, 900])
def test_a_copy_has_exactly_1(length: int) -> None:
    reference = (WORDS * 30)[:length]
    assert [value for value in slid(reference, reference) if not np.isnan(value)] == [1.0] * min(3, length)


def test_both_ways() -> None:
    texts = [WORDS, WORDS * 5 + "more", WORDS * 9]
    analysis = load_pipeline("und")
    group = SlidingCharacterGroup().bind(analysis)
    prepared = group.prepare(analysis.analyse(texts)[0])
    first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
    forth, back = group.compare_both_ways(prepared, first, second)
    np.testing.assert_array_equal(forth, group.compare(prepared, prepared, first, second))
    np.testing.assert_array_equal(back, group.compare(prepared, prepared, second, first))
