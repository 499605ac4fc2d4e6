"""TESLA-S (specification §10) against a few plain lines, on real summaries; its rules for models and short texts."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from tesla_eval import TeslaS, TeslaSRecall, Token
from tesla_eval.base.errors import UsageError
from tesla_eval.judgements.summaries import read_summaries
from tesla_eval.language.analysis import load_pipeline
from tests.fixtures import SHARED_DATA

SUMMARIES = SHARED_DATA / "summaries"
needs_summaries = pytest.mark.skipif(not SUMMARIES.is_dir(), reason="the summaries are not here")


def textbook(reference: list[Token], hypothesis: list[Token], alpha: float = 0.8, window: int = 4) -> float:
    """Specification §10 in a few lines, for texts of at least two words."""
    values = []
    for skip in (False, True):
        x, y = ({}, {})  # type: dict[object, float], dict[object, float]
        for tokens, bag in ((reference, x), (hypothesis, y)):
            words = [(token.surface.lower(), 0.1 if token.function else 1.0) for token in tokens]
            for i, (word, weight) in enumerate(words):
                for other, factor in words[i + 1 : i + 2 + window] if skip else [("", 1.0)]:
                    bag[word, other] = bag.get((word, other), 0.0) + weight * factor
        common = math.fsum(min(weight, y.get(key, 0.0)) for key, weight in x.items())
        p, r = common / math.fsum(y.values()), common / math.fsum(x.values())
        values.append(p * r / (alpha * p + (1 - alpha) * r) if common else 0.0)
    return sum(values) / 2


@needs_summaries
@pytest.mark.parametrize(("metric", "alpha"), [(TeslaS(), 0.8), (TeslaSRecall(), 1.0)])
def test_two_hundred_real_pairs(metric: TeslaS, alpha: float) -> None:
    outputs = read_summaries(str(SUMMARIES / "realsumm"))
    pairs = [
        (row[topic], outputs.references[topic][0])
        for number, row in enumerate(outputs.hypotheses)
        for topic in range(number % 13, 100, 12)
    ][:200]
    assert len(pairs) == 200
    hypotheses, references = ([text or "" for text in side] for side in zip(*pairs, strict=True))
    found = metric.corpus_score(hypotheses, [references]).segments
    x, y = load_pipeline("en").analyse(references, hypotheses)
    expected = [textbook(x.tokens(i), y.tokens(i), alpha) for i in range(200)]
    assert found == pytest.approx(expected, abs=1e-12, rel=0)
    assert 0.05 < found.mean() < 0.9


def test_hand_worked_example() -> None:
    # The judge ordered it: weights .1 1 1 .1; "the" has no partner. Pairs with "the" weigh .1 + .1 + .01.
    found = TeslaS().sentence_score("A judge ordered it.", ["The judge ordered it."]).features
    assert found["s.1"] == pytest.approx(2.1 / 2.2)
    assert found["s.skip"] == pytest.approx(1.2 / 1.41)


def test_window_counts_the_words_between() -> None:
    reference = "alpha beta gamma delta epsilon zeta eta"
    far, near = "alpha omega omega omega omega omega zeta", "alpha omega omega omega omega zeta"
    assert TeslaS().sentence_score(near, [f"alpha {reference[6:]}"]).features["s.skip"] > 0
    assert TeslaS().sentence_score(far, [reference]).features["s.skip"] == 0
    assert (
        TeslaS(window=5).sentence_score(far, [reference.replace("beta", "beta beta")]).features["s.skip"] > 0
    )


def test_case_does_not_matter_but_inflection_does() -> None:
    metric = TeslaS()
    assert metric.sentence_score("PARIS FLOODED", ["Paris flooded"]).features["s.1"] == 1
    assert metric.sentence_score("paris floods", ["Paris flooded"]).features["s.skip"] == 0


def test_the_best_model_counts_whatever_their_order() -> None:
    metric = TeslaS()
    models = ["Nothing of it.", "A storm hit the coast on Monday.", "The coast was hit."]
    summary = "A storm hit the coast."
    alone = [metric.sentence_score(summary, [model]) for model in models]
    best = max(alone, key=lambda score: score.score)
    for order in (models, models[::-1]):
        together = metric.sentence_score(summary, order)
        assert (together.score, together.features) == (best.score, best.features)
    streams = [[models[0], None], [None, models[1]]]
    found = metric.corpus_score([summary, summary], streams).segments
    assert found.tolist() == [alone[0].score, alone[1].score]


def test_identity_and_empty_texts() -> None:
    metric = TeslaS()
    for text in ("The same text, twice.", "One", "the", "...", ""):
        assert metric.sentence_score(text, [text]).score == 1.0
    assert metric.sentence_score("", ["Something."]).score == 0.0
    assert metric.sentence_score("Something.", ["..."]).score == 0.0
    one = metric.sentence_score("One", ["One"])
    assert one.features["s.1"] == 1
    assert math.isnan(one.features["s.skip"])
    assert metric.sentence_score("One", ["One thing"]).features["s.skip"] == 0


def test_recall_is_f_with_alpha_one() -> None:
    summary, models = "A storm hit the coast of Spain.", ["The storm hit it.", "Spain was hit by a storm."]
    recall = TeslaSRecall().sentence_score(summary, models).score
    parts = TeslaSRecall().explain(summary, models).to_dict()["references"]
    assert recall == max(sum(f["recall"] for f in part["features"]) / 2 for part in parts)
    assert recall == TeslaS(alpha=1.0).sentence_score(summary, models).score


def test_explanation_shows_the_matched_skip_bigrams() -> None:
    explained = TeslaS().explain("He quickly ordered it", ["He ordered it"]).to_dict()
    (detail,) = explained["references"]
    skips = detail["features"][1]
    assert (skips["name"], skips["n"], skips["gap"]) == ("s.skip", 2, 4)
    pairs = [
        tuple(tokens[place]["surface"] for place in (entry[side][0], entry[side][1] - 1))
        for entry in skips["flow"]
        for side, tokens in (("hypothesis", detail["hypothesis"]), ("reference", detail["reference"]))
    ]
    assert Counter(pairs) == Counter(2 * [("He", "ordered"), ("He", "it"), ("ordered", "it")])
    assert sum(entry["weight"] for entry in skips["flow"]) == pytest.approx(skips["objective"])


def test_pairwise_equals_single_scores() -> None:
    metric = TeslaS()
    texts = ["A storm hit Spain.", "Spain was hit.", "Nothing."]
    assert metric.pairwise(texts, texts).tolist() == [
        [metric.sentence_score(h, [r]).score for r in texts] for h in texts
    ]


@needs_summaries
def test_workers_and_order_do_not_matter() -> None:
    outputs = read_summaries(str(SUMMARIES / "summeval"))
    texts = [text or "" for row in outputs.hypotheses[:6] for text in row]
    streams = [list(stream) * 6 for stream in outputs.reference_streams[:3]]
    expected = TeslaS().corpus_score(texts, streams)
    found = TeslaS(workers=2).corpus_score(texts[::-1], [stream[::-1] for stream in streams])
    assert found.segments[::-1].tolist() == expected.segments.tolist()
    assert found.score == expected.score


def test_signature_names_what_matters() -> None:
    plain = TeslaS().get_signature()
    assert plain["metric"] == "tesla-s"
    assert {"lemmas", "senses", "alpha", "window"}.isdisjoint(plain)
    assert dict(TeslaS(window=2, alpha=0.5, discount=1).get_signature()) == {
        **plain, "window": "2", "alpha": "0.5", "discount": "1",
    }  # fmt: skip
    assert TeslaSRecall().get_signature()["metric"] == "tesla-s-recall"


@pytest.mark.parametrize("wrong", [{"window": 0}, {"alpha": 2}, {"discount": 0}])
def test_bad_parameters_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        TeslaS(**wrong).sentence_score("a", ["a"])  # type: ignore[arg-type]
