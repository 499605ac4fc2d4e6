"""What a run over several test sets finds: results, their averages, and comparisons of the metrics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tesla_eval.errors import UsageError
from tesla_eval.meta.compare import Level, MetricComparison, compare_metrics
from tesla_eval.meta.evaluate import SEGMENT_STATISTICS, Result, averages, evaluate
from tesla_eval.meta.join import Joined
from tesla_eval.metrics.base import Metric
from tesla_eval.stats.draws import DEFAULT_RESAMPLES, DEFAULT_SEED
from tesla_eval.stats.rows import ROW_STATISTICS

__all__ = ["SetComparison", "Study", "TestedSet", "Wish"]


@dataclass(frozen=True)
class Wish:
    """A statistic by which metrics are to be compared.

    >>> Wish.parse("system:pearson"), Wish.parse("kendall_wmt")
    (Wish(level='system', statistic='pearson'), Wish(level='segment', statistic='kendall_wmt'))
    """

    level: Level
    statistic: str

    @classmethod
    def parse(cls, text: str) -> Wish:
        """From STATISTIC or LEVEL:STATISTIC."""
        head, colon, tail = text.partition(":")
        level, statistic = (head, tail) if colon else ("segment", head)
        if level not in _COMPARABLE:
            raise UsageError(f"{text!r}: the level is segment or system, not {level!r}")
        known = _COMPARABLE[level]
        if statistic not in known:
            raise UsageError(f"{text!r}: metrics are compared at {level} level by one of {', '.join(known)}")
        return cls("system" if level == "system" else "segment", statistic)

    def __str__(self) -> str:
        return f"{self.level}:{self.statistic}"


_COMPARABLE = {"segment": SEGMENT_STATISTICS, "system": tuple(ROW_STATISTICS)}


@dataclass(frozen=True)
class TestedSet:
    """What a test set consists of, and which human system scores it was measured by."""

    lp: str
    testset: str
    systems: int
    segments_used: int
    segments: int
    human_score: str


@dataclass(frozen=True)
class SetComparison:
    """The comparison of metrics on one test set."""

    lp: str
    testset: str
    comparison: MetricComparison


@dataclass
class Study:
    """Collects one test set after the other; `complain` hears of comparisons that a test set does not allow."""

    wishes: Sequence[Wish] = ()
    resamples: int = DEFAULT_RESAMPLES
    seed: int = DEFAULT_SEED
    complain: Callable[[str], None] = lambda message: None
    test_sets: list[TestedSet] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    comparisons: list[SetComparison] = field(default_factory=list)
    signatures: list[str] = field(default_factory=list)

    def add(self, joined: Joined, metrics: Sequence[Metric]) -> list[SetComparison]:
        """Take in a test set that was scored with `metrics`; gives back its comparisons."""
        outputs = joined.outputs
        self.test_sets.append(
            TestedSet(
                outputs.lp, outputs.testset, len(outputs.systems), int(joined.used.sum()),
                len(outputs.segments), joined.score_type,
            )
        )  # fmt: skip
        self.results.extend(evaluate(joined, permutations=self.resamples, seed=self.seed))
        found = self.compare(joined)
        self.comparisons.extend(found)
        signatures = [str(metric.get_signature()) for metric in metrics]
        self.signatures.extend(signature for signature in signatures if signature not in self.signatures)
        return found

    @property
    def averages(self) -> list[Result]:
        """The means over the test sets, where there are several."""
        return list(averages(self.results)) if len(self.test_sets) > 1 else []

    def compare(self, joined: Joined) -> list[SetComparison]:
        """The metrics of a test set compared by every statistic that was wished for and that it allows."""
        key = joined.outputs.key
        found = []
        for wish in self.wishes:
            try:
                comparison = compare_metrics(
                    joined, wish.level, wish.statistic, resamples=self.resamples, seed=self.seed
                )
            except UsageError as error:
                self.complain(f"{' '.join(key)}: metrics cannot be compared by {wish}: {error}")
            else:
                found.append(SetComparison(*key, comparison))
        return found
