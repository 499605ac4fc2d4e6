"""PEM's view of an original and its paraphrase (specification §13): adequacy, fluency, dissimilarity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.errors import UsageError
from tesla_eval.language.analysis import AnalysedBatch, Analysis, Pipeline
from tesla_eval.language.lm import LanguageModel, load_language_model
from tesla_eval.language.pivot import PhraseTable, load_phrase_table
from tesla_eval.matching.bags.ngram_bags import PivotFeature, build_pivot_bags
from tesla_eval.matching.kernels import PivotBags
from tesla_eval.matching.matcher import explain_shared, match_pairs
from tesla_eval.metrics.features import FIRST, BoundGroup, Feature, FeatureGroup, GroupDetail, fixed
from tesla_eval.metrics.features.pivots import tables_signature
from tesla_eval_papers.metrics.features.stems import LONGEST, Stems, overlap

PARAPHRASE_FEATURES = ("adequacy", "fluency", "dissimilarity")
BALANCED = 0.5
"""α of the balanced F."""
_NO_DISCOUNT = 1.0


@dataclass(frozen=True)
class ParaphraseGroup(FeatureGroup):
    """Adequacy over pivot languages, fluency under a language model, overlap of stems. A model chooses these."""

    name: ClassVar[str] = "paraphrase"

    pivots: tuple[str, ...] = fixed(())
    language_model: str = fixed("")

    def bind(self, analysis: Analysis) -> ParaphraseFeatures:
        """The features over the phrase tables and the language model."""
        if not self.pivots:
            raise UsageError("pem: without a pivot language there is no adequacy")
        assert isinstance(analysis, Pipeline)
        language_model = load_language_model(analysis.language, self.language_model)
        if not language_model.stems:
            raise UsageError(
                f"pem: the language model {self.language_model!r} is of words; make one with `tesla train lm --stems`"
            )
        tables = [load_phrase_table(analysis.language, pivot, stems=True) for pivot in self.pivots]
        return ParaphraseFeatures(analysis, tables, language_model)


def pivot_bags(table: PhraseTable, batch: AnalysedBatch, **limits: float) -> PivotBags:
    """The bags of all pivot n-grams of texts, without a discount."""
    feature = PivotFeature(table.pivot, "lem", LONGEST, pooled=True)
    return build_pivot_bags(batch, table, [feature], discount=_NO_DISCOUNT, **limits)


def pivot_f1(x: PivotBags, y: PivotBags, x_index: Index, y_index: Index) -> FloatArray:
    """The balanced F of the pivot bags of pairs of texts; NaN where both are empty."""
    return np.asarray(match_pairs(x, y, x_index, y_index, BALANCED).f[:, 0])


@dataclass(frozen=True)
class _Prepared:
    batch: AnalysedBatch
    bags: list[PivotBags]
    stems: Stems


class ParaphraseFeatures(BoundGroup):
    """The three features of pairs of texts in one language."""

    features = tuple(Feature(name, ParaphraseGroup.name, name, name, name) for name in PARAPHRASE_FEATURES)

    def __init__(
        self, analysis: Pipeline, tables: Sequence[PhraseTable], language_model: LanguageModel
    ) -> None:
        self.analysis = analysis
        self.tables = tuple(tables)
        self.language_model = language_model

    @property
    def signature(self) -> dict[str, str]:
        """The fingerprints of the phrase tables and of the language model."""
        return {"pivots": tables_signature(self.tables), "lm": self.language_model.fingerprint}

    def prepare(self, batch: AnalysedBatch) -> _Prepared:
        """Pivot bags and stems."""
        bags = [pivot_bags(table, batch) for table in self.tables]
        return _Prepared(batch, bags, Stems(batch.offsets, batch.lemma))

    def compare(
        self, reference: _Prepared, hypothesis: _Prepared, reference_index: Index, hypothesis_index: Index
    ) -> FloatArray:
        """Adequacy, fluency and dissimilarity (high where little was changed); NaN for what an empty text lacks."""
        pairs = (reference, hypothesis, reference_index, hypothesis_index)
        fluency = self.language_model.normalised(hypothesis.batch)[hypothesis_index]
        adequacy = np.zeros(len(reference_index))
        for by_pair in self._adequacies(*pairs):
            adequacy += by_pair
        similarity = overlap(reference.stems, hypothesis.stems, reference_index, hypothesis_index)
        return np.column_stack([adequacy / len(self.tables), fluency, similarity])

    def _adequacies(self, x: _Prepared, y: _Prepared, x_index: Index, y_index: Index) -> list[FloatArray]:
        """The pivot F1 for each pivot language."""
        return [pivot_f1(a, b, x_index, y_index) for a, b in zip(x.bags, y.bags, strict=True)]

    def explain(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> GroupDetail:
        """The features with the pivot n-grams that both texts share and every word's ln P."""
        x, y = self.prepare(reference), self.prepare(hypothesis)
        values = self.compare(x, y, FIRST, FIRST)[0]
        adequacies = [float(by_pair[0]) for by_pair in self._adequacies(x, y, FIRST, FIRST)]
        pivots = tuple(
            explain_shared(table, reference, hypothesis, LONGEST, value)
            for table, value in zip(self.tables, adequacies, strict=True)
        )
        words = tuple(self.language_model.explain(hypothesis.texts[0]))
        return self.detail(values, {"adequacy": {"pivots": pivots}, "fluency": {"words": words}})
