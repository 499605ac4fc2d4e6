"""The support of a summary by its source (specification §10, beyond the papers): precision against the source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.base.explanations import MatchDetail, ReferenceExplanation, SupportDetail
from tesla_eval.metrics.feature_metric import FeatureMetric
from tesla_eval.metrics.features.ngrams import SourceGroup
from tesla_eval.metrics.results import Explanation, SegmentScores
from tesla_eval.metrics.segments import References
from tesla_eval.metrics.tesla_s import TeslaS

__all__ = ["TeslaSSource", "needed_sources", "support_of"]


class TeslaSSource(TeslaS):
    """How much of a summary its source supports: the mean precision of words and skip bigrams. Needs no model.

    >>> metric = TeslaSSource()
    >>> score = metric.sentence_score("A storm hit Spain.", sources="On Monday a storm hit Portugal.")
    >>> {name: round(value, 4) for name, value in score.features.items()}, round(score.score, 4)
    ({'source.1': 0.6774, 'source.skip': 0.3636}, 0.5205)
    """

    id: ClassVar[str] = "tesla-s-source"
    needs_references: ClassVar[bool] = False
    uses_source: ClassVar[bool] = True
    groups = (SourceGroup(),)

    def score_segments(
        self, hypotheses: Sequence[str], references: References = (), sources: Sequence[str] | None = None
    ) -> SegmentScores:
        """The support of each summary; references are not looked at."""
        return super().score_segments(hypotheses, [needed_sources(self.id, hypotheses, sources)])

    def explain(
        self, hypothesis: str, references: Sequence[str] = (), sources: str | None = None
    ) -> Explanation:
        """The matching with the source, and the words that it does not support."""
        (source,) = needed_sources(self.id, [hypothesis], None if sources is None else [sources])
        explanation = FeatureMetric.explain(self, hypothesis, [source])
        (detail,) = explanation.references
        return replace(
            explanation,
            signature=self.get_signature(),
            references=(replace(detail, support=support_of(detail)),),
        )

    def pairwise(self, hypotheses: Sequence[str], references: Sequence[str]) -> FloatArray:
        """Refused: references say nothing about the source."""
        raise UsageError(f"{self.id} compares summaries with their source, not with each other")


def needed_sources(metric: str, hypotheses: Sequence[str], sources: Sequence[str] | None) -> Sequence[str]:
    """The sources, one per summary; an error says how to give them where they are missing."""
    if sources is None:
        raise UsageError(
            f"{metric} needs the source texts: give a file with -s, a column src of a table, or a field "
            "'source' in every summary; in Python, sources="
        )
    if len(sources) != len(hypotheses):
        raise InputError(f"{len(hypotheses)} hypotheses, but {len(sources)} sources")
    return sources


def support_of(detail: ReferenceExplanation) -> SupportDetail:
    """The words of the summary whose form no flow of single words from the source reaches."""
    matches = {one.n: one for one in detail.features if isinstance(one, MatchDetail)}
    words, pairs = matches.get(1), matches.get(2)
    tokens = detail.hypothesis
    reached = {tokens[link.hypothesis[0]].surface.lower() for link in words.flow} if words else set()
    return SupportDetail(
        score=detail.score,
        words=words.precision if words else 0.0,
        pairs=pairs.precision if pairs else None,
        unsupported=tuple(token for token in tokens if token.surface.lower() not in reached),
    )
