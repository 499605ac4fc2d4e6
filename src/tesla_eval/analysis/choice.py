"""Which analysis a metric works with: a language's pipeline, or what the user brings along."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tesla_eval.analysis.batch import AnalysedBatch
from tesla_eval.analysis.own import Analyser, OwnAnalysis
from tesla_eval.analysis.pipeline import Pipeline, load_pipeline
from tesla_eval.errors import UsageError

__all__ = ["Analysis", "choose_analysis"]


class Analysis(Protocol):
    """What metrics ask of an analysis."""

    @property
    def tagged(self) -> bool:
        """Whether words have parts of speech."""

    @property
    def shortcomings(self) -> list[str]:
        """What it lacks, for a warning."""

    @property
    def signature(self) -> dict[str, str]:
        """The parts of a metric's signature that name it."""

    def analyse(self, *groups: Sequence[str]) -> list[AnalysedBatch]:
        """One batch for each group of texts, all over the same vocabulary."""


def choose_analysis(
    language: str, analyser: Analyser | Pipeline | None = None, synonyms: str | None = None
) -> Analysis:
    """The user's own analyser, a pipeline that was put together by hand, or the pipeline of the language."""
    if analyser is None:
        return load_pipeline(language, synonyms)
    if synonyms is not None:
        raise UsageError("own analysis brings its own senses: leave out the file of synonyms")
    return analyser if isinstance(analyser, Pipeline) else OwnAnalysis(analyser, language)
