"""TESLA-N: the exact matching of tesla-eval over contextual pieces of words (specification §8c)."""

from tesla_eval_neural.metric import TeslaN

__all__ = ["TeslaN"]
