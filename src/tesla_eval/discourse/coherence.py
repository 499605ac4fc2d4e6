"""The coherence model of LIN and DICOMER: one weight a feature of the role matrix, learned by ranking (SPEC §11)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from tesla_eval.discourse.roles import VARIANTS, Variant
from tesla_eval.errors import ResourceError, UsageError
from tesla_eval.resources import Resource, find_resource, read_resource, text_array

__all__ = ["KIND", "CoherenceModel", "find_coherence_model", "model_from_resource"]

KIND = "dicomer"
LOWEST_SHARE = 0.001
"""SPEC §11: the scaled score is clipped to [0.001, 1] before its logarithm is taken."""


@dataclass(frozen=True, eq=False)
class CoherenceModel:
    """Weights by feature, and the range of the ranking scores of the training texts.

    >>> model = CoherenceModel("lin", {"nil→Exp.Arg1": 2.0}, lowest=0.0, highest=1.0)
    >>> model.score({"nil→Exp.Arg1": 0.25, "nil→nil": 0.75})
    0.5
    >>> round(model.log_score(0.5), 4)
    -0.6931
    """

    variant: Variant
    weights: Mapping[str, float]
    lowest: float
    highest: float
    parser: str = ""
    """The fingerprint of the parser whose relations it was trained on."""
    info: Mapping[str, Any] = field(default_factory=dict)
    fingerprint: str = ""

    def shares(self, features: Mapping[str, float]) -> dict[str, float]:
        """What each known feature adds to the score: weight × probability."""
        weights = self.weights
        return {name: weights[name] * value for name, value in features.items() if name in weights}

    def score(self, features: Mapping[str, float]) -> float:
        """The ranking score: the exact sum of the shares, whatever their order; 0 for a text without transitions."""
        return math.fsum(self.shares(features).values())

    def log_score(self, score: float) -> float:
        """The logarithm of the score scaled to the range of the training texts."""
        scaled = (score - self.lowest) / (self.highest - self.lowest)
        return math.log(min(1.0, max(LOWEST_SHARE, scaled)))

    def to_resource(
        self, language: str, *, sources: tuple[str, ...] = (), licence: str = "", date: str = ""
    ) -> Resource:
        """The model as a resource file's content."""
        names = sorted(self.weights)
        return Resource(
            KIND, language,
            {"features": text_array("\n".join(names)), "weights": np.array([self.weights[n] for n in names], "<f8")},
            analysis=self.parser, sources=sources, licence=licence, date=date,
            info={**self.info, "variant": self.variant, "lowest": self.lowest, "highest": self.highest},
        )  # fmt: skip


def model_from_resource(resource: Resource) -> CoherenceModel:
    """The model that `to_resource` wrote; `ResourceError` if it is none."""
    info = resource.info
    try:
        names = resource.text("features").split("\n")
        weights = dict(zip(names, resource.arrays["weights"].tolist(), strict=True))
        lowest, highest = float(info["lowest"]), float(info["highest"])
        if info["variant"] not in VARIANTS or not lowest < highest:
            raise ValueError("unknown variant, or an empty range of scores")
    except (KeyError, TypeError, ValueError) as error:
        raise ResourceError(
            f"{resource.path}: is damaged ({error}); reinstall it, or train it with `tesla train dicomer`"
        ) from error
    variant = cast("Variant", info["variant"])
    return CoherenceModel(
        variant, weights, lowest, highest, resource.analysis, dict(info), resource.fingerprint
    )


def find_coherence_model(language: str) -> CoherenceModel:
    """The installed model of a language: the user's own before the shipped one."""
    path = find_resource(KIND, language)
    if path is None:
        raise UsageError(
            f"no DICOMER model for {language!r}: English (en) is built in; see `tesla train dicomer`"
        )
    return model_from_resource(read_resource(path, KIND))
