"""Human judgements: readers (WMT tables, mt-metrics-eval, rankings, summaries), and metrics measured against them."""

from tesla_eval.meta.compare import MetricComparison, compare_metrics
from tesla_eval.meta.evaluate import (
    AVERAGE,
    SEGMENT_STATISTICS,
    SYSTEM_STATISTICS,
    Result,
    averages,
    evaluate,
)
from tesla_eval.meta.join import Joined, join
from tesla_eval.meta.judgements import EvalSet, Preferences, Rankings, SystemScores
from tesla_eval.meta.rankings import annotator_agreement, expected_wins, preferences_of, win_table
from tesla_eval.meta.scoring import MetricScores, Scorer, judged_segments, score_outputs
from tesla_eval.meta.summaries import SummarySet, read_summaries
from tesla_eval.meta.wmt import read_preferences, read_rankings, read_segments, read_system_scores

__all__ = [
    "AVERAGE",
    "SEGMENT_STATISTICS",
    "SYSTEM_STATISTICS",
    "EvalSet",
    "Joined",
    "MetricComparison",
    "MetricScores",
    "Preferences",
    "Rankings",
    "Result",
    "Scorer",
    "SummarySet",
    "SystemScores",
    "annotator_agreement",
    "averages",
    "compare_metrics",
    "evaluate",
    "expected_wins",
    "join",
    "judged_segments",
    "preferences_of",
    "read_preferences",
    "read_rankings",
    "read_segments",
    "read_summaries",
    "read_system_scores",
    "score_outputs",
    "win_table",
]
