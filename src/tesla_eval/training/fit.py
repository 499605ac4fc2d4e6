"""Fitting a linear model: standardise, learn from differences of features or from scores, cross-validate, scale."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import UsageError
from tesla_eval.base.parallel import NO_PROGRESS, Progress
from tesla_eval.metrics.features import Feature
from tesla_eval.models.linear import SIGNED, LinearModel, Scale
from tesla_eval.statistics.estimate import known_means
from tesla_eval.statistics.pairs import weighted_tau
from tesla_eval.training.judged import TrainingSet

Learner: TypeAlias = Callable[[FloatArray, FloatArray, float], FloatArray]
"""Differences (better − worse) of standardised features, the weight of each pair, a penalty: to weights."""

_MOST_STEPS = 100
_STEP_TOLERANCE = 1e-10


def fit_logistic(
    differences: FloatArray, counts: FloatArray, penalty: float, signs: FloatArray | None = None
) -> FloatArray:
    """Bradley–Terry: the mean logistic loss of the pairs + penalty/2 · ‖w‖²; with `signs` (+1 or −1) each weight has
    its sign or is 0.

    >>> fit_logistic(np.array([[1.0], [1.0], [-1.0]]), np.ones(3), 1e-9).round(3).tolist()
    [0.693]
    >>> fit_logistic(np.array([[1.0, 1.0], [1.0, -1.0]]), np.ones(2), 0.1, np.array([1.0, -1.0])).round(2).tolist()
    [1.63, -0.0]
    """
    share = counts / counts.sum()

    def slopes(margins: FloatArray) -> tuple[FloatArray, FloatArray]:
        error = 0.5 - 0.5 * np.tanh(0.5 * margins)
        return share * error, share * error * (1 - error)

    return _newton(
        differences, signs, penalty, lambda margins: float(share @ np.logaddexp(0, -margins)), slopes
    )


def fit_signed_svm(
    differences: FloatArray, counts: FloatArray, penalty: float, signs: FloatArray
) -> FloatArray:
    """As `fit_svm`, with every weight of its sign (+1 or −1) or 0; needs no scikit-learn.

    >>> fit_signed_svm(np.array([[1.0, 1.0], [1.0, -1.0]]), np.ones(2), 0.5, np.array([1.0, -1.0])).round(2).tolist()
    [0.67, -0.0]
    """
    share = counts / counts.sum()

    def slopes(margins: FloatArray) -> tuple[FloatArray, FloatArray]:
        return 2 * share * np.maximum(0, 1 - margins), 2 * share * (margins < 1)

    return _newton(
        differences,
        signs,
        2 * penalty,
        lambda margins: float(share @ np.maximum(0, 1 - margins) ** 2),
        slopes,
    )


def _newton(
    differences: FloatArray,
    signs: FloatArray | None,
    ridge: float,
    loss: Callable[[FloatArray], float],
    slopes: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
) -> FloatArray:
    """The minimum of loss(w·d) + ridge/2 · ‖w‖²; where every weight has its sign, by projected Newton steps.

    Bertsekas (1982). `slopes` gives how fast the loss falls at the margins, and how fast that changes.
    """
    turned, lowest = differences, -math.inf
    if signs is not None:
        turned, lowest = differences * signs, 0.0  # all weights are to be 0 or more

    def objective(weights: FloatArray) -> float:
        return loss(turned @ weights) + ridge / 2 * float(weights @ weights)

    weights = np.zeros(turned.shape[1])
    value = objective(weights)
    for _ in range(_MOST_STEPS):
        falls, bends = slopes(turned @ weights)
        gradient = ridge * weights - turned.T @ falls
        free = (weights > lowest) | (gradient < 0)
        chosen = turned if signs is None else turned[:, free]
        curvature = (chosen * bends[:, None]).T @ chosen
        step = np.zeros_like(weights)
        step[free] = np.linalg.solve(curvature + ridge * np.eye(int(free.sum())), gradient[free])
        length = 1.0
        moved = np.maximum(weights - step, lowest)
        while (new := objective(moved)) > value and length > _STEP_TOLERANCE:
            length /= 2
            moved = np.maximum(weights - length * step, lowest)
        settled = np.abs(moved - weights).max() < _STEP_TOLERANCE
        weights, value = moved, new
        if settled:
            break
    return weights if signs is None else np.asarray(weights * signs)


def fit_svm(differences: FloatArray, counts: FloatArray, penalty: float) -> FloatArray:
    """The linear ranking SVM (Joachims 2006): scikit-learn's LinearSVC on differences, squared hinge loss."""
    from sklearn.svm import LinearSVC

    # Two classes: every other pair is turned round.
    sign = np.where(np.arange(len(differences)) % 2 == 0, 1.0, -1.0)
    share = counts / counts.sum()
    svm = LinearSVC(C=0.5 / penalty, dual=False, fit_intercept=False, tol=1e-6, max_iter=10_000)
    svm.fit(differences * sign[:, None], sign, sample_weight=share)
    return np.asarray(svm.coef_[0])


def fit_regression(
    features: FloatArray, scores: FloatArray, counts: FloatArray, penalty: float
) -> FloatArray:
    """Ridge regression of scores on standardised features: the mean squared error + penalty · ‖w‖².

    >>> fit_regression(np.array([[1.0], [-1.0]]), np.array([3.0, 1.0]), np.ones(2), 0.0).tolist()
    [1.0]
    """
    share = counts / counts.sum()
    centred = scores - share @ scores
    gram = (features * share[:, None]).T @ features
    return np.asarray(np.linalg.solve(gram + penalty * np.eye(len(gram)), features.T @ (share * centred)))


PAIRWISE: dict[str, Learner] = {"logistic": fit_logistic, "svm": fit_svm}
"""The pairwise learners by name."""


REGRESSION = "regression"
SIGNED_LEARNER = "signed"
SIGNED_SVM = "signed-svm"
LEARNERS = (SIGNED_LEARNER, *PAIRWISE, SIGNED_SVM, REGRESSION)
PENALTIES = (0.1, 0.03, 0.01, 0.003, 0.001)
"""What cross-validation chooses from, the strongest first."""
_FOLDS = 5

Split = tuple[list[TrainingSet], list[TrainingSet]]
"""One split: the sets to learn from, and the sets to measure on."""


@dataclass(frozen=True)
class Validation:
    """What cross-validation found of one learner and penalty: τ on what was held out, by segments and by test sets."""

    learner: str
    penalty: float
    by_segment: float
    by_test_set: float | None

    @property
    def value(self) -> float:
        """The figure that decides: held-out test sets if there are several, else held-out segments."""
        return self.by_segment if self.by_test_set is None else self.by_test_set


class RankingProblem:
    """Training sets made ready for learners: standardised once, for any number of penalties.

    Every test set counts alike, however many judgements it has.
    """

    def __init__(self, sets: Sequence[TrainingSet], features: Sequence[Feature]) -> None:
        self.sets, self.features = sets, features
        self._draft = _standardised(sets, features)

    @cached_property
    def _differences(self) -> tuple[FloatArray, FloatArray]:
        return _differences(self.sets, self._draft)

    def fit(
        self,
        learner: str = SIGNED_LEARNER,
        penalty: float = 0.01,
        *,
        floors: Mapping[str, float] | None = None,
        logistic_scale: bool = True,
    ) -> LinearModel:
        """The model that a learner finds.

        `signed` gives weights of their features' signs for features as they are; those of agreement add up to 1, and
        each kind in `floors` has at least that share of them, spread evenly (specification §8b). A kind of penalties
        in `floors` is not learned: its weight is that number, whatever else is learned. The scale of other
        learners is logistic, fitted to the linear scores of the training outputs, or linear (specification §8): 0 for
        the smallest and 1 for the largest value that the ranges of the features allow. That of `signed-svm` is linear.
        """
        check_floors(floors or {}, self.features, learner)
        if learner == SIGNED_LEARNER:
            return self._fit_signed(penalty, floors or {})
        if learner == REGRESSION:
            weights = _regression_weights(self.sets, self._draft, penalty)
        elif learner == SIGNED_SVM:
            weights = fit_signed_svm(*self._differences, penalty, self._signs)
            logistic_scale = False
        elif learner in PAIRWISE:
            weights = PAIRWISE[learner](*self._differences, penalty)
        else:
            raise UsageError(f"unknown learner {learner!r}; choose one of {', '.join(LEARNERS)}")
        model = replace(self._draft, weights=weights)
        scale = _logistic_scale(self.sets, model) if logistic_scale else _range_scale(model, self.features)
        return replace(model, scale=scale)

    @property
    def _signs(self) -> FloatArray:
        return np.array([1.0 if feature.more_is_better else -1.0 for feature in self.features])

    def _fit_signed(self, penalty: float, floors: Mapping[str, float]) -> LinearModel:
        differences, counts = self._differences
        is_fixed = np.array(
            [not one.more_is_better and one.kind in floors for one in self.features], np.bool_
        )
        weights = np.zeros(len(self.features))
        learned = fit_logistic(differences[:, ~is_fixed], counts, penalty, self._signs[~is_fixed])
        weights[~is_fixed] = learned / self._draft.deviations[~is_fixed]
        agreement = _kinds_of_agreement(self.features)
        shared = sum(share for kind, share in floors.items() if kind in agreement)
        weights *= (1.0 - shared) / (math.fsum(weights[weights > 0]) or 1.0)
        for kind, share in floors.items():
            columns = [k for k, feature in enumerate(self.features) if feature.kind == kind]
            weights[columns] += share / len(columns) if kind in agreement else -share
        count = len(self.features)
        return replace(
            self._draft, weights=weights, means=np.zeros(count), deviations=np.ones(count),
            scale=Scale(SIGNED, 1.0, 0.0),
        )  # fmt: skip


def _kinds_of_agreement(features: Sequence[Feature]) -> set[str]:
    return {feature.kind for feature in features if feature.more_is_better}


def check_floors(floors: Mapping[str, float], features: Sequence[Feature], learner: str) -> None:
    """Raise an error for floors of unknown kinds, for negative floors, and for shares that add up to 1 or more."""
    if floors and learner != SIGNED_LEARNER:
        raise UsageError(f"floors go with the learner {SIGNED_LEARNER!r} only")
    kinds = {feature.kind for feature in features}
    unknown = [kind for kind in floors if kind not in kinds]
    if unknown:
        raise UsageError(f"no floor for {', '.join(unknown)}: the kinds are {', '.join(sorted(kinds))}")
    shares = [floors[kind] for kind in floors if kind in _kinds_of_agreement(features)]
    if min(floors.values(), default=0) < 0 or sum(shares) >= 1:
        raise UsageError("floors of agreement are shares between 0 and 1, and together less than 1")


def cross_validate(
    sets: Sequence[TrainingSet],
    features: Sequence[Feature],
    *,
    learner: str = SIGNED_LEARNER,
    penalties: Sequence[float] = PENALTIES,
    floors: Mapping[str, float] | None = None,
    progress: Progress = NO_PROGRESS,
) -> list[Validation]:
    """How well each penalty does on held-out data; no source segment is ever on both sides."""

    def measured(splits: Iterable[Split]) -> dict[float, list[float]]:
        taus: dict[float, list[float]] = {penalty: [] for penalty in penalties}
        for train, test in splits:
            problem = RankingProblem(train, features)
            for penalty, values in taus.items():
                model = problem.fit(learner, penalty, floors=floors)
                values.extend(kendall(model, one) for one in test if len(one.better))
                progress.advance(1)
        return taus

    if not any(len(one.better) for one in sets):
        raise UsageError("there are no pairs to compare penalties on; lower --threshold")
    by_segment, by_set = measured(segment_folds(sets, _FOLDS)), measured(set_folds(sets))
    return [
        Validation(learner, penalty, _mean(taus), _mean(by_set[penalty]) if by_set[penalty] else None)
        for penalty, taus in by_segment.items()
    ]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def segment_folds(sets: Sequence[TrainingSet], folds: int) -> Iterator[Split]:
    """Splits by source segment: a segment is on the same side for all language pairs that share it."""
    fold_of = {
        segment: int.from_bytes(hashlib.sha256(segment.encode()).digest()[:8], "big") % folds
        for one in sets
        for segment in np.unique(one.segments).tolist()
    }
    if len({fold_of[segment] for one in sets for segment in one.pair_segments.tolist()}) < 2:
        raise UsageError(
            "cross-validation holds out whole segments, but all pairs are of one segment or of very few; give "
            "judgements of more segments"
        )
    for fold in range(folds):
        held_out = [
            np.array([fold_of[segment] == fold for segment in one.pair_segments.tolist()], bool)
            for one in sets
        ]
        yield (
            [one.with_pairs(~held) for one, held in zip(sets, held_out, strict=True)],
            [one.with_pairs(held) for one, held in zip(sets, held_out, strict=True)],
        )


def set_folds(sets: Sequence[TrainingSet]) -> Iterator[Split]:
    """Splits by test set (all language pairs of one): nothing if there is only one."""
    names = sorted({_test_set(one) for one in sets})
    if len(names) > 1:
        for name in names:
            yield (
                [one for one in sets if _test_set(one) != name],
                [one for one in sets if _test_set(one) == name],
            )


def kendall(model: LinearModel, data: TrainingSet) -> float:
    """WMT's Kendall τ of a model: (concordant − discordant) / pairs; ties of the model count as 0."""
    scores = model.linear(data.features)
    return float(weighted_tau(scores[data.better] - scores[data.worse], data.counts))


def _test_set(one: TrainingSet) -> str:
    return one.name.partition(" ")[2]


def _standardised(sets: Sequence[TrainingSet], features: Sequence[Feature]) -> LinearModel:
    """Means and deviations of the judged outputs, each test set counting alike; no weights yet."""
    raw_means = _mean_over_sets([one.features for one in sets])
    blank = LinearModel(
        metric="", language="", features=tuple(feature.name for feature in features), weights=np.zeros(len(features)),
        means=raw_means, deviations=np.ones(len(features)), scale=Scale("logistic", 1.0, 0.0), groups=(),
        families=tuple(feature.family for feature in features),
    )  # fmt: skip
    complete = [blank.complete(one.features) for one in sets]
    means = _mean_over_sets(complete)
    squares = _mean_over_sets([(values - means) ** 2 for values in complete])
    deviations = np.where(squares > 1e-12, np.sqrt(squares), 1.0)
    return replace(blank, means=means, deviations=deviations)


def _mean_over_sets(tables: list[FloatArray]) -> FloatArray:
    """The mean of each column over the rows of a set, then over the sets."""
    return np.nan_to_num(known_means(np.stack([known_means(table, axis=0) for table in tables]), axis=0))


def _differences(sets: Sequence[TrainingSet], draft: LinearModel) -> tuple[FloatArray, FloatArray]:
    differences, counts = [], []
    for one in sets:
        if len(one.better):
            z = (draft.complete(one.features) - draft.means) / draft.deviations
            differences.append(z[one.better] - z[one.worse])
            counts.append(one.weight * one.counts / one.counts.sum())
    if not differences:
        raise UsageError("there are no pairs to learn from; use --learner regression to learn from scores")
    if sum(map(len, differences)) < 2:
        raise UsageError("one pair is too few to learn from; give more judgements")
    return np.concatenate(differences), np.concatenate(counts)


def _regression_weights(sets: Sequence[TrainingSet], draft: LinearModel, penalty: float) -> FloatArray:
    features, scores, counts = [], [], []
    for one in sets:
        known = ~np.isnan(one.scores)
        if known.any():
            z = (draft.complete(one.features[known]) - draft.means) / draft.deviations
            human = one.scores[known]
            deviation = human.std() or 1.0
            features.append(z)
            scores.append((human - human.mean()) / deviation)  # protocols have scales of their own
            counts.append(np.full(len(z), 1.0 / len(z)))
    if not features:
        raise UsageError("there are no human scores to learn from; use a pairwise learner for rankings")
    return fit_regression(np.concatenate(features), np.concatenate(scores), np.concatenate(counts), penalty)


def _logistic_scale(sets: Sequence[TrainingSet], model: LinearModel) -> Scale:
    """The distribution function of a logistic distribution with the training scores' mean and deviation.

    A score of 0.7 then means: better than some 70 % of the outputs that people judged.
    """
    linear = [model.linear(one.features)[:, None] for one in sets]
    centre = _mean_over_sets(linear)
    squares = _mean_over_sets([(values - centre) ** 2 for values in linear])
    deviation = math.sqrt(float(squares[0])) or 1.0
    return Scale("logistic", slope=math.pi / (math.sqrt(3) * deviation), centre=float(centre[0]))


def _range_scale(model: LinearModel, features: Sequence[Feature]) -> Scale:
    """The smallest possible value becomes 0 and the largest 1 (specification §8)."""
    ends = np.array([(feature.low, feature.high) for feature in features]).T
    shares = model.weights * ((ends - model.means) / model.deviations)
    low, high = math.fsum(shares.min(axis=0)), math.fsum(shares.max(axis=0))
    return Scale("linear", slope=1.0 / (high - low or 1.0), centre=(low + high) / 2)
