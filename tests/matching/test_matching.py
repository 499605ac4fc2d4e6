"""Specification §2–4 on words: bags, similarities, the optimum and its flow, against the slow textbook."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from tesla_eval import Token, _core
from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.language.analysis import AnalysedBatch, Vocabulary, load_pipeline
from tesla_eval.language.analysis.batch import word_facts
from tesla_eval.matching.bags.ngram_bags import (
    IDENTITY,
    SYNONYMY,
    NgramFeature,
    bag_recipe,
    exact_discount,
)
from tesla_eval.matching.matcher import explain_feature, match_pairs
from tests import textbook
from tests.matching.given_matches import build_bags

FEATURES = [NgramFeature(similarity, n) for similarity in ("ms", "lem", "pos") for n in (1, 2, 3)]
ONLY = np.zeros(1, np.int64)

SENSES = {"a": (1,), "b": (1, 2), "c": (2,), "d": (), "e": (3,), "f": (3, 4, 5)}
tokens = st.builds(
    lambda lemma, pos, function: Token(lemma, 0, 1, lemma, pos, function, SENSES[lemma]),
    st.sampled_from(sorted(SENSES)), st.sampled_from(["N", "V", "D"]), st.booleans(),
)  # fmt: skip
texts = st.lists(tokens, max_size=12)


def batches(*sides: list[Token]) -> list[AnalysedBatch]:
    vocabulary = Vocabulary(_core.Lexicon(None))
    return [AnalysedBatch.from_tokens([""], vocabulary, [side]) for side in sides]


def check_against_textbook(
    reference: list[Token], hypothesis: list[Token], x: AnalysedBatch, y: AnalysedBatch
) -> None:
    matches = match_pairs(build_bags(x, FEATURES, 0.1), build_bags(y, FEATURES, 0.1), ONLY, ONLY)
    for column, feature in enumerate(FEATURES):
        best, f = textbook.f_measure(feature.similarity, feature.n, reference, hypothesis)
        found = float(matches.f[0, column])
        if math.isnan(f):
            assert math.isnan(found), feature
            continue
        assert found == pytest.approx(f, abs=1e-9), feature
        flow = explain_feature(x, y, feature, 0.1)
        assert flow.objective == pytest.approx(best, abs=1e-9), feature
        assert (flow.precision, flow.recall, flow.f) == tuple(
            float(array[0, column]) for array in (matches.precision, matches.recall, matches.f)
        )
        entries = tuple(
            (one.reference[0], one.hypothesis[0], one.similarity, one.weight) for one in flow.flow
        )
        check_flow(entries, feature, reference, hypothesis, flow.objective)


def check_flow(
    entries: tuple[tuple[int, int, float, float], ...], feature: NgramFeature, reference: list[Token],
    hypothesis: list[Token], objective: float,
) -> None:  # fmt: skip
    """Feasible, each similarity the true one, and worth its objective."""
    n = feature.n
    sent, received = [0.0] * len(reference), [0.0] * len(hypothesis)
    for i, j, similarity, weight in entries:
        pair = tuple(reference[i : i + n]), tuple(hypothesis[j : j + n])
        assert similarity == pytest.approx(textbook.similarity(feature.similarity, *pair), abs=1e-12)
        assert weight > 0
        sent[i] += weight
        received[j] += weight
    for side, amounts in ((reference, sent), (hypothesis, received)):
        for i in range(len(side) - n + 1):
            assert amounts[i] <= 0.1 ** sum(token.function for token in side[i : i + n]) + 1e-12
    assert sum(s * w for _, _, s, w in entries) == pytest.approx(objective, abs=1e-9)


@given(texts, texts)
def test_made_up_texts_match_as_in_the_textbook(reference: list[Token], hypothesis: list[Token]) -> None:
    check_against_textbook(reference, hypothesis, *batches(reference, hypothesis))


@pytest.mark.parametrize("count", [60, pytest.param(500, marks=pytest.mark.slow)])
def test_real_pairs_match_as_in_the_textbook(real_pairs: list[tuple[str, str]], count: int) -> None:
    pairs = real_pairs[:count]
    y, x = load_pipeline("en").analyse([h for h, _ in pairs], [r for _, r in pairs])
    for i, (reference, hypothesis) in enumerate(zip(_tokens(x), _tokens(y), strict=True)):
        one = [_one(side, i) for side in (x, y)]
        check_against_textbook(reference, hypothesis, *one)


def _tokens(batch: AnalysedBatch) -> Iterator[list[Token]]:
    return (batch.tokens(i) for i in range(len(batch)))


def _one(batch: AnalysedBatch, index: int) -> AnalysedBatch:
    span = slice(batch.offsets[index], batch.offsets[index + 1])
    names = ("word", "lemma", "tag", "universal", "function", "start", "end")
    arrays = {name: np.ascontiguousarray(getattr(batch, name)[span]) for name in names}
    arrays["offsets"] = np.array([0, len(arrays["lemma"])], np.int64)
    return AnalysedBatch.from_arrays([batch.texts[index]], batch.vocabulary, arrays)


@given(texts, texts, st.integers(1, 3))
def test_long_texts_go_through_hubs_to_the_same_optimum(
    reference: list[Token], hypothesis: list[Token], n: int
) -> None:
    x, y = batches(reference, hypothesis)
    arguments = (
        x.vocabulary.lexicon,
        x.words_as("lemma"),
        y.words_as("lemma"),
        "ms",
        n,
        exact_discount(0.1),
        0.8,
    )
    direct, hubs = (_core.explain(*arguments, cells) for cells in (1 << 20, 0))
    assert direct["objective"] == hubs["objective"]
    scale = 1 / (hubs["gain_unit"] * hubs["weight_unit"])
    entries = tuple(
        (i, j, gain / hubs["gain_unit"], amount / hubs["weight_unit"])
        for i, j, gain, amount in hubs["flow"].tolist()
    )
    check_flow(entries, NgramFeature("ms", n), reference, hypothesis, hubs["objective"] * scale)


@given(texts, texts, st.integers(1, 3))
def test_discount_1_is_the_assignment_of_maxsim(
    reference: list[Token], hypothesis: list[Token], n: int
) -> None:
    x, y = batches(reference, hypothesis)
    grams = [[tuple(side[i : i + n]) for i in range(len(side) - n + 1)] for side in (reference, hypothesis)]
    if not all(grams):
        return
    s = np.array([[textbook.similarity("ms", a, b) for b in grams[1]] for a in grams[0]])
    rows, columns = linear_sum_assignment(s, maximize=True)
    assert explain_feature(x, y, NgramFeature("ms", n), 1).objective == pytest.approx(
        s[rows, columns].sum(), abs=1e-9
    )


@given(texts, texts, st.sampled_from([0.1, 0.25, 0.5, 0.3333]))
def test_any_decimal_discount_is_exact(
    reference: list[Token], hypothesis: list[Token], discount: float
) -> None:
    x, y = batches(reference, hypothesis)
    for n in (1, 2, 3):
        best, _ = textbook.f_measure("ms", n, reference, hypothesis, discount)
        if not math.isnan(best):
            found = explain_feature(x, y, NgramFeature("ms", n), discount).objective
            assert found == pytest.approx(best, abs=1e-9)


@given(texts, texts)
def test_matching_is_symmetric(reference: list[Token], hypothesis: list[Token]) -> None:
    x, y = batches(reference, hypothesis)
    for feature in FEATURES:
        forth, back = explain_feature(x, y, feature, 0.1), explain_feature(y, x, feature, 0.1)
        assert forth.objective == back.objective


@pytest.mark.parametrize("discount", [0, -0.1, 1.5, 0.12345])
def test_senseless_discounts_are_refused(discount: float) -> None:
    with pytest.raises(UsageError, match="discount"):
        exact_discount(discount)


def test_untagged_words_are_alike_only_by_lemma_and_sense() -> None:
    """Specification §3 without tags (`-l und`): no tag equals no other."""
    x, y = batches([Token("a", 0, 1, "a", "", False)], [Token("b", 0, 1, "b", "", False)])
    assert explain_feature(x, y, NgramFeature("ms", 1), 0.1).objective == 0


def batch_of_words(lemmas: np.ndarray) -> AnalysedBatch:
    """One text of so many words; the numbers of its lemmas mean nothing, which `lem` does not mind."""
    size = len(lemmas)
    tags, flags = np.zeros(size, np.uint16), np.zeros(size, np.uint8)
    offsets, places = np.array([0, size]), np.zeros(size, np.uint32)
    vocabulary = Vocabulary(_core.Lexicon(None))
    columns = {"word": lemmas, "lemma": lemmas, "tag": tags, "universal": flags, "function": flags}
    arrays = {"offsets": offsets, **columns, "start": places, "end": places}
    return AnalysedBatch.from_arrays([""], vocabulary, arrays)


@pytest.mark.parametrize(("p", "q"), [(0, 10), (-1, 10), (11, 10), (1, 1 << 40)])
def test_discounts_that_the_core_has_no_room_for_are_refused(p: int, q: int) -> None:
    with pytest.raises(ValueError, match="discount"):
        _core.Discount(p, q)


def test_a_text_with_too_many_different_words_is_an_error_of_the_input() -> None:
    most = 1 << 20
    repeated = batch_of_words(np.arange(most + 1, dtype=np.uint32) % 1000)
    assert len(build_bags(repeated, FEATURES[3:4], 0.1)) == 1
    with pytest.raises(InputError, match="more than a million different words: split it"):
        build_bags(batch_of_words(np.arange(most + 1, dtype=np.uint32)), FEATURES[3:4], 0.1)


@given(st.data())
def test_segments_match_as_their_bags_do(data: st.DataObject) -> None:
    """To the last bit, whichever references are missing, and whether n-grams have gaps or tags."""
    segments = data.draw(st.integers(0, 6))
    vocabulary = Vocabulary(_core.Lexicon(None))
    sides = st.lists(texts, min_size=segments, max_size=segments)
    y, *streams = (
        AnalysedBatch.from_tokens([""] * segments, vocabulary, side)
        for side in data.draw(st.lists(sides, min_size=1, max_size=4))
    )
    numbers = st.sets(st.integers(0, segments - 1)) if segments else st.just(set())
    present = [np.array(sorted(data.draw(numbers)), np.int64) for _ in streams]
    skips = [NgramFeature(IDENTITY, 1), NgramFeature(IDENTITY, 2, gap=2)]
    for features in (FEATURES, skips, [NgramFeature(SYNONYMY, 2), NgramFeature("lem", 1)]):
        group = _core.NgramGroup(
            vocabulary.lexicon, features[0].form, word_facts(None)[vocabulary],
            bag_recipe(tuple(features), 0.1)[1], 0.7, ("p", "r", "f"),
        )  # fmt: skip
        found = group.compare_segments([stream.core for stream in streams], y.core, present)
        bags = build_bags(y, features, 0.1)
        for stream, index, matches in zip(streams, present, found, strict=True):
            known = match_pairs(build_bags(stream, features, 0.1), bags, index, index, 0.7)
            np.testing.assert_array_equal(matches, np.hstack([known.precision, known.recall, known.f]))


def test_a_long_text_does_not_disturb_its_neighbours() -> None:
    """Texts that need more memory than is kept from one segment to the next."""
    vocabulary = Vocabulary(_core.Lexicon(None))
    plain = [Token(str(k), 0, 1, str(k), "NVD"[k % 3], k % 4 == 0, ()) for k in range(3000)]
    sides = [
        [plain[:9], plain, plain[:5], plain[::-1], plain[3:30]],
        [plain[2:], plain[::2], [], plain, plain[:20]],
    ]
    x, y = (AnalysedBatch.from_tokens([""] * 5, vocabulary, side) for side in sides)
    index = np.arange(5)
    _, recipe = bag_recipe(tuple(FEATURES), 0.1)
    group = _core.NgramGroup(vocabulary.lexicon, "lemma", None, recipe, 0.8, ())
    (found,) = group.compare_segments([x.core], y.core, [index])
    known = match_pairs(build_bags(x, FEATURES, 0.1), build_bags(y, FEATURES, 0.1), index, index)
    np.testing.assert_array_equal(found, known.f)
