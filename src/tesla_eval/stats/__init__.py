"""Arrays in, numbers out: correlation, pairwise agreement, resampling tests, annotator agreement.

This room knows no metric and no file. Every result is a small frozen dataclass; what the data cannot give is
NaN with a note, never a 0; every random draw is a function of an explicit seed.
"""

from tesla_eval.stats.additive import Additive, Resampled, block_means
from tesla_eval.stats.agreement import Agreement, SignTest, agreement, expected_wins, kappa, sign_test
from tesla_eval.stats.association import (
    SystemAssociation,
    calibrated_association,
    pair_association,
    within_association,
)
from tesla_eval.stats.correlation import kendall, midranks, pearson, spearman
from tesla_eval.stats.estimate import Estimate, FloatArray, Interval
from tesla_eval.stats.multiple import EffectSize, holm, paired_effect, rank_clusters, rank_ranges
from tesla_eval.stats.pairs import (
    CalibratedAccuracy,
    PairCounts,
    accuracy,
    calibrated_accuracy,
    consistency,
    count_pairs,
    group_accuracy,
    kendall_wmt,
    pairs_within,
)
from tesla_eval.stats.pooled import pooled_association
from tesla_eval.stats.resampling import Bootstrap, Randomisation, approximate_randomisation, paired_bootstrap
from tesla_eval.stats.shares import pairwise_shares, score1, score2, share_of_best
from tesla_eval.stats.soft import better_p_values, soft_accuracy, wins_p_values

__all__ = [
    "Additive",
    "Agreement",
    "Bootstrap",
    "CalibratedAccuracy",
    "EffectSize",
    "Estimate",
    "FloatArray",
    "Interval",
    "PairCounts",
    "Randomisation",
    "Resampled",
    "SignTest",
    "SystemAssociation",
    "accuracy",
    "agreement",
    "approximate_randomisation",
    "better_p_values",
    "block_means",
    "calibrated_accuracy",
    "calibrated_association",
    "consistency",
    "count_pairs",
    "expected_wins",
    "group_accuracy",
    "holm",
    "kappa",
    "kendall",
    "kendall_wmt",
    "midranks",
    "pair_association",
    "paired_bootstrap",
    "paired_effect",
    "pairs_within",
    "pairwise_shares",
    "pearson",
    "pooled_association",
    "rank_clusters",
    "rank_ranges",
    "score1",
    "score2",
    "share_of_best",
    "sign_test",
    "soft_accuracy",
    "spearman",
    "wins_p_values",
    "within_association",
]
