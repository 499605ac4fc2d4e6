"""From judgements to a model: which features, which learner, and the result of cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from tesla_eval.base.errors import UsageError
from tesla_eval.base.parallel import NO_PROGRESS, Progress
from tesla_eval.base.records import Signature
from tesla_eval.judgements.meta.run import analysed_language
from tesla_eval.metrics.combinations import Uncombined
from tesla_eval.metrics.feature_metric import FeatureMetric
from tesla_eval.metrics.features import Feature
from tesla_eval.metrics.features.lm import LanguageModelGroup
from tesla_eval.models.linear import ANY_LANGUAGE, LinearModel
from tesla_eval.training.fit import PENALTIES, RankingProblem, Validation, check_floors, cross_validate
from tesla_eval.training.judged import TrainingSet


@dataclass(frozen=True)
class Recipe:
    """What to train, and how."""

    metric: type[FeatureMetric]
    language: str
    """A language, or `und` for weights that serve every language."""
    groups: tuple[str, ...] | None = None
    """By default all groups of the metric that can be computed."""
    without: tuple[str, ...] = ()
    """Kinds of features to leave out: `pos` leaves out `pos.1.p` and so on."""
    learner: str = "signed"
    penalty: float | None = None
    """By default the best one in cross-validation."""
    floors: Mapping[str, float] = field(default_factory=dict)
    """The least share of the weights of agreement that some kinds of features have, and the weights of penalties that
    are given and not learned."""
    language_models: tuple[str, ...] | None = None
    """The language models that are features; by default those of the metric's group."""
    logistic_scale: bool = True
    date: str = ""

    def keeps(self, feature: Feature) -> bool:
        """Whether a feature is learned: its group is asked for, and neither its kind nor its name is left out."""
        asked_for = self.groups is None or feature.group in self.groups
        return asked_for and feature.kind not in self.without and feature.name not in self.without


@dataclass(frozen=True)
class Trained:
    """A model, and the results of cross-validation."""

    model: LinearModel
    validations: tuple[Validation, ...]


def features_for(recipe: Recipe, workers: int = 1) -> Callable[[str], FeatureMetric]:
    """For a language pair the features that the recipe asks for, uncombined, in the analysis of its target language."""
    groups = tuple(
        replace(group, models=recipe.language_models)
        if isinstance(group, LanguageModelGroup) and recipe.language_models
        else group
        for group in recipe.metric.groups
    )
    members = {"id": "features", "groups": groups, "combination": Uncombined(recipe.groups)}
    uncombined = type("Features", (recipe.metric,), members)

    @cache
    def features(language: str) -> FeatureMetric:
        metric: FeatureMetric = uncombined(language, workers=workers)
        check_floors(recipe.floors, [one for one in metric.features if recipe.keeps(one)], recipe.learner)
        return metric

    return lambda lp: features(analysed_language(lp))


def train(
    recipe: Recipe,
    sets: Sequence[TrainingSet],
    metric: FeatureMetric,
    progress: Progress = NO_PROGRESS,
) -> Trained:
    """Learn the weights; `metric` says what the columns of the training sets are."""
    kept = [column for column, feature in enumerate(metric.features) if recipe.keeps(feature)]
    if not kept:
        raise UsageError("there is no feature to learn weights for; check --groups and --without")
    features = [metric.features[column] for column in kept]
    chosen = [one.with_features(np.array(kept, np.int64)) for one in sets]
    progress.stage("learning (folds)")
    penalties = PENALTIES if recipe.penalty is None else (recipe.penalty,)
    validations = cross_validate(
        chosen, features, learner=recipe.learner, penalties=penalties, floors=recipe.floors, progress=progress
    )
    best = max(validations, key=lambda validation: validation.value)
    model = RankingProblem(chosen, features).fit(
        recipe.learner, best.penalty, floors=recipe.floors, logistic_scale=recipe.logistic_scale
    )
    if model.signed:
        model = model.pruned()
    own_language = recipe.language != ANY_LANGUAGE
    return Trained(
        replace(
            model, metric=recipe.metric.id, language=recipe.language, date=recipe.date,
            groups=tuple(dict.fromkeys(feature.group for feature in features if feature.name in model.features)),
            analysis=str(Signature(metric.analysis.signature)) if own_language else "",
            data=tuple(f"{one.name}: {_amount(one)}" for one in sets), training=_provenance(best, recipe),
        ),
        tuple(validations),
    )  # fmt: skip


def _amount(one: TrainingSet) -> str:
    if len(one.better):
        return f"{one.counts.sum():.0f} preferences"
    return f"{(~np.isnan(one.scores)).sum()} scores"


def _provenance(best: Validation, recipe: Recipe) -> dict[str, Any]:
    by_test_set = None if best.by_test_set is None else round(best.by_test_set, 4)
    record = {
        "learner": best.learner, "penalty": best.penalty, "kendall_by_segment": round(best.by_segment, 4),
        "kendall_by_test_set": by_test_set, "floors": dict(recipe.floors), "without": list(recipe.without),
    }  # fmt: skip
    return {name: value for name, value in record.items() if value not in (None, {}, [])}
