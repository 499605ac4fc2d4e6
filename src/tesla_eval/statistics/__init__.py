"""Arrays in, numbers out: correlation, pairwise agreement, resampling tests, annotator agreement.

This package knows nothing about metrics or files. Every result is a small frozen dataclass. What the data cannot give
is NaN with a note, never a 0. Every random draw is a function of an explicit seed.

A name is imported when it is first asked for: a score that needs no statistics does not pay for them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tesla_eval.statistics.agreements import (
        Agreement,
        SignTest,
        agreement,
        expected_wins,
        kappa,
        sign_test,
    )
    from tesla_eval.statistics.association import (
        SystemAssociation,
        calibrated_association,
        pair_association,
        within_association,
    )
    from tesla_eval.statistics.correlation import kendall, midranks, pearson, spearman
    from tesla_eval.statistics.estimate import Estimate, Interval
    from tesla_eval.statistics.judges import JudgeCorrelation, judge_correlations
    from tesla_eval.statistics.multiple import enough_resamples, holm, rank_clusters
    from tesla_eval.statistics.pairs import (
        CalibratedAccuracy,
        PairCounts,
        accuracy,
        better_p_values,
        calibrated_accuracy,
        consistency,
        count_pairs,
        group_accuracy,
        kendall_wmt,
        pairs_within,
        soft_accuracy,
        weighted_tau,
        wins_p_values,
    )
    from tesla_eval.statistics.pooled import pooled_association
    from tesla_eval.statistics.resampling import (
        Additive,
        Bootstrap,
        EffectSize,
        Randomisation,
        Resampled,
        approximate_randomisation,
        paired_bootstrap,
        paired_effect,
    )
    from tesla_eval.statistics.shares import pairwise_shares, score1, score2, share_of_best

__all__ = [
    "DEFAULT_RESAMPLES",
    "DEFAULT_SEED",
    "Additive",
    "Agreement",
    "Bootstrap",
    "CalibratedAccuracy",
    "EffectSize",
    "Estimate",
    "Interval",
    "JudgeCorrelation",
    "PairCounts",
    "Randomisation",
    "Resampled",
    "SignTest",
    "SystemAssociation",
    "accuracy",
    "agreement",
    "approximate_randomisation",
    "better_p_values",
    "calibrated_accuracy",
    "calibrated_association",
    "consistency",
    "count_pairs",
    "enough_resamples",
    "expected_wins",
    "group_accuracy",
    "holm",
    "judge_correlations",
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
    "score1",
    "score2",
    "share_of_best",
    "sign_test",
    "soft_accuracy",
    "spearman",
    "weighted_tau",
    "wins_p_values",
    "within_association",
]

DEFAULT_RESAMPLES = 1000
DEFAULT_SEED = 12345

_FILES = (
    "agreements",
    "association",
    "correlation",
    "estimate",
    "judges",
    "multiple",
    "pairs",
    "pooled",
    "resampling",
    "shares",
)


def __getattr__(name: str) -> Any:
    """A public name, from the file that has it."""
    if name in __all__:
        for file in _FILES:
            module = import_module(f"{__name__}.{file}")
            if name in module.__all__:
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
