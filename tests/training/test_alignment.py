"""Word alignment by agreement: equal to the textbook, to the bit with any number of threads, and good enough to use."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tesla_eval._core import WordAligner, symmetrise
from tesla_eval.training.alignment import align_by_agreement, trained_aligner
from tests.textbook_alignment import train

STAGES = [False, False, True, True]
ITERATIONS = (2, 2)

side = st.lists(st.sampled_from("abc"), min_size=1, max_size=4)
bitexts = st.lists(
    st.tuples(side, st.lists(st.sampled_from("xyz"), min_size=1, max_size=4)), min_size=1, max_size=3
)


def lines(pairs, place: int) -> list[str]:
    return [" ".join(pair[place]) for pair in pairs]


@settings(max_examples=40, deadline=None)
@given(bitexts)
def test_training_is_the_textbooks(pairs):
    aligner = trained_aligner(lines(pairs, 0), lines(pairs, 1), ITERATIONS)
    forward, reverse = train(pairs, STAGES)
    for weights, model in zip(aligner.jump_weights, (forward, reverse), strict=True):
        # The core counts in steps of 2^-28: the weight of a jump that was hardly ever possible is not comparable.
        known = np.array(model.exposures) > 1e-3
        found, expected = np.array(weights)[known], np.array(model.weights)[known]
        assert np.allclose(found / found.sum(), expected / expected.sum(), rtol=1e-4, atol=1e-6)
    for k, (x, y) in enumerate(pairs):
        by_target, by_pivot = aligner.posteriors(k, True)
        expected = np.array(forward.expectations(x, y, True)[0])[:, :-1]
        assert np.allclose(by_target, expected, rtol=1e-4, atol=1e-6)
        expected = np.array(reverse.expectations(y, x, True)[0])[:, :-1]
        assert np.allclose(by_pivot, expected, rtol=1e-4, atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(side, side)
def test_first_posteriors_are_exact(x, y):
    """Before training all words are alike: the sums over all alignments are exact to the last digits."""
    aligner = WordAligner([" ".join(x)], [" ".join(y)])
    forward, _ = train([], [])
    for sequential in (False, True):
        expected = np.array(forward.expectations(x, y, sequential)[0])[:, :-1]
        assert np.allclose(aligner.posteriors(0, sequential)[0], expected, rtol=1e-12, atol=0)


@settings(max_examples=40, deadline=None)
@given(bitexts, st.sampled_from([0.05, 0.4, 0.9]))
def test_links_are_the_likeliest_origins(pairs, threshold):
    aligner = trained_aligner(lines(pairs, 0), lines(pairs, 1), ITERATIONS)
    for k in range(len(pairs)):
        by_target, by_pivot = aligner.posteriors(k, True)
        forward = [f"{row.argmax()}-{j}" for j, row in enumerate(by_target) if row.max() >= threshold]
        reverse = [f"{i}-{row.argmax()}" for i, row in enumerate(by_pivot) if row.max() >= threshold]
        assert aligner.directed_links(0, k, k + 1, threshold) == [" ".join(forward)]
        assert aligner.directed_links(1, k, k + 1, threshold) == [" ".join(reverse)]


def made_bitext(pairs: int, seed: int = 1) -> tuple[list[str], list[str], list[str]]:
    """Sentences of made words, their translations with neighbours exchanged and words left out, and the true links."""
    draw = random.Random(seed)
    target, pivot, gold = [], [], []
    for _ in range(pairs):
        words = [draw.randrange(60) for _ in range(draw.randint(2, 14))]
        order = list(range(len(words)))
        for k in range(len(order) - 1):
            if draw.random() < 0.2:
                order[k], order[k + 1] = order[k + 1], order[k]
        kept = [k for k in order if draw.random() < 0.9] or order[:1]
        target.append(" ".join(f"t{w}" for w in words))
        pivot.append(" ".join(f"p{words[k]}" for k in kept))
        gold.append(" ".join(f"{i}-{j}" for i, j in sorted((i, j) for j, i in enumerate(kept))))
    return target, pivot, gold


def test_the_true_links_are_found():
    target, pivot, gold = made_bitext(400)
    links = align_by_agreement(target, pivot)
    linked = [
        {f"{i}-{j}" for i, j in symmetrise(forward, reverse, len(x.split()), len(y.split()))}
        for forward, reverse, x, y in zip(links.forward, links.reverse, target, pivot, strict=True)
    ]
    true = [set(line.split()) for line in gold]
    right = sum(len(a & b) for a, b in zip(linked, true, strict=True))
    assert right / sum(map(len, linked)) > 0.97
    assert right / sum(map(len, true)) > 0.93


def test_threads_and_order_change_no_bit():
    target, pivot, _ = made_bitext(5000)
    one = trained_aligner(target, pivot)
    four = trained_aligner(target, pivot, threads=4)
    assert one.jump_weights == four.jump_weights
    both = align_by_agreement(target, pivot, threads=3)
    for direction, links in enumerate((both.forward, both.reverse)):
        assert one.directed_links(direction, 0, 5000, 0.05) == links
        assert four.directed_links(direction, 0, 5000, 0.05) == links
    assert all((a == b).all() for a, b in zip(one.posteriors(7, True), four.posteriors(7, True), strict=True))
    backwards = trained_aligner(target[::-1], pivot[::-1])
    assert backwards.directed_links(0, 0, 5000, 0.05)[::-1] == both.forward


def test_the_sides_are_treated_alike():
    target, pivot, _ = made_bitext(300)
    turned = [
        " ".join("-".join(reversed(link.split("-"))) for link in line.split())
        for line in align_by_agreement(pivot, target).forward
    ]
    assert turned == align_by_agreement(target, pivot).reverse


def test_long_sentences_do_not_underflow():
    line = " ".join(f"w{k}" for k in range(250))
    assert align_by_agreement([line] * 3, [line] * 3, threshold=1e-9).forward[0]
    aligner = trained_aligner([line] * 3, [line] * 3)
    posterior, _ = aligner.posteriors(0, True)
    assert np.isfinite(posterior).all()
    assert (posterior.sum(axis=1) <= 1 + 1e-9).all()


def test_sides_without_words_have_no_links():
    links = align_by_agreement(["a b", "", "a"], ["x y", "x", ""])
    assert links.forward[1:] == links.reverse[1:] == ["", ""]
    assert align_by_agreement([], []).forward == []


def test_misuse_is_refused():
    with pytest.raises(ValueError, match="differ in length"):
        WordAligner(["a"], [])
    aligner = WordAligner(["a"], ["x"])
    for call in (
        lambda: aligner.expect(0, 2, True),
        lambda: aligner.expect(1, 0, True),
        lambda: aligner.directed_links(0, 0, 9, 0.5),
        lambda: aligner.posteriors(1, True),
    ):
        with pytest.raises(IndexError, match="no such sentence pairs"):
            call()
    with pytest.raises(ValueError, match="not a number"):
        aligner.directed_links(0, 0, 1, float("nan"))
    with pytest.raises(IndexError, match="two directions"):
        aligner.directed_links(2, 0, 1, 0.5)
    with pytest.raises(ValueError, match="has no words"):
        WordAligner([""], ["x"]).posteriors(0, False)
