"""Are two candidates really different? Paired bootstrap, approximate randomisation, and many comparisons at once.

With systems as candidates these are the tests of `compare`. With metrics as candidates the bootstrap is
Koehn's (2004) resampling of correlations, and the randomisation is the paired permutation test of Deutsch et
al. (2021). The tests know nothing about scores: a candidate is `Resampled`, it can be scored again on weighted
or exchanged units. In the common case, `Additive`, its score is a function of sums of statistics.

Random draws are a function of the seed alone. They are cut from the raw bits of PCG64, whose stream NumPy
guarantees across versions (unlike that of its higher level generators), and row by row, so that the size of a
chunk does not show in the result.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.statistics import DEFAULT_RESAMPLES, DEFAULT_SEED
from tesla_eval.statistics.estimate import as_array, paired_vectors, ratio


class Resampled(Protocol):
    """Candidates that can be scored again on weighted or exchanged units."""

    @property
    def units(self) -> int:
        """How many units there are to draw from."""

    def weighted(self, weights: FloatArray) -> FloatArray:
        """(resamples, units) of weights to (resamples, candidates) of scores."""

    def exchanged(self, keep: FloatArray) -> FloatArray:
        """(resamples, units) of 0 and 1 to (resamples, candidates, candidates) of scores.

        [r, a, b] is the score of `a` when it takes over the units of `b` where `keep[r]` is 0.
        """


@dataclass(frozen=True, eq=False)
class Additive:
    """Candidates scored from summed statistics: an array (units, candidates, columns) and sums -> scores.

    A mean of segment scores is the sums of (score, 1); corpus BLEU, chrF and TER have longer rows. `score`
    maps an array (..., columns) to (...) and is called on many resamples at once.

    >>> system = Additive.of_segment_scores([[0.2, 0.4], [0.6, 0.9]])
    >>> system.weighted(np.array([[1.0, 1.0], [0.0, 2.0]]))
    array([[0.4 , 0.65],
           [0.6 , 0.9 ]])
    """

    statistics: FloatArray
    score: Callable[[FloatArray], FloatArray]

    @classmethod
    def of_statistics(
        cls,
        statistics: npt.ArrayLike,
        score: Callable[[FloatArray], FloatArray],
        blocks: npt.ArrayLike | None = None,
    ) -> Additive:
        """From sufficient statistics (segments, candidates, columns); `blocks` names each segment's block."""
        rows = as_array(statistics, "statistics", 3)
        if not np.isfinite(rows).all():
            segment, candidate, _ = np.argwhere(~np.isfinite(rows))[0]
            raise InputError(
                f"segment {segment + 1} of candidate {candidate + 1} has no score; "
                "leave the segment out for every candidate, or give it a score"
            )
        return cls(rows if blocks is None else _sum_blocks(rows, np.asarray(blocks)), score)

    @classmethod
    def of_segment_scores(cls, scores: npt.ArrayLike, blocks: npt.ArrayLike | None = None) -> Additive:
        """From segment scores (segments, candidates); a candidate's score is the mean of its segments."""
        values = as_array(scores, "scores", 2)
        return cls.of_statistics(np.stack([values, np.ones_like(values)], axis=2), mean_of_sums, blocks)

    @property
    def units(self) -> int:
        """How many units there are to draw from."""
        return len(self.statistics)

    def weighted(self, weights: FloatArray) -> FloatArray:
        """(resamples, units) of weights to (resamples, candidates) of scores."""
        return self.score(self._sums(weights))

    def exchanged(self, keep: FloatArray) -> FloatArray:
        """Scores after exchanging units between every two candidates; see `Resampled`."""
        kept = self._sums(keep)
        given_up = self.statistics.sum(axis=0) - kept
        return np.stack([self.score(kept[:, [a]] + given_up) for a in range(kept.shape[1])], axis=1)

    def _sums(self, weights: FloatArray) -> FloatArray:
        flat = weights @ self.statistics.reshape(self.units, -1)
        return flat.reshape(len(weights), *self.statistics.shape[1:])


def mean_of_sums(sums: FloatArray) -> FloatArray:
    """(..., 2) sums of (score, 1) to means, NaN where nothing was summed."""
    return ratio(sums[..., 0], sums[..., 1])


def _sum_blocks(rows: FloatArray, blocks: npt.NDArray[np.generic]) -> FloatArray:
    if blocks.shape != rows.shape[:1]:
        raise UsageError(
            f"blocks: one per segment is needed, got shape {blocks.shape} for {len(rows)} segments"
        )
    names, index = np.unique(blocks, return_inverse=True)
    summed = np.zeros((len(names), *rows.shape[1:]))
    np.add.at(summed, index, rows)
    return summed


_CHUNK_VALUES = 1 << 21
_CHUNK_ROWS = 256
_MAX_UNITS = 1 << 31


def resample_counts(units: int, resamples: int, seed: int) -> Iterator[FloatArray]:
    """Bootstrap resamples in chunks: rows of how often each unit was drawn, `units` draws with replacement.

    >>> counts = np.concatenate(list(resample_counts(units=3, resamples=5, seed=1)))
    >>> counts.shape, counts.sum(axis=1)
    ((5, 3), array([3., 3., 3., 3., 3.]))
    """
    words = (units + 1) // 2
    for rows, raw in _raw_rows(units, resamples, seed, words):
        # The high 32 bits of (32 random bits x units): uniform up to units / 2^32.
        halves = raw.view("<u4").reshape(rows, 2 * words)[:, :units].astype(np.uint64)
        drawn = (halves * np.uint64(units)) >> np.uint64(32)
        cells = drawn.astype(np.int64) + units * np.arange(rows)[:, None]
        yield np.bincount(cells.ravel(), minlength=rows * units).reshape(rows, units).astype(np.float64)


def exchange_masks(units: int, resamples: int, seed: int) -> Iterator[FloatArray]:
    """Random halves in chunks: rows of 0 and 1, each unit 1 (kept) or 0 (exchanged) with probability 1/2.

    Where all 2^units rows are no more than `resamples`, they are enumerated instead and a test on them is
    exact.

    >>> np.concatenate(list(exchange_masks(units=2, resamples=4, seed=1)))
    array([[1., 1.],
           [0., 1.],
           [1., 0.],
           [0., 0.]])
    """
    if is_exhaustive(units, resamples):
        for start in range(0, 1 << units, _CHUNK_ROWS):
            numbers = np.arange(start, min(start + _CHUNK_ROWS, 1 << units))
            yield (1 - (numbers[:, None] >> np.arange(units) & 1)).astype(np.float64)
        return
    words = (units + 63) // 64
    for rows, raw in _raw_rows(units, resamples, seed, words):
        bits = np.unpackbits(raw.view(np.uint8).reshape(rows, -1), axis=1, count=units, bitorder="little")
        yield bits.astype(np.float64)


def is_exhaustive(units: int, resamples: int) -> bool:
    """True where `exchange_masks` enumerates every exchange instead of drawing some."""
    return units < 63 and 1 << units <= resamples


def _raw_rows(
    units: int, resamples: int, seed: int, words: int
) -> Iterator[tuple[int, npt.NDArray[np.uint64]]]:
    if not 1 <= units < _MAX_UNITS:
        raise UsageError(f"resampling needs between 1 and {_MAX_UNITS - 1} units, got {units}")
    if resamples < 1:
        raise UsageError(f"resamples: at least 1 is needed, got {resamples}")
    if seed < 0:
        raise UsageError(f"seed: a whole number of at least 0 is needed, got {seed}")
    bits = np.random.PCG64(seed)
    chunk = max(1, min(_CHUNK_ROWS, _CHUNK_VALUES // units))
    for start in range(0, resamples, chunk):
        rows = min(chunk, resamples - start)
        yield rows, bits.random_raw(rows * words).astype("<u8", copy=False)


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


def paired_bootstrap(
    subject: Resampled,
    *,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    level: float = 0.95,
) -> Bootstrap:
    """Draw units with replacement, the same for every candidate, and compare the candidates on each resample.

    >>> from tesla_eval.statistics.resampling import Additive
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
    same = _SAME * float(np.nan_to_num(np.abs(observed)).max(initial=0.0))
    difference_low, difference_high, wins, p_values = (np.empty_like(differences) for _ in range(4))
    for a in range(len(observed)):  # one row of pairs at a time keeps memory linear in the candidates
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

    >>> from tesla_eval.statistics.resampling import Additive
    >>> scores = [[0.1, 0.2], [0.5, 0.6], [0.2, 0.4], [0.7, 0.8], [0.3, 0.5]]
    >>> test = approximate_randomisation(Additive.of_segment_scores(scores))
    >>> test.exact, float(test.p_values[0, 1])  # of all 32 exchanges only none and all of them reach it
    (True, 0.0625)
    """
    observed = subject.weighted(np.ones((1, subject.units)))[0]
    differences = observed[:, None] - observed
    same = _SAME * float(np.nan_to_num(np.abs(observed)).max(initial=0.0))
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


@dataclass(frozen=True)
class EffectSize:
    """A paired difference in units of its own spread, and as a share of segments.

    `cohen_d` is mean / standard deviation (n - 1) of the differences. `superiority` is the share of segments
    on which the first scores higher, ties counting half; 0.5 means no effect.
    """

    cohen_d: float
    superiority: float
    n: int
    note: str = ""


def paired_effect(first: npt.ArrayLike, second: npt.ArrayLike) -> EffectSize:
    """Effect of taking `first` instead of `second`, on the segments that have both scores (no NaN).

    >>> paired_effect([5, 6, 9, 8], [4, 6, 7, 7])
    EffectSize(cohen_d=1.224744871391589, superiority=0.875, n=4, note='')
    """
    x, y = paired_vectors(first, second)
    difference = x - y
    difference = difference[~np.isnan(difference)]
    n = len(difference)
    if not n:
        return EffectSize(math.nan, math.nan, 0, "no segment has both scores")
    superiority = float(np.mean(difference > 0) + np.mean(difference == 0) / 2)
    if not difference.any():
        return EffectSize(0.0, superiority, n)
    if difference.min() == difference.max():
        return EffectSize(math.nan, superiority, n, "the difference does not vary: Cohen's d does not exist")
    return EffectSize(float(difference.mean() / difference.std(ddof=1)), superiority, n)
