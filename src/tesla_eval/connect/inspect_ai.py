"""Inspect: a scorer for tasks whose targets are references, and the score of all samples together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, mean, metric, scorer, stderr
from inspect_ai.solver import TaskState

from tesla_eval.metrics.requests import create_metric


@scorer(metrics=[mean(), stderr()])  # type: ignore[untyped-decorator]  # Inspect may be missing
def tesla(name: str = "x", lang: str = "en", **options: Any) -> Scorer:
    """Score each completion against the target or targets of its sample."""
    tesla_metric = create_metric(name, lang, **options)

    async def score(state: TaskState, target: Target) -> Score:
        answer = state.output.completion
        scored = tesla_metric.sentence_score(answer, list(target))
        metadata = {"references": list(target), "signature": str(scored.signature)}
        return Score(value=scored.score, answer=answer, metadata=metadata)

    return score


@metric  # type: ignore[untyped-decorator]
def system_score(name: str = "x", lang: str = "en", **options: Any) -> Metric:
    """The score of all samples of `tesla` together: for metrics that are not a mean, such as BLEU."""

    def aggregate(scores: Sequence[SampleScore]) -> float:
        if not scores:
            return float("nan")
        answers = [sample.score.answer or "" for sample in scores]
        references = [(sample.score.metadata or {})["references"] for sample in scores]
        tesla_metric = create_metric(name, lang, **options)
        return tesla_metric.corpus_score(answers, references, references_by_segment=True).score

    return aggregate
