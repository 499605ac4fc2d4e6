"""Scores and explanations in one call, without making a metric first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.registry import create_metric
from tesla_eval.metrics.segments import References, streams_of_texts

if TYPE_CHECKING:
    from tesla_eval.metrics.results import CorpusScore, Explanation

__all__ = ["explain", "metric_for", "score"]


def score(
    hypotheses: Sequence[str],
    references: References,
    metric: str = "x",
    lang: str = "en",
    *,
    sources: Sequence[str] | None = None,
    references_by_segment: bool = False,
    **options: Any,
) -> CorpusScore:
    """Score a system's texts against K streams of references with the metric of that name.

    With `references_by_segment` the references are one list per hypothesis instead.

    >>> result = score(["The cats sat."], [["The cat sat."]], metric="m")
    >>> round(result.score, 4), result.segments.shape
    (0.5873, (1,))
    """
    chosen = metric_for(metric, lang, references, options)
    return chosen.corpus_score(hypotheses, references, sources, references_by_segment=references_by_segment)


def explain(
    hypothesis: str,
    references: Sequence[str],
    metric: str = "m",
    lang: str = "en",
    *,
    sources: str | None = None,
    **options: Any,
) -> Explanation:
    """The score of one text with the matching behind it.

    >>> explanation = explain("The cats sat.", ["The cat sat."])
    >>> explanation.references[0].features[0].name
    'ms.1'
    """
    return metric_for(metric, lang, [references], options).explain(hypothesis, references, sources)


def metric_for(metric: str, lang: str, references: Any, options: dict[str, Any]) -> Metric:
    """The metric; with `lang="auto"` for the language that the references are most likely written in."""
    if lang == "auto":
        from tesla_eval.language.analysis.detection import identify  # reads a table: only when asked for

        texts = [text for stream in streams_of_texts(references) for text in stream if text]
        guess = identify(texts)
        is_unsure = guess.language == "und" or (guess.script == "Latin" and not guess.certain)
        lang = "en" if is_unsure else guess.language
    return create_metric(metric, lang, **options)
