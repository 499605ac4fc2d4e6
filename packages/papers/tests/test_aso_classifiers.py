"""The modified Huber classifier and ASO as estimators: structure, labels, scikit-learn's own checks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.model_selection import KFold, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from tesla_eval_papers.models.aso import fit_problems
from tesla_eval_papers.models.aso_classifiers import ASOClassifier, ModifiedHuberClassifier
from test_aso import small_problem


def test_rows_of_the_structure_are_orthonormal_and_span_the_weights() -> None:
    x, _ = small_problem(0, n=60, p=12)
    auxiliary = (x @ np.random.default_rng(2).normal(size=(12, 5)) > 0).astype(int)
    model = ASOClassifier(dimensions=4).fit(x, auxiliary[:, 0], auxiliary)
    theta = model.structure_
    np.testing.assert_allclose(theta @ theta.T, np.eye(4), atol=1e-12)
    weights = fit_problems(x, auxiliary)
    left, _, _ = np.linalg.svd(weights.T, full_matrices=False)
    np.testing.assert_allclose(np.abs(np.sum(theta * left[:, :4].T, axis=1)), 1.0, atol=1e-4)
    np.testing.assert_allclose(model.own_ + model.shared_ @ theta, model.coef_, atol=1e-12)
    np.testing.assert_allclose(model.own_ @ theta.T, 0.0, atol=1e-10)  # w has no part in the shared space


def test_no_dimensions_is_the_plain_classifier() -> None:
    x, y = small_problem(7)
    plain = ModifiedHuberClassifier().fit(x, y)
    aso = ASOClassifier(dimensions=0).fit(x, y, np.stack([y, -y], axis=1))
    assert plain.coef_.tobytes() == aso.coef_.tobytes()
    assert plain.coef_.shape == (1, x.shape[1])


def test_several_targets_at_once_equal_one_by_one() -> None:
    x, y = small_problem(11)
    targets = np.stack([y > 0, x[:, 0] > 0, x[:, 1] + x[:, 2] > 0], axis=1).astype(int)
    together = ASOClassifier(dimensions=2).fit(csr_matrix(x), targets)
    assert together.predict(x).shape == targets.shape
    for column in range(3):
        alone = ASOClassifier(dimensions=2).fit(csr_matrix(x), targets[:, column], targets)
        np.testing.assert_array_equal(alone.coef_[0], together.coef_[column])


@pytest.mark.parametrize("labels", [(-1, 1), (0, 1), ("no", "yes"), (7, 3)])
def test_any_two_labels(labels: tuple[object, object]) -> None:
    x, y = small_problem(13)
    named = np.array([labels[int(value > 0)] for value in y])
    model = ModifiedHuberClassifier().fit(x, named)
    assert set(model.predict(x)) <= set(named)
    assert np.mean(model.predict(x) == named) > 0.8


def test_parameters_survive_cloning() -> None:
    model = clone(ASOClassifier(dimensions=3, penalty=0.5))
    assert model.get_params()["dimensions"] == 3
    assert model.get_params()["penalty"] == 0.5


def test_cross_validation_cuts_the_auxiliary_problems_with_the_examples() -> None:
    generator = np.random.default_rng(5)
    x = generator.normal(size=(90, 12))
    auxiliary = np.sign(x @ generator.normal(size=(12, 6)))
    y = (auxiliary[:, 0] > 0).astype(int)
    model = ASOClassifier(dimensions=3)
    scores = cross_val_score(model, x, y, cv=KFold(3), params={"auxiliary": auxiliary})
    by_hand = []
    for train, test in KFold(3).split(x):
        by_hand.append(model.fit(x[train], y[train], auxiliary[train]).score(x[test], y[test]))
    assert scores.tolist() == by_hand
    with pytest.raises(ValueError, match="90 examples"):
        model.fit(x, y, auxiliary[:50])


@parametrize_with_checks([ModifiedHuberClassifier(), ASOClassifier(dimensions=2)])
def test_scikit_learn_s_checks(estimator, check) -> None:
    check(estimator)
