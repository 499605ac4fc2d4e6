"""Stress tests of metrics: degenerate and minimally edited texts, and how often each metric is fooled by them."""

from tesla_eval.judgements.stress.kinds import DEGENERATE, HARMFUL, HARMLESS, Kind, stress_kind
from tesla_eval.judgements.stress.run import stress
from tesla_eval.judgements.stress.words import Case

__all__ = ["DEGENERATE", "HARMFUL", "HARMLESS", "Case", "Kind", "stress", "stress_kind"]
