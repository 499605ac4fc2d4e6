"""ASO over ranking problems: few judgements, shared structure."""

from __future__ import annotations

import numpy as np
import pytest

from research.shared_ranking import RankingProblem, fit_ranking, fit_shared, pooled
from tesla_eval_papers.models.aso_classifiers import ModifiedHuberClassifier

FEATURES = 12


def judged(weights: np.ndarray, count: int, seed: int) -> RankingProblem:
    """Noisy preferences of somebody who weighs features so."""
    random = np.random.default_rng(seed)
    differences = random.normal(size=(count, FEATURES))
    liked = np.where(differences @ weights + random.normal(size=count) > 0, 1.0, -1.0)
    return RankingProblem(differences * liked[:, None], np.ones(count))


def agreement(weights: np.ndarray, truth: np.ndarray) -> float:
    sample = np.random.default_rng(99).normal(size=(2000, FEATURES))
    return float(np.mean(np.sign(sample @ weights) == np.sign(sample @ truth)))


def test_a_ranking_is_a_classification_of_differences_and_their_opposites() -> None:
    problem = judged(np.arange(FEATURES) - 4.0, 60, 0)
    both = np.concatenate([problem.differences, -problem.differences])
    labels = np.repeat([1, -1], len(problem.counts))
    expected = ModifiedHuberClassifier(0.01, tolerance=1e-9).fit(both, labels).coef_[0]
    np.testing.assert_allclose(fit_ranking(problem, 0.01), expected, atol=1e-4)


def test_without_dimensions_every_problem_is_alone() -> None:
    problems = {str(seed): judged(np.ones(FEATURES), 30, seed) for seed in range(3)}
    weights, theta = fit_shared(problems, 0, 0.03)
    assert theta.shape == (0, FEATURES)
    for name, problem in problems.items():
        np.testing.assert_array_equal(weights[name], fit_ranking(problem, 0.03))


@pytest.mark.parametrize("rounds", [1, 3])
def test_shared_structure_helps_a_problem_with_few_judgements(rounds: int) -> None:
    """Twenty judges share two directions; the one with ten judgements learns from the others."""
    random = np.random.default_rng(1)
    directions = np.linalg.qr(random.normal(size=(FEATURES, 2)))[0].T
    truths = {str(k): 3 * random.normal(size=2) @ directions for k in range(21)}
    problems = {name: judged(truth, 10 if name == "0" else 400, int(name)) for name, truth in truths.items()}
    weights, theta = fit_shared(problems, 2, 0.1, rounds=rounds)
    np.testing.assert_allclose(theta @ theta.T, np.eye(2), atol=1e-12)
    alone, everyone = fit_ranking(problems["0"], 0.1), fit_ranking(pooled(list(problems.values())), 0.1)
    shared = agreement(weights["0"], truths["0"])
    assert shared > agreement(alone, truths["0"]) + 0.02
    assert shared > agreement(everyone, truths["0"]) + 0.02


def test_each_pooled_problem_counts_alike_and_few_pairs_are_spread_evenly() -> None:
    one, other = judged(np.ones(FEATURES), 10, 0), judged(np.ones(FEATURES), 40, 1)
    together = pooled([one, other])
    assert together.counts[:10].sum() == pytest.approx(together.counts[10:].sum())
    np.testing.assert_array_equal(other.first(3).differences, other.differences[[0, 20, 39]])
    assert other.first(100) is other
