"""PEM-X's view of an original and its paraphrase (specification §13): adequacy, fluency, overlap, each 0..1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tesla_eval.base.arrays import FloatArray, Index, sum_columns
from tesla_eval.base.errors import ResourceError
from tesla_eval.language.analysis import AnalysedBatch, Analysis, Pipeline
from tesla_eval.language.lm import LanguageModel, load_language_model
from tesla_eval.metrics.contradictions.finder import CONTRADICTIONS, ContradictionFinder, Marks
from tesla_eval.metrics.features import FIRST, BoundGroup, Feature, FeatureGroup, GroupDetail, fixed
from tesla_eval.metrics.features.ngrams import CharacterGroup
from tesla_eval.metrics.features.pivots import PivotGroup
from tesla_eval.metrics.features.vectors import VectorGroup
from tesla_eval_papers.metrics.features.exchanges import ParsedExchangeFinder
from tesla_eval_papers.metrics.features.stems import Stemmer, Stems, overlap, shared_and_all
from tesla_eval_papers.models.pem_x import PemXModel

_WORST = 4.0
"""From this loss of ln P per word on, fluency is 0."""
TELLING_WORDS = 10
"""In texts of up to this many words, a contradiction affects the whole text."""
_SHRINKAGE = 4
"""The mean over few words is unreliable, so a loss over L words counts L / (L + 4)."""


@dataclass(frozen=True)
class AdequacyGroup(FeatureGroup):
    """How much of the meaning a paraphrase keeps: weighted evidence, less what contradictions take away."""

    name: ClassVar[str] = "adequacy"

    model: PemXModel | None = fixed(None)  # noqa: RUF009  # makes a field, which is allowed

    def bind(self, analysis: Analysis) -> BoundGroup:
        """The group with the model's phrase tables."""
        assert isinstance(analysis, Pipeline) and self.model is not None
        return BoundAdequacy(analysis, self.model)


@dataclass(frozen=True)
class _Prepared:
    parts: tuple[Any, ...]
    marks: Marks


class BoundAdequacy(BoundGroup):
    """Adequacy between texts of one language; also the evidence it is made of, for training."""

    features = (Feature("adequacy", "adequacy", "adequacy", "adequacy", "adequacy"),)

    def __init__(self, analysis: Pipeline, model: PemXModel) -> None:
        self._model = model
        self.language = analysis.language
        # Evidence: words with vectors, characters, single words of pivot languages; all balanced F.
        balanced: dict[str, Any] = {"measures": ("f",), "alpha": 0.5}
        groups = (
            VectorGroup(**balanced),
            CharacterGroup(max_order=3, **balanced),
            PivotGroup(similarities=("lem",), pivots=model.pivots, max_n=1, discount=1.0, **balanced),
        )
        self._groups = tuple(filter(None, (group.bind(analysis) for group in groups)))
        self._contradictions = ContradictionFinder(analysis.language, ParsedExchangeFinder(analysis.language))
        self.evidence_names = tuple(feature.name for group in self._groups for feature in group.features)
        unknown = [name for name in model.evidence if name not in self.evidence_names]
        if unknown:
            raise ResourceError(f"pem-x: the model names evidence that does not exist: {', '.join(unknown)}")
        self._columns = [self.evidence_names.index(name) for name in model.evidence]
        self._weights = np.array(list(model.evidence.values()))
        self._taken = np.array([model.contradictions.get(kind, 0.0) for kind in CONTRADICTIONS])

    @property
    def signature(self) -> dict[str, str]:
        """The fingerprints of vectors, phrase tables and antonyms."""
        return {
            **{name: text for group in self._groups for name, text in group.signature.items()},
            **self._contradictions.signature,
        }

    def prepare(self, batch: AnalysedBatch) -> _Prepared:
        """What the evidence needs of the texts, and the marks of their words."""
        return _Prepared(
            tuple(group.prepare(batch) for group in self._groups), self._contradictions.prepare(batch)
        )

    def compare(
        self, reference: _Prepared, hypothesis: _Prepared, reference_index: Index, hypothesis_index: Index
    ) -> FloatArray:
        """Adequacy of each pair; NaN where a text has no words."""
        pairs = (reference, hypothesis, reference_index, hypothesis_index)
        return self._adequacy(self.evidence(*pairs), self.contradictions(*pairs), longer_lengths(*pairs))[
            :, None
        ]

    def evidence(self, reference: _Prepared, hypothesis: _Prepared, i: Index, j: Index) -> FloatArray:
        """All evidence, one column per name of `evidence_names`."""
        return np.column_stack(
            [
                group.compare(x, y, i, j)
                for group, x, y in zip(self._groups, reference.parts, hypothesis.parts, strict=True)
            ]
        )

    def contradictions(self, reference: _Prepared, hypothesis: _Prepared, i: Index, j: Index) -> FloatArray:
        """Which contradictions each pair has, one column per kind."""
        return self._contradictions.compare(reference.marks, hypothesis.marks, i, j)

    def _adequacy(self, evidence: FloatArray, contradictions: FloatArray, words: Index) -> FloatArray:
        rows = evidence[:, self._columns]
        missing = np.isnan(rows)
        weights = np.where(missing, 0.0, self._weights)
        total = sum_columns(weights)
        mean = sum_columns(np.where(missing, 0.0, rows) * weights) / np.where(total > 0, total, np.nan)
        agreement = np.clip((mean - self._model.unrelated) / (1 - self._model.unrelated), 0.0, 1.0)
        return contradicted(agreement, contradictions, self._taken, words)

    def explain(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> GroupDetail:
        """Adequacy with the contradictions that lower it."""
        x, y = self.prepare(reference), self.prepare(hypothesis)
        values = self.compare(x, y, FIRST, FIRST)[0]
        lowering = tuple(
            one
            for one in self._contradictions.explain(x.marks, y.marks)
            if self._model.contradictions.get(one.kind, 0.0) > 0
        )
        return self.detail(values, {"adequacy": {"contradictions": lowering}})


@dataclass(frozen=True)
class FluencyShareGroup(FeatureGroup):
    """1 if the paraphrase is, per word, at least as likely as the original and not a shuffled copy; else less."""

    name: ClassVar[str] = "fluency"

    model: str = fixed("")

    def bind(self, analysis: Analysis) -> BoundGroup:
        """The group with the language model."""
        return _BoundFluencyShare(load_language_model(analysis.signature["lang"], self.model))


class _BoundFluencyShare(BoundGroup):
    features = (Feature("fluency", "fluency", "fluency", "fluency", "fluency"),)

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._stemmer = Stemmer(model.language)

    @property
    def signature(self) -> dict[str, str]:
        return {"lm": self._model.fingerprint}

    def prepare(self, batch: AnalysedBatch) -> tuple[FloatArray, FloatArray, Stems]:
        """ln P per word, how much a loss counts, and the stems."""
        likely = self._model.normalised(batch.texts)
        return likely, batch.lengths / (batch.lengths + _SHRINKAGE), self._stemmer.of(batch)

    def compare(
        self, reference: Any, hypothesis: Any, reference_index: Index, hypothesis_index: Index
    ) -> FloatArray:
        loss = reference[0][reference_index] - hypothesis[0][hypothesis_index]
        counted = loss * hypothesis[1][hypothesis_index]
        kept = kept_order(reference[2], hypothesis[2], reference_index, hypothesis_index)
        return np.asarray((1.0 - np.clip(counted / _WORST, 0.0, 1.0)) * kept)[:, None]

    def explain(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> GroupDetail:
        values = self.compare(self.prepare(reference), self.prepare(hypothesis), FIRST, FIRST)[0]
        return self.detail(values, {"fluency": {"words": tuple(self._model.explain(hypothesis.texts[0]))}})


def kept_order(x: Stems, y: Stems, i: Index, j: Index) -> FloatArray:
    """Less than 1 for shuffled texts: they share nearly all words but hardly any pair of neighbours.

    With u the share of common words and b that of common bigrams, paraphrases have b / u² above ½ in 19 cases of 20,
    and shuffled texts about 0.1. Texts that share no more than half of their words keep the order.
    """
    words, all_words = shared_and_all(x, y, i, j, 1)
    both, total = shared_and_all(x, y, i, j, 2)
    bigrams, all_bigrams = both - words, total - all_words
    u = 2 * words / np.maximum(all_words, 1)
    b = np.where(all_bigrams > 0, 2 * bigrams / np.maximum(all_bigrams, 1), 1.0)
    broken = 1 - np.minimum(1.0, 2 * b / np.maximum(u * u, _LEAST))
    return np.asarray(1 - np.maximum(0.0, 2 * u - 1) * np.maximum(0.0, broken))


_LEAST = 1e-9


@dataclass(frozen=True)
class OverlapGroup(FeatureGroup):
    """What the paper calls dissimilarity, by the name of what it measures: 1 is a copy."""

    name: ClassVar[str] = "overlap"

    def bind(self, analysis: Analysis) -> BoundGroup:
        """The n-grams of Porter stems for English, of lemmas for other languages."""
        return _BoundOverlap(Stemmer(analysis.signature["lang"]))


class _BoundOverlap(BoundGroup):
    features = (Feature("overlap", "overlap", "overlap", "overlap", "overlap"),)

    def __init__(self, stemmer: Stemmer) -> None:
        self._stemmer = stemmer

    def prepare(self, batch: AnalysedBatch) -> Stems:
        return self._stemmer.of(batch)

    def compare(
        self, reference: Any, hypothesis: Any, reference_index: Index, hypothesis_index: Index
    ) -> FloatArray:
        return overlap(reference, hypothesis, reference_index, hypothesis_index)[:, None]


def longer_lengths(reference: _Prepared, hypothesis: _Prepared, i: Index, j: Index) -> Index:
    """The number of words of the longer text of each pair."""
    lengths = reference.marks.batch.lengths[i], hypothesis.marks.batch.lengths[j]
    return np.maximum(*lengths)


def contradicted(
    agreement: FloatArray, contradictions: FloatArray, shares: FloatArray, words: Index
) -> FloatArray:
    """Adequacy: agreement a, less a · λa where the texts contradict each other; never less for more agreement.

    λ is the largest share of the kinds found, and smaller in long texts, of which a contradiction is but a part. Above
    a = 1/(2λ), where a − λa² would fall again, adequacy stays at 1/(4λ).

    >>> one, contradictions = np.array([1.0, 0.5, 1.0]), np.array([[1.0], [1.0], [0.0]])
    >>> contradicted(one, contradictions, np.array([0.5]), np.array([8, 8, 8])).tolist()
    [0.5, 0.375, 1.0]
    """
    share = (contradictions * shares).max(axis=1, initial=0.0)
    share = share * np.minimum(1.0, TELLING_WORDS / np.maximum(words, 1))
    highest = np.where(share > 0.5, 1 / np.maximum(2 * share, 1.0), 1.0)
    limited = np.minimum(agreement, highest)
    return np.asarray(limited * (1 - share * limited))
