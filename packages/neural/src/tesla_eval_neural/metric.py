"""TESLA-N (specification §8c, beyond the papers): TESLA-X, and the same matching over contextual pieces of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from tesla_eval.base.errors import ResourceError
from tesla_eval.base.resources import find_user_data_folder, missing_resource
from tesla_eval.language.analysis import Analysis
from tesla_eval.metrics.combinations import Combination, Layout, Linear
from tesla_eval.metrics.feature_metric import FeatureMetric
from tesla_eval.metrics.features import BoundGroup
from tesla_eval.metrics.tesla_x import TeslaX
from tesla_eval_neural.encoder import shipped_file
from tesla_eval_neural.group import BoundContext, ContextGroup
from tesla_eval_neural.tense import TenseGroup

__all__ = ["ContextLinear", "TeslaN", "data_folder", "weights_file"]


def data_folder() -> Path:
    """The folder of the resources that this package ships, for `tesla resources`."""
    return shipped_file("")


def weights_file(language: str) -> str:
    """The name of the file of weights for a language."""
    return f"weights-n-{language}.json"


@dataclass(frozen=True)
class ContextLinear(Linear):
    """A linear model over TESLA-X's features and those of context.

    Its file names the encoder that the weights were learned with.
    """

    def load(self, metric: str, analysis: Analysis, own_analysis: bool) -> Combination:
        """With the weights given, the user's own, or the shipped ones."""
        language = analysis.signature["lang"]
        if self.weights is not None:
            return super().load(metric, analysis, own_analysis)
        name = weights_file(language)
        own = find_user_data_folder()
        for path in (*([] if own is None else [own / name]), shipped_file(name)):
            if path.is_file():
                return Linear.load(replace(self, weights=path), metric, analysis, own_analysis)
        raise missing_resource(
            f"file of weights for {metric}", language, f"tesla train n -l {language}",
            " (another language also needs an encoder: `tesla train encoder`)",
        )  # fmt: skip

    def over(self, groups: Sequence[BoundGroup]) -> Layout:
        """As of any linear model; refuses an encoder that the weights were not learned with."""
        learned_with = self.model.settings.get("encoder")
        for group in groups:
            if isinstance(group, BoundContext) and group.encoder.fingerprint != learned_with:
                raise ResourceError(
                    f"tesla-n: the weights were learned with the encoder {learned_with}, but "
                    f"{group.encoder.fingerprint} is installed; train them again with `tesla train n`"
                )
        return super().over(groups)


class TeslaN(FeatureMetric):
    """TESLA-N: TESLA-X and pieces of words in their context, matched exactly, weighted as human judgements taught.

    Agreement with the reference can only help: a copy of it scores 1.

    >>> metric = TeslaN("en")
    >>> metric.sentence_score("The same text.", ["The same text."]).score
    1.0
    >>> near, far = (metric.sentence_score(f"Two men were {word}.", ["Two men were arrested."]).score
    ...              for word in ("detained", "released"))
    >>> near > far
    True
    """

    id: ClassVar[str] = "tesla-n"
    summary: ClassVar[str] = "TESLA-X and words in their context, weights learned"
    scale: ClassVar[str] = "0..1"
    task: ClassVar[str] = "translations"
    languages: ClassVar[str] = "with an encoder"
    groups = (ContextGroup(), TenseGroup(), *TeslaX.groups)
    combination = ContextLinear()
