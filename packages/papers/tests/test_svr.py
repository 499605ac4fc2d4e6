"""Support vector regression: our prediction is scikit-learn's, and folds keep groups together."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tesla_eval.base.arrays import exponentials
from tesla_eval.base.errors import UsageError
from tesla_eval_papers.models.svr import SupportVectorModel
from tesla_eval_papers.training.regressions import Grid, fit_support_vectors, group_folds


def rows_and_targets() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    rows = random.normal(size=(120, 3)) * [1, 5, 0.1] + [0, 2, 7]
    return rows, np.sin(rows[:, 0]) + 0.2 * rows[:, 1]


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_prediction_is_that_of_scikit_learn(kernel: str) -> None:
    svm = pytest.importorskip("sklearn.svm")
    rows, targets = rows_and_targets()
    fit = fit_support_vectors("abc", rows, targets, list(range(120)), Grid((10.0,), (0.3,), (0.1,), kernel))
    standard = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    other = svm.SVR(kernel=kernel, C=10.0, gamma=0.3, epsilon=0.1, coef0=1.0)  # SVM-light's coef0
    other = other.fit(standard, targets).predict(standard)
    np.testing.assert_allclose(fit.model.predict(rows), other, atol=1e-9)


def test_exponentials_are_one_unit_in_the_last_place_off_at_most() -> None:
    values = np.random.default_rng(2).uniform(-745, 709, 20_000)
    expected = np.array([math.exp(value) for value in values])
    found = exponentials(values)
    assert (abs(found - expected) <= np.spacing(expected)).all()
    assert exponentials(np.array([-np.inf, -800, 0, 800, np.inf])).tolist() == [0, 0, 1, np.inf, np.inf]
    assert np.isnan(exponentials(np.array([np.nan])))


def test_features_count_by_their_scales() -> None:
    svm = pytest.importorskip("sklearn.svm")
    rows, targets = rows_and_targets()
    grid = Grid((10.0,), (0.3,), (0.1,), scales=(1.0, 0.5, 4.0))
    fit = fit_support_vectors("abc", rows, targets, list(range(120)), grid)
    scaled = (rows - rows.mean(axis=0)) / rows.std(axis=0) * grid.scales
    other = svm.SVR(C=10.0, gamma=0.3, epsilon=0.1).fit(scaled, targets).predict(scaled)
    np.testing.assert_allclose(fit.model.predict(rows), other, atol=1e-9)
    assert np.corrcoef(fit.held_out, targets)[0, 1] == pytest.approx(fit.correlation)


def test_a_row_has_the_same_value_in_every_batch() -> None:
    pytest.importorskip("sklearn")
    rows, targets = rows_and_targets()
    model = fit_support_vectors("abc", rows, targets, list(range(120)), Grid((10.0,), (0.3,), (0.1,))).model
    alone = np.concatenate([model.predict(row[None]) for row in rows])
    np.testing.assert_array_equal(alone, model.predict(rows))
    np.testing.assert_array_equal(alone[::-1], model.predict(rows[::-1]))


def test_the_search_finds_what_predicts_best() -> None:
    pytest.importorskip("sklearn")
    rows, targets = rows_and_targets()
    fit = fit_support_vectors("abc", rows, targets, list(range(120)), Grid((0.001, 10.0), (0.3,), (0.1,)))
    assert fit.parameters["C"] == 10.0
    assert fit.correlation > 0.9


def test_groups_stay_together() -> None:
    folds = group_folds([k // 4 for k in range(40)], 5)
    assert all(len(set(folds[4 * g : 4 * g + 4])) == 1 for g in range(10))
    pytest.importorskip("sklearn")
    rows, targets = rows_and_targets()
    with pytest.raises(UsageError, match="5 folds need"):
        fit_support_vectors("abc", rows, targets, [1] * 120)


def test_the_model_goes_through_arrays_and_back() -> None:
    model = SupportVectorModel(
        ("a", "b"), np.zeros(2), np.ones(2), np.array([[1.0, 2.0]]), np.array([0.5]), 0.25, 0.1
    )
    again = SupportVectorModel.from_resource(model.to_arrays(), model.to_info())
    np.testing.assert_array_equal(again.predict(np.eye(2)), model.predict(np.eye(2)))
    for spoilt in (
        {"vectors": np.zeros((2, 2))},
        {"deviations": np.zeros(2)},
        {"means": np.array([np.nan, 0])},
    ):
        with pytest.raises(ValueError, match="regression"):
            SupportVectorModel.from_resource({**model.to_arrays(), **spoilt}, model.to_info())
