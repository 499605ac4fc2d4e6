"""Leaving a year out: what is learned from, what is measured, and the same weights every time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tesla_eval.metrics.features import Feature
from yearly import YearlySet, fit_years, interval, leave_out

FEATURES = (
    Feature("a", "group", "a", "first", "a"),
    Feature("b", "group", "b", "second", "b"),
    Feature("c", "group", "c", "third", "c", more_is_better=False),
)
TRUTH = np.array([1.0, 0.2, -0.6])
SYSTEMS, SEGMENTS = 5, 60


def yearly_set(year: str, seed: int) -> YearlySet:
    """Outputs whose quality is known, with pairs of every segment and a human score of every system."""
    random = np.random.default_rng(seed)
    cells = np.array([(g, s) for g in range(SEGMENTS) for s in range(SYSTEMS)])
    level = np.linspace(0, 0.4, SYSTEMS)[:, None] * np.array([1.0, 1.0, -1.0])
    features = np.clip(random.random((len(cells), 3)) * 0.6 + 0.2 + level[cells[:, 1]], 0, 1)
    quality = features @ TRUTH + 0.2 * random.standard_normal(len(cells))
    pairs = [
        (i, j)
        for i in range(len(cells))
        for j in range(i - i % SYSTEMS, i - i % SYSTEMS + SYSTEMS)
        if quality[i] > quality[j]
    ]
    better, worse = np.array(pairs).T
    human = np.array([quality[cells[:, 1] == s].mean() for s in range(SYSTEMS)])
    baselines = {"noise": random.random(len(cells)), "quality": quality}
    return YearlySet(
        year, "xx-yy", year, SYSTEMS, cells, features, better, worse, np.ones(len(pairs)), human, baselines
    )


@pytest.fixture(scope="module")
def sets() -> list[YearlySet]:
    return [yearly_set("y1", 1), yearly_set("y2", 2), yearly_set("y3", 3)]


def weights(sets: list[YearlySet]) -> list[float]:
    return fit_years(sets, FEATURES, lambda feature: True, "signed", 0.01, {}).weights.tolist()


def test_a_year_is_measured_by_weights_of_the_other_years(sets: list[YearlySet]) -> None:
    figures = leave_out(sets, FEATURES, name="learned")
    assert [one.data.year for one in figures] == ["y1", "y2", "y3"]
    for one in figures:
        others = [other for other in sets if other.year != one.data.year]
        model = fit_years(others, FEATURES, lambda feature: True, "signed", 0.01, {})
        np.testing.assert_array_equal(one.scores["learned"], model.score(one.data.features))
        assert one.tau("noise") < one.tau("learned") < one.tau("quality") == 1.0


def test_a_set_that_is_only_learned_from_is_not_measured(sets: list[YearlySet]) -> None:
    more = [*sets[:2], replace(sets[2], reported=False)]
    figures = leave_out(more, FEATURES, name="learned")
    assert [one.data.year for one in figures] == ["y1", "y2"]
    np.testing.assert_array_equal(
        figures[0].scores["learned"], leave_out(sets, FEATURES, name="learned")[0].scores["learned"]
    )


def test_a_weight_is_how_often_a_set_counts(sets: list[YearlySet]) -> None:
    twice = weights([*sets, sets[0], sets[1]])
    np.testing.assert_allclose(weights([*sets[:2], replace(sets[2], weight=0.5)]), twice, rtol=0.05)
    assert weights([*sets[:2], replace(sets[2], weight=0.5)]) != weights(sets)


def test_learning_again_gives_the_same_bits(sets: list[YearlySet]) -> None:
    assert weights(sets) == weights([yearly_set("y1", 1), yearly_set("y2", 2), yearly_set("y3", 3)])


def test_accuracy_of_systems_by_the_textbook(sets: list[YearlySet]) -> None:
    one = sets[0]
    scores = one.baselines["noise"]
    means = [scores[one.cells[:, 1] == s].mean() for s in range(SYSTEMS)]
    pairs = [(i, j) for i in range(SYSTEMS) for j in range(i)]
    agree = sum((means[i] > means[j]) == (one.human[i] > one.human[j]) for i, j in pairs)
    assert one.accuracy(scores).tolist() == [pytest.approx(agree / len(pairs))]
    assert one.pearson(scores)[0] == pytest.approx(np.corrcoef(means, one.human)[0, 1])
    assert one.accuracy(np.ones(len(scores))).tolist() == [0.5]


def test_soft_accuracy_needs_judged_segments(sets: list[YearlySet]) -> None:
    assert np.isnan(sets[0].soft_accuracy(sets[0].baselines["noise"]))
    sure = np.where(sets[0].human[:, None] > sets[0].human, 0.0, 1.0)
    judged = replace(sets[0], certainty=sure)
    assert judged.soft_accuracy(sets[0].baselines["quality"]) > 0.95
    assert judged.soft_accuracy(-sets[0].baselines["quality"]) < 0.05


@pytest.mark.parametrize("statistic", ["tau", "pearson", "accuracy"])
def test_the_interval_lies_around_the_difference(sets: list[YearlySet], statistic: str) -> None:
    figures = leave_out(sets, FEATURES, name="learned")
    mean, low, high = interval(figures, "learned", "noise", statistic, resamples=200)
    assert low <= mean <= high
    same = interval(figures, "noise", "noise", statistic, resamples=50)
    assert same == (0.0, 0.0, 0.0)
