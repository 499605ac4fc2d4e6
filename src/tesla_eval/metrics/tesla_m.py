"""TESLA-M (SPEC §5): the mean of six F-measures, n = 1, 2, 3 under the similarities `ms` and `pos`."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tesla_eval.analysis import Analyser, Pipeline, choose_analysis
from tesla_eval.bags import FUNCTION_WORD_DISCOUNT, NgramFeature
from tesla_eval.errors import UsageError
from tesla_eval.matching import RECALL_WEIGHT
from tesla_eval.metrics.base import differing_parameters
from tesla_eval.metrics.ngram_metric import NgramMetric, mean_of_existing

__all__ = ["TeslaM"]

LONGEST_NGRAM = 3
"""SPEC §5: n-grams of one to three words."""


class TeslaM(NgramMetric):
    """TESLA-M: word n-grams matched by lemma, synonym and part of speech.

    >>> metric = TeslaM(lang="en")
    >>> round(metric.sentence_score("The cats sat on a mat.", ["The cat sat on the mat."]).score, 4)
    0.6495
    >>> metric.sentence_score("The same text.", ["The same text."]).score
    1.0
    """

    id: ClassVar[str] = "tesla-m"

    def __init__(
        self,
        lang: str = "en",
        *,
        max_n: int = LONGEST_NGRAM,
        discount: float = FUNCTION_WORD_DISCOUNT,
        alpha: float = RECALL_WEIGHT,
        analyser: Analyser | Pipeline | None = None,
        synonyms: str | None = None,
        workers: int = 1,
    ) -> None:
        if not 1 <= max_n <= LONGEST_NGRAM:
            raise UsageError(f"max_n {max_n!r}: must be 1, 2 or {LONGEST_NGRAM}")
        parameters = {
            "max_n": (max_n, LONGEST_NGRAM),
            "discount": (discount, FUNCTION_WORD_DISCOUNT),
            "alpha": (alpha, RECALL_WEIGHT),
        }
        super().__init__(
            [NgramFeature(similarity, n) for similarity in ("ms", "pos") for n in range(1, max_n + 1)],
            analysis=choose_analysis(lang, analyser, synonyms),
            discount=discount,
            alpha=alpha,
            workers=workers,
            parameters=differing_parameters(parameters),
        )

    def combine(self, f: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The mean of the F-measures that exist."""
        return mean_of_existing(f)
