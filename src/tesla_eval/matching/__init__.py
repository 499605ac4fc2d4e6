"""Bags and a similarity to the exact optimum."""

from tesla_eval.matching.celab import CelabMatcher, Covering, CoveringMatch
from tesla_eval.matching.ngrams import (
    RECALL_WEIGHT,
    Matches,
    explain_feature,
    match_characters,
    match_pairs,
)
from tesla_eval.matching.synonyms import SynonymSets, SynonymTable, load_synonym_sets
from tesla_eval.matching.transport import Transport, solve_transport

__all__ = [
    "RECALL_WEIGHT",
    "CelabMatcher",
    "Covering",
    "CoveringMatch",
    "Matches",
    "SynonymSets",
    "SynonymTable",
    "Transport",
    "explain_feature",
    "load_synonym_sets",
    "match_characters",
    "match_pairs",
    "solve_transport",
]
