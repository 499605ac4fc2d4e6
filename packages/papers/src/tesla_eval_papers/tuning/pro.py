"""Tuning as ranking (PRO, Hopkins and May 2011): a logistic regression that tells better candidates from worse ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.choosing.parameters import Parameters
from tesla_eval_papers.tuning.mert import Tuned
from tesla_eval_papers.tuning.pool import TuningProblem

_NEWTON_STEPS = 100
_CONVERGED = 1e-10
_LEAST_RIDGE = 1e-9
"""Keeps Newton's equations solvable where features say the same and there is no penalty."""


@dataclass(frozen=True)
class ProOptions:
    """Of `draws` random pairs per segment the `kept` ones with the largest difference in score are learned from.

    A pair must differ by `margin` times the range of all scores. `interpolation` is the share of the new weights;
    the rest are the given ones.
    """

    draws: int = 5000
    kept: int = 50
    margin: float = 0.05
    regularisation: float = 1.0
    interpolation: float = 1.0


def pro(
    problem: TuningProblem, parameters: Parameters, options: ProOptions, generator: np.random.Generator
) -> Tuned:
    """Weights under which better candidates score higher; fixed weights stay as they are."""
    given = parameters.weights
    tuned = np.array([item.tuned for item in parameters.items])
    better, worse = _pairs(problem, options, generator)
    differences = problem.features[:, better] - problem.features[:, worse]
    scale = np.sqrt((differences**2).mean(axis=1)) if differences.size else np.ones(len(given))
    usable = tuned & (scale > 0)
    learned = np.zeros(len(given))
    offset = np.einsum("f,fn->n", given * ~tuned, differences)
    if usable.any() and differences.size:
        rows = (differences[usable] / scale[usable, None]).T
        learned[usable] = logistic_regression(rows, offset, options.regularisation) / scale[usable]
    low, high = (np.array([getattr(item, end) for item in parameters.items]) for end in ("low", "high"))
    fresh = np.where(tuned, np.clip(learned, low, high), given)
    mixed = options.interpolation * fresh + (1 - options.interpolation) * given
    weights = parameters.normalised(mixed)
    return Tuned(weights, problem.score(weights), problem.score(given))


def _pairs(
    problem: TuningProblem, options: ProOptions, generator: np.random.Generator
) -> tuple[Index, Index]:
    """Candidates of the same segment, the better one of each pair first."""
    gains = problem.gains
    margin = options.margin * float(np.ptp(gains)) if len(gains) else 0.0
    better, worse = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for begin, end in zip(problem.offsets[:-1].tolist(), problem.offsets[1:].tolist(), strict=True):
        if end - begin < 2:
            continue
        drawn = generator.integers(begin, end, size=(2, options.draws))
        difference = gains[drawn[0]] - gains[drawn[1]]
        size = np.abs(difference)
        eligible = np.flatnonzero((size >= margin) & (size > 0))
        kept = eligible[np.argsort(-size[eligible], kind="stable")[: options.kept]]
        first, second = drawn[:, kept]
        turned = difference[kept] < 0
        better.append(np.where(turned, second, first))
        worse.append(np.where(turned, first, second))
    return np.concatenate(better), np.concatenate(worse)


def logistic_regression(rows: FloatArray, offset: FloatArray, regularisation: float) -> FloatArray:
    """The weights w that maximise sum log sigma(rows w + offset) - regularisation / 2 |w|²: Newton's method.

    >>> logistic_regression(np.array([[1.0], [1.0], [-1.0]]), np.zeros(3), 1e-9).round(4)
    array([0.6931])
    """
    weights = np.zeros(rows.shape[1])
    for _ in range(_NEWTON_STEPS):
        chance = 0.5 - 0.5 * np.tanh(_scores(rows, weights, offset) / 2)  # of being on the wrong side
        gradient = np.einsum("nf,n->f", rows, chance) - regularisation * weights
        curvature = np.einsum("nf,ng->fg", rows * (chance * (1 - chance))[:, None], rows)
        step = np.linalg.solve(curvature + max(regularisation, _LEAST_RIDGE) * np.eye(len(weights)), gradient)
        before = _log_posterior(rows, offset, weights, regularisation)
        size = 1.0
        while size > 1e-6 and _log_posterior(rows, offset, weights + size * step, regularisation) < before:
            size /= 2
        weights = weights + size * step
        if float(np.abs(step).max(initial=0.0)) < _CONVERGED * (1 + float(np.abs(weights).max(initial=0.0))):
            break
    return weights


def _log_posterior(rows: FloatArray, offset: FloatArray, weights: FloatArray, regularisation: float) -> float:
    likelihood = -float(np.logaddexp(0, -_scores(rows, weights, offset)).sum())
    return likelihood - regularisation / 2 * float((weights**2).sum())


def _scores(rows: FloatArray, weights: FloatArray, offset: FloatArray) -> FloatArray:
    """Without BLAS, whose sums depend on the number of threads."""
    return np.asarray(np.einsum("nf,f->n", rows, weights) + offset)
