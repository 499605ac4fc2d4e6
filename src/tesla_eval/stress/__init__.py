"""Stress tests of metrics: degenerate and minimally edited texts, and how often each metric is fooled by them."""

from tesla_eval.stress.kinds import DEGENERATE, HARMFUL, HARMLESS, Kind, stress_kind
from tesla_eval.stress.run import stress
from tesla_eval.stress.words import Case

__all__ = ["DEGENERATE", "HARMFUL", "HARMLESS", "Case", "Kind", "stress", "stress_kind"]
