"""Pieces in context matched by the core (specification §8c), against a slow and plain version."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tesla_eval import _core
from tests import textbook

PROBLEMS = ("ctx.best", "ctx.even", "ctx.pair", "ctx.flow")
BEST, EVEN, PAIR, FLOW = range(4)
DIMENSIONS, KINDS, THRESHOLD = 5, 3, 0.3
Text = list[tuple[int, tuple[int, ...]]]
"""Kind and state of every piece."""

states = st.tuples(*[st.integers(-127, 127)] * DIMENSIONS)
texts = st.lists(st.tuples(st.integers(0, KINDS - 1), states), max_size=6)


def prepared(*some: Text) -> _core.StateTexts:
    pieces = [piece for text in some for piece in text]
    offsets = np.cumsum([0, *map(len, some)], dtype=np.int64)
    rows = np.array([state for _, state in pieces], np.int8).reshape(-1)
    means = np.zeros((len(some), DIMENSIONS), np.int16)
    for k, text in enumerate(some):
        if text:
            means[k] = np.sum([state for _, state in text[:8]], axis=0)
    kinds = np.array([kind for kind, _ in pieces], np.uint8)
    return _core.StateTexts(offsets, kinds, rows, means.reshape(-1), DIMENSIONS)


def similarity(x: tuple[int, ...], y: tuple[int, ...]) -> Fraction:
    """max(0, cosine), rounded down to 65,536ths without taking a root."""
    product = sum(a * b for a, b in zip(x, y, strict=True))
    squares = sum(a * a for a in x) * sum(b * b for b in y)
    if product <= 0 or squares == 0:
        return Fraction(0)
    return Fraction(min(math.isqrt(65536**2 * product**2 // squares), 65536), 65536)


def best(x: Text, y: Text, weights: list[int]) -> float:
    """The weighted mean over the pieces of y of their best partner in x."""
    total = sum(weights[kind] for kind, _ in y)
    gained = sum(
        weights[kind] * max((similarity(state, other) for _, other in x), default=Fraction(0))
        for kind, state in y
    )
    return float(gained / total) if total else 0.0


def best_pairs(x: Text, y: Text, weights: list[int]) -> float:
    """The weighted mean over the neighbours in y of the best pair of neighbours in x; both have two pieces or more."""
    pairs = list(pairwise(y))
    total = sum(weights[a] + weights[b] for (a, _), (b, _) in pairs)
    gained = sum(
        (weights[a] + weights[b])
        * max((similarity(s, u) + similarity(t, v)) / 2 for (_, u), (_, v) in pairwise(x))
        for (a, s), (b, t) in pairs
    )
    return float(gained / total)


def flow(x: Text, y: Text) -> float:
    """The optimum of the flow, in pieces: gains are 16ths above the threshold."""
    floor = Fraction(int(THRESHOLD * 65536), 65536)

    def gain(a: tuple[int, ...], b: tuple[int, ...]) -> float:
        above = (similarity(a, b) - floor) / (1 - floor)
        return max(0, math.floor(16 * above)) / 16

    if not x or not y:
        return 0.0
    gains = np.array([[gain(a, b) for _, b in y] for _, a in x])
    return textbook.transport(np.ones(len(x)), np.ones(len(y)), gains)


def one_pair(x: Text, y: Text, weights: list[int]) -> tuple[npt.NDArray[np.float64], ...]:
    first = np.zeros(1, np.int64)
    return _core.match_states(prepared(x), prepared(y), first, first, np.array(weights, np.uint32), THRESHOLD)


def test_the_problems_have_their_names() -> None:
    assert _core.STATE_PROBLEMS == PROBLEMS


def test_8c_worked_example() -> None:
    piece, half_as_near = (0, (1, 0, 0, 0, 0)), (0, (1, 1, 1, 1, 0))
    precision, recall, _ = one_pair([piece], [piece, half_as_near], [64] * KINDS)
    assert (precision[0, EVEN], recall[0, EVEN]) == (0.75, 1)
    assert (precision[0, FLOW], recall[0, FLOW]) == (0.5, 1)
    assert np.isnan(precision[0, PAIR]) and np.isnan(recall[0, PAIR])
    second, half_as_near = (0, (0, 1, 0, 0, 0)), (0, (0, 1, 1, 1, 1))
    precision, recall, _ = one_pair([piece, second], [piece, half_as_near], [64] * KINDS)
    assert (precision[0, PAIR], recall[0, PAIR]) == (0.75, 0.75)


@given(texts, texts, st.lists(st.integers(1, 64), min_size=KINDS, max_size=KINDS))
@settings(max_examples=200, deadline=None)
def test_random_texts_match_as_in_the_textbook(x: Text, y: Text, weights: list[int]) -> None:
    precision, recall, _ = one_pair(x, y, weights)
    if not x and not y:
        assert np.isnan(precision).all() and np.isnan(recall).all()
        return
    even = [1] * KINDS
    optimum = flow(x, y)
    has_pairs = len(x) > 1 and len(y) > 1
    expected_precision = [
        best(x, y, weights), best(x, y, even), best_pairs(x, y, weights) if has_pairs else math.nan,
        optimum / len(y) if y else 0.0,
    ]  # fmt: skip
    expected_recall = [
        best(y, x, weights), best(y, x, even), best_pairs(y, x, weights) if has_pairs else math.nan,
        optimum / len(x) if x else 0.0,
    ]  # fmt: skip
    assert precision[0] == pytest.approx(expected_precision, abs=1e-4, nan_ok=True)
    assert recall[0] == pytest.approx(expected_recall, abs=1e-4, nan_ok=True)


@given(texts.filter(lambda text: all(any(state) for _, state in text) and text != []))
def test_a_copy_shares_everything(x: Text) -> None:
    precision, recall, cosine = one_pair(x, x, [3, 64, 7])
    for shares in (precision[0], recall[0]):
        assert (shares[[BEST, EVEN, FLOW]] == 1).all()
        assert shares[PAIR] == 1 if len(x) > 1 else math.isnan(shares[PAIR])
    assert cosine[0] in (0.0, 1.0)  # 0 where the states cancel each other out


@given(texts, texts)
def test_sides_change_places(x: Text, y: Text) -> None:
    there, back = one_pair(x, y, [1, 2, 3]), one_pair(y, x, [1, 2, 3])
    np.testing.assert_array_equal(there[0], back[1])
    np.testing.assert_array_equal(there[1], back[0])
    np.testing.assert_array_equal(there[2], back[2])


@given(st.lists(texts, min_size=1, max_size=4))
def test_a_batch_gives_what_each_pair_gives(some: list[Text]) -> None:
    batch = prepared(*some)
    i, j = (index.reshape(-1) for index in np.indices((len(some), len(some))))
    together = _core.match_states(batch, batch, i, j, np.array([1, 2, 3], np.uint32), THRESHOLD)
    alone = [one_pair(some[a], some[b], [1, 2, 3]) for a, b in zip(i, j, strict=True)]
    for k, values in enumerate(together):
        np.testing.assert_array_equal(values, np.concatenate([one[k] for one in alone]))


@given(texts, texts, st.lists(st.integers(1, 64), min_size=KINDS, max_size=KINDS))
def test_gains_by_kind_add_up_to_the_weighted_match(x: Text, y: Text, weights: list[int]) -> None:
    first = np.zeros(1, np.int64)
    gains = _core.state_gains_by_kind(prepared(x), prepared(y), first, first, KINDS)[0].reshape(8, KINDS)
    assert gains[0].sum() == len(x) and gains[2].sum() == len(y)
    precision, recall, _ = one_pair(x, y, weights)
    for side, shares, problem in (
        (0, recall, BEST),
        (2, precision, BEST),
        (4, recall, PAIR),
        (6, precision, PAIR),
    ):
        total = gains[side] @ weights
        if total and not np.isnan(shares[0, problem]):
            assert gains[side + 1] @ weights / total == pytest.approx(shares[0, problem], abs=1e-12)


@given(texts, texts)
def test_the_explained_flow_reaches_the_optimum(x: Text, y: Text) -> None:
    links = _core.explain_states(prepared(x), prepared(y), THRESHOLD)
    assert len(set(links[:, 0].tolist())) == len(links) == len(set(links[:, 1].tolist()))
    if x and y:
        _, recall, _ = one_pair(x, y, [1, 1, 1])
        assert links[:, 3].sum() / (16 * len(x)) == recall[0, FLOW]


def test_unsound_arrays_are_refused() -> None:
    good = prepared([(0, (1,) * DIMENSIONS)])
    first, weights = np.zeros(1, np.int64), np.ones(KINDS, np.uint32)
    with pytest.raises(IndexError, match="no such text"):
        _core.match_states(good, good, first + 1, first, weights, THRESHOLD)
    with pytest.raises(ValueError, match="weight"):
        _core.match_states(good, good, first, first, weights * 0, THRESHOLD)
    with pytest.raises(ValueError, match="threshold"):
        _core.match_states(good, good, first, first, weights, math.nan)
    with pytest.raises(IndexError, match="kind"):
        bad = prepared([(2, (1,) * DIMENSIONS)])
        _core.match_states(bad, good, first, first, weights[:2], THRESHOLD)
    with pytest.raises(ValueError, match="fit"):
        _core.StateTexts(
            np.array([0, 2]), np.zeros(1, np.uint8), np.zeros(4, np.int8), np.zeros(4, np.int16), 4
        )
    with pytest.raises(ValueError, match="dimensions"):
        _core.StateTexts(np.array([0]), np.zeros(0, np.uint8), np.zeros(0, np.int8), np.zeros(0, np.int16), 0)
    with pytest.raises(ValueError, match="mean"):
        _core.StateTexts(
            np.array([0, 0]), np.zeros(0, np.uint8), np.zeros(0, np.int8), np.full(4, 2000, np.int16), 4
        )


def test_a_long_text_has_no_flow_but_best_partners() -> None:
    long: Text = [(0, (1, 2, 3, 4, 5))] * 2100
    precision, recall, _ = one_pair(long, long, [1, 1, 1])
    assert (precision[0, :FLOW] == 1).all() and (recall[0, :FLOW] == 1).all()
    assert np.isnan(precision[0, FLOW])
