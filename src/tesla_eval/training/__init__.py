"""Fitting the learned metrics from judgements."""

from tesla_eval.training.fit import LEARNERS, RankingProblem, Validation, cross_validate, kendall
from tesla_eval.training.judged import TrainingSet, collect, pairs_of_scores

__all__ = [
    "LEARNERS",
    "RankingProblem",
    "TrainingSet",
    "Validation",
    "collect",
    "cross_validate",
    "kendall",
    "pairs_of_scores",
]
