"""Statistics of metrics on judged test sets, each with what 1,000 resamples of the segments make of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import rankdata

from tesla_eval.base.arrays import FloatArray
from tesla_eval.judgements.meta.join import Joined

DRAWS = 1000
SEED = 2011
STATISTICS = ("Consistency", "τ", "Spearman", "Pearson")


@dataclass(frozen=True)
class Estimate:
    """A figure and its resamples."""

    value: float
    drawn: FloatArray

    @property
    def interval(self) -> tuple[float, float]:
        """95 % of the resamples, from the lowest to the highest."""
        low, high = np.nanquantile(self.drawn, (0.025, 0.975))
        return float(low), float(high)

    def __sub__(self, other: Estimate) -> Estimate:
        return Estimate(self.value - other.value, self.drawn - other.drawn)

    @classmethod
    def mean(cls, parts: Sequence[Estimate]) -> Estimate:
        """The mean of figures whose resamples were drawn together, or are of different segments."""
        return cls(
            float(np.mean([part.value for part in parts])), np.mean([part.drawn for part in parts], axis=0)
        )

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.value:+.4f} [{low:+.4f}, {high:+.4f}]"


@dataclass(frozen=True)
class ResampledSet:
    """One test set; all metrics see the same resamples, so that differences are paired."""

    joined: Joined
    number: int
    """Of the test set: each has resamples of its own."""

    @cached_property
    def _weights(self) -> FloatArray:
        """Row 0 is the test set itself, the others say how often each segment was drawn."""
        used = np.flatnonzero(self.joined.used)
        weights = np.zeros((1 + DRAWS, len(self.joined.used)))
        weights[0, used] = 1
        generator = np.random.default_rng([SEED, self.number])
        for row in weights[1:]:
            row[:] = np.bincount(generator.choice(used, len(used)), minlength=len(row))
        return weights

    def figures(self, metric: str) -> dict[str, Estimate]:
        """Consistency and τ over pairs without human ties, Spearman and Pearson of systems."""
        right, tied, pairs = self.agreement(metric)
        rows = {"Consistency": right / pairs, "τ": (2 * right + tied) / pairs - 1}
        human = self.joined.human_systems
        known = ~np.isnan(human)
        drawn = self.joined.metrics[metric].drawn_system_scores(self._weights)[:, known]
        rows["Spearman"] = _correlations(rankdata(drawn, axis=1), rankdata(human[known]))
        rows["Pearson"] = _correlations(drawn, human[known])
        return {name: Estimate(float(row[0]), row[1:]) for name, row in rows.items()}

    def agreement(self, metric: str) -> FloatArray:
        """By resample: human pairs that the metric orders as people do, those it ties, and all."""
        pairs = self.joined.pairs
        product = pairs.metric_difference(self.joined.metrics[metric].oriented) * pairs.difference
        told_apart = pairs.difference != 0
        kinds = ((product > 0) & told_apart, (product == 0) & told_apart, told_apart)
        size = self._weights.shape[1]
        return np.stack([self._weights @ np.bincount(pairs.segment, kind, minlength=size) for kind in kinds])


def _correlations(rows: FloatArray, human: FloatArray) -> FloatArray:
    """Pearson's r of every row with the human scores."""
    rows = rows - rows.mean(axis=1, keepdims=True)
    human = human - human.mean()
    return np.asarray(rows @ human / np.sqrt((rows**2).sum(axis=1) * (human**2).sum()))


def estimates(sets: Sequence[Joined], first: int = 0) -> dict[str, dict[str, dict[str, Estimate]]]:
    """Statistic → metric → language pair, `average` and, of consistency, `overall` (all pairs of outputs) → figure."""
    tables: dict[str, dict[str, dict[str, Estimate]]] = {name: {} for name in STATISTICS}
    resampled = [ResampledSet(joined, first + number) for number, joined in enumerate(sets)]
    for metric in sets[0].metrics:
        of_sets = {one.joined.outputs.lp: one.figures(metric) for one in resampled}
        for statistic, table in tables.items():
            row = {lp: figures[statistic] for lp, figures in of_sets.items()}
            table[metric] = {**row, "average": Estimate.mean(list(row.values()))}
        right, _, pairs = np.sum([one.agreement(metric) for one in resampled], axis=0)
        shares = right / pairs
        tables["Consistency"][metric]["overall"] = Estimate(float(shares[0]), shares[1:])
    return tables


def order(figures: Mapping[str, Estimate], above: str, below: str) -> str:
    """Whether the first metric is above the second: `yes`, `no`, or `open` where the interval holds 0."""
    low, high = (figures[above] - figures[below]).interval
    return "yes" if low > 0 else "no" if high < 0 else "open"
