"""The worked examples of docs/specification.md that have no other test; the page names each test."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from tesla_eval import TeslaM, Token, statistics
from tesla_eval._core import SURFACE_FEATURES, Lexicon
from tesla_eval.language.analysis import load_pipeline
from tesla_eval.language.analysis.batch import AnalysedBatch, Vocabulary
from tesla_eval.language.analysis.compounds import CompoundSplitter
from tesla_eval.matching.bags.ngram_bags import NgramFeature
from tesla_eval.matching.matcher import explain_feature
from tesla_eval.metrics.features.surface import SurfaceGroup
from tesla_eval.models.linear import LinearModel, Scale
from tesla_eval.statistics.pairs import PairCounts
from tesla_eval.training.language_models import discounts
from tesla_eval_papers import Pem
from tesla_eval_papers.judgements import overall_score
from tesla_eval_papers.models.svr import SupportVectorModel
from tests.matching.given_matches import build_character_bags, match_characters

ONLY = np.zeros(1, np.int64)
HYPOTHESIS, REFERENCE = "The cats sat on a mat.", "The cat sat on the mat."


def test_1_analysed_text() -> None:
    (batch,) = load_pipeline("en").analyse(["The cats sat."])
    found = [(token.lemma, token.pos, token.function) for token in batch.tokens(0)]
    assert found == [("the", "DT", True), ("cat", "NNS", False), ("sit", "VBD", False)]
    splitter = CompoundSplitter({"aktion": 479, "plan": 487, "aktionsplan": 330})
    assert splitter.split("Aktionsplan") == ((0, 6), (7, 11))


def test_2_weights_of_bags() -> None:
    y, x = load_pipeline("en").analyse(["the cat sat on the mat"], ["the cat sat on the mat"])
    flows = {n: explain_feature(x, y, NgramFeature("ms", n), 0.1) for n in (1, 2, 3)}
    assert {n: flow.reference_weight for n, flow in flows.items()} == {1: 3.3, 2: 1.31, 3: 0.22}
    by_place = {link.reference[0]: link.weight for link in flows[2].flow}
    assert by_place == {0: 0.1, 1: 1.0, 2: 0.1, 3: 0.01, 4: 0.1}  # 1: cat sat, 3: on the
    the = [link.weight for link in flows[1].flow if link.reference[0] in (0, 4)]
    assert the == [0.1, 0.1]


def test_3_similarities() -> None:
    def similarity(x: list[Token], y: list[Token]) -> list[float]:
        vocabulary = Vocabulary(Lexicon(None))
        sides = [AnalysedBatch.from_tokens([""], vocabulary, [side]) for side in (x, y)]
        flow = explain_feature(sides[0], sides[1], NgramFeature("ms", len(x)), 0.1)
        return [link.similarity for link in flow.flow]

    def word(lemma: str, pos: str, *senses: int) -> Token:
        return Token(lemma, 0, 1, lemma, pos, False, senses)

    assert similarity([word("the", "DT"), word("mat", "NN")], [word("a", "DT"), word("mat", "NN")]) == [0.75]
    assert similarity([word("buy", "VB", 1, 2)], [word("purchase", "VB", 2)]) == [1.0]
    assert similarity([word("buy", "VB", 1, 2)], [word("purchase", "NN", 2)]) == [0.5]
    assert similarity([word("buy", ""), word("it", "PRP")], [word("sell", ""), word("it", "PRP")]) == []


def test_5_tesla_m_by_hand() -> None:
    found = TeslaM("en").sentence_score(HYPOTHESIS, [REFERENCE])
    expected = {
        "ms.1": 3.25 / 3.3, "ms.2": 1.2825 / 1.31, "ms.3": (0.2 + 5 / 6 * 0.02) / 0.22,
        "pos.1": 2.3 / 3.3, "pos.2": 0.21 / 1.31, "pos.3": 0.02 / 0.22,
    }  # fmt: skip
    assert found.features == pytest.approx(expected, abs=1e-12)
    assert [round(value, 4) for value in found.features.values()] == [
        0.9848, 0.979, 0.9848, 0.697, 0.1603, 0.0909
    ]  # fmt: skip
    assert found.score == pytest.approx(sum(expected.values()) / 6, abs=1e-12)
    assert round(found.score, 4) == 0.6495


def test_8_linear_scale() -> None:
    model = LinearModel(
        metric="tesla-f", language="en", features=("ms.1", "lm.3gram"), weights=np.array([2.0, 1.0]),
        means=np.array([0.5, -5.0]), deviations=np.array([0.25, 2.5]), scale=Scale("linear", 1 / 14, -1.0),
        groups=("target", "lm"),
    )  # fmt: skip
    rows = np.array([[0.0, -15.0], [1.0, 0.0], [0.75, -5.0]])
    assert model.linear(rows).tolist() == [-8.0, 6.0, 2.0]
    assert model.score(rows) == pytest.approx([0.0, 1.0, 5 / 7])


def test_8_discounts() -> None:
    assert discounts([10, 5, 2, 1]) == (0.5, 1.4, 2.0)
    assert discounts([10, 0, 2, 1]) is None


def test_8b_characters() -> None:
    reference, hypothesis = build_character_bags(["a cab"]), build_character_bags(["ab"])
    found = match_characters(reference, hypothesis, ONLY, ONLY, 2)
    assert found.precision[0].tolist() == [1.0, 1.0]
    assert found.recall[0].tolist() == [2 / 4, 1 / 3]
    assert found.f[0] == pytest.approx([5 / 9, 5 / 13])


def test_8b_word_order() -> None:
    analysis = load_pipeline("en")
    group = SurfaceGroup().bind(analysis)
    y, x = analysis.analyse(["on the mat sat the cat"], ["the cat sat on the mat"])
    row = group.compare(group.prepare(x), group.prepare(y), ONLY, ONLY)[0]
    found = dict(zip(SURFACE_FEATURES, row.tolist(), strict=True))
    assert found["lcs.r"] == found["lcs.p"] == 0.5
    assert found["fragments"] == pytest.approx(2 / 5)  # three runs of six words
    assert found["order"] == pytest.approx(4 / 15)
    assert found["content.r"] == found["function.p"] == 1.0


def test_12_regression() -> None:
    model = SupportVectorModel(
        features=("a",), means=np.zeros(1), deviations=np.ones(1), vectors=np.zeros((1, 1)),
        coefficients=np.array([2.0]), intercept=1.0, gamma=0.5,
    )  # fmt: skip
    assert model.predict(np.array([[0.0], [1.0]])) == pytest.approx([3.0, 2 * math.exp(-0.5) + 1])


def test_13_pem_by_hand() -> None:
    found = Pem("en").sentence_score("It started raining.", ["It began to rain."])
    assert found.features["dissimilarity"] == 2 * 4 / (14 + 10)
    assert (overall_score(100, 2, 0.0), overall_score(100, 2, 1.0)) == (2.0, 5.0)


def test_14_statistics_by_hand() -> None:
    counts = PairCounts(concordant=6, discordant=2, metric_ties=2)
    assert [counts.consistency.value, counts.kendall_wmt.value, counts.accuracy.value] == [0.6, 0.4, 0.7]
    human, metric = ([a - b for a, b in combinations(scores, 2)] for scores in ((1, 1, 1, 4), (0, 2, 6, 8)))
    calibrated = statistics.calibrated_accuracy(human, metric)
    assert (calibrated.value, calibrated.epsilon) == (4 / 6, 4.0)
    p_values = statistics.better_p_values([[3, 5, 4], [1, 2, 2]])
    assert (p_values[0, 1], p_values[1, 0]) == (1 / 8, 1.0)
    assert round(statistics.kappa(0.6846), 4) == 0.5269
    assert statistics.sign_test(wins=8, losses=1).p_value == 0.0390625
    assert statistics.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
