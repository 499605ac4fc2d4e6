"""Human judgements: readers (WMT tables, mt-metrics-eval, rankings, summaries), and metrics measured against them."""

from tesla_eval.judgements.judges import Ratings, annotator_agreement, judge_pairs, rankings_of, read_ratings
from tesla_eval.judgements.meta.evaluate import (
    AVERAGE,
    CENTRED,
    SEGMENT_STATISTICS,
    SYSTEM_STATISTICS,
    Result,
    averages,
    evaluate,
)
from tesla_eval.judgements.meta.join import Joined, MetricScores, Scorer, join, judged_segments, score_outputs
from tesla_eval.judgements.meta.significance import MetricComparison, compare_metrics
from tesla_eval.judgements.nouns import (
    EvalSet,
    Preferences,
    Rankings,
    SystemScores,
    expected_wins,
    preferences_of,
    win_table,
)
from tesla_eval.judgements.summaries import SummarySet, read_summaries
from tesla_eval.judgements.wmt import read_preferences, read_rankings, read_segments, read_system_scores

__all__ = [
    "AVERAGE",
    "CENTRED",
    "SEGMENT_STATISTICS",
    "SYSTEM_STATISTICS",
    "EvalSet",
    "Joined",
    "MetricComparison",
    "MetricScores",
    "Preferences",
    "Rankings",
    "Ratings",
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
    "judge_pairs",
    "judged_segments",
    "preferences_of",
    "rankings_of",
    "read_preferences",
    "read_rankings",
    "read_ratings",
    "read_segments",
    "read_summaries",
    "read_system_scores",
    "score_outputs",
    "win_table",
]
