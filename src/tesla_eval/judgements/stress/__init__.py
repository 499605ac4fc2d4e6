"""Stress tests of metrics: degenerate and minimally edited texts, and how often each metric is fooled by them."""

from tesla_eval.judgements.stress.kinds import (
    DEGENERATE,
    HARMFUL,
    HARMLESS,
    Kind,
    all_kinds,
    choose_kinds,
    stress_kind,
)
from tesla_eval.judgements.stress.run import DamagedText, StressResult, StressRow, damage, stress
from tesla_eval.judgements.stress.words import Case, Corpus, Word, Words

__all__ = [
    "DEGENERATE",
    "HARMFUL",
    "HARMLESS",
    "Case",
    "Corpus",
    "DamagedText",
    "Kind",
    "StressResult",
    "StressRow",
    "Word",
    "Words",
    "all_kinds",
    "choose_kinds",
    "damage",
    "stress",
    "stress_kind",
]
