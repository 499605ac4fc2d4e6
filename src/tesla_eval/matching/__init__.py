"""Matching: from two bags and a similarity to the exact optimum."""

from tesla_eval.matching.ngrams import (
    RECALL_WEIGHT,
    Matches,
    explain_feature,
    match_characters,
    match_pairs,
)

__all__ = ["RECALL_WEIGHT", "Matches", "explain_feature", "match_characters", "match_pairs"]
