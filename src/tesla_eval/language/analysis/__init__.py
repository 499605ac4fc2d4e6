"""Text to tokens: one pipeline per language, or the user's own analysis."""

from tesla_eval.language.analysis.batch import AnalysedBatch, Vocabulary
from tesla_eval.language.analysis.custom import (
    Analyser,
    Analysis,
    ConlluAnalyser,
    OwnAnalysis,
    SegmentedAnalyser,
    choose_analysis,
)
from tesla_eval.language.analysis.pipeline import Pipeline, load_pipeline, load_stems
from tesla_eval.language.analysis.sentences import split_sentences

__all__ = [
    "AnalysedBatch",
    "Analyser",
    "Analysis",
    "ConlluAnalyser",
    "OwnAnalysis",
    "Pipeline",
    "SegmentedAnalyser",
    "Vocabulary",
    "choose_analysis",
    "load_pipeline",
    "load_stems",
    "split_sentences",
]
