"""Specification §5: TESLA-M, its Python interface, and the rules for short, empty and missing texts."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tesla_eval import TeslaCelab, TeslaM, Token, create_metric
from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.language.analysis import load_pipeline
from tests import textbook

HYPOTHESIS = "The cats sat on a mat."
REFERENCE = "The cat sat on the mat."


@pytest.fixture(scope="module")
def metric() -> TeslaM:
    return TeslaM(lang="en")


@pytest.mark.parametrize("count", [40, pytest.param(100, marks=pytest.mark.slow)])
def test_real_pairs_score_as_in_the_textbook(
    metric: TeslaM, real_pairs: list[tuple[str, str]], count: int
) -> None:
    pairs = real_pairs[-count:]
    found = metric.corpus_score([h for h, _ in pairs], [[r for _, r in pairs]])
    y, x = load_pipeline("en").analyse([h for h, _ in pairs], [r for _, r in pairs])
    for i, score in enumerate(found.segments.tolist()):
        assert score == pytest.approx(textbook.tesla_m(x.tokens(i), y.tokens(i)), abs=1e-9)
    assert found.score == math.fsum(found.segments) / len(pairs)


def test_a_text_against_itself_is_exactly_1(metric: TeslaM, real_pairs: list[tuple[str, str]]) -> None:
    texts = [reference for _, reference in real_pairs]
    found = metric.corpus_score(texts, [texts])
    assert set(found.segments.tolist()) == {1.0}
    assert found.score == 1.0


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_any_text_against_itself_is_exactly_1(text: str) -> None:
    assert TeslaM().sentence_score(text, [text]).score == 1.0


@settings(max_examples=100, deadline=None)
@given(st.text(), st.text())
def test_scores_lie_between_0_and_1(hypothesis: str, reference: str) -> None:
    assert 0 <= TeslaM().sentence_score(hypothesis, [reference]).score <= 1


def test_scores_do_not_depend_on_order_or_workers(metric: TeslaM, real_pairs: list[tuple[str, str]]) -> None:
    pairs = list(real_pairs)
    first = metric.corpus_score([h for h, _ in pairs], [[r for _, r in pairs]])
    order = list(range(len(pairs)))
    random.Random(1).shuffle(order)
    shuffled = [pairs[i] for i in order]
    for workers in (1, 2):
        again = TeslaM(workers=workers).corpus_score([h for h, _ in shuffled], [[r for _, r in shuffled]])
        assert again.segments.tolist() == first.segments[order].tolist()
        assert again.score == first.score


# --- short and empty texts -----------------------------------------------------------------------------------------


def test_n_longer_than_both_texts_does_not_exist(metric: TeslaM) -> None:
    features = metric.sentence_score("Yes.", ["No."]).features
    assert [name for name, value in features.items() if math.isnan(value)] == [
        "ms.2",
        "ms.3",
        "pos.2",
        "pos.3",
    ]


def test_n_longer_than_one_text_only_is_0(metric: TeslaM) -> None:
    features = metric.sentence_score("Yes.", ["Yes, we can."]).features
    assert features["ms.2"] == features["ms.3"] == features["pos.2"] == 0.0


@pytest.mark.parametrize(
    ("hypothesis", "reference"), [("", "A house."), ("A house.", ""), ("...", "A house.")]
)
def test_one_side_without_tokens_scores_0(metric: TeslaM, hypothesis: str, reference: str) -> None:
    assert metric.sentence_score(hypothesis, [reference]).score == 0.0


@pytest.mark.parametrize(
    ("hypothesis", "reference", "score"),
    [("", "", 1.0), ("?!", "?!", 1.0), (" ?  !", "? !", 1.0), ("?", "!", 0.0)],
)
def test_both_sides_without_tokens_compare_raw_texts(
    metric: TeslaM, hypothesis: str, reference: str, score: float
) -> None:
    assert metric.sentence_score(hypothesis, [reference]).score == score


def test_nfc_makes_composed_and_decomposed_text_equal(metric: TeslaM) -> None:
    assert metric.sentence_score("A cafe\u0301.", ["A caf\u00e9."]).score == 1.0


# --- references ------------------------------------------------------------------------------------------------------


def test_several_references_give_their_mean_in_any_order(metric: TeslaM) -> None:
    references = [REFERENCE, "A cat was sitting on the mat.", "The mat had a cat on it."]
    single = [metric.sentence_score(HYPOTHESIS, [reference]).score for reference in references]
    score = metric.sentence_score(HYPOTHESIS, references).score
    assert score == pytest.approx(sum(single) / 3, abs=1e-15)
    assert metric.sentence_score(HYPOTHESIS, references[::-1]).score == score


def test_eleven_references_score_alike_alone_and_in_a_batch(metric: TeslaM) -> None:
    words = REFERENCE.split() + HYPOTHESIS.split()
    texts = [" ".join(words[k % 5 :: 1 + k % 3]) for k in range(40)]
    streams = [texts[k:] + texts[:k] for k in range(1, 12)]
    together = metric.corpus_score(texts, streams).segments.tolist()
    assert together == [
        metric.sentence_score(text, [stream[k] for stream in streams]).score for k, text in enumerate(texts)
    ]


def test_missing_references_are_left_out_never_counted_as_empty(metric: TeslaM) -> None:
    found = metric.corpus_score(
        [HYPOTHESIS, HYPOTHESIS], [[REFERENCE, REFERENCE], [None, "Quite another text."]]
    )
    assert found.segments[0] == metric.sentence_score(HYPOTHESIS, [REFERENCE]).score
    assert found.segments[1] < found.segments[0]


def test_lengths_that_do_not_agree_are_named(metric: TeslaM) -> None:
    with pytest.raises(InputError, match=r"2 hypotheses.*stream 1 has 3"):
        metric.corpus_score(["a", "b"], [["a", "b", "c"]])


@pytest.mark.parametrize(
    ("hypotheses", "references"),
    [
        ([], [[]]),
        (["a"], []),
        (["a"], ["a"]),
        ("a", [["a"]]),
        ([1], [["a"]]),
        (["a"], [[2]]),
        (["a"], [["a"], None]),
        (["a"], None),
        (iter(["a"]), [["a"]]),
        (["a"], iter([["a"]])),
    ],
)
def test_what_cannot_be_scored_is_refused(
    metric: TeslaM, hypotheses: list[str], references: list[list[str]]
) -> None:
    with pytest.raises((InputError, UsageError)):
        metric.corpus_score(hypotheses, references)


def test_a_reference_that_is_no_list_is_refused(metric: TeslaM) -> None:
    with pytest.raises(UsageError, match="list"):
        metric.sentence_score("a", "b")


def test_lone_surrogates_are_refused(metric: TeslaM) -> None:
    with pytest.raises(InputError, match="surrogate"):
        metric.sentence_score("a \ud800", ["b"])


# --- the rest of the interface ---------------------------------------------------------------------------------------


def test_pairwise_is_every_hypothesis_against_every_reference(metric: TeslaM) -> None:
    texts = [HYPOTHESIS, REFERENCE, "", "Something else entirely."]
    matrix = metric.pairwise(texts, texts[:3])
    assert matrix.shape == (4, 3)
    for i, hypothesis in enumerate(texts):
        for j, reference in enumerate(texts[:3]):
            assert matrix[i, j] == metric.sentence_score(hypothesis, [reference]).score


def test_pairwise_compares_equal_texts_once_and_the_same_texts_both_ways(metric: TeslaM) -> None:
    texts = [
        "A cat sat.",
        "Dogs bark at night.",
        "A cat sat.",
        "",
        "The cats sat here.",
        "Dogs bark at night.",
    ]
    one_by_one = np.array([[metric.sentence_score(h, [r]).score for r in texts] for h in texts])
    assert np.array_equal(metric.pairwise(texts, texts), one_by_one)
    assert np.array_equal(metric.pairwise(texts, texts[::-1]), one_by_one[:, ::-1])
    assert np.array_equal(metric.pairwise(texts[:3], texts[2:]), one_by_one[:3, 2:])


@pytest.mark.parametrize(("hypotheses", "references"), [("ab", ["a"]), (["a"], "ab"), (["a", None], ["a"])])
def test_pairwise_takes_lists_of_texts_only(
    metric: TeslaM, hypotheses: list[str], references: list[str]
) -> None:
    for other in (metric, TeslaCelab(), create_metric("chrf", "en")):
        with pytest.raises((InputError, UsageError), match="text"):
            other.pairwise(hypotheses, references)


def test_arrays_of_texts_score_as_lists_do(metric: TeslaM) -> None:
    texts, references = [HYPOTHESIS, REFERENCE], [[REFERENCE, HYPOTHESIS]]
    found = metric.corpus_score(np.array(texts), np.array(references))  # type: ignore[arg-type]
    assert found.segments.tolist() == metric.corpus_score(texts, references).segments.tolist()


def test_explain_is_spec_17(metric: TeslaM) -> None:
    found = metric.explain(HYPOTHESIS, [REFERENCE, "A black cat."]).to_dict()
    assert found["metric"] == "tesla-m"
    assert found["score"] == metric.sentence_score(HYPOTHESIS, [REFERENCE, "A black cat."]).score
    assert found["signature"] == f"{metric.get_signature()}|nrefs:2"
    first, second = found["references"]
    assert first["score"] == metric.sentence_score(HYPOTHESIS, [REFERENCE]).score
    assert [token["surface"] for token in first["hypothesis"]] == ["The", "cats", "sat", "on", "a", "mat"]
    assert set(first["reference"][0]) == {"surface", "start", "end", "lemma", "pos", "function", "senses"}
    assert [feature["name"] for feature in first["features"]] == [
        "ms.1",
        "ms.2",
        "ms.3",
        "pos.1",
        "pos.2",
        "pos.3",
    ]
    for reference in (first, second):
        for feature in reference["features"]:
            worth = sum(entry["similarity"] * entry["weight"] for entry in feature["flow"])
            assert worth == pytest.approx(feature["objective"], abs=1e-12)
            assert feature["precision"] == pytest.approx(feature["objective"] / feature["hypothesis_weight"])
            assert feature["recall"] == pytest.approx(feature["objective"] / feature["reference_weight"])
            for entry in feature["flow"]:
                assert entry["reference"][1] - entry["reference"][0] == feature["n"]


def test_offsets_point_into_the_raw_text(metric: TeslaM) -> None:
    raw = "Cafe\u0301s aren't  re\u0301sume\u0301s — “truly”."
    detail = metric.explain(raw, [raw]).to_dict()["references"][0]
    assert [raw[token["start"] : token["end"]] for token in detail["hypothesis"]] == [
        "Cafe\u0301s", "are", "n't", "re\u0301sume\u0301s", "truly",
    ]  # fmt: skip


def test_flows_do_not_depend_on_what_was_scored_before(metric: TeslaM) -> None:
    """Words are numbered in order of appearance; the flow must not know."""
    before = metric.explain("the dog saw the dog and the cat", ["the cat saw a dog and a dog"]).to_dict()
    fresh = TeslaM(lang="en")
    fresh.analysis._begin_vocabulary()
    fresh.sentence_score("cat dog and a saw zebra the", ["dog the a"])
    assert (
        fresh.explain("the dog saw the dog and the cat", ["the cat saw a dog and a dog"]).to_dict() == before
    )


def test_explanations_escape_hostile_text_in_notebooks(metric: TeslaM) -> None:
    html = metric.explain("<script>alert(1)</script>", ["<b>bold</b>"])._repr_html_()
    assert "<script>alert" not in html and "</script>alert" not in html
    assert "alert(1)</script>" not in html
    assert "<b>bold" not in html


def test_the_signature_says_what_differs_from_the_default() -> None:
    plain, other = TeslaM().get_signature(), TeslaM(discount=1, alpha=0.5, max_n=2).get_signature()
    assert plain["metric"] == "tesla-m"
    assert plain["lang"] == "en"
    assert {"discount", "alpha", "max_n"}.isdisjoint(plain)
    assert {key: other[key] for key in ("discount", "alpha", "max_n")} == {
        "discount": "1",
        "alpha": "0.5",
        "max_n": "2",
    }
    assert "tagger:" in str(plain)


@pytest.mark.parametrize(
    "parameters", [{"alpha": 2}, {"discount": 0}, {"discount": float("nan")}, {"max_n": 4}, {"lang": "xx"}]
)
def test_senseless_parameters_are_refused(parameters: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        TeslaM(**parameters).sentence_score("a", ["b"])  # type: ignore[arg-type]


class SplitOnSpaces:
    """An analysis of the user's own."""

    name = "spaces"

    def analyse(self, texts: Sequence[str]) -> list[list[Token]]:
        return [[Token(word, 0, len(word), word, "X", False) for word in text.split()] for text in texts]


def test_own_analysis_can_be_brought_along() -> None:
    metric = TeslaM(analyser=SplitOnSpaces())
    assert metric.get_signature()["analysis"] == "spaces"
    found = metric.sentence_score("a b", ["a c"])
    assert found.features["ms.1"] == pytest.approx(0.75)
    assert found.features["pos.1"] == 1.0


class TaggedBySlash:
    """Words as `cat/N`; a word without a slash has no tag."""

    name = "slash"

    def analyse(self, texts: Sequence[str]) -> list[list[Token]]:
        words = [[word.partition("/") for word in text.split()] for text in texts]
        return [[Token(form, 0, 1, form, tag, False) for form, _, tag in text] for text in words]


def test_words_without_tags_have_no_tag_in_common() -> None:
    metric = TeslaM(analyser=TaggedBySlash())
    other = metric.sentence_score("a b c", ["d e f"])
    assert other.score == 0.0
    assert all(np.isnan(other.features[f"pos.{n}"]) for n in (1, 2, 3))
    assert metric.sentence_score("a b c", ["a b c"]).score == 1.0


def test_only_n_grams_of_tagged_words_are_compared_by_their_tags() -> None:
    metric = TeslaM(analyser=TaggedBySlash())
    found = metric.explain("a/N b/V c", ["d/N e/V f g/V h/V"])
    features = {feature["name"]: feature for feature in found.references[0].to_dict()["features"]}
    assert features["pos.1"]["hypothesis_weight"] == 2.0  # N V
    assert features["pos.1"]["reference_weight"] == 4.0  # N V V V
    assert features["pos.1"]["objective"] == 2.0
    assert features["pos.2"]["reference_weight"] == 2.0  # N V, V V
    assert features["pos.2"]["precision"] == 1.0
    assert "pos.3" not in features
    assert metric.sentence_score("a/N b c", ["a/N b c"]).score == 1.0


def test_own_analysis_must_be_complete() -> None:
    class Short(SplitOnSpaces):
        def analyse(self, texts: Sequence[str]) -> list[list[Token]]:
            return []

    with pytest.raises(InputError, match="got 1 texts but returned 0 analyses"):
        TeslaM(analyser=Short()).sentence_score("a", ["b"])


@pytest.mark.parametrize(
    "token",
    ["a", Token("a", 0, 1, "a", "X", False, (2**40,)), Token("a", -1, 1, "a", "X", False),
     Token("\ud800", 0, 1, "\ud800", "X", False), Token("a", 0, 1, None, "X", False)],  # type: ignore[arg-type]
    ids=["string", "large sense", "negative offset", "half a character", "no lemma"],
)  # fmt: skip
def test_own_tokens_that_are_none_are_refused(token: Token) -> None:
    class Wrong(SplitOnSpaces):
        def analyse(self, texts: Sequence[str]) -> list[list[Token]]:
            return [[token] for _ in texts]

    with pytest.raises(InputError, match="analyser 'spaces': every token must be a"):
        TeslaM(analyser=Wrong()).sentence_score("a", ["b"])


def test_features_of_a_corpus_are_the_mean_over_references(metric: TeslaM) -> None:
    found = metric.corpus_score([HYPOTHESIS], [[REFERENCE], ["A black cat."]])
    single = [metric.corpus_score([HYPOTHESIS], [[r]]).features[0] for r in (REFERENCE, "A black cat.")]
    assert found.feature_names == ("ms.1", "ms.2", "ms.3", "pos.1", "pos.2", "pos.3")
    np.testing.assert_allclose(found.features[0], np.mean(single, axis=0), atol=1e-15)


def test_a_vocabulary_that_is_full_is_begun_anew(metric: TeslaM, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = metric.sentence_score(HYPOTHESIS, [REFERENCE]).score
    monkeypatch.setattr("tesla_eval.language.analysis.pipeline._MOST_WORD_TYPES", 5)
    before = metric.analysis.vocabulary
    assert metric.sentence_score(HYPOTHESIS, [REFERENCE]).score == expected
    assert metric.analysis.vocabulary is not before
