"""From judgements to a model with its papers: which features, which learner, what cross-validation said."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from tesla_eval.analysis import load_pipeline
from tesla_eval.analysis.languages import resolve_language
from tesla_eval.errors import UsageError
from tesla_eval.meta.run import target_language
from tesla_eval.metrics.feature_groups import FeatureSet
from tesla_eval.metrics.learned import LearnedMetric, make_groups
from tesla_eval.models import LinearModel
from tesla_eval.models.linear import ANY_LANGUAGE
from tesla_eval.records import Signature
from tesla_eval.training.fit import PENALTIES, Problem, Validation, check_lifts, cross_validate
from tesla_eval.training.judged import FeatureProbe, TrainingSet

__all__ = ["Recipe", "Trained", "keeps", "probes_for", "train"]


@dataclass(frozen=True)
class Recipe:
    """What is to be trained, and how."""

    metric: type[LearnedMetric]
    language: str
    """A language, or `und` for weights that serve every language."""
    groups: tuple[str, ...] | None = None
    """By default all that the metric has and that can be computed."""
    without: tuple[str, ...] = ()
    """Families of features to leave out: `pos` leaves out `pos.1.p` and so on."""
    learner: str = "logistic"
    penalty: float | None = None
    """By default the one that cross-validation finds best."""
    lifts: Mapping[str, float] = field(default_factory=dict)
    """What is added to the learned weights of some features (standardised)."""
    logistic_scale: bool = True
    date: str = ""


@dataclass(frozen=True)
class Trained:
    """A model, and what cross-validation found on the way to it."""

    model: LinearModel
    validations: tuple[Validation, ...]


def probes_for(recipe: Recipe, workers: int = 1) -> Callable[[str], FeatureProbe]:
    """For a language pair the features that the recipe asks for, in the analysis of its target language."""

    @cache
    def probe(language: str) -> FeatureProbe:
        analysis = load_pipeline(language)
        groups = make_groups(recipe.metric.group_makers, analysis, recipe.groups)
        features = FeatureSet(groups, analysis)
        check_lifts(recipe.lifts, [name for name in features.names if keeps(name, recipe.without)])
        return FeatureProbe(features, workers)

    return lambda lp: probe(resolve_language(target_language(lp)))


def train(
    recipe: Recipe,
    sets: Sequence[TrainingSet],
    features: FeatureSet,
    advance: Callable[[int], None] = lambda done: None,
) -> Trained:
    """Learn the weights; `features` says what the columns of the training sets are."""
    kept = [column for column, name in enumerate(features.names) if keeps(name, recipe.without)]
    if not kept:
        raise UsageError("no feature is left to learn weights for")
    names = [features.names[column] for column in kept]
    chosen = [one.with_features(np.array(kept, np.int64)) for one in sets]
    penalties = PENALTIES if recipe.penalty is None else (recipe.penalty,)
    validations = cross_validate(
        chosen, names, learner=recipe.learner, penalties=penalties, lifts=recipe.lifts, advance=advance
    )
    best = max(validations, key=lambda found: found.value)
    model = Problem(chosen, names).fit(
        recipe.learner, best.penalty, lifts=recipe.lifts, logistic_scale=recipe.logistic_scale
    )
    own_language = recipe.language != ANY_LANGUAGE
    return Trained(
        replace(
            model, metric=recipe.metric.id, language=recipe.language, date=recipe.date,
            groups=tuple(group.name for group in features.groups if _is_used(group.feature_names, names)),
            analysis=str(Signature(features.analysis.signature)) if own_language else "",
            data=tuple(f"{one.name}: {_amount(one)}" for one in sets), training=_papers(best, recipe),
        ),
        tuple(validations),
    )  # fmt: skip


def keeps(name: str, without: Collection[str]) -> bool:
    """Whether a feature is left where some families are left out.

    >>> keeps("pos.1.p", ["pos"]), keeps("foreign", ["foreign"]), keeps("punct.p", ["pos"])
    (False, False, True)
    """
    return not any(name == family or name.startswith(f"{family}.") for family in without)


def _is_used(feature_names: Sequence[str], names: Sequence[str]) -> bool:
    return not set(feature_names).isdisjoint(names)


def _amount(one: TrainingSet) -> str:
    if len(one.better):
        return f"{one.counts.sum():.0f} preferences"
    return f"{(~np.isnan(one.scores)).sum()} scores"


def _papers(best: Validation, recipe: Recipe) -> dict[str, Any]:
    found: dict[str, Any] = {
        "learner": best.learner, "penalty": best.penalty, "kendall_by_segment": round(best.by_segment, 4),
    }  # fmt: skip
    if best.by_test_set is not None:
        found["kendall_by_test_set"] = round(best.by_test_set, 4)
    if recipe.lifts:
        found["lifts"] = dict(recipe.lifts)
    if recipe.without:
        found["without"] = list(recipe.without)
    return found
