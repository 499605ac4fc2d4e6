"""Are two candidates really different? Paired bootstrap, approximate randomisation, and many comparisons at once.

With systems as candidates these are the tests of `compare`. With metrics as candidates the bootstrap is
Koehn's (2004) resampling of correlations, and the randomisation is the paired permutation test of Deutsch et
al. (2021). The tests know nothing about scores: a candidate is `Resampled`, it can be scored again on weighted
or exchanged units. In the common case, `Additive`, its score is a function of sums of statistics.

Random draws are a function of the seed alone. They are cut from the raw bits of PCG64, whose stream NumPy
guarantees across versions (unlike that of its higher level generators), and row by row, so that the size of a
chunk does not show in the result.

Many comparisons need many draws, which are made and counted chunk by chunk. Every so many draws the tests look at
the counts and go on only with the pairs that are not decided (`_Tally`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import UsageError
from tesla_eval.statistics import DEFAULT_RESAMPLES, DEFAULT_SEED
from tesla_eval.statistics.candidates import Resampled
from tesla_eval.statistics.estimate import paired_vectors, ratio

_CHUNK_VALUES = 1 << 21
_CHUNK_ROWS = 256
_MAX_UNITS = 1 << 31
LOOK = 100_000
"""After every so many draws the tests look which pairs are decided."""


def resample_counts(units: int, resamples: int, seed: int, look: int = LOOK) -> Iterator[FloatArray]:
    """Bootstrap resamples in chunks: rows of how often each unit was drawn, `units` draws with replacement.

    A chunk ends after every `look` rows.

    >>> counts = np.concatenate(list(resample_counts(units=3, resamples=5, seed=1)))
    >>> counts.shape, counts.sum(axis=1)
    ((5, 3), array([3., 3., 3., 3., 3.]))
    """
    words = (units + 1) // 2
    for rows, raw in _raw_rows(units, resamples, seed, words, look):
        # The high 32 bits of (32 random bits x units): uniform up to units / 2^32.
        halves = raw.view("<u4").reshape(rows, 2 * words)[:, :units].astype(np.uint64)
        drawn = (halves * np.uint64(units)) >> np.uint64(32)
        cells = drawn.astype(np.int64) + units * np.arange(rows)[:, None]
        yield np.bincount(cells.ravel(), minlength=rows * units).reshape(rows, units).astype(np.float64)


def exchange_masks(units: int, resamples: int, seed: int, look: int = LOOK) -> Iterator[FloatArray]:
    """Random halves in chunks: rows of 0 and 1, each unit 1 (kept) or 0 (exchanged) with probability 1/2.

    Where all 2^units rows are no more than `resamples`, they are enumerated instead and a test on them is
    exact. A chunk of drawn rows ends after every `look` of them.

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
    for rows, raw in _raw_rows(units, resamples, seed, words, look):
        bits = np.unpackbits(raw.view(np.uint8).reshape(rows, -1), axis=1, count=units, bitorder="little")
        yield bits.astype(np.float64)


def is_exhaustive(units: int, resamples: int) -> bool:
    """True where `exchange_masks` enumerates every exchange instead of drawing some."""
    return units < 63 and 1 << units <= resamples


def _raw_rows(
    units: int, resamples: int, seed: int, words: int, look: int
) -> Iterator[tuple[int, npt.NDArray[np.uint64]]]:
    if not 1 <= units < _MAX_UNITS:
        raise UsageError(f"resampling needs between 1 and {_MAX_UNITS - 1} units, got {units}")
    if resamples < 1:
        raise UsageError(f"resamples: at least 1 is needed, got {resamples}")
    if seed < 0:
        raise UsageError(f"seed: a whole number of at least 0 is needed, got {seed}")
    bits = np.random.PCG64(seed)
    chunk = max(1, min(_CHUNK_ROWS, _CHUNK_VALUES // units))
    start = 0
    while start < resamples:
        rows = min(chunk, resamples - start, look - start % look)
        start += rows
        yield rows, bits.random_raw(rows * words).astype("<u8", copy=False)


# Differences of sums in another order differ by rounding; within this share of the scores' size they are
# equal.
_SAME = 1e-10
_MANY_HITS = 100
_RISK = 0.01

_Counts = npt.NDArray[np.int64]
_Marks = npt.NDArray[np.bool_]
Pairs = Sequence[tuple[int, int]]


def _tolerance(observed: FloatArray) -> float:
    return _SAME * float(np.nan_to_num(np.abs(observed)).max(initial=0.0))


def _are_few(hits: _Counts, draws: _Counts, level: float) -> _Marks:
    """Whether so few hits have a probability of at most 1 % if the p-value is above `level` (Chernoff's bound).

    >>> _are_few(np.array([0, 0, 3]), np.array([92, 93, 93]), 0.05)
    array([False,  True, False])
    """
    expected = level * draws
    pairs = zip(np.ravel(hits).tolist(), np.ravel(expected).tolist(), strict=True)
    logs = [math.log(mean / hit) if hit > 0 and mean > 0 else 0.0 for hit, mean in pairs]
    exponent = expected - hits - hits * np.array(logs).reshape(np.shape(hits))
    return np.asarray((hits < expected) & (exponent >= -math.log(_RISK)))


class _Tally:
    """For each pair how many draws reach what was observed, counted until the pair is decided.

    A pair is decided when each of its counts is high, so that its p-values are known to a tenth (Besag & Clifford
    1991), or when the first count is so low that the pair differs at the level of all comparisons together.
    """

    def __init__(self, pairs: Pairs | None, observed: FloatArray, level: float, counts: int) -> None:
        chosen = list(combinations(range(len(observed)), 2)) if pairs is None else pairs
        self.pairs = np.array(chosen, np.int64).reshape(-1, 2)
        self.hits = np.zeros((counts, len(self.pairs)), np.int64)
        self.usable = np.zeros(len(self.pairs), np.int64)
        self.open = np.arange(len(self.pairs))
        """The places of the pairs that are not decided."""
        self._observed = observed
        self._level = (1 - level) / max(len(self.pairs), 1)

    def add(self, usable: _Marks, *hits: _Marks) -> None:
        """Count some draws; the columns are the open pairs."""
        self.usable[self.open] += np.count_nonzero(usable, axis=0)
        for counts, reached in zip(self.hits, hits, strict=True):
            counts[self.open] += np.count_nonzero(reached, axis=0)

    def look(self) -> None:
        """Close the pairs that are decided."""
        hits, draws = self.hits[:, self.open], self.usable[self.open]
        decided = (hits.min(axis=0) >= _MANY_HITS) | _are_few(hits[0], draws, self._level)
        self.open = self.open[~decided]

    def p_values(self, extra: int) -> FloatArray:
        """(counts, pairs): hits as shares of the draws, `extra` added to both; NaN for a pair without draws."""
        return np.where(self.usable == 0, math.nan, ratio(self.hits + extra, self.usable + extra))

    def table(self, values: FloatArray, mirrored: FloatArray, alone: float) -> FloatArray:
        """[a, b] and [b, a] of every pair, `alone` on the diagonal; NaN for all others and without a score."""
        table = np.full((len(self._observed), len(self._observed)), math.nan)
        first, second = self.pairs.T
        table[first, second], table[second, first] = values, mirrored
        np.fill_diagonal(table, alone)
        missing = np.isnan(self._observed)
        return np.where(missing | missing[:, None], math.nan, table)


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Scores with intervals, and for every pair [a, b] the difference a - b with its interval and tests.

    `wins[a, b]` is the share of resamples in which a scores higher (Koehn 2004), a tie counting half.
    `p_values` is the test of Moses and sacreBLEU: how often |a - b|, less its mean over the resamples,
    reaches the difference observed. Resamples in which a candidate has no score are left out for it; `usable`
    counts the others. All this is of the resamples before the first look; only p-values that these do not decide
    are of more.
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
    pairs: Pairs | None = None,
    look: int = LOOK,
) -> Bootstrap:
    """Draw units with replacement, the same for every candidate, and compare the candidates on each resample.

    All pairs of candidates are compared, or those given. After every `look` draws those that are decided at `level`
    stop.

    >>> from tesla_eval.statistics.candidates import Additive
    >>> scores = [[0.1, 0.2], [0.5, 0.6], [0.2, 0.4], [0.7, 0.8], [0.3, 0.5]]
    >>> test = paired_bootstrap(Additive.of_segment_scores(scores), resamples=200, seed=1)
    >>> test.scores.round(2), float(test.wins[1, 0])
    (array([0.36, 0.5 ]), 1.0)
    """
    if not 0 < level < 1:
        raise UsageError(f"level: a number between 0 and 1 is needed, got {level}")
    observed = subject.weighted(np.ones((1, subject.units)))[0]
    differences = observed[:, None] - observed
    same = _tolerance(observed)
    tally = _Tally(pairs, observed, level, counts=1)
    needed = np.abs(differences[tuple(tally.pairs.T)]) - same
    chunks = map(subject.weighted, resample_counts(subject.units, resamples, seed, look))
    drawn = _gathered(chunks, len(observed), min(resamples, look))
    low, high = np.transpose([_interval(scores, level) for scores in drawn])
    spread, *figures = _first_figures(drawn, tally, needed, same, level)
    _count_later_draws(chunks, tally, needed + spread, look)
    if subject.units == 1:  # every resample is the observation: nothing can be told from chance
        tally.hits[0] = tally.usable
    pair_low, pair_high, wins, losses = figures
    (p_values,) = tally.p_values(extra=1)
    return Bootstrap(
        scores=observed,
        low=low,
        high=high,
        differences=differences,
        difference_low=tally.table(pair_low, -pair_high, 0.0),
        difference_high=tally.table(pair_high, -pair_low, 0.0),
        wins=tally.table(wins, losses, 0.5),
        p_values=tally.table(p_values, p_values, 1.0),
        usable=np.count_nonzero(~np.isnan(drawn), axis=1).astype(np.float64),
        level=level,
        resamples=resamples,
        seed=seed,
    )


def _gathered(chunks: Iterator[FloatArray], candidates: int, draws: int) -> FloatArray:
    """(candidates, draws): the scores of the first draws, of which a chunk ends with the last."""
    drawn = np.empty((candidates, draws))
    start = 0
    while start < draws:
        scores = next(chunks)
        drawn[:, start : start + len(scores)] = scores.T
        start += len(scores)
    return drawn


def _first_figures(
    drawn: FloatArray, tally: _Tally, needed: FloatArray, same: float, level: float
) -> FloatArray:
    """Rows of mean |a - b|, both ends of a - b, shares of wins and losses, one column per pair; counts the hits."""
    figures = np.empty((5, len(tally.pairs)))
    for place, (a, b) in enumerate(tally.pairs):  # one at a time keeps memory linear in the candidates
        change = drawn[a] - drawn[b]
        size = np.abs(change)
        usable = np.count_nonzero(~np.isnan(size))
        spread = ratio(np.nansum(size), usable)
        tied = np.count_nonzero(size <= same) / 2
        won, lost = np.count_nonzero(change > same), np.count_nonzero(change < -same)
        figures[:, place] = (
            spread, *_interval(change, level), ratio(won + tied, usable), ratio(lost + tied, usable),
        )  # fmt: skip
        tally.usable[place] = usable
        tally.hits[0, place] = np.count_nonzero(size - spread >= needed[place])
    return figures


def _count_later_draws(chunks: Iterator[FloatArray], tally: _Tally, needed: FloatArray, look: int) -> None:
    """Go on with the pairs that the first `look` draws leave open."""
    drawn = 0
    for scores in chunks:
        if drawn % look == 0:
            tally.look()
        if not len(tally.open):
            return
        drawn += len(scores)
        first, second = tally.pairs[tally.open].T
        size = np.abs(scores[:, first] - scores[:, second])
        tally.add(~np.isnan(size), size >= needed[tally.open])


@dataclass(frozen=True, eq=False)
class Randomisation:
    """Scores, and for every pair [a, b] the difference a - b and how often chance exchanges reach it.

    `p_values` is two-sided (an absolute difference at least as large); `one_sided[a, b]` tests that a is
    better (a difference a - b at least as large). `exact` says that every exchange was enumerated. A pair gets
    `resamples` draws, or fewer if these decide it.
    """

    scores: FloatArray
    differences: FloatArray
    p_values: FloatArray
    one_sided: FloatArray
    exact: bool
    resamples: int
    seed: int


def approximate_randomisation(
    subject: Resampled,
    *,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    level: float = 0.95,
    pairs: Pairs | None = None,
    look: int = LOOK,
) -> Randomisation:
    """Exchange units between two candidates at random: if they are equally good, that should change little.

    All pairs of candidates are compared, or those given. After every `look` draws those that are decided at `level`
    stop.

    >>> from tesla_eval.statistics.candidates import Additive
    >>> scores = [[0.1, 0.2], [0.5, 0.6], [0.2, 0.4], [0.7, 0.8], [0.3, 0.5]]
    >>> test = approximate_randomisation(Additive.of_segment_scores(scores))
    >>> test.exact, float(test.p_values[0, 1])  # of all 32 exchanges only none and all of them reach it
    (True, 0.0625)
    """
    observed = subject.weighted(np.ones((1, subject.units)))[0]
    differences = observed[:, None] - observed
    same = _tolerance(observed)
    tally = _Tally(pairs, observed, level, counts=3)
    exact = is_exhaustive(subject.units, resamples)
    drawn = 0
    for keep in exchange_masks(subject.units, resamples, seed, look):
        if drawn and drawn % look == 0 and not exact:  # an enumeration is not in random order
            tally.look()
        if not len(tally.open):
            break
        drawn += len(keep)
        difference = differences[tuple(tally.pairs[tally.open].T)]
        first, second = subject.exchanged(keep, tally.pairs[tally.open])
        change = first - second
        tally.add(
            ~np.isnan(change),
            np.abs(change) >= np.abs(difference) - same,
            change >= difference - same,
            change <= difference + same,
        )
    # An enumeration holds the observed arrangement already; a sample gets it added.
    two_sided, better, worse = tally.p_values(extra=0 if exact else 1)
    return Randomisation(
        scores=observed,
        differences=differences,
        p_values=tally.table(two_sided, two_sided, 1.0),
        one_sided=tally.table(better, worse, 1.0),
        exact=exact,
        resamples=1 << subject.units if exact else resamples,
        seed=seed,
    )


def _interval(values: FloatArray, level: float) -> tuple[float, float]:
    """The percentile interval, NaN without values."""
    tails = [(1 - level) / 2, (1 + level) / 2]
    known = values[~np.isnan(values)]
    low, high = np.quantile(known, tails) if len(known) else (math.nan, math.nan)
    return float(low), float(high)


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
