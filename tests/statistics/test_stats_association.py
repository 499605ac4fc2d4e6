"""Metrics as candidates: Koehn's resampling of correlations and the paired permutation test."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from tesla_eval.base.errors import UsageError
from tesla_eval.statistics.association import (
    SystemAssociation,
    calibrated_association,
    pair_association,
    within_association,
)
from tesla_eval.statistics.correlation import kendall, pearson, spearman
from tesla_eval.statistics.pairs import pairs_within
from tesla_eval.statistics.pooled import pooled_association
from tesla_eval.statistics.resampling import approximate_randomisation, paired_bootstrap
from tests.statistics.test_stats_pairs import counted

SYSTEMS, SEGMENTS = 6, 80
VECTOR = {"pearson": pearson, "spearman": spearman, "kendall": kendall}
PAIRS = {
    name: lambda human, metric, groups=None, name=name: getattr(counted(human, metric, groups), name)
    for name in ("consistency", "kendall_wmt", "accuracy")
}


@pytest.fixture(scope="module")
def judged():
    """Human scores (systems, segments) and three metrics: good, poor, and the poor one on another scale."""
    rng = np.random.default_rng(4)
    human = rng.normal(size=(SYSTEMS, SEGMENTS)) + np.linspace(0, 1, SYSTEMS)[:, None]
    good = human + rng.normal(0, 0.5, human.shape)
    poor = (human + rng.normal(0, 9, human.shape)).round(1)
    return human, np.stack([good, poor, 100 * poor + 7])


def observed(subject):
    return subject.weighted(np.ones((1, subject.units)))[0]


def flat(human, metrics):
    segments = np.tile(np.arange(SEGMENTS), SYSTEMS)
    return human.ravel(), metrics.reshape(len(metrics), -1), segments


@pytest.mark.parametrize("name", VECTOR)
def test_pooled_values_are_those_of_the_vectors(judged, name):
    human, metrics = judged
    values = observed(pooled_association(name, human, metrics))
    assert values == pytest.approx([VECTOR[name](human.ravel(), m.ravel()).value for m in metrics], abs=1e-12)


@pytest.mark.parametrize("name", VECTOR)
def test_pooled_values_leave_out_what_nobody_judged(judged, name):
    human, metrics = judged[0].copy(), judged[1]
    human[np.random.default_rng(3).random(human.shape) < 0.7] = math.nan
    known = ~np.isnan(human)
    values = observed(pooled_association(name, human, metrics))
    assert values == pytest.approx([VECTOR[name](human[known], m[known]).value for m in metrics], abs=1e-12)


@pytest.mark.parametrize("name", PAIRS)
def test_pair_values_are_those_of_the_scores(judged, name):
    human, metrics, segments = flat(*judged)
    first, second = pairs_within(segments)
    differences = metrics[:, first] - metrics[:, second]
    values = observed(pair_association(name, human[first] - human[second], differences, segments[first]))
    assert values == pytest.approx([PAIRS[name](human, m, segments).value for m in metrics], abs=1e-12)


@pytest.mark.parametrize("name", [*VECTOR, *PAIRS])
@pytest.mark.parametrize("unit", ["segment", "system", "cell"])
def test_system_values_are_those_of_the_means(judged, name, unit):
    human, metrics = judged
    values = observed(SystemAssociation.of(name, human, metrics, unit))
    function = {**VECTOR, **PAIRS}[name]
    assert values == pytest.approx([function(human.mean(1), m.mean(1)).value for m in metrics], abs=1e-9)


def subjects(judged):
    human, metrics = judged
    pooled = flat(human, metrics)
    first, second = pairs_within(pooled[2])
    pairs = (
        pooled[0][first] - pooled[0][second],
        pooled[1][:, first] - pooled[1][:, second],
        pooled[2][first],
    )
    return {
        **{f"pooled {name}": pooled_association(name, human, metrics) for name in VECTOR},
        **{f"pairs {name}": pair_association(name, *pairs) for name in PAIRS},
        **{f"system {u}": SystemAssociation.of("pearson", human, metrics, u) for u in ("segment", "cell")},
    }


SUBJECTS = [
    *(f"pooled {name}" for name in VECTOR),
    *(f"pairs {name}" for name in PAIRS),
    "system segment",
    "system cell",
]


@pytest.mark.parametrize("name", SUBJECTS)
def test_the_better_metric_wins_and_a_scale_changes_nothing(judged, name):
    subject = subjects(judged)[name]
    permutation = approximate_randomisation(subject, resamples=199)
    assert permutation.one_sided[0, 1] < 0.05
    assert permutation.p_values[1, 2] == 1
    if name != "system cell":  # a bootstrap draws segments
        bootstrap = paired_bootstrap(subject, resamples=200)
        assert bootstrap.wins[0, 1] > 0.95
        assert bootstrap.wins[1, 2] == 0.5


@pytest.mark.parametrize("name", SUBJECTS)
def test_exchanging_nothing_or_everything_swaps_at_most_the_names(judged, name):
    subject = subjects(judged)[name]
    values = observed(subject)
    pairs = np.array([[0, 1], [2, 1]])
    first, second = subject.exchanged(np.array([[1.0], [0.0]]) * np.ones(subject.units), pairs)
    assert first == pytest.approx(values[pairs.T], abs=1e-9)
    assert second == pytest.approx(values[pairs.T[::-1]], abs=1e-9)


@pytest.mark.parametrize("name", VECTOR)
def test_a_resample_is_the_statistic_of_repeated_segments(judged, name):
    human, metrics = judged
    weights = np.random.default_rng(1).integers(0, 3, SEGMENTS)
    h, m = np.repeat(human, weights, axis=1), np.repeat(metrics, weights, axis=2)
    correlate = VECTOR[name]
    pooled = pooled_association(name, human, metrics).weighted(weights[None].astype(float))[0]
    assert pooled == pytest.approx([correlate(h.ravel(), row.ravel()).value for row in m], abs=1e-12)
    system = SystemAssociation.of(name, human, metrics).weighted(weights[None].astype(float))[0]
    assert system == pytest.approx([correlate(h.mean(1), row.mean(1)).value for row in m], abs=1e-12)


@pytest.mark.parametrize("name", VECTOR)
def test_an_exchange_is_the_statistic_of_exchanged_segments(judged, name):
    human, metrics = judged
    keep = np.random.default_rng(1).integers(0, 2, SEGMENTS)
    first, second = ((m - m.mean()) / m.std() for m in metrics[:2])
    pooled = pooled_association(name, human, metrics[:2])
    values = np.array(pooled.exchanged(keep[None].astype(float), np.array([[0, 1]]))).ravel()
    mixed = np.where(keep, first, second), np.where(keep, second, first)
    expected = [VECTOR[name](human.ravel(), row.ravel()).value for row in mixed]
    assert values == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("unit", "shape"), [("segment", (1, 2)), ("system", (3, 1)), ("cell", (3, 2))])
def test_permutation_test_equals_enumeration(unit, shape):
    """Deutsch et al. (2021): standardise both metrics, exchange scores by unit, compare the correlations."""
    human = np.array([1.0, 2.0, 4.0])
    rng = np.random.default_rng(12)
    metrics = rng.random((2, 3, 2))
    x, y = ((m - m.mean()) / m.std() for m in metrics)

    def difference(keep):
        one, other = np.where(keep, x, y), np.where(keep, y, x)
        return pearson(human, one.mean(1)).value - pearson(human, other.mean(1)).value

    real = difference(np.ones((3, 2), dtype=bool))
    exchanges = product([True, False], repeat=math.prod(shape))
    reached = [difference(np.broadcast_to(np.reshape(e, shape), (3, 2))) >= real - 1e-12 for e in exchanges]
    test = approximate_randomisation(SystemAssociation.of("pearson", human, metrics, unit))
    assert test.exact
    assert test.one_sided[0, 1] == pytest.approx(np.mean(reached))


def test_unjudged_cells_are_left_out_of_the_means(judged):
    human, metrics = (table.copy() for table in judged)
    human[2, :70] = math.nan
    metrics[:, 2, :70] = math.nan
    values = observed(SystemAssociation.of("pearson", human, metrics))
    means = np.nanmean(human, axis=1)
    assert values == pytest.approx([pearson(means, np.nanmean(m, axis=1)).value for m in metrics], abs=1e-9)


def test_a_constant_metric_has_no_correlation_and_does_not_disturb(judged):
    human, metrics = judged
    with_constant = np.concatenate([metrics[:2], np.full((1, *human.shape), 0.1)])
    subject = SystemAssociation.of("pearson", human, with_constant)
    test = paired_bootstrap(subject, resamples=50)
    assert np.isnan(test.scores[2])
    assert np.isnan(test.wins[0, 2])
    assert test.wins[0, 1] == paired_bootstrap(
        SystemAssociation.of("pearson", human, metrics[:2]), resamples=50
    ).wins[0, 1]  # fmt: skip


def test_within_segments_is_a_mean_over_the_segments_that_have_one():
    subject = within_association([[0.5, 1.0], [math.nan, 0.0], [0.1, 0.5]])
    assert observed(subject) == pytest.approx([0.3, 0.5])


def test_calibrated_accuracy_keeps_each_metrics_epsilon():
    # s1 has two pairs, s2 one. Metric 1 with epsilon 0.2: all right. Metric 2 with 0: wrong, right; wrong.
    human = [0, 1, 1]
    metrics = [[0.1, 0.5, 0.3], [0.1, 0.5, -0.3]]
    subject = calibrated_association(human, metrics, [0.2, 0.0], ["s1", "s1", "s2"])
    assert observed(subject).tolist() == [1.0, 0.25]


def test_what_does_not_fit_is_refused(judged):
    human, metrics = judged
    with pytest.raises(UsageError, match="one of pearson, spearman"):
        SystemAssociation.of("chance", human, metrics)
    with pytest.raises(UsageError, match="segment, system or cell"):
        SystemAssociation.of("pearson", human, metrics, "word")
    with pytest.raises(UsageError, match="one score per system"):
        SystemAssociation.of("pearson", human[:2], metrics)
    with pytest.raises(UsageError, match="did not score"):
        pooled_association("pearson", [[1, 2]], [[[1, math.nan]]])
    with pytest.raises(UsageError, match="one of pearson, spearman"):
        pooled_association("chance", human, metrics)
    with pytest.raises(UsageError, match="for human scores of shape"):
        pooled_association("pearson", human[:2], metrics)
