"""Bags and a similarity to the exact optimum."""

from tesla_eval.matching.ngrams import RECALL_WEIGHT, Flow, Matches, explain_feature, match_pairs
from tesla_eval.matching.transport import Transport, solve_transport

__all__ = [
    "RECALL_WEIGHT",
    "Flow",
    "Matches",
    "Transport",
    "explain_feature",
    "match_pairs",
    "solve_transport",
]
