"""Words matched by their vectors as a group of features (specification §8b)."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any, ClassVar

from tesla_eval._core import VectorGroup as CoreVectors
from tesla_eval.language.analysis import AnalysedBatch, Analysis
from tesla_eval.language.analysis.frequencies import load_frequencies
from tesla_eval.language.analysis.vectors import WordsWithVectors, load_vectors
from tesla_eval.matching.matcher import RECALL_WEIGHT
from tesla_eval.matching.vectors import VECTOR_PROBLEMS, WEIGHT_UNIT, explain_vectors
from tesla_eval.metrics.features import (
    BoundGroup,
    CoreGroup,
    Feature,
    FeatureGroup,
    GroupDetail,
    fixed,
)
from tesla_eval.metrics.features.measures import MEASURES, explained_measures, measured_features

if TYPE_CHECKING:
    from tesla_eval.base.explanations import FeatureDetail

_FLOW = "vec.1"
_BIGRAMS = "vec.2"


@dataclass(frozen=True)
class VectorGroup(FeatureGroup):
    """Words that mean nearly the same: best partners and flows between words and bigrams, weighted by rarity."""

    name: ClassVar[str] = "vectors"

    measures: tuple[str, ...] = fixed(MEASURES)
    alpha: float = fixed(RECALL_WEIGHT)

    def bind(self, analysis: Analysis) -> BoundGroup | None:
        """The group over the language's table of vectors; nothing if it has no table."""
        language = analysis.signature["lang"]
        vectors = load_vectors(language)
        if vectors is None:
            return None
        return _BoundVectors(WordsWithVectors(vectors, load_frequencies(language)), self)


class _BoundVectors(CoreGroup):
    def __init__(self, words: WordsWithVectors, declared: VectorGroup) -> None:
        self._words, self._declared = words, declared
        label, kind = "similar words", VectorGroup.name
        problems = [Feature(name, VectorGroup.name, kind, label, name) for name in VECTOR_PROBLEMS]
        super().__init__(
            lambda vocabulary: CoreVectors(words.core[vocabulary], declared.alpha, declared.measures),
            measured_features(problems, declared.measures),
            words.signature,
        )

    def explain(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> GroupDetail:
        """Precision, recall and F of each problem; the flow between words with their similarities."""
        from tesla_eval.base.explanations import (  # not before something is explained
            MatchDetail,
            MeasuredDetail,
        )

        every = CoreVectors(self._words.core[reference.vocabulary], self._declared.alpha, MEASURES)
        values, rows = explained_measures(every, reference, hypothesis, self._declared.measures)
        details: list[FeatureDetail] = []
        for name, (p, r, f) in zip(VECTOR_PROBLEMS, rows, strict=True):
            if isnan(f):
                continue
            measures: dict[str, Any] = {"name": name, "similarity": "vec", "n": 2 if name == _BIGRAMS else 1}
            measures |= {"precision": p, "recall": r, "f": f}
            if name != _FLOW:
                details.append(MeasuredDetail(**measures))
                continue
            x, y = map(self._words.prepare, (reference, hypothesis))
            objective, flow = explain_vectors(reference, hypothesis, self._words)
            weights: dict[str, Any] = {
                "reference_weight": x.total_weight / WEIGHT_UNIT,
                "hypothesis_weight": y.total_weight / WEIGHT_UNIT,
            }
            details.append(MatchDetail(**measures, **weights, objective=objective, flow=flow))
        return GroupDetail(values, tuple(details))
