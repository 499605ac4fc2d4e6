"""TESLA-B (SPEC §7): TESLA-M's features and, for every pivot language, six F-measures of pivot n-grams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tesla_eval.analysis import AnalysedBatch, Analyser, Pipeline
from tesla_eval.bags import FUNCTION_WORD_DISCOUNT
from tesla_eval.bags.pivot import LEAST_NGRAM_PROBABILITY, LEAST_PROBABILITY
from tesla_eval.errors import ResourceError, UsageError
from tesla_eval.matching import RECALL_WEIGHT, Matches
from tesla_eval.metrics.base import differing_parameters
from tesla_eval.metrics.ngram_metric import mean_of_existing
from tesla_eval.metrics.pivot_group import PivotGroup, PivotLimits, load_tables
from tesla_eval.metrics.tesla_m import LONGEST_NGRAM, TeslaM
from tesla_eval.pivot import PhraseTable
from tesla_eval.records import Signature

__all__ = ["TeslaB"]


class TeslaB(TeslaM):
    """TESLA-B: TESLA-M, and what the two texts have in common when they are looked at in other languages.

    `pivots` are codes of languages with an installed phrase table, or tables; by default all that are installed.

    >>> metric = TeslaB(lang="en", pivots=["fr"])
    >>> metric.sentence_score("The same text.", ["The same text."]).score
    1.0
    """

    id: ClassVar[str] = "tesla-b"

    def __init__(
        self,
        lang: str = "en",
        *,
        pivots: Sequence[str | PhraseTable] | None = None,
        max_n: int = LONGEST_NGRAM,
        discount: float = FUNCTION_WORD_DISCOUNT,
        alpha: float = RECALL_WEIGHT,
        least_probability: float = LEAST_PROBABILITY,
        least_ngram_probability: float = LEAST_NGRAM_PROBABILITY,
        analyser: Analyser | Pipeline | None = None,
        synonyms: str | None = None,
        workers: int = 1,
    ) -> None:
        super().__init__(
            lang,
            max_n=max_n,
            discount=discount,
            alpha=alpha,
            analyser=analyser,
            synonyms=synonyms,
            workers=workers,
        )
        if not (0 <= least_probability < 1 and 0 <= least_ngram_probability < 1):
            raise UsageError("the least probabilities must lie between 0 and 1")
        tables = load_tables(self.analysis, pivots)
        if not tables:
            language = self.analysis.signature["lang"]
            raise ResourceError(
                f"tesla-b: {language!r} has no phrase table; make one with `tesla build phrase-table -l {language} "
                "--pivot PIVOT`, or use -m m"
            )
        self._pivots = PivotGroup(
            tables, longest=max_n, discount=discount, alpha=alpha,
            limits=PivotLimits(least_probability, least_ngram_probability),
        )  # fmt: skip
        self.feature_names += self._pivots.feature_names
        limits = {
            "least_probability": (least_probability, LEAST_PROBABILITY),
            "least_ngram_probability": (least_ngram_probability, LEAST_NGRAM_PROBABILITY),
        }
        self._parameters |= differing_parameters(limits)

    def get_signature(self) -> Signature:
        """The signature of TESLA-M and the fingerprints of the phrase tables."""
        return Signature({**super().get_signature(), **self._pivots.signature})

    def combine(self, f: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Half the mean of the target features, half that of all pivot features, if there are any."""
        target, pivot = f[:, : len(self.features)], f[:, len(self.features) :]
        target_mean = mean_of_existing(target)
        there = ~np.isnan(pivot).all(axis=1)
        scores = target_mean.copy()
        scores[there] = (target_mean[there] + mean_of_existing(pivot[there])) / 2
        return scores

    def _prepare(self, batch: AnalysedBatch) -> Any:
        return super()._prepare(batch), self._pivots.prepare(batch)

    def _match(
        self, reference: Any, hypothesis: Any, reference_index: npt.NDArray[np.int64],
        hypothesis_index: npt.NDArray[np.int64],
    ) -> Matches:  # fmt: skip
        target = super()._match(reference[0], hypothesis[0], reference_index, hypothesis_index)
        pivot = self._pivots.match(reference[1], hypothesis[1], reference_index, hypothesis_index)
        return Matches(*(
            np.concatenate([getattr(target, name), getattr(pivot, name)], axis=1)
            for name in ("precision", "recall", "f")
        ))  # fmt: skip

    def _explain_features(
        self, reference: AnalysedBatch, hypothesis: AnalysedBatch, matches: Matches
    ) -> list[dict[str, Any]]:
        return [
            *super()._explain_features(reference, hypothesis, matches),
            *self._pivots.explain(reference, hypothesis),
        ]
