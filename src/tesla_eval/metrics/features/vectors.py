"""Words matched by their vectors as a group of features (specification §8b)."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any, ClassVar

from tesla_eval._core import VectorGroup as CoreVectors
from tesla_eval._core import VectorTexts
from tesla_eval.language.analysis import AnalysedBatch, Analysis
from tesla_eval.language.analysis.frequencies import load_frequencies
from tesla_eval.language.analysis.vectors import WordsWithVectors, load_vectors
from tesla_eval.matching.ngrams import RECALL_WEIGHT
from tesla_eval.matching.vectors import VECTOR_PROBLEMS, WEIGHT_UNIT, explain_vectors, match_vectors
from tesla_eval.metrics.features import (
    FIRST,
    BoundGroup,
    CoreGroup,
    Feature,
    FeatureGroup,
    GroupDetail,
    fixed,
)
from tesla_eval.metrics.features.measures import MEASURES, measured_columns, measured_features

if TYPE_CHECKING:
    from tesla_eval.base.explanations import FeatureDetail, MatchDetail

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
            {"vectors": words.fingerprint},
        )

    def explain(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> GroupDetail:
        """Precision, recall and F of each problem; the flow between words with their similarities."""
        from tesla_eval.base.explanations import MeasuredDetail  # not before something is explained

        x, y = self._words.prepare(reference), self._words.prepare(hypothesis)
        matches = match_vectors(x, y, FIRST, FIRST, self._declared.alpha)
        rows = zip(
            VECTOR_PROBLEMS,
            matches.precision[0].tolist(),
            matches.recall[0].tolist(),
            matches.f[0].tolist(),
            strict=True,
        )
        details: list[FeatureDetail] = []
        for name, p, r, f in rows:
            if isnan(f):
                continue
            measures: dict[str, Any] = {
                "name": name,
                "similarity": "vec",
                "precision": p,
                "recall": r,
                "f": f,
            }
            if name == _FLOW:
                apart = (self._words.prepare(batch, merged=False) for batch in (reference, hypothesis))
                details.append(_flow(measures, *apart))
            else:
                details.append(MeasuredDetail(n=2 if name == _BIGRAMS else 1, **measures))
        return GroupDetail(measured_columns(matches, self._declared.measures)[0], tuple(details))


def _flow(measures: dict[str, Any], reference: VectorTexts, hypothesis: VectorTexts) -> MatchDetail:
    """The flow between the words of the reference and of the hypothesis."""
    from tesla_eval.base.explanations import Link, MatchDetail  # not before something is explained

    links = explain_vectors(reference, hypothesis)
    return MatchDetail(
        n=1,
        objective=sum(link.gain * link.weight for link in links),
        reference_weight=reference.total_weight / WEIGHT_UNIT,
        hypothesis_weight=hypothesis.total_weight / WEIGHT_UNIT,
        flow=tuple(
            Link(
                (link.reference, link.reference + 1),
                (link.hypothesis, link.hypothesis + 1),
                link.similarity,
                link.weight,
            )
            for link in links
        ),
        **measures,
    )
