"""TESLA-S (SPEC §10): a summary's content by unigrams and skip bigrams of equal words; the best of several models."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tesla_eval.analysis import Analyser, Pipeline, choose_analysis
from tesla_eval.bags import FUNCTION_WORD_DISCOUNT, IDENTITY, NgramFeature
from tesla_eval.errors import UsageError
from tesla_eval.matching import RECALL_WEIGHT
from tesla_eval.metrics.base import differing_parameters
from tesla_eval.metrics.ngram_metric import NgramMetric, mean_of_existing
from tesla_eval.records import Signature

__all__ = ["TeslaS", "TeslaSRecall"]

WINDOW = 4
"""SPEC §10: up to so many words stand between the two of a skip bigram."""
_WIDEST_WINDOW = 1000
_NOT_LOOKED_AT = ("lemmas", "senses")  # parts of the analysis that surface forms make no use of


class TeslaS(NgramMetric):
    """TESLA-S: how much of a model summary's content a summary has.

    >>> metric = TeslaS(lang="en")
    >>> models = ["The judge ordered Stiviano to pay.", "Stiviano must pay back $2.6 million."]
    >>> score = metric.sentence_score("A judge has ordered Stiviano to pay back the money.", models)
    >>> {name: round(value, 4) for name, value in score.features.items()}, round(score.score, 4)
    ({'s.1': 0.9052, 's.skip': 0.7771}, 0.8411)
    """

    id: ClassVar[str] = "tesla-s"
    default_alpha: ClassVar[float] = RECALL_WEIGHT

    def __init__(
        self,
        lang: str = "en",
        *,
        window: int = WINDOW,
        discount: float = FUNCTION_WORD_DISCOUNT,
        alpha: float | None = None,
        analyser: Analyser | Pipeline | None = None,
        workers: int = 1,
    ) -> None:
        if not 1 <= window <= _WIDEST_WINDOW:
            raise UsageError(f"window {window!r}: must lie between 1 and {_WIDEST_WINDOW}")
        alpha = self.default_alpha if alpha is None else alpha
        parameters = {
            "window": (window, WINDOW),
            "discount": (discount, FUNCTION_WORD_DISCOUNT),
            "alpha": (alpha, self.default_alpha),
        }
        super().__init__(
            [
                NgramFeature(IDENTITY, 1, label="s.1"),
                NgramFeature(IDENTITY, 2, gap=window, label="s.skip"),
            ],
            analysis=choose_analysis(lang, analyser),
            discount=discount,
            alpha=alpha,
            workers=workers,
            parameters=differing_parameters(parameters),
        )

    def combine(self, f: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The mean of the two F-measures, as far as they exist."""
        return mean_of_existing(f)

    def over_references(
        self, scores: npt.NDArray[np.float64], features: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The best model of each segment, with its own features; of equal ones that with the greater unigram F."""
        keys = [*np.moveaxis(np.nan_to_num(features, nan=-1.0), -1, 0)[::-1], np.nan_to_num(scores, nan=-1.0)]
        best = np.lexsort(keys, axis=0)[-1]
        columns = np.arange(scores.shape[1])
        return scores[best, columns], features[best, columns]

    def get_signature(self) -> Signature:
        """Name, version, language, parameters that differ from the default, and the resources that matter here."""
        items = super().get_signature()
        return Signature({key: value for key, value in items.items() if key not in _NOT_LOOKED_AT})

    @property
    def shortcomings(self) -> list[str]:
        """Synonyms play no part here; without a tagger every word weighs the same."""
        return [] if self.analysis.tagged else ["no tagger, so function words weigh as much as others"]


class TeslaSRecall(TeslaS):
    """TESLA-S's recall as a score of its own: F with α = 1, the mean of both recalls, the best of several models.

    >>> round(TeslaSRecall().sentence_score("A judge has ordered it.", ["The judge ordered it."]).score, 4)
    0.9028
    """

    id: ClassVar[str] = "tesla-s-recall"
    default_alpha: ClassVar[float] = 1.0
