"""A linear model over named, standardised features (specification §8, §8b), kept as readable JSON and never executed.

Scores are sums over the columns in one fixed order, so that a segment has the same score in every batch.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from tesla_eval.base.arrays import FloatArray, exponentials, sum_columns
from tesla_eval.base.errors import ResourceError
from tesla_eval.base.identity import Fingerprinted
from tesla_eval.base.resources import find_resource, missing_resource
from tesla_eval.models.documents import finite, read_document

ANY_LANGUAGE = "und"
"""The language of a model for all languages without one of their own."""

SIGNED = "signed"
"""The scale of models whose positive weights are agreement and whose negative weights are penalties."""

_SMALLEST_SHARE = 1e-4
_FORMAT = 1


@dataclass(frozen=True)
class Scale:
    """From linear scores to reported ones: 1 / (1 + exp(−slope · (x − centre))), or linear, clipped to 0..1.

    `signed` takes the linear score as it is, clipped: agreement counts up to 1, penalties are taken away.

    >>> Scale("logistic", slope=2.0, centre=1.0)(np.array([1.0])).tolist()
    [0.5]
    >>> Scale("linear", slope=0.5, centre=1.0)(np.array([1.0, 9.0])).tolist()
    [0.5, 1.0]
    """

    kind: str
    slope: float
    centre: float

    def __call__(self, linear: FloatArray) -> FloatArray:
        """The reported scores."""
        steps = self.slope * (linear - self.centre)
        if self.kind == SIGNED:
            return np.clip(linear, 0.0, 1.0)
        if self.kind == "linear":
            return np.clip(0.5 + steps, 0.0, 1.0)
        return 1 / (1 + exponentials(-steps))


@dataclass(frozen=True, eq=False)
class LinearModel(Fingerprinted):
    """Weights of standardised features, with their provenance."""

    metric: str
    language: str
    features: tuple[str, ...]
    weights: FloatArray
    means: FloatArray
    deviations: FloatArray
    scale: Scale
    groups: tuple[str, ...]
    """The feature groups that were trained together, in their order."""
    analysis: str = ""
    """The analysis that the features were computed with; empty: any."""
    data: tuple[str, ...] = ()
    date: str = ""
    training: Mapping[str, Any] = field(default_factory=dict)
    """Learner, parameters and the result of cross-validation: for people to read, not for prediction."""
    families: tuple[str, ...] = ()
    """For every feature its family, as its group names it: these replace each other where one does not exist."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What the groups need in order to compute the features as they were learned."""

    @cached_property
    def _relatives(self) -> tuple[tuple[int, ...], ...]:
        """For every feature the columns of its family."""
        names = self.families or self.features
        return tuple(tuple(k for k, other in enumerate(names) if other == name) for name in names)

    def complete(self, values: FloatArray) -> FloatArray:
        """`values` with a feature that does not exist replaced by the mean of its family, or else by its own mean.

        specification §5: in a linear model a feature that does not exist is the mean of those of its group that do.
        """
        missing = np.isnan(values)
        filled = values.copy()
        for column in np.flatnonzero(missing.any(axis=0)).tolist():
            sums, counts = np.zeros(len(values)), np.zeros(len(values))
            for other in self._relatives[column]:
                sums += np.where(missing[:, other], 0.0, values[:, other])
                counts += ~missing[:, other]
            alone = np.nan if self.scale.kind == SIGNED else self.means[column]
            family_mean = np.where(counts > 0, sums / np.maximum(counts, 1), alone)
            filled[:, column] = np.where(missing[:, column], family_mean, values[:, column])
        return filled

    @property
    def signed(self) -> bool:
        """Whether the weights have a sign: a copy of the reference then scores exactly 1 (specification §8b)."""
        return self.scale.kind == SIGNED

    def pruned(self) -> LinearModel:
        """The model without the features whose weight is less than a ten-thousandth of the largest."""
        least = _SMALLEST_SHARE * np.abs(self.weights).max()
        weights = zip(self.features, self.weights.tolist(), strict=True)
        return self.restricted({name for name, weight in weights if abs(weight) > least})

    def restricted(self, names: Container[str]) -> LinearModel:
        """The model with these of its features alone."""
        kept = [k for k, name in enumerate(self.features) if name in names]
        return replace(
            self, features=tuple(self.features[k] for k in kept), weights=self.weights[kept], means=self.means[kept],
            deviations=self.deviations[kept], families=tuple(self.families[k] for k in kept) if self.families else (),
        )  # fmt: skip

    def shares(self, values: FloatArray) -> FloatArray:
        """The contribution of every feature to the linear score: weight × standardised value."""
        products, unit = self._products(values)
        return products / unit[:, None]

    def linear(self, values: FloatArray) -> FloatArray:
        """The linear scores of rows of features."""
        products, unit = self._products(values)
        return sum_columns(products) / unit

    def _products(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weight × value, and for every row what its products are divided by."""
        completed = self.complete(values) if np.isnan(values).any() else values
        if self.scale.kind != SIGNED:
            return self.weights * ((completed - self.means) / self.deviations), np.ones(len(completed))
        # A feature of which the whole family is missing counts nothing. The unit is the weight of all agreement that
        # could be: summed as the products are, so that a copy gets exactly 1.
        missing = np.isnan(completed)
        possible = sum_columns(np.where(missing, 0.0, np.maximum(self.weights, 0.0)))
        return np.where(missing, 0.0, self.weights * completed), np.where(possible > 0, possible, 1.0)

    def score(self, values: FloatArray) -> FloatArray:
        """The reported scores of rows of features."""
        return self.scale(self.linear(values))

    def to_json(self) -> str:
        """The model as the text of its file."""
        document = {
            "format": _FORMAT, "metric": self.metric, "language": self.language, "date": self.date,
            "groups": list(self.groups), "analysis": self.analysis, "data": list(self.data),
            "training": dict(self.training), **({"settings": dict(self.settings)} if self.settings else {}),
            "scale": {"kind": self.scale.kind, "slope": self.scale.slope, "centre": self.scale.centre},
            "features": [
                {"name": name, "weight": weight, "mean": mean, "deviation": deviation}
                for name, weight, mean, deviation in zip(
                    self.features, self.weights.tolist(), self.means.tolist(), self.deviations.tolist(), strict=True
                )
            ],
        }  # fmt: skip
        return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def load_weights(metric: str, language: str, weights: LinearModel | str | Path | None = None) -> LinearModel:
    """The weights of a metric (`tesla-x`): those given, those in a file, or the installed ones.

    Those of the language go before those for any, and the user's own before the shipped ones.
    """
    if isinstance(weights, LinearModel):
        return weights
    key = metric.removeprefix("tesla-")
    if weights is None:
        kind = f"weights-{key}"
        weights = find_resource(kind, language, ".json") or find_resource(kind, ANY_LANGUAGE, ".json")
    if weights is None:
        raise missing_resource(f"file of weights for {metric}", language, f"tesla train {key} -l {language}")
    model = read_weights(Path(weights))
    if model.metric != metric:
        raise ResourceError(f"the weights are for {model.metric}, not for {metric}")
    return model


def _parse(document: dict[str, Any], fingerprint: str) -> LinearModel:
    if document["format"] != _FORMAT:
        raise ValueError(f"it has format {document['format']!r}; this version of tesla-eval reads {_FORMAT}")
    columns: dict[str, FloatArray] = {
        key: np.array([finite(entry[key]) for entry in document["features"]])
        for key in ("weight", "mean", "deviation")
    }
    names = tuple(str(entry["name"]) for entry in document["features"])
    scale = document["scale"]
    if scale["kind"] not in ("logistic", "linear", SIGNED):
        raise ValueError(f"unknown scale {scale['kind']!r}")
    if not names or len(set(names)) < len(names):
        raise ValueError("it has no features, or one of them twice")
    if not (columns["deviation"] > 0).all():
        raise ValueError("a deviation is not positive")
    return LinearModel(
        metric=str(document["metric"]), language=str(document["language"]), features=names,
        weights=columns["weight"], means=columns["mean"], deviations=columns["deviation"],
        scale=Scale(scale["kind"], finite(scale["slope"]), finite(scale["centre"])),
        groups=tuple(map(str, document["groups"])), analysis=str(document["analysis"]),
        data=tuple(map(str, document["data"])), date=str(document["date"]), training=dict(document["training"]),
        settings=dict(document.get("settings", {})),
    ).known_as(fingerprint)  # fmt: skip


read_weights = partial(read_document, parse=_parse, what="a file of weights", command="tesla train")
"""The model in a file; raises `ResourceError`, which says what is wrong, if it is not valid."""
