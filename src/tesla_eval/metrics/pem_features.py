"""What PEM sees in an original and its paraphrase (SPEC §13): adequacy, fluency, dissimilarity."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval._core import ngram_overlap
from tesla_eval.analysis import AnalysedBatch, Pipeline
from tesla_eval.analysis.batch import WordMap
from tesla_eval.analysis.porter import porter_stem
from tesla_eval.bags import PivotFeature, build_pivot_bags, pivot_network
from tesla_eval.bags.pivot import PivotNetwork
from tesla_eval.lm import LanguageModel
from tesla_eval.matching import match_pairs
from tesla_eval.matching.pivot import explain_segments
from tesla_eval.pivot import PhraseTable

__all__ = ["FEATURES", "LONGEST", "PemFeatures", "pivot_f1"]

FEATURES = ("adequacy", "fluency", "dissimilarity")
LONGEST = 4
"""SPEC §13: n-grams of one to four words, in one bag."""
BALANCED = 0.5
"""α of the balanced F."""
_NO_DISCOUNT = 1.0

FloatArray = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]


def pivot_f1(
    table: PhraseTable, x: AnalysedBatch, y: AnalysedBatch, x_index: Index, y_index: Index, **limits: float
) -> FloatArray:
    """The balanced F of the pivot bags of pairs of texts; NaN where both are empty."""
    feature = PivotFeature(table.pivot, "lem", LONGEST, pooled=True)
    bags = [build_pivot_bags(side, table, [feature], discount=_NO_DISCOUNT, **limits) for side in (x, y)]
    return np.asarray(match_pairs(bags[0], bags[1], x_index, y_index, BALANCED).f[:, 0])


class PemFeatures:
    """Computes the three features of pairs of texts in one language."""

    def __init__(
        self, analysis: Pipeline, tables: Sequence[PhraseTable], language_model: LanguageModel
    ) -> None:
        self.analysis = analysis
        self.tables = tuple(tables)
        self.language_model = language_model
        self._stems: dict[str, int] = {}
        self._stem_of_word = WordMap(self._stem_number)

    def compute(self, x: AnalysedBatch, y: AnalysedBatch, x_index: Index, y_index: Index) -> FloatArray:
        """One row a pair: original `x_index[k]` and paraphrase `y_index[k]`; NaN for what an empty text has not."""
        fluency = self.language_model.normalised(y.texts)
        return np.column_stack(
            [self.adequacy(x, y, x_index, y_index), fluency[y_index], self.similarity(x, y, x_index, y_index)]
        )

    def adequacy(self, x: AnalysedBatch, y: AnalysedBatch, x_index: Index, y_index: Index) -> FloatArray:
        """The pivot F1, the mean over the pivot languages."""
        total = np.zeros(len(x_index))
        for table in self.tables:
            total += pivot_f1(table, x, y, x_index, y_index)
        return total / len(self.tables)

    def similarity(self, x: AnalysedBatch, y: AnalysedBatch, x_index: Index, y_index: Index) -> FloatArray:
        """The target F1: a high value means that little was changed."""
        common = ngram_overlap(
            x.offsets, self._stem_numbers(x), y.offsets, self._stem_numbers(y), x_index, y_index, LONGEST
        )
        totals = _ngrams(x.lengths)[x_index] + _ngrams(y.lengths)[y_index]
        return np.where(totals > 0, 2 * common / np.maximum(totals, 1), np.nan)

    def _stem_numbers(self, batch: AnalysedBatch) -> npt.NDArray[np.uint32]:
        """English words by their Porter stems, those of other languages by their lemmas."""
        return self._stem_of_word.of(batch) if self.analysis.language == "en" else batch.lemma

    def _stem_number(self, form: str) -> int:
        return self._stems.setdefault(porter_stem(form.lower()), len(self._stems))

    def explain(self, x: AnalysedBatch, y: AnalysedBatch) -> list[dict[str, Any]]:
        """The features between the only text of each side: values, and what they are made of."""
        only = np.zeros(1, np.int64)
        found = dict(zip(FEATURES, self.compute(x, y, only, only)[0].tolist(), strict=True))
        parts: dict[str, dict[str, Any]] = {
            "adequacy": {"pivots": [self._explain_pivot(table, x, y) for table in self.tables]},
            "fluency": {
                "words": [
                    {"word": word, "log_probability": log}
                    for word, log in self.language_model.explain(y.texts[0])
                ]
            },
            "dissimilarity": {},
        }
        return [
            {"name": name, "value": value, **parts[name]}
            for name, value in found.items()
            if not np.isnan(value)
        ]

    def _explain_pivot(self, table: PhraseTable, x: AnalysedBatch, y: AnalysedBatch) -> dict[str, Any]:
        """The pivot F1 of one language with the pivot n-grams that both texts have, and the phrases they come from."""
        only = np.zeros(1, np.int64)
        networks = [pivot_network(side, table, LONGEST) for side in (x, y)]
        shared = _shared(*networks)
        words = {" ".join(ngram): weight for ngram, weight in shared if len(ngram) == 1}
        return {
            "name": f"adequacy.{table.pivot}",
            "pivot": table.pivot,
            "value": float(pivot_f1(table, x, y, only, only)[0]),
            "flow": [
                {
                    "reference": " ".join(ngram),
                    "hypothesis": " ".join(ngram),
                    "similarity": 1.0,
                    "weight": weight,
                }
                for ngram, weight in shared
            ],
            "segments": {
                name: explain_segments(network, side.tokens(0), dict(words), _NO_DISCOUNT)
                for name, network, side in zip(("reference", "hypothesis"), networks, (x, y), strict=True)
            },
        }


def _ngrams(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """How many n-grams, n = 1 .. LONGEST, texts of so many words have."""
    total = np.zeros_like(lengths)
    for n in range(1, LONGEST + 1):
        total += np.maximum(lengths - n + 1, 0)
    return total


def _shared(x: PivotNetwork, y: PivotNetwork) -> list[tuple[tuple[str, ...], float]]:
    """The pivot n-grams that both texts have with what they share, the longest and heaviest first."""
    mine, other = map(_weights, (x, y))
    common = [(words, min(weight, other[words])) for words, weight in mine.items() if words in other]
    return sorted(common, key=lambda item: (-len(item[0]), -item[1], item[0]))


def _weights(network: PivotNetwork) -> dict[tuple[str, ...], float]:
    """The weight of every pivot n-gram; under identity those with the same words are one, whatever their tags."""
    weights: dict[tuple[str, ...], float] = defaultdict(float)
    for bag in network.ngrams:
        for ngram in bag:
            weights[ngram.words] += ngram.probability
    return weights
