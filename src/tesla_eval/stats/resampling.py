"""Are two candidates really different? Paired bootstrap and approximate randomisation for any number of them.

With systems as candidates these are the tests of `compare`. With metrics as candidates the bootstrap is
Koehn's (2004) resampling of correlations, and the randomisation is the paired permutation test of Deutsch et
al. (2021). Nothing here knows what a score is made of: see `additive` and `association` for what can be
resampled.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from tesla_eval.arrays import FloatArray
from tesla_eval.errors import UsageError
from tesla_eval.stats.additive import Resampled
from tesla_eval.stats.draws import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    exchange_masks,
    is_exhaustive,
    resample_counts,
)
from tesla_eval.stats.estimate import Interval, ratio

__all__ = ["Bootstrap", "Randomisation", "approximate_randomisation", "paired_bootstrap"]

# Differences of sums in another order differ by rounding; within this share of the scores' size they are
# equal.
_SAME = 1e-10


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Scores with intervals, and for every pair [a, b] the difference a - b with its interval and tests.

    `wins[a, b]` is the share of resamples in which a scores higher (Koehn 2004), a tie counting half.
    `p_values` is the test of Moses and sacreBLEU: how often |a - b|, less its mean over the resamples,
    reaches the difference observed. Resamples in which a candidate has no score are left out for it; `usable`
    counts the others.
    """

    scores: FloatArray
    low: FloatArray
    high: FloatArray
    differences: FloatArray
    difference_low: FloatArray
    difference_high: FloatArray
    wins: FloatArray
    p_values: FloatArray
    usable: FloatArray
    level: float
    resamples: int
    seed: int

    def interval(self, candidate: int) -> Interval:
        """The confidence interval of one candidate's score."""
        return Interval(float(self.low[candidate]), float(self.high[candidate]), self.level)


def paired_bootstrap(
    subject: Resampled,
    *,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    level: float = 0.95,
) -> Bootstrap:
    """Draw units with replacement, the same for every candidate, and compare the candidates on each resample.

    >>> from tesla_eval.stats import Additive
    >>> scores = [[0.1, 0.2], [0.5, 0.6], [0.2, 0.4], [0.7, 0.8], [0.3, 0.5]]
    >>> test = paired_bootstrap(Additive.of_segment_scores(scores), resamples=200, seed=1)
    >>> test.scores.round(2), float(test.wins[1, 0])
    (array([0.36, 0.5 ]), 1.0)
    """
    if not 0 < level < 1:
        raise UsageError(f"level: a number between 0 and 1 is needed, got {level}")
    observed = subject.weighted(np.ones((1, subject.units)))[0]
    drawn = np.concatenate([subject.weighted(w) for w in resample_counts(subject.units, resamples, seed)])
    low, high = _interval(drawn, level)
    differences = observed[:, None] - observed
    same = _rounding(observed)
    difference_low, difference_high, wins, p_values = (np.empty_like(differences) for _ in range(4))
    for a in range(subject.candidates):  # one row of pairs at a time keeps memory linear in the candidates
        change = drawn[:, [a]] - drawn
        usable = (~np.isnan(change)).sum(axis=0)
        difference_low[a], difference_high[a] = _interval(change, level)
        tied = (np.abs(change) <= same).sum(axis=0)
        wins[a] = ratio((change > same).sum(axis=0) + tied / 2, usable)
        excess = np.abs(change) - ratio(np.nansum(np.abs(change), axis=0), usable)
        # The observation counts as one of the resamples that reach it.
        reached = (excess >= np.abs(differences[a]) - same).sum(axis=0)
        if subject.units == 1:  # every resample is the observation: nothing can be told from chance
            reached = usable
        p_values[a] = np.where(np.isnan(wins[a] + differences[a]), math.nan, (reached + 1) / (usable + 1))
    return Bootstrap(
        scores=observed,
        low=low,
        high=high,
        differences=differences,
        difference_low=difference_low,
        difference_high=difference_high,
        wins=wins,
        p_values=p_values,
        usable=(~np.isnan(drawn)).sum(axis=0).astype(np.float64),
        level=level,
        resamples=resamples,
        seed=seed,
    )


@dataclass(frozen=True, eq=False)
class Randomisation:
    """Scores, and for every pair [a, b] the difference a - b and how often chance exchanges reach it.

    `p_values` is two-sided (an absolute difference at least as large); `one_sided[a, b]` tests that a is
    better (a difference a - b at least as large). `exact` says that every exchange was enumerated.
    """

    scores: FloatArray
    differences: FloatArray
    p_values: FloatArray
    one_sided: FloatArray
    exact: bool
    resamples: int
    seed: int


def approximate_randomisation(
    subject: Resampled, *, resamples: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
) -> Randomisation:
    """Exchange units between two candidates at random: if they are equally good, that should change little.

    >>> from tesla_eval.stats import Additive
    >>> scores = [[0.1, 0.2], [0.5, 0.6], [0.2, 0.4], [0.7, 0.8], [0.3, 0.5]]
    >>> test = approximate_randomisation(Additive.of_segment_scores(scores))
    >>> test.exact, float(test.p_values[0, 1])  # of all 32 exchanges only none and all of them reach it
    (True, 0.0625)
    """
    observed = subject.weighted(np.ones((1, subject.units)))[0]
    differences = observed[:, None] - observed
    same = _rounding(observed)
    two_sided, one_sided, usable = (np.zeros_like(differences) for _ in range(3))
    for keep in exchange_masks(subject.units, resamples, seed):
        scores = subject.exchanged(keep)
        change = scores - scores.transpose(0, 2, 1)
        usable += (~np.isnan(change)).sum(axis=0)
        two_sided += (np.abs(change) >= np.abs(differences) - same).sum(axis=0)
        one_sided += (change >= differences - same).sum(axis=0)
    exact = is_exhaustive(subject.units, resamples)
    # An enumeration holds the observed arrangement already; a sample gets it added.
    extra = 0 if exact else 1
    missing = np.isnan(differences) | (usable == 0)
    two_sided, one_sided = (
        np.where(missing, math.nan, ratio(hits + extra, usable + extra)) for hits in (two_sided, one_sided)
    )
    drawn = 1 << subject.units if exact else resamples
    return Randomisation(observed, differences, two_sided, one_sided, exact, drawn, seed)


def _rounding(scores: FloatArray) -> float:
    return _SAME * float(np.nan_to_num(np.abs(scores)).max(initial=0.0))


def _interval(values: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """The percentile interval of every column, NaN for a column without values."""
    tails = [(1 - level) / 2, (1 + level) / 2]
    if not np.isnan(values).any():
        low, high = np.quantile(values, tails, axis=0)
        return low, high
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a column of NaN only: NaN is the answer
        low, high = np.nanquantile(values, tails, axis=0)
    return low, high
