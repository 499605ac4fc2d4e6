"""Combinations: from the features of a pair to its score, and from several references to one (specification §5–§13).

A combination is declared as a frozen dataclass, like a group; its fields are options of the metric. A learned one loads
its model for a language, and the model says which groups and features are computed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from tesla_eval import _core
from tesla_eval.base.arrays import FloatArray, Index, sum_columns
from tesla_eval.base.errors import ResourceError
from tesla_eval.base.records import Signature
from tesla_eval.language.analysis import Analysis
from tesla_eval.metrics.features import BoundGroup, Feature, FeatureGroup, fixed, unspelled
from tesla_eval.metrics.features.lm import LanguageModelGroup
from tesla_eval.metrics.features.measures import MEASURES
from tesla_eval.metrics.segments import mean_over_references
from tesla_eval.models.linear import ANY_LANGUAGE, LinearModel, load_weights

if TYPE_CHECKING:
    from tesla_eval.base.explanations import ReferenceExplanation


class Layout(NamedTuple):
    """A combination with the groups that it needs, and what its columns are."""

    combination: Combination
    groups: tuple[BoundGroup, ...]
    features: tuple[Feature, ...]
    columns: Index | None = None
    """Which columns of the groups, side by side, are the features; `None` for all of them."""


class Combination(ABC):
    """From rows of features to scores."""

    sections: ClassVar[Mapping[str, str]] = {}
    """The section of the specification that each option belongs to."""
    lowest: ClassVar[float] = 0.0
    """The score where one side has no token left (specification §5)."""
    equal_texts: ClassVar[float] = 1.0
    """The score of equal texts without any token."""
    fixes_groups: ClassVar[bool] = False
    """Whether a model was learned with the groups as declared, so that their parameters are no options."""
    optional_groups: ClassVar[bool] = False
    """Whether groups that a language does not support are left out, rather than an error."""

    def load(self, metric: str, analysis: Analysis, own_analysis: bool) -> Combination:
        """The combination with its model for the language of an analysis, if it has one."""
        return self

    def choose(self, groups: Sequence[FeatureGroup]) -> Sequence[FeatureGroup]:
        """The groups to compute, with the settings that the model asks for."""
        return groups

    def over(self, groups: Sequence[BoundGroup]) -> Layout:
        """The combination over bound groups; by default over all their features."""
        return Layout(self, tuple(groups), tuple(feature for group in groups for feature in group.features))

    @property
    def signature(self) -> Mapping[str, str]:
        """The fingerprints of what it reads."""
        return {}

    @property
    def core(self) -> _core.Combination | None:
        """What gives the same scores in the core; None where the core has no such combination."""
        return None

    @abstractmethod
    def score(self, rows: FloatArray) -> FloatArray:
        """The scores of pairs with tokens on both sides, one row of features each; NaN marks a missing feature."""

    def over_references(self, scores: FloatArray, features: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Scores (references × segments) and features (references × segments × features) as those of the segments.

        NaN marks a reference that a segment does not have, or a feature that does not exist. By default the mean. A
        single reference changes nothing.
        """
        return mean_over_references(scores), mean_over_references(features)

    def explain(
        self, row: FloatArray, features: Sequence[Feature], detail: ReferenceExplanation
    ) -> ReferenceExplanation:
        """The explanation of a pair with what the combination adds to it."""
        return detail


@dataclass(frozen=True)
class Mean(Combination):
    """The mean of the features that exist."""

    @property
    def core(self) -> _core.Combination | None:
        """The same in the core."""
        return _core.MeanCombination() if type(self).score is Mean.score else None

    def score(self, rows: FloatArray) -> FloatArray:
        """The mean of each row."""
        return _mean_of_existing(rows)


@dataclass(frozen=True)
class BestModel(Mean):
    """The mean of the features; of several references (model summaries) the one with the highest score."""

    def over_references(self, scores: FloatArray, features: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The best model of each segment with its own features; of equal ones that with the greater first feature."""
        keys = [*np.moveaxis(np.nan_to_num(features, nan=-1.0), -1, 0)[::-1], np.nan_to_num(scores, nan=-1.0)]
        best = np.lexsort(keys, axis=0)[-1]
        segments = np.arange(scores.shape[1])
        return scores[best, segments], features[best, segments]


@dataclass(frozen=True)
class HalvedMean(Combination):
    """Half the mean of the first group's features, half that of all others, if any of these exists."""

    first: int = fixed(0)
    """The number of features of the first group."""

    def over(self, groups: Sequence[BoundGroup]) -> Layout:
        """All features, with the first group told apart."""
        return super().over(groups)._replace(combination=replace(self, first=len(groups[0].features)))

    def score(self, rows: FloatArray) -> FloatArray:
        """½ (mean of the first group + mean of the others)."""
        others = rows[:, self.first :]
        first_mean = _mean_of_existing(rows[:, : self.first])
        exist = ~np.isnan(others).all(axis=1)
        scores = first_mean.copy()
        scores[exist] = (first_mean[exist] + _mean_of_existing(others[exist])) / 2
        return scores


@dataclass(frozen=True)
class Column(Combination):
    """One feature that is the score already."""

    feature: str = fixed("")
    column: int = fixed(0)

    def over(self, groups: Sequence[BoundGroup]) -> Layout:
        """All features, with the score's column found."""
        layout = super().over(groups)
        names = [feature.name for feature in layout.features]
        return layout._replace(combination=replace(self, column=names.index(self.feature)))

    def score(self, rows: FloatArray) -> FloatArray:
        """The column itself."""
        return rows[:, self.column].copy()


@dataclass(frozen=True)
class Uncombined(Combination):
    """Computes no score, only the features for training a model. `names`, if given, limits the groups."""

    optional_groups: ClassVar[bool] = True

    names: tuple[str, ...] | None = fixed(None)

    def choose(self, groups: Sequence[FeatureGroup]) -> Sequence[FeatureGroup]:
        """The groups of these names."""
        return groups if self.names is None else _named(groups, self.names)

    def score(self, rows: FloatArray) -> FloatArray:
        """Nothing (0) for every pair."""
        return np.zeros(len(rows))


@dataclass(frozen=True)
class Linear(Combination):
    """A linear model over standardised features, learned from human judgements (specification §8, §8b).

    `weights` is a model or its file; by default the installed one of the language. `scaled=False` gives the raw score.
    """

    sections: ClassVar[Mapping[str, str]] = {"weights": "§8", "scaled": "§8"}
    fixes_groups: ClassVar[bool] = True
    optional_groups: ClassVar[bool] = True

    weights: LinearModel | str | Path | None = unspelled(None)  # noqa: RUF009  # makes a field, which is allowed
    scaled: bool = True

    @property
    def model(self) -> LinearModel:
        """The model that `load` found."""
        assert isinstance(self.weights, LinearModel)
        return self.weights

    def load(self, metric: str, analysis: Analysis, own_analysis: bool) -> Combination:
        """With the weights for the language; refuses those that were learned with another analysis."""
        signature = analysis.signature
        model = load_weights(metric, signature["lang"], self.weights)
        installed = str(Signature(signature))
        if model.analysis and model.analysis != installed and not own_analysis:
            raise ResourceError(
                f"{metric}: the weights were learned with the analysis {model.analysis}, but {installed} is installed; "
                f"train them again with `tesla train {metric.removeprefix('tesla-')}`, or use -m m"
            )
        return replace(self, weights=model)

    def choose(self, groups: Sequence[FeatureGroup]) -> Sequence[FeatureGroup]:
        """The groups that the model was trained with."""
        return _named(groups, self.model.groups)

    def over(self, groups: Sequence[BoundGroup]) -> Layout:
        """The model's features in its order; what it does not name is not computed."""
        kept = tuple(group.restricted(self.model.features) for group in groups)
        present = [feature for group in kept for feature in group.features]
        place = {feature.name: column for column, feature in enumerate(present)}
        unknown = [name for name in self.model.features if name not in place]
        model = self.model
        if unknown and model.signed and model.language == ANY_LANGUAGE:
            model = model.restricted(place)  # this language lacks something, such as a tagger
        elif unknown:
            raise ResourceError(f"the weights name features that do not exist: {', '.join(unknown)}")
        columns = np.array([place[name] for name in model.features], np.int64)
        features = tuple(present[column] for column in columns)
        families = tuple(feature.family for feature in features)
        completed = replace(model, families=families).known_as(self.model.fingerprint)
        described = replace(self, weights=completed)
        return Layout(described, kept, features, columns)

    @property
    def signature(self) -> dict[str, str]:
        """The groups and the fingerprint of the weights."""
        return {"groups": "+".join(self.model.groups), "weights": self.model.fingerprint}

    @property
    def core(self) -> _core.Combination | None:
        """The same in the core, for weights with a sign."""
        model = self.model
        if not model.signed or type(self).score is not Linear.score:
            return None
        families = list(dict.fromkeys(model.families))
        numbers = [families.index(family) for family in model.families]
        return _core.SignedCombination(model.weights.tolist(), numbers, self.scaled)

    def score(self, rows: FloatArray) -> FloatArray:
        """The scaled or raw scores."""
        return self.model.score(rows) if self.scaled else self.model.linear(rows)

    def explain(
        self, row: FloatArray, features: Sequence[Feature], detail: ReferenceExplanation
    ) -> ReferenceExplanation:
        """The share of each feature, and the weights beside the features."""
        from tesla_eval.base.explanations import Share  # not before something is explained

        model = self.model
        shares = model.shares(row[None])
        values = [None if isnan(value) else value for value in row.tolist()]
        columns = zip(features, values, model.weights.tolist(), shares[0].tolist(), strict=True)
        entries = tuple(
            Share(feature.name, feature.group, feature.label, value, weight, share)
            for feature, value, weight, share in columns
        )
        weight_of = {entry.name: entry.weight for entry in entries}
        for (
            entry
        ) in detail.features:  # one weight per measure where these are features; 0 if the model leaves it out
            names = {measure: f"{entry.name}.{measure}" for measure in MEASURES}
            by_measure = {measure: weight_of[name] for measure, name in names.items() if name in weight_of}
            entry.weight = by_measure or weight_of.get(entry.name, 0.0)
        return replace(detail, linear=float(sum_columns(shares)[0]), shares=entries)


@dataclass(frozen=True)
class LinearWithLanguageModels(Linear):
    """A linear model of which some features are language models (specification §8): those that the weights name.

    `lm` may name them too. It must name the models that the weights were learned with; others are refused.
    """

    sections: ClassVar[Mapping[str, str]] = {**Linear.sections, "lm": "§8"}

    lm: Sequence[str] | None = unspelled(None)

    def choose(self, groups: Sequence[FeatureGroup]) -> Sequence[FeatureGroup]:
        """The groups of the model, with the language models that its weights are for."""
        trained = tuple(name.removeprefix("lm.") for name in self.model.features if name.startswith("lm."))
        if self.lm is not None and set(self.lm) != set(trained):
            raise ResourceError(
                f"the weights were learned with the language models {', '.join(trained) or 'none'}, not with "
                f"{', '.join(self.lm)}; train weights with `tesla train f --lm NAME`"
            )
        return [
            replace(group, models=trained) if isinstance(group, LanguageModelGroup) and trained else group
            for group in super().choose(groups)
        ]

    def over(self, groups: Sequence[BoundGroup]) -> Layout:
        """As of any linear model; a language model that is not installed is named."""
        present = {feature.name for group in groups for feature in group.features}
        for name in self.model.features:
            if name.startswith("lm.") and name not in present:
                raise ResourceError(
                    f"the weights need the language model {name.removeprefix('lm.')!r}, which is not installed; make "
                    "it with `tesla train lm`"
                )
        return super().over(groups)


def _mean_of_existing(rows: FloatArray) -> FloatArray:
    """The mean of each row without NaN.

    >>> _mean_of_existing(np.array([[1.0, 0.5, np.nan]])).tolist()
    [0.75]
    """
    if len(rows) == 1:  # a sentence: plain numbers, added up in the same order, are ten times as fast
        total, count = 0.0, 0
        for value in rows[0].tolist():
            if not isnan(value):
                total += value
                count += 1
        return np.array([total / count if count else np.nan])
    missing = np.isnan(rows)
    if not missing.any():
        return np.asarray(sum_columns(rows) / rows.shape[1])
    sums = sum_columns(np.where(missing, 0.0, rows))
    mean: FloatArray = sums / (~missing).sum(axis=1)
    return mean


def _named(groups: Sequence[FeatureGroup], names: Sequence[str]) -> list[FeatureGroup]:
    by_name = {group.name: group for group in groups}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        raise ResourceError(f"there are no features {', '.join(unknown)}; known are {', '.join(by_name)}")
    return [by_name[name] for name in names]
