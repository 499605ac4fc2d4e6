"""How TESLA-N's numbers are learned from human judgements (specification §8c): the shares of a few features and of
TESLA-X's linear score, all of them 0 or more. TESLA-X's own weights stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.records import Signature
from tesla_eval.matching.kernels import GUARD_FEATURES
from tesla_eval.metrics.combinations import Uncombined
from tesla_eval.metrics.feature_metric import FeatureMetric
from tesla_eval.metrics.features import Feature
from tesla_eval.metrics.tesla_x import TeslaX
from tesla_eval.models.linear import LinearModel
from tesla_eval.training.fit import RankingProblem
from tesla_eval.training.judged import TrainingSet
from tesla_eval_neural.encoder import Encoder
from tesla_eval_neural.group import ContextGroup
from tesla_eval_neural.metric import TeslaN
from tesla_eval_neural.tense import TENSE, TenseGroup

__all__ = [
    "LEARNED", "PENALTY", "X_SCORE", "features_metric", "fit_features", "flattened", "learned_features",
    "shipped_model", "with_columns", "x_scores",
]  # fmt: skip

X_SCORE = Feature("x", "x", "x", "TESLA-X's linear score", "x")
PENALTY = 0.003
LEARNED = (X_SCORE.name, "ctx.best.f", TENSE)
"""What gets a weight: `tools/loyo_n.py` has the other choices, and what they give where a year is left out."""
_OWN_GROUPS = (ContextGroup.name, TenseGroup.name)
_DECIMALS = 3  # of shares: more would depend on the last bits of the features


def features_metric(
    language: str, x_model: LinearModel | None = None, *, encoder: str | None = None, workers: int = 1
) -> FeatureMetric:
    """TESLA-N's own features, and behind them those of TESLA-X's model if one is given, without a score."""
    x_groups = () if x_model is None else x_model.groups
    members = {
        "id": "features-n", "groups": (ContextGroup(encoder=encoder), TenseGroup(), *TeslaX.groups),
        "combination": Uncombined((*_OWN_GROUPS, *x_groups)),
    }  # fmt: skip
    metric: FeatureMetric = type("Features", (TeslaN,), members)(language, workers=workers)
    return metric


def learned_features(metric: FeatureMetric) -> tuple[Feature, ...]:
    """What weights are learned for: TESLA-X's score, then TESLA-N's own features that the language has."""
    return X_SCORE, *(feature for feature in metric.features if feature.group in _OWN_GROUPS)


def with_columns(one: TrainingSet, columns: FloatArray) -> TrainingSet:
    """The same judgements over other columns."""
    return replace(one, features=columns)


def fit_features(
    sets: Sequence[TrainingSet],
    features: Sequence[Feature],
    penalty: float = PENALTY,
    *,
    floors: Mapping[str, float] | None = None,
    learned: Sequence[str] = LEARNED,
) -> LinearModel:
    """Weights of TESLA-X's score and of the features of context, which add up to 1."""
    kept = np.array([k for k, feature in enumerate(features) if feature.name in learned], np.int64)
    problem = RankingProblem([one.with_features(kept) for one in sets], [features[k] for k in kept])
    model = problem.fit("signed", penalty, floors=floors)
    return replace(model, weights=model.weights.round(_DECIMALS))


def x_scores(model: LinearModel, features: Sequence[Feature], columns: FloatArray) -> FloatArray:
    """TESLA-X's linear scores, from columns that hold its features; what the language lacks is left out."""
    place = {feature.name: k for k, feature in enumerate(features)}
    known = model.restricted(place)
    families = tuple(features[place[name]].family for name in known.features)
    chosen = columns[:, [place[name] for name in known.features]]
    return replace(known, families=families).linear(chosen)


def flattened(learned: LinearModel, x_model: LinearModel) -> LinearModel:
    """The learned weights over all features: TESLA-X's share goes to its features in proportion to their weights.

    Numbers and the guards against padding keep the whole weight that they have in TESLA-X: states hardly show them.
    """
    weights = dict(zip(learned.features, learned.weights.tolist(), strict=True))
    share = weights.pop(X_SCORE.name, 0.0)
    own = {name: weight for name, weight in weights.items() if weight}
    x_weights = {
        name: weight * (1.0 if name in GUARD_FEATURES or name.startswith("number.") else share)
        for name, weight in zip(x_model.features, x_model.weights.tolist(), strict=True)
    }
    names = (*own, *x_weights)
    return replace(
        learned, features=names, weights=np.array([*own.values(), *x_weights.values()]),
        means=np.zeros(len(names)), deviations=np.ones(len(names)), families=(),
        groups=(ContextGroup.name, *(own.keys() & {TENSE}), *x_model.groups),
    )  # fmt: skip


def shipped_model(
    learned: LinearModel,
    x_model: LinearModel,
    metric: FeatureMetric,
    encoder: Encoder,
    **description: Any,
) -> LinearModel:
    """The learned weights as one model with everything that it needs to be used."""
    known = x_model.restricted({feature.name for feature in metric.features})
    return replace(
        flattened(learned, known), metric=TeslaN.id, language=metric.lang,
        analysis=str(Signature(metric.analysis.signature)),
        settings={"encoder": encoder.fingerprint},
        **description,
    ).pruned()  # fmt: skip
