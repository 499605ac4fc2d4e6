"""Training: from judgements to weights, the same to the bit whatever the order."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tesla_eval import FeatureMetric
from tesla_eval.base.errors import UsageError
from tesla_eval.metrics.features import Feature
from tesla_eval.training.fit import (
    LEARNERS,
    PAIRWISE,
    RankingProblem,
    cross_validate,
    fit_logistic,
    fit_signed_svm,
    fit_svm,
    kendall,
    segment_folds,
    set_folds,
)
from tesla_eval.training.judged import TrainingSet, pairs_of_scores

FEATURES = [
    Feature("a.1.p", "group", "a", "first", "a.p"),
    Feature("a.2.p", "group", "a", "first", "a.p"),
    Feature("b.r", "group", "b", "second", "b.r", more_is_better=False),
    Feature("c", "group", "c", "third", "c"),
]
TRUTH = np.array([1.0, 0.5, -0.8, 0.0])


def training_set(seed: int, name: str, outputs: int = 120) -> TrainingSet:
    """Outputs of three systems, preferred by a noisy judge who knows the true weights."""
    random = np.random.default_rng(seed)
    features = random.random((outputs, len(FEATURES)))
    segments = np.array([f"{name.partition(' ')[2]} {i // 3}" for i in range(outputs)], np.str_)
    quality = features @ TRUTH + 0.1 * random.standard_normal(outputs)
    pairs = [
        (i, j) for i in range(outputs) for j in range(outputs) if i // 3 == j // 3 and quality[i] > quality[j]
    ]
    better, worse = np.array(pairs).T
    return TrainingSet(name, features, segments, better, worse, np.ones(len(pairs)), quality)


@pytest.fixture
def sets() -> list[TrainingSet]:
    return [training_set(1, "de-en y1"), training_set(2, "fr-en y1"), training_set(3, "de-en y2")]


@pytest.mark.parametrize("learner", [*PAIRWISE, "signed-svm", "regression"])
def test_learners_find_what_the_judge_likes(sets: list[TrainingSet], learner: str) -> None:
    model = RankingProblem(sets, FEATURES).fit(learner, penalty=0.001)
    test = training_set(9, "ru-en y9")
    assert kendall(model, test) > 0.7
    a, b, c, d = model.weights
    assert a > b > abs(d) and c < -abs(d)


def test_logistic_is_at_the_optimum(sets: list[TrainingSet]) -> None:
    random = np.random.default_rng(0)
    differences = random.standard_normal((400, 3)) + 0.3
    weights = fit_logistic(differences, np.ones(400), 0.01)
    error = 1 / (1 + np.exp(differences @ weights))
    gradient = 0.01 * weights - differences.T @ error / 400
    assert np.abs(gradient).max() < 1e-9


def test_the_svm_is_at_the_optimum() -> None:
    random = np.random.default_rng(0)
    differences = random.standard_normal((400, 3)) + 0.3
    weights = fit_svm(differences, np.ones(400), 0.1)
    slack = np.maximum(0, 1 - differences @ weights)
    # LinearSVC: ½‖w‖² + C Σ share · slack², C = 1 / (2 penalty)
    gradient = weights - (0.5 / 0.1) * 2 * differences.T @ slack / 400
    assert np.abs(gradient).max() < 1e-4


def test_folds_never_share_a_source_segment(sets: list[TrainingSet]) -> None:
    for train, test in segment_folds(sets, 5):
        seen = {segment for one in train for segment in one.pair_segments.tolist()}
        held = {segment for one in test for segment in one.pair_segments.tolist()}
        assert seen and held and not seen & held
    names = [sorted({one.name.split()[1] for one in test}) for _, test in set_folds(sets)]
    assert names == [["y1"], ["y2"]]


@pytest.mark.parametrize("learner", LEARNERS)
def test_pairs_of_one_segment_cannot_be_cross_validated(learner: str) -> None:
    """A segment is held out as a whole, which leaves nothing to learn from."""
    one = training_set(1, "de-en y1", outputs=3)
    with pytest.raises(UsageError, match=r"all pairs are of one segment .* give judgements of more segments"):
        cross_validate([one], FEATURES, learner=learner)


@pytest.mark.parametrize("learner", [name for name in LEARNERS if name != "regression"])
def test_a_single_pair_is_too_few_to_learn_from(learner: str) -> None:
    one = training_set(1, "de-en y1")
    single = one.with_pairs(np.arange(len(one.better)) == 0)
    with pytest.raises(UsageError, match="one pair is too few to learn from; give more judgements"):
        RankingProblem([single], FEATURES).fit(learner)
    with pytest.raises(UsageError, match="all pairs are of one segment"):
        cross_validate([single], FEATURES, learner=learner)


def test_cross_validation_measures_both_ways(sets: list[TrainingSet]) -> None:
    (found,) = cross_validate(sets, FEATURES, penalties=[0.01])
    assert found.by_segment > 0.6 and found.by_test_set is not None and found.by_test_set > 0.6


def test_signed_weights_are_at_the_constrained_optimum() -> None:
    random = np.random.default_rng(0)
    differences = random.standard_normal((400, 4)) + np.array([0.4, -0.4, -0.4, 0.4])
    signs = np.array([1.0, 1.0, -1.0, -1.0])
    weights = fit_logistic(differences, np.ones(400), 0.01, signs)
    assert (weights * signs >= 0).all() and weights[0] > 0 > weights[2] and weights[1] == weights[3] == 0
    error = 1 / (1 + np.exp(differences @ weights))
    gradient = (0.01 * weights - differences.T @ error / 400) * signs
    assert np.abs(gradient[weights != 0]).max() < 1e-8 and (gradient[weights == 0] >= 0).all()


def test_the_signed_svm_is_at_the_constrained_optimum() -> None:
    random = np.random.default_rng(0)
    differences = random.standard_normal((400, 4)) + np.array([0.4, -0.4, -0.4, 0.4])
    signs = np.array([1.0, 1.0, -1.0, -1.0])
    weights = fit_signed_svm(differences, np.ones(400), 0.1, signs)
    assert (weights * signs >= 0).all() and weights[0] > 0 > weights[2] and weights[1] == weights[3] == 0
    slack = np.maximum(0, 1 - differences @ weights)
    gradient = (2 * 0.1 * weights - 2 * differences.T @ slack / 400) * signs
    assert np.abs(gradient[weights != 0]).max() < 1e-8 and (gradient[weights == 0] >= 0).all()


def test_where_signs_do_not_bind_the_signed_svm_is_the_svm() -> None:
    differences = np.random.default_rng(1).standard_normal((300, 3)) + np.array([0.4, 0.3, 0.5])
    signed = fit_signed_svm(differences, np.ones(300), 0.1, np.ones(3))
    np.testing.assert_allclose(signed, fit_svm(differences, np.ones(300), 0.1), atol=1e-4)


def test_a_floor_is_a_share_of_the_weights(sets: list[TrainingSet]) -> None:
    model = RankingProblem(sets, FEATURES).fit(floors={"c": 0.25})
    plain = RankingProblem(sets, FEATURES).fit()
    assert model.weights[3] == pytest.approx(0.75 * plain.weights[3] + 0.25)
    assert model.weights[model.weights > 0].sum() == pytest.approx(1)
    given = RankingProblem(sets, FEATURES).fit(floors={"b": 0.4})  # a penalty: given, not learned
    assert given.weights[2] == -0.4 and given.weights[given.weights > 0].sum() == pytest.approx(1)
    with pytest.raises(UsageError, match="no floor for d: the kinds are a, b, c"):
        RankingProblem(sets, FEATURES).fit(floors={"d": 0.1})
    with pytest.raises(UsageError, match="together less than 1"):
        RankingProblem(sets, FEATURES).fit(floors={"a": 0.6, "c": 0.6})


@pytest.mark.parametrize("wish", ["pos", "pos=much", "pos=nan", "="])
def test_a_floor_that_is_no_share_is_refused(tesla, tmp_path, judgements, wish: str) -> None:
    segments, pairs = judgements([0])
    done = tesla(
        "train", "x", "--segments", segments, "--pairs", pairs, "--floor", wish, "-o", str(tmp_path / "w")
    )
    assert done.status == 2 and "KIND=SHARE" in done.err


def test_a_kind_without_a_floor_is_named_before_the_work(tesla, tmp_path, judgements, monkeypatch) -> None:
    segments, pairs = judgements(list(range(9)))
    monkeypatch.setattr(FeatureMetric, "score_segments", None)  # nothing is computed
    done = tesla(
        "train", "x", "--segments", segments, "--pairs", pairs, "--without", "lcs", "--floor", "lcs=0.1", "--no-cache",
        "-o", str(tmp_path / "w"),
    )  # fmt: skip
    assert done.status == 2 and "no floor for lcs" in done.err


def test_scores_without_pairs_to_choose_a_penalty_by_are_an_error(tesla, tmp_path, write) -> None:
    rows = [
        f"de-en\tset\t{s}\t1\t{k}\t{texts[0]}\t{REFERENCES[0]}"
        for k, (s, texts) in enumerate(OUTPUTS.items())
    ]
    arguments = ("train", "x", "--segments", write("seg.tsv", [HEADER, *rows]), "--learner", "regression", "--no-cache",
                 "--threshold", "100", "--groups", "target", "-o", str(tmp_path / "w.json"))  # fmt: skip
    done = tesla(*arguments)
    assert done.status == 2 and "lower --threshold" in done.err


def test_floors_are_told_in_the_file(tesla, tmp_path, judgements) -> None:
    files = judgements(list(range(9)))
    plain = json.loads(train(tesla, tmp_path, files, "--no-cache"))
    floored = json.loads(train(tesla, tmp_path, files, "--no-cache", "--floor", "lcs=0.1"))
    assert floored["training"]["floors"] == {"lcs": 0.1} and "floors" not in plain["training"]
    assert floored["scale"]["kind"] == "signed"


def test_pairs_of_scores_keep_to_the_segment_and_the_threshold() -> None:
    human = np.array([[1.0, np.nan], [1.4, 2.0], [3.0, 9.0]])
    found = list(zip(*(places.tolist() for places in pairs_of_scores(human, 0.5)), strict=True))
    assert sorted(found) == [(0, 2, 0), (0, 2, 1), (1, 2, 1)]


HEADER = "lp\ttestset\tsystem\tseg_id\thuman_score\thypothesis\treference"
PAIRS = "lp\ttestset\tseg_id\tsystem_better\tsystem_worse"
REFERENCES = [
    "The cat sat on the mat.",
    "A storm hit the coast of Spain.",
    "Prices rose by 3 per cent in May.",
]
OUTPUTS = {
    "good": ["The cat sat on a mat.", "A storm hit the Spanish coast.", "Prices rose 3 per cent in May."],
    "fair": ["Cat sat on mat.", "The storm has hit coast Spain.", "The prices in May rose 2 per cent."],
    "poor": ["On is a dog.", "It was of the.", "May of per cent prices."],
}


@pytest.fixture
def judgements(write):
    """Writes files of outputs and preferences, the latter in the order given."""

    def write_files(order: list[int]) -> tuple[str, str]:
        rows = [
            f"de-en\tset\t{system}\t{i + 1}\t\t{texts[i]}\t{REFERENCES[i]}"
            for system, texts in OUTPUTS.items() for i in range(3)
        ]  # fmt: skip
        pairs = [
            f"de-en\tset\t{i + 1}\t{better}\t{worse}"
            for i in range(3) for better, worse in (("good", "fair"), ("good", "poor"), ("fair", "poor"))
        ]  # fmt: skip
        return write("seg.tsv", [HEADER, *rows]), write("pairs.tsv", [PAIRS, *(pairs[k] for k in order)])

    return write_files


def train(tesla, tmp_path: Path, files: tuple[str, str], *more: str) -> bytes:
    output = tmp_path / "weights.json"
    done = tesla(
        "train", "x", "--segments", files[0], "--pairs", files[1], "-o", str(output), "--date", "2026-01-01",
        "--penalty", "0.1", "--groups", "target,chars,surface", *more,
    )  # fmt: skip
    assert done.status == 0, done.err
    return output.read_bytes()


def test_training_again_gives_the_same_bytes_in_any_order(tesla, tmp_path, judgements, monkeypatch) -> None:
    monkeypatch.setenv("TESLA_EVAL_CACHE", str(tmp_path / "cache"))
    first = train(tesla, tmp_path, judgements(list(range(9))))
    assert train(tesla, tmp_path, judgements(list(range(9)))) == first
    assert train(tesla, tmp_path, judgements([5, 1, 8, 0, 3, 7, 2, 6, 4])) == first
    assert train(tesla, tmp_path, judgements(list(range(9))), "--no-cache") == first
    document = json.loads(first)
    assert document["data"] == ["de-en set: 9 preferences"]
    assert document["language"] == "en" and document["analysis"].startswith("lang:en|")


def test_own_weights_are_used_where_they_are_installed(tesla, tmp_path, judgements, monkeypatch) -> None:
    monkeypatch.setenv("TESLA_EVAL_CACHE", str(tmp_path / "cache"))
    train(tesla, tmp_path, judgements(list(range(9))), "--without", "pos", "--without", "chr")
    own = tmp_path / "own"
    own.mkdir()
    (tmp_path / "weights.json").rename(own / "weights-x-en.json")
    monkeypatch.setenv("TESLA_EVAL_DATA", str(own))
    shown = tesla("explain", "-m", "x", "--json", "A cat sat.", "The cat sat.")
    names = [entry["name"] for entry in json.loads(shown.out)["references"][0]["shares"]]
    assert not [name for name in names if name.startswith(("pos", "chr"))]
    assert "groups:target+surface" in json.loads(shown.out)["signature"]


def test_nothing_to_learn_from_is_an_error(tesla, tmp_path, write) -> None:
    rows = [f"de-en\tset\t{system}\t1\t\t{texts[0]}\t{REFERENCES[0]}" for system, texts in OUTPUTS.items()]
    done = tesla(
        "train",
        "x",
        "--segments",
        write("seg.tsv", [HEADER, *rows]),
        "-o",
        str(tmp_path / "w.json"),
        "--no-cache",
    )
    assert done.status == 2 and "nothing to learn from" in done.err
