"""Agreement on pairs: of two outputs, does the metric prefer the one that humans prefer?

Pairs come from a list of judgements (better, worse) or from scores, as all pairs within a group (a segment,
or all systems). Either way a pair is two differences, the human's and the metric's; only their signs matter
here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tesla_eval.stats.estimate import Estimate, IntArray, paired_vectors, undefined

__all__ = ["PairCounts", "accuracy", "consistency", "count_pairs", "kendall_wmt", "pairs_within"]


@dataclass(frozen=True)
class PairCounts:
    """How pairs fall: agreed, contradicted, tied by the metric, by humans, or by both.

    >>> counts = PairCounts(concordant=6, discordant=2, metric_ties=2)
    >>> counts.consistency.value, counts.kendall_wmt.value, counts.accuracy.value
    (0.6, 0.4, 0.7)
    """

    concordant: int = 0
    discordant: int = 0
    metric_ties: int = 0
    human_ties: int = 0
    both_tied: int = 0

    @property
    def judged(self) -> int:
        """Pairs that humans tell apart."""
        return self.concordant + self.discordant + self.metric_ties

    @property
    def consistency(self) -> Estimate:
        """Concordant / judged: a metric tie is not correct (SPEC §14)."""
        return self._share(self.concordant)

    @property
    def kendall_wmt(self) -> Estimate:
        """(concordant - discordant) / judged: a metric tie adds 0 (SPEC §14)."""
        return self._share(self.concordant - self.discordant)

    @property
    def accuracy(self) -> Estimate:
        """(concordant + half of the metric's ties) / judged."""
        return self._share(self.concordant + self.metric_ties / 2)

    def _share(self, credit: float) -> Estimate:
        if not self.judged:
            return undefined(0, "no pair that humans tell apart")
        return Estimate(credit / self.judged, self.judged)


def count_pairs(human: npt.ArrayLike, metric: npt.ArrayLike) -> PairCounts:
    """Count pairs given as differences between their two members; a pair with a NaN is left out.

    >>> count_pairs(human=[1, 1, 1, 0], metric=[0.2, -0.1, 0.0, 0.3])
    PairCounts(concordant=1, discordant=1, metric_ties=1, human_ties=1, both_tied=0)
    """
    h, m = paired_vectors(human, metric)
    known = ~(np.isnan(h) | np.isnan(m))
    h, m = np.sign(h[known]), np.sign(m[known])
    return PairCounts(
        concordant=int(np.count_nonzero(h * m > 0)),
        discordant=int(np.count_nonzero(h * m < 0)),
        metric_ties=int(np.count_nonzero((h != 0) & (m == 0))),
        human_ties=int(np.count_nonzero((h == 0) & (m != 0))),
        both_tied=int(np.count_nonzero((h == 0) & (m == 0))),
    )


def pairs_within(groups: npt.ArrayLike) -> tuple[IntArray, IntArray]:
    """Indices (first, second) of every unordered pair of items that share a group.

    >>> pairs_within(["a", "b", "a", "a"])
    (array([0, 0, 2]), array([2, 3, 3]))
    """
    _, group, size = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
    items = np.argsort(group, kind="stable")
    starts = np.cumsum(size) - size
    first, second = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for members in np.unique(size):
        low, high = np.triu_indices(members, k=1)
        start = starts[size == members][:, None]
        first.append(items[(start + low).ravel()])
        second.append(items[(start + high).ravel()])
    return np.concatenate(first), np.concatenate(second)


def consistency(human: npt.ArrayLike, metric: npt.ArrayLike, groups: npt.ArrayLike | None = None) -> Estimate:
    """Share of correctly ordered pairs within groups; human ties are left out, a metric tie is not correct.

    >>> consistency([1, 2, 3], [0.1, 0.1, 0.5]).value
    0.6666666666666666
    """
    return _counts(human, metric, groups).consistency


def kendall_wmt(human: npt.ArrayLike, metric: npt.ArrayLike, groups: npt.ArrayLike | None = None) -> Estimate:
    """(concordant - discordant) / all pairs without human ties within groups; a metric tie adds 0.

    >>> kendall_wmt([1, 2, 3], [0.1, 0.1, 0.05]).value
    -0.6666666666666666
    """
    return _counts(human, metric, groups).kendall_wmt


def accuracy(human: npt.ArrayLike, metric: npt.ArrayLike, groups: npt.ArrayLike | None = None) -> Estimate:
    """Share of correctly ordered pairs within groups; human ties are left out, a metric tie counts half.

    >>> accuracy([1, 2, 3], [0.1, 0.1, 0.5]).value
    0.8333333333333334
    """
    return _counts(human, metric, groups).accuracy


def _counts(human: npt.ArrayLike, metric: npt.ArrayLike, groups: npt.ArrayLike | None) -> PairCounts:
    h, m = paired_vectors(human, metric)
    first, second = pairs_within(np.zeros(len(h)) if groups is None else groups)
    return count_pairs(h[first] - h[second], m[first] - m[second])
