"""Fitting the learned metrics from judgements."""

from tesla_eval.training.fit import LEARNERS, Problem, Validation, cross_validate, kendall
from tesla_eval.training.judged import TrainingSet, collect, pairs_of_scores

__all__ = [
    "LEARNERS",
    "Problem",
    "TrainingSet",
    "Validation",
    "collect",
    "cross_validate",
    "kendall",
    "pairs_of_scores",
]
