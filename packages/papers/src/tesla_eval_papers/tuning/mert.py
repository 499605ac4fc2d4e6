"""Minimum error rate training (Och 2003): exact line searches along axes and random directions, from many starts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import UsageError
from tesla_eval.choosing.parameters import Parameters
from tesla_eval_papers.tuning.pool import TuningProblem

_NARROW = 1e-9
"""Intervals of the line narrower than this (relative to their place) are passed over: rounding decides there."""
_LEAST_GAIN = 1e-9
"""A step must improve the score by more than this share of it."""
_MARGIN = 0.1
"""How far beyond the outermost bound a point is chosen."""


@dataclass(frozen=True)
class MertOptions:
    """`restarts`: starting points in all. `directions`: random directions per round, besides the axes.

    `regularisation`: what each unit of squared distance from the given weights costs, in units of the metric.
    `average`: the mean of the restarts' weights instead of the best of them.
    """

    restarts: int = 20
    directions: int = 2
    rounds: int = 100
    regularisation: float = 0.0
    average: bool = False


@dataclass(frozen=True)
class Point:
    """A place on a line: how far from its start, and the quality there."""

    distance: float
    quality: float


class Descent(NamedTuple):
    """The weights that one restart ended at, and its rounds of line searches."""

    weights: FloatArray
    rounds: int


@dataclass(frozen=True)
class Tuned:
    """The weights found, their score and that of the given weights, as the metric prints them."""

    weights: FloatArray
    score: float
    start_score: float
    descents: tuple[Descent, ...] = ()

    @property
    def rounds(self) -> int:
        """Rounds of line searches over all restarts."""
        return sum(descent.rounds for descent in self.descents)


def line_search(
    problem: TuningProblem,
    weights: FloatArray,
    direction: FloatArray,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    penalty: Callable[[FloatArray], FloatArray] | None = None,
    intercepts: FloatArray | None = None,
) -> Point:
    """The best point of the line `weights + t * direction` between `low` and `high`: exact, not a grid.

    `penalty` (distances -> costs) is taken off the quality. Of equally good intervals the widest is chosen.
    """
    scores = problem.table.scores(weights) if intercepts is None else intercepts
    bounds, sums = problem.table.cut(scores, direction, low, high)
    qualities = problem.quality(sums)
    edges = np.concatenate([[low], bounds, [high]])
    left, right = edges[:-1].copy(), edges[1:].copy()
    reach = _MARGIN * (1 + np.abs(bounds[[0, -1]])) if len(bounds) else np.ones(2)
    if not math.isfinite(left[0]):
        left[0] = min(right[0] if math.isfinite(right[0]) else 0.0, high) - 2 * reach[0]
    if not math.isfinite(right[-1]):
        right[-1] = max(left[-1], low) + 2 * reach[1]
    width = right - left
    middle = left + width / 2
    narrow = width <= _NARROW * (1 + np.abs(middle))
    if not narrow.all():
        qualities = np.where(narrow, -math.inf, qualities)
    if penalty is not None:
        qualities = qualities - penalty(middle)
    ties = np.flatnonzero(qualities == qualities.max())
    best = int(ties[np.argmax(width[ties])])
    return Point(float(middle[best]), float(qualities[best]))


def mert(
    problem: TuningProblem,
    parameters: Parameters,
    options: MertOptions,
    generator: np.random.Generator,
) -> Tuned:
    """The best weights over all restarts; never worse than the given weights by the objective."""
    if not any(item.tuned for item in parameters.items):
        raise UsageError("no parameter is to be tuned: all are Fix")
    given = parameters.weights
    descents = [
        _descend(problem, parameters, start, given, options, generator)
        for start in _starts(parameters, options.restarts, generator)
    ]
    solutions = [descent.weights for descent in descents]
    qualities = [_regularised(problem, weights, given, options) for weights in solutions]
    best = _mean_direction(solutions, given) if options.average else solutions[int(np.argmax(qualities))]
    best = parameters.normalised(best)
    return Tuned(best, problem.score(best), problem.score(given), tuple(descents))


def _starts(parameters: Parameters, count: int, generator: np.random.Generator) -> Iterator[FloatArray]:
    """The given weights first, then random ones; fixed weights stay."""
    yield parameters.weights
    for _ in range(count - 1):
        yield np.array([
            generator.uniform(max(p.draw_low, p.low), min(p.draw_high, p.high)) if p.tuned else p.value
            for p in parameters.items
        ])  # fmt: skip


def _descend(
    problem: TuningProblem, parameters: Parameters, start: FloatArray, given: FloatArray, options: MertOptions,
    generator: np.random.Generator,
) -> Descent:  # fmt: skip
    """Round after round the best step over all directions, until no direction improves the objective."""
    weights = start
    quality = _regularised(problem, weights, given, options)
    rounds = 0
    for _ in range(options.rounds):
        rounds += 1
        intercepts = problem.table.scores(weights)
        steps = []
        for direction in _directions(parameters, options.directions, generator):
            low, high = _allowed(parameters, weights, direction)
            if not low < high:
                continue
            point = line_search(
                problem, weights, direction, low=low, high=high, intercepts=intercepts,
                penalty=_penalty(weights, direction, given, options),
            )  # fmt: skip
            steps.append((point, direction))
        moved = False
        # The point lies in the middle of an interval, but rounding may choose otherwise: the real quality counts.
        for point, direction in sorted(steps, key=lambda step: -step[0].quality):
            if point.quality <= quality + _LEAST_GAIN * abs(quality):
                break
            candidate = weights + point.distance * direction
            reached = _regularised(problem, candidate, given, options)
            if reached > quality + _LEAST_GAIN * abs(quality):
                weights, quality, moved = candidate, reached, True
                break
        if not moved:
            break
    return Descent(weights, rounds)


def _directions(parameters: Parameters, count: int, generator: np.random.Generator) -> Iterator[FloatArray]:
    """The axes of the tuned weights, then random directions among them."""
    tuned = np.array([item.tuned for item in parameters.items])
    for k in np.flatnonzero(tuned).tolist():
        axis = np.zeros(len(tuned))
        axis[k] = 1.0
        yield axis
    if tuned.sum() > 1:
        for _ in range(count):
            direction = np.where(tuned, generator.standard_normal(len(tuned)), 0.0)
            yield direction / math.sqrt(float(direction @ direction))


def _allowed(parameters: Parameters, weights: FloatArray, direction: FloatArray) -> tuple[float, float]:
    """How far the line stays within the bounds of all parameters."""
    low, high = -math.inf, math.inf
    for item, weight, step in zip(parameters.items, weights.tolist(), direction.tolist(), strict=True):
        if step == 0:
            continue
        ends = sorted(((item.low - weight) / step, (item.high - weight) / step))
        low, high = max(low, ends[0]), min(high, ends[1])
    return low, high


def _penalty(
    weights: FloatArray, direction: FloatArray, given: FloatArray, options: MertOptions
) -> Callable[[FloatArray], FloatArray] | None:
    if not options.regularisation:
        return None
    away = weights - given
    constant, linear, square = float(away @ away), float(away @ direction), float(direction @ direction)
    return lambda t: options.regularisation * (constant + 2 * t * linear + t * t * square)


def _regularised(
    problem: TuningProblem, weights: FloatArray, given: FloatArray, options: MertOptions
) -> float:
    quality = problem.evaluate(weights)
    if not options.regularisation:
        return quality
    away = weights - given
    return quality - options.regularisation * float(away @ away)


def _mean_direction(solutions: Sequence[FloatArray], given: FloatArray) -> FloatArray:
    """The mean of the weights, each scaled to length 1: only their direction means something."""
    lengths = [math.sqrt(float(weights @ weights)) for weights in solutions]
    scaled = [weights / length for weights, length in zip(solutions, lengths, strict=True) if length > 0]
    return np.asarray(np.mean(scaled, axis=0)) if scaled else given
