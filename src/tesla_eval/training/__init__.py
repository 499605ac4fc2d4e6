"""Fitting the learned metrics from judgements."""

from tesla_eval.training.fit import LEARNERS, Validation, cross_validate, fit_linear, kendall
from tesla_eval.training.judged import FeatureProbe, TrainingSet, collect, pairs_of_scores

__all__ = [
    "LEARNERS",
    "FeatureProbe",
    "TrainingSet",
    "Validation",
    "collect",
    "cross_validate",
    "fit_linear",
    "kendall",
    "pairs_of_scores",
]
