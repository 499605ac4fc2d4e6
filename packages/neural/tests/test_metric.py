"""TESLA-N: identity, exchange of sides, explanation, threads, and what its words say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tesla_eval
from tesla_eval._core import GUARD_FEATURES
from tesla_eval.base.errors import ResourceError
from tesla_eval.language.analysis import load_pipeline
from tesla_eval.models.documents import write_document
from tesla_eval.models.linear import read_weights
from tesla_eval_neural import TeslaN
from tesla_eval_neural.encoder import load_encoder, shipped_file
from tesla_eval_neural.learning import features_metric
from tesla_eval_neural.selftest import scores
from tesla_eval_neural.tense import TenseGroup

REFERENCE = "Two men were arrested in Paris on Monday after a fire."
OTHERS = (
    "Two men were detained in Paris on Monday after a fire.",
    "Two men were released in Paris on Monday after a fire.",
    "On Monday, after a fire, police in Paris arrested two men.",
    "Bananas are yellow.",
)


@pytest.fixture(scope="module")
def metric() -> TeslaN:
    return TeslaN("en")


def score(metric: TeslaN, hypothesis: str, reference: str = REFERENCE) -> float:
    return metric.sentence_score(hypothesis, [reference]).score


def test_it_is_registered() -> None:
    assert isinstance(tesla_eval.create_metric("n"), TeslaN)
    assert isinstance(tesla_eval.create_metric("tesla-n"), TeslaN)
    assert tesla_eval.create_metric("n").id == "tesla-n"


def test_words_that_mean_the_same_in_context_score_higher(metric: TeslaN) -> None:
    detained, released, reordered, unrelated = (score(metric, text) for text in OTHERS)
    assert 1 > detained > released > unrelated
    assert reordered > unrelated


@pytest.mark.parametrize(
    "text", [REFERENCE, "x", "?!", "日本語", "word " * 700, "a\u0301\u200b ﬁ", "1,000.50 €"]
)
def test_a_copy_scores_exactly_one(metric: TeslaN, text: str) -> None:
    assert score(metric, text, text) == 1.0


@given(st.text(min_size=1, max_size=60), st.text(min_size=1, max_size=60))
@settings(max_examples=60, deadline=None)
def test_scores_are_bounded_and_a_copy_is_maximal(x: str, y: str) -> None:
    metric = tesla_eval.create_metric("n")
    value = metric.sentence_score(x, [y]).score
    assert 0.0 <= value <= 1.0
    assert metric.sentence_score(y, [y]).score == 1.0


def test_texts_without_words_follow_the_rule(metric: TeslaN) -> None:
    assert score(metric, "", REFERENCE) == 0.0
    assert score(metric, REFERENCE, "") == 0.0
    assert score(metric, "", "") == 1.0


def test_batches_threads_and_order_do_not_matter(metric: TeslaN) -> None:
    hypotheses = [*OTHERS, REFERENCE] * 60
    references = [[REFERENCE] * len(hypotheses)]
    together = metric.corpus_score(hypotheses, references)
    threaded = TeslaN("en", workers=3).corpus_score(hypotheses, references)
    np.testing.assert_array_equal(together.segments, threaded.segments)
    backwards = metric.corpus_score(hypotheses[::-1], references)
    np.testing.assert_array_equal(together.segments, backwards.segments[::-1])
    assert together.segments[:4].tolist() == [score(metric, text) for text in OTHERS]


def test_all_pairs_are_those_of_single_pairs(metric: TeslaN) -> None:
    texts = [*OTHERS, REFERENCE, ""]
    matrix = metric.pairwise(texts, texts)
    np.testing.assert_array_equal(matrix, metric.pairwise(texts, texts))
    for i, hypothesis in enumerate(texts):
        for j, reference in enumerate(texts):
            assert matrix[i, j] == score(metric, hypothesis, reference)


def test_all_weights_of_agreement_are_positive_and_x_has_a_share() -> None:
    model = read_weights(shipped_file("weights-n-en.json"))
    x = tesla_eval.TeslaX("en").combined.model
    own = dict(zip(model.features, model.weights, strict=True))
    of_x = dict(zip(x.features, x.weights, strict=True))
    whole = {name for name in of_x if name in GUARD_FEATURES or name.startswith("number.")}
    assert {name: own[name] for name in whole} == {name: of_x[name] for name in whole}
    assert {"padding", "negation", "number.r"} <= whole
    ratios = [own[name] / weight for name, weight in of_x.items() if name in own and name not in whole]
    assert min(ratios) == pytest.approx(max(ratios)) and 0 < ratios[0] < 1
    assert all(weight > 0 for name, weight in own.items() if name.startswith("ctx."))
    assert own["tense"] < 0


def test_the_features_that_are_learned_from_are_those_that_score(metric: TeslaN) -> None:
    hypotheses, references = [*OTHERS, REFERENCE], [[REFERENCE] * 5]
    uncombined = features_metric("en", metric.combined.model)
    columns = uncombined.score_segments(hypotheses, references).features
    expected = metric.score_segments(hypotheses, references).features
    place = {feature.name: k for k, feature in enumerate(uncombined.features)}
    shared = [k for k, feature in enumerate(metric.features) if feature.name in place]
    assert len(shared) == len(metric.features)
    same = columns[:, [place[metric.features[k].name] for k in shared]]
    np.testing.assert_array_equal(same, expected[:, shared])


def test_an_explanation_shows_words_and_adds_up(metric: TeslaN) -> None:
    explained = metric.explain("Two men were detained.", ["Two men were arrested."])
    (reference,) = explained.references
    flow = next(feature for feature in reference.features if feature.name == "ctx.flow")
    words = {
        (reference.hypothesis[link.hypothesis[0]].surface, reference.reference[link.reference[0]].surface)
        for link in flow.flow
    }
    assert ("detained", "arrested") in words and ("men", "men") in words
    assert reference.features[0].name == "ctx.flow"  # what is drawn
    assert (
        explained.score == metric.sentence_score("Two men were detained.", ["Two men were arrested."]).score
    )
    assert reference.linear == pytest.approx(sum(share.share for share in reference.shares))
    assert sum(link.weight for link in flow.flow) <= flow.reference_weight
    json.dumps(explained.to_dict())


def test_words_of_several_pieces_are_one_word_to_people(metric: TeslaN) -> None:
    text = "Querrien is unputdownable."
    explained = metric.explain(text, [text])
    flow = explained.references[0].features[0]
    surfaces = [token.surface for token in explained.references[0].reference]
    weight = {surfaces[link.reference[0]]: link.weight for link in flow.flow}
    pieces = load_encoder("en").pieces("unputdownable").ids
    assert weight["unputdownable"] == len(pieces) > 1


def test_the_signature_names_encoder_and_weights(metric: TeslaN) -> None:
    signature = metric.get_signature()
    assert signature["encoder"] == load_encoder("en").fingerprint
    assert {"weights", "groups"} <= set(signature)


def test_weights_for_another_encoder_are_refused(tmp_path: Path) -> None:
    from dataclasses import replace

    model = read_weights(shipped_file("weights-n-en.json"))
    path = tmp_path / "weights.json"
    write_document(path, replace(model, settings={**model.settings, "encoder": "00000000"}))
    with pytest.raises(ResourceError, match="learned with the encoder 00000000"):
        TeslaN("en", weights=path)
    write_document(path, replace(model, settings={}))
    with pytest.raises(ResourceError, match="learned with the encoder None"):
        TeslaN("en", weights=path)


def test_stored_scores_agree() -> None:
    cases, tolerance = scores()
    for case in cases:
        metric = tesla_eval.create_metric(case["metric"], case["lang"])
        assert (
            abs(metric.sentence_score(case["hypothesis"], case["references"]).score - case["score"])
            <= tolerance
        )
    assert tolerance == 0.0


@pytest.mark.parametrize(
    ("hypothesis", "reference", "expected"),
    [
        ("He goes home.", "He went home.", 1.0),
        ("He will go home.", "He went home.", 1.0),
        ("She went out.", "He came home.", 0.0),
        ("He went home and is happy.", "He came home.", 0.5),
        ("He left, she cried, they will meet.", "He left, she cries, they will meet.", 1 / 3),
        ("He would go.", "He will go.", 1.0),
        ("He'll go, WOULD she?", "He went. She will go.", 0.0),
        ("He can go.", "He goes.", 0.0),
        ("Home at last.", "He came home.", 1.0),
        ("Home at last.", "At home.", 0.0),
    ],
)
def test_8c_tenses_by_hand(hypothesis: str, reference: str, expected: float) -> None:
    metric = features_metric("en")
    for y, x in ((hypothesis, reference), (reference, hypothesis)):
        assert metric.score_segments([y], [[x]]).features[0, -1] == expected
        (detail,) = metric.explain(y, [x]).references
        assert detail.features[-1].name == "tense" and detail.features[-1].value == expected


def test_tenses_are_compared_in_english_alone() -> None:
    assert TenseGroup().bind(load_pipeline("en")) is not None
    assert TenseGroup().bind(load_pipeline("de")) is None


def test_a_tense_that_the_reference_does_not_have_costs(metric: TeslaN) -> None:
    model = metric.combined.model
    blind = TeslaN("en", weights=model.restricted(set(model.features) - {"tense"}))
    past, future = "The children were outside.", "The children will be outside."
    lost = score(metric, past) - score(metric, future)
    assert lost > score(blind, past) - score(blind, future)
    assert score(metric, past) == score(blind, past)


def test_8c_f_is_that_of_section_4() -> None:
    metric = features_metric("en")
    names = [feature.name for feature in metric.features]
    row = metric.score_segments(["Two men."], [["Two men were arrested in the city."]]).features[0]
    precision, recall, f = (row[names.index(f"ctx.best.{part}")] for part in "prf")
    assert precision > recall + 0.1
    assert f == pytest.approx(precision * recall / (0.8 * precision + 0.2 * recall), abs=1e-12)
