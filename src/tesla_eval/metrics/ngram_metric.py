"""What TESLA's n-gram metrics share: analyse, build bags, match every reference, combine the F-measures."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval.analysis import AnalysedBatch, Analysis
from tesla_eval.bags import NgramFeature, build_bags
from tesla_eval.errors import UsageError
from tesla_eval.matching import Matches, explain_feature, match_pairs
from tesla_eval.metrics.base import (
    Metric,
    References,
    SegmentScores,
    blocks_of_pairs,
    check_references,
    mean_over_references,
    new_matrix,
    same_text,
)
from tesla_eval.records import Signature
from tesla_eval.version import __version__

__all__ = ["NgramMetric", "mean_of_existing"]

_PAIRS_AT_ONCE = 1 << 16


class NgramMetric(Metric):
    """A metric over F-measures of word n-grams; a subclass names its features and combines them."""

    def __init__(
        self,
        features: Sequence[NgramFeature],
        *,
        analysis: Analysis,
        discount: float,
        alpha: float,
        workers: int,
        parameters: dict[str, str],
    ) -> None:
        if not 0 <= alpha <= 1:
            raise UsageError(f"alpha {alpha!r}: must lie between 0 and 1")
        self.analysis = analysis
        if not analysis.tagged:  # without tags the features of tags do not exist
            features = [feature for feature in features if feature.similarity != "pos"]
        self.features = tuple(features)
        self.feature_names = tuple(feature.name for feature in self.features)
        self.discount = discount
        self.alpha = alpha
        self.workers = workers
        self._parameters = parameters

    @abstractmethod
    def combine(self, f: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The score of each pair from its row of F-measures, of which some may be NaN but not all."""

    @property
    def shortcomings(self) -> list[str]:
        """What the analysis of this language lacks, for a warning."""
        return self.analysis.shortcomings

    def get_signature(self) -> Signature:
        """Name, version, language, parameters that differ from the default, resources."""
        head = {"metric": self.id, "version": __version__}
        return Signature({**head, **self.analysis.signature, **self._parameters})

    def score_segments(self, hypotheses: Sequence[str], references: References) -> SegmentScores:
        """The scores of some segments over the references that each has."""
        streams = [["" if text is None else text for text in stream] for stream in references]
        hypothesis, *sides = self.analysis.analyse(hypotheses, *streams)
        prepared = self._prepare(hypothesis)
        shape = (len(references), len(hypotheses))
        scores = np.full(shape, np.nan)
        features = np.full((*shape, len(self.feature_names)), np.nan)
        for k, (side, stream) in enumerate(zip(sides, references, strict=True)):
            there = np.array([index for index, text in enumerate(stream) if text is not None], np.int64)
            f = self._match(self._prepare(side), prepared, there, there).f
            features[k, there] = f
            scores[k, there] = self._scores(f, side, hypothesis, there, there)
        return SegmentScores(*self.over_references(scores, features))

    def over_references(
        self, scores: npt.NDArray[np.float64], features: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Scores (references, segments) and features (references, segments, features) as those of the segments.

        NaN is a reference that a segment has not, or a feature that does not exist. Here: the mean (SPEC §5).
        """
        return mean_over_references(scores), mean_over_references(features)

    def pairwise(self, hypotheses: Sequence[str], references: Sequence[str]) -> npt.NDArray[np.float64]:
        """The score of every hypothesis (row) against every reference (column); each text is analysed once."""
        matrix = new_matrix(hypotheses, references)
        if not matrix.size:
            return matrix
        hypothesis, reference = self.analysis.analyse(hypotheses, references)
        prepared = self._prepare(reference), self._prepare(hypothesis)
        for rows, i, j in blocks_of_pairs(len(hypotheses), len(references), _PAIRS_AT_ONCE):
            f = self._match(*prepared, j, i).f
            matrix[rows] = self._scores(f, reference, hypothesis, j, i).reshape(len(rows), -1)
        return matrix

    def _prepare(self, batch: AnalysedBatch) -> Any:
        """The bags of the texts of a batch."""
        return build_bags(batch, self.features, self.discount)

    def _match(
        self, reference: Any, hypothesis: Any, reference_index: npt.NDArray[np.int64],
        hypothesis_index: npt.NDArray[np.int64],
    ) -> Matches:  # fmt: skip
        """Precision, recall and F of all features for pairs of prepared texts."""
        return match_pairs(reference, hypothesis, reference_index, hypothesis_index, self.alpha)

    def _explain_features(
        self, reference: AnalysedBatch, hypothesis: AnalysedBatch, matches: Matches
    ) -> list[dict[str, Any]]:
        """The features of one pair that exist, with their flows."""
        return [
            explain_feature(reference, hypothesis, feature, self.discount).to_dict(
                *(float(array[0, column]) for array in (matches.precision, matches.recall, matches.f))
            )
            for column, feature in enumerate(self.features)
            if not np.isnan(matches.f[0, column])
        ]

    def _scores(
        self, f: npt.NDArray[np.float64], reference: AnalysedBatch, hypothesis: AnalysedBatch,
        reference_index: npt.NDArray[np.int64], hypothesis_index: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.float64]:  # fmt: skip
        """The score of each pair; where no token is left on both sides, whether the texts are equal (SPEC §5)."""
        empty = (reference.lengths[reference_index] == 0) & (hypothesis.lengths[hypothesis_index] == 0)
        scores = np.empty(len(f))
        scores[~empty] = self.combine(f[~empty])
        for k in np.nonzero(empty)[0].tolist():
            scores[k] = same_text(reference.texts[reference_index[k]], hypothesis.texts[hypothesis_index[k]])
        return scores

    def _explain_reference(self, hypothesis: str, reference: str) -> dict[str, Any]:
        check_references([hypothesis], [[reference]])
        y, x = self.analysis.analyse([hypothesis], [reference])
        only = np.zeros(1, np.int64)
        matches = self._match(self._prepare(x), self._prepare(y), only, only)
        return {
            "score": float(self._scores(matches.f, x, y, only, only)[0]),
            "reference": [token.to_dict() for token in x.tokens(0)],
            "hypothesis": [token.to_dict() for token in y.tokens(0)],
            "features": self._explain_features(x, y, matches),
        }


def mean_of_existing(f: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The mean of each row without NaN, summed column after column, so that every machine rounds alike.

    >>> mean_of_existing(np.array([[1.0, 0.5, np.nan]])).tolist()
    [0.75]
    """
    sums = np.zeros(len(f))
    for column in np.where(np.isnan(f), 0.0, f).T:
        sums += column
    mean: npt.NDArray[np.float64] = sums / (~np.isnan(f)).sum(axis=1)
    return mean
