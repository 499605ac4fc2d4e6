"""Kendall's tau-b over all outputs, to be resampled by segment.

Both the agreement of signs and the number of untied pairs are sums over pairs of outputs. Summed up once for
every two segments, they are quadratic forms: under weights w of the segments, concordant - discordant is w'Aw
/ 2 and the untied pairs are w'Uw / 2, whatever the number of outputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement, product

import numpy as np
import numpy.typing as npt

from tesla_eval.stats.estimate import FloatArray, ratio

__all__ = ["PooledKendall"]


@dataclass(frozen=True)
class _Form:
    """The values of one quadratic form A for rows k of 0 and 1: k'Ak, k'A1, 1'Ak, 1'A1."""

    kept: FloatArray
    kept_first: FloatArray
    kept_second: FloatArray
    total: float

    @classmethod
    def of(cls, table: FloatArray, keep: FloatArray) -> _Form:
        kept = np.asarray(((keep @ table) * keep).sum(axis=1))
        return cls(kept, keep @ table.sum(axis=1), keep @ table.sum(axis=0), float(table.sum()))

    @property
    def first_only(self) -> FloatArray:
        """k'A(1 - k)."""
        return self.kept_first - self.kept

    @property
    def second_only(self) -> FloatArray:
        """(1 - k)'Ak."""
        return self.kept_second - self.kept

    @property
    def given_up(self) -> FloatArray:
        """(1 - k)'A(1 - k)."""
        return self.total - self.kept - self.first_only - self.second_only


class PooledKendall:
    """Tau-b of metrics (metrics, systems, segments) with humans (systems, segments); see `Resampled`."""

    def __init__(self, human: FloatArray, metrics: FloatArray) -> None:
        self.candidates, _, self.units = metrics.shape
        _, self._human = _pair_sums(human, human, human)
        # (a, b): the first output of a pair has its score from metric a, the second from metric b
        self._sums = {
            (a, b): _pair_sums(human, metrics[a], metrics[b])
            for a, b in combinations_with_replacement(range(self.candidates), 2)
        }

    def weighted(self, weights: FloatArray) -> FloatArray:
        """(resamples, segments) of weights to (resamples, metrics) of correlations."""
        human = _Form.of(self._human, weights).kept
        own = [self._sums[metric, metric] for metric in range(self.candidates)]
        taus = [_tau(human, *(_Form.of(table, weights).kept for table in sums)) for sums in own]
        return np.stack(taus, axis=1)

    def exchanged(self, keep: FloatArray) -> FloatArray:
        """Correlations after exchanging segments between every two metrics; see `Resampled`."""
        forms = {pair: tuple(_Form.of(table, keep) for table in sums) for pair, sums in self._sums.items()}
        human = np.asarray(self._human.sum())
        result = np.empty((len(keep), self.candidates, self.candidates))
        for (a, b), mixed in forms.items():
            parts = list(zip(forms[a, a], mixed, forms[b, b], strict=True))
            # Metric a keeps its segments and takes over b's in the rest; metric b the other way round.
            result[:, a, b] = _tau(human, *(x.kept + 2 * m.first_only + y.given_up for x, m, y in parts))
            result[:, b, a] = _tau(human, *(x.given_up + 2 * m.second_only + y.kept for x, m, y in parts))
        return result


def _pair_sums(human: FloatArray, first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """For every two segments, over the pairs of their outputs: agreement in sign, and how many are untied."""
    segments = human.shape[1]
    agreed, untied = np.zeros((segments, segments), np.int32), np.zeros((segments, segments), np.int32)
    for one, other in product(range(len(human)), repeat=2):
        sign = _signs(first[one], second[other])
        untied += sign != 0
        agreed += sign * _signs(human[one], human[other])
    return agreed.astype(np.float64), untied.astype(np.float64)


def _signs(first: FloatArray, second: FloatArray) -> npt.NDArray[np.int8]:
    """The sign of every first - second, 0 where one is missing."""
    higher, lower = first[:, None] > second, first[:, None] < second
    return higher.view(np.int8) - lower.view(np.int8)


def _tau(human: FloatArray, agreed: FloatArray, untied: FloatArray) -> FloatArray:
    return np.clip(ratio(agreed, np.sqrt(human * untied)), -1.0, 1.0)
