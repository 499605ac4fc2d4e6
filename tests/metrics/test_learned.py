"""TESLA-X and TESLA-F as users meet them."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval import TeslaF, TeslaM, TeslaX
from tesla_eval.base.errors import ResourceError, UsageError
from tesla_eval.metrics.comparison import explain_difference

REFERENCE = "The president of Spain arrived in Paris on Monday."
GOOD = "The Spanish president arrived in Paris Monday."
BAD = "A dog in the house was on of."


@pytest.fixture(scope="module")
def metric() -> TeslaX:
    return TeslaX("en")


def test_better_texts_score_higher(metric: TeslaX) -> None:
    copy, good, bad = (metric.sentence_score(text, [REFERENCE]).score for text in (REFERENCE, GOOD, BAD))
    assert 1 == copy > good > bad > 0


def test_an_empty_side_scores_0(metric: TeslaX) -> None:
    assert metric.sentence_score("", [REFERENCE]).score == 0.0
    assert metric.sentence_score(GOOD, ["..."]).score == 0.0
    assert metric.sentence_score("!", ["?"]).score == 0.0
    assert metric.sentence_score("", [""]).score == metric.sentence_score("🙌", ["🙌"]).score == 1.0


def test_short_texts_miss_features_but_have_a_score(metric: TeslaX) -> None:
    found = metric.sentence_score("Paris", ["Paris"])
    assert np.isnan(found.features["pos.2"]) and np.isnan(found.features["vec.2.f"])
    assert found.score == 1.0


@pytest.mark.parametrize("language", ["en", "de", "zh", "hi", "und"])
def test_no_weight_goes_against_its_feature(language: str) -> None:
    metric = TeslaX(language)
    for feature, weight in zip(metric.features, metric.combined.model.weights.tolist(), strict=True):
        assert weight >= 0 if feature.more_is_better else weight <= 0, feature.name


@pytest.mark.parametrize("language", ["en", "de", "fi", "ru", "und"])
@given(texts=st.lists(st.text(), min_size=1, max_size=4), others=st.lists(st.text(), min_size=4, max_size=4))
def test_a_copy_scores_1_and_nothing_scores_more(language: str, texts: list[str], others: list[str]) -> None:
    metric = made(language)
    assert set(metric.score_segments(texts, [texts]).scores.tolist()) == {1.0}
    scored = metric.score_segments(others[: len(texts)], [texts])
    assert (metric.combined.model.linear(scored.features) <= 1.0).all()  # before it is clipped
    assert ((scored.scores >= 0) & (scored.scores <= 1)).all()


@pytest.mark.parametrize("seed", range(3))
def test_harm_to_a_copy_never_raises_the_score(metric: TeslaX, real_pairs, seed: int) -> None:
    random = Random(seed)
    references = [reference for _, reference in real_pairs[:120]]
    for harm in (dropped, inserted, shuffled):
        harmed = [harm(text, random) for text in references]
        unclipped = metric.combined.model.linear(metric.score_segments(harmed, [references]).features)
        assert (unclipped <= 1.0).all() and np.mean(unclipped < 1.0) > 0.95, harm.__name__


def dropped(text: str, random: Random) -> str:
    words = text.split()
    del words[random.randrange(len(words))]
    return " ".join(words)


def inserted(text: str, random: Random) -> str:
    words = text.split()
    words.insert(random.randrange(len(words) + 1), "parliament")
    return " ".join(words)


def shuffled(text: str, random: Random) -> str:
    words = text.split()
    random.shuffle(words)
    return " ".join(words)


@cache
def made(language: str) -> TeslaX:
    return TeslaX(language)


def test_several_references_are_averaged_and_missing_ones_left_out(metric: TeslaX) -> None:
    alone = [metric.sentence_score(GOOD, [text]).score for text in (REFERENCE, BAD)]
    both = metric.corpus_score([GOOD, GOOD], [[REFERENCE, REFERENCE], [BAD, None]]).segments
    assert both.tolist() == pytest.approx([np.mean(alone), alone[0]])


@pytest.mark.parametrize("workers", [1, 3])
def test_scores_do_not_depend_on_batch_order_or_threads(real_pairs, workers: int) -> None:
    pairs = real_pairs[:600]
    metric = TeslaX("en", workers=workers)
    hypotheses, references = [list(side) for side in zip(*pairs, strict=True)]
    scores = metric.corpus_score(hypotheses, [references]).segments
    again = metric.corpus_score(hypotheses[::-1], [references[::-1]]).segments[::-1]
    assert scores.tolist() == again.tolist()
    assert scores[17] == metric.sentence_score(*pairs[17][:1], [pairs[17][1]]).score


def test_scores_do_not_depend_on_which_words_came_first(
    metric: TeslaX, real_pairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    hypotheses, references = [list(side) for side in zip(*real_pairs[:400], strict=True)]
    scores = metric.corpus_score(hypotheses, [references]).segments
    monkeypatch.setattr(
        "tesla_eval.language.analysis.pipeline._MOST_WORD_TYPES", 0
    )  # every batch numbers its words anew
    again = metric.corpus_score(hypotheses[::-1], [references[::-1]]).segments[::-1]
    assert scores.tolist() == again.tolist()


def test_pairwise_is_scoring_each_with_each(metric: TeslaX) -> None:
    texts = [REFERENCE, GOOD, BAD, "", "Paris"]
    matrix = metric.pairwise(texts, texts[:3])
    for i, hypothesis in enumerate(texts):
        for j, reference in enumerate(texts[:3]):
            assert matrix[i, j] == metric.sentence_score(hypothesis, [reference]).score


def test_pairwise_takes_lists_of_texts_only(metric: TeslaX) -> None:
    with pytest.raises(UsageError, match="lists of texts"):
        metric.pairwise("ab", ["ab"])


@pytest.mark.parametrize("language", ["de", "zh", "ja", "hi", "und"])
def test_every_language_has_weights(language: str) -> None:
    metric = TeslaX(language)
    same, other = (
        metric.sentence_score(text, ["Berlin 東京 ist gut"]).score for text in ("Berlin 東京 ist gut", "xyz")
    )
    assert same > other


def test_shares_add_up_and_name_their_features(metric: TeslaX) -> None:
    (detail,) = metric.explain(GOOD, [REFERENCE]).to_dict()["references"]
    assert sum(entry["share"] for entry in detail["shares"]) == pytest.approx(detail["linear"])
    assert [entry["name"] for entry in detail["shares"]] == list(metric.feature_names)
    similar = next(entry for entry in detail["features"] if entry["name"] == "vec.1")
    assert set(similar["weight"]) <= {"r", "f"} and similar["flow"]
    unused = next(entry for entry in detail["features"] if entry["name"] == "order")
    assert unused["weight"] == 0.0


def test_the_difference_of_two_systems_is_explained_exactly(metric: TeslaX) -> None:
    found = explain_difference(metric, [GOOD, REFERENCE], [BAD, GOOD], [[REFERENCE, REFERENCE]])
    assert found.scores[0] > found.scores[1]
    total = found.linear[0] - found.linear[1]
    assert sum(row[3] for row in found.by_part()) == pytest.approx(total)
    assert sum(row[3] for row in found.by_feature()) == pytest.approx(total)
    json.dumps(found.to_dict())


def test_weights_of_another_analysis_are_refused(metric: TeslaX) -> None:
    with pytest.raises(ResourceError, match="train them again"):
        TeslaX("en", weights=replace(metric.combined.model, analysis="lang:en|tagger:00000000"))


def test_weights_of_another_metric_are_refused(tmp_path, metric: TeslaX) -> None:
    path = tmp_path / "weights.json"
    path.write_text(metric.combined.model.to_json())
    with pytest.raises(ResourceError, match="weights are for tesla-x"):
        TeslaF("en", weights=path)


def test_tesla_f_weighs_what_tesla_m_averages() -> None:
    scaled, raw, m = TeslaF("en"), TeslaF("en", scaled=False), TeslaM("en")
    found, plain = (metric.sentence_score(GOOD, [REFERENCE]) for metric in (scaled, m))
    assert {name: found.features[name] for name in plain.features} == plain.features
    assert scaled.sentence_score(REFERENCE, [REFERENCE]).score <= 1.0
    model = raw.combined.model
    assert raw.sentence_score(GOOD, [REFERENCE]).score == pytest.approx(
        float(model.linear(np.array([[found.features[name] for name in model.features]]))[0])
    )
    assert "scaled:no" in str(raw.get_signature())


def test_explain_on_the_command_line(tesla, write) -> None:
    drawn = tesla("explain", "-m", "x", GOOD, REFERENCE)
    assert drawn.status == 0 and "share of the linear score" in drawn.out and "word order" in drawn.out
    files = [write(name, [text, REFERENCE]) for name, text in (("ref", REFERENCE), ("a", GOOD), ("b", BAD))]
    two = tesla("explain", "-m", "x", "-r", *files)
    assert two.status == 0 and "difference" in two.out
    as_json = json.loads(tesla("explain", "-m", "x", "-r", *files, "--segment", "2", "--json").out)
    assert as_json["segment"] == 2 and as_json["scores"][0] == as_json["scores"][1]
    assert tesla("explain", "-m", "m", "-r", *files).status == 2
    assert tesla("explain", "-m", "x", "-r", *files, "--segment", "3").status == 2
