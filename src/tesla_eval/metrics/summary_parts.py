"""Summary metrics with learned weights: parts between 0 and 1, weights never negative (specification §10, §12).

Such a score is monotone: it never falls when a part rises and the others stay.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.errors import InputError, ResourceError, UsageError
from tesla_eval.base.explanations import FeatureDetail, ReferenceExplanation, SupportDetail, ValueDetail
from tesla_eval.base.records import Signature
from tesla_eval.base.version import __version__
from tesla_eval.language.analysis import choose_analysis
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.combinations import BestModel
from tesla_eval.metrics.features.ngrams import SkipBigramGroup, SourceGroup
from tesla_eval.metrics.results import Explanation, SegmentScores
from tesla_eval.metrics.segments import References, check_references, texts_of
from tesla_eval.metrics.tesla_s_source import support_of
from tesla_eval.models.linear import LinearModel, load_weights

__all__ = ["SummaryEvidence", "SummaryParts"]


@dataclass(frozen=True)
class SummaryEvidence:
    """What N summaries show: one row per summary, NaN for what does not exist."""

    content: FloatArray
    """Words and skip bigrams of the best model (N × 2), F or recall as the metric wants it."""
    support: FloatArray
    """Precision of words and skip bigrams against the source (N × 2)."""
    length: FloatArray
    """Words of the summary over words of its models, at most 1."""
    empty: Index
    """The summaries without a word."""


class SummaryParts(Metric):
    """A metric of parts. A subclass names them, says how they follow from the evidence, and ships weights."""

    uses_source: ClassVar[bool] = True
    part_names: ClassVar[tuple[str, ...]]
    families: ClassVar[tuple[str, ...]]
    """For every part its family: where one part does not exist, the others of its family stand in for it."""
    recall_weight: ClassVar[float]
    """α of the F-measure of content."""

    def __init__(
        self, lang: str = "en", *, weights: LinearModel | str | Path | None = None, workers: int = 1
    ) -> None:
        self.analysis = choose_analysis(lang, None, None)
        self.lang = self.analysis.signature["lang"]
        model = load_weights(self.id, self.lang, weights)
        unknown = [name for name in model.features if name not in self.part_names]
        if unknown or not model.signed or (model.weights < 0).any():
            raise ResourceError(
                f"{self.id}: the weights must be positive weights of {', '.join(self.part_names)}; "
                f"train them again with `tesla train {self.id.removeprefix('tesla-')}`"
            )
        family = dict(zip(self.part_names, self.families, strict=True))
        self.model = replace(model, families=tuple(family[name] for name in model.features))
        self.feature_names = self.part_names
        self.workers = workers
        self._columns = [self.part_names.index(name) for name in model.features]
        self._content = SkipBigramGroup(alpha=self.recall_weight).bind(self.analysis)
        self._support = SourceGroup().bind(self.analysis)

    def get_signature(self) -> Signature:
        """Name, version, language, tagger and weights."""
        analysis = {k: v for k, v in self.analysis.signature.items() if k not in ("lemmas", "senses")}
        return Signature(
            {
                "metric": self.id, "version": __version__, **analysis,
                "weights": self.model.fingerprint or "own",
            }
        )  # fmt: skip

    @abstractmethod
    def parts(self, evidence: SummaryEvidence) -> FloatArray:
        """The parts of every summary (N × parts), each between 0 and 1; NaN for what does not exist."""

    def score_segments(
        self, hypotheses: Sequence[str], references: References, sources: Sequence[str] | None = None
    ) -> SegmentScores:
        """The weighted mean of the parts that exist; 0 for a summary without words."""
        evidence = self.gather(hypotheses, references, sources)
        parts = self.parts(evidence)
        return SegmentScores(self._weighted(parts, evidence.empty), parts)

    def _weighted(self, parts: FloatArray, empty: Index) -> FloatArray:
        scores = self.model.score(parts[:, self._columns])
        scores[empty] = 0.0
        return scores

    def gather(
        self, hypotheses: Sequence[str], references: References, sources: Sequence[str] | None
    ) -> SummaryEvidence:
        """Analyse all texts once and match each summary with its models and its source."""
        if sources is not None and len(sources) != len(hypotheses):
            raise InputError(f"{len(hypotheses)} hypotheses, but {len(sources)} sources")
        streams = [["" if text is None else text for text in stream] for stream in references]
        given = [*streams, *([] if sources is None else [sources])]
        hypothesis, *sides = self.analysis.analyse(hypotheses, *given)
        count = len(hypotheses)
        features = np.full((len(references), count, 2), np.nan)
        scores = np.full((len(references), count), np.nan)
        words = np.full((len(references), count), np.nan)
        models = sides[: len(references)]
        present = [np.flatnonzero([text is not None for text in stream]) for stream in references]
        compared = self._content.compare_segments(models, hypothesis, present)
        for k, (model, index, rows) in enumerate(zip(models, present, compared, strict=True)):
            features[k, index] = rows
            scores[k, index] = _mean(rows)
            words[k, index] = model.lengths[index]
        _, content = BestModel().over_references(scores, features)
        support = np.full((count, 2), np.nan)
        if sources is not None:
            (support,) = self._support.compare_segments([sides[-1]], hypothesis, [np.arange(count)])
        return SummaryEvidence(
            content, support, _length(hypothesis.lengths, words), np.flatnonzero(hypothesis.lengths == 0)
        )

    def explain(
        self, hypothesis: str, references: Sequence[str] = (), sources: str | None = None
    ) -> Explanation:
        """For each model the parts, their weights and the matching; and the words that the source does not support."""
        references = texts_of(references)
        streams = [[reference] for reference in references]
        check_references([hypothesis], streams)
        given = None if sources is None else [sources]
        total = self.score_segments([hypothesis], streams, given)
        support = None if sources is None else self._explain_support(hypothesis, sources)
        details = []
        for text in references:
            scored = self.score_segments([hypothesis], [[text]], given)
            y, x = self.analysis.analyse([hypothesis], [text])
            details.append(
                ReferenceExplanation(
                    text=text, score=float(scored.scores[0]),
                    features=self._described(scored.features[0], self._content.explain(x, y).features),
                    reference=tuple(x.tokens(0)), hypothesis=tuple(y.tokens(0)), support=support,
                )
            )  # fmt: skip
        return Explanation(
            self.id, self.result_signature(streams), float(total.scores[0]), hypothesis, tuple(details)
        )

    def _described(self, parts: FloatArray, matches: Sequence[FeatureDetail]) -> tuple[FeatureDetail, ...]:
        """The parts that exist, with their weights; a part that is a matching problem is shown with its flow."""
        weight_of = dict(zip(self.model.features, self.model.weights.tolist(), strict=True))
        problems = {match.name: match for match in matches}
        for name, match in problems.items():
            match.weight = weight_of.get(name) if name not in self.part_names else weight_of.get(name, 0.0)
        values = [
            ValueDetail(name=name, value=value, weight=weight_of.get(name, 0.0))
            for name, value in zip(self.part_names, parts.tolist(), strict=True)
            if name not in problems and not isnan(value)
        ]
        return (*values, *matches)

    def _explain_support(self, hypothesis: str, source: str) -> SupportDetail:
        y, x = self.analysis.analyse([hypothesis], [source])
        support = self._support.explain(x, y)
        score = float(_mean(support.values[None])[0]) if len(y.tokens(0)) else 0.0
        return support_of(
            ReferenceExplanation(
                source, score, features=support.features, reference=(), hypothesis=tuple(y.tokens(0))
            )
        )

    def pairwise(self, hypotheses: Sequence[str], references: Sequence[str]) -> FloatArray:
        """Refused where the metric cannot do without sources."""
        raise UsageError(f"{self.id} does not compare summaries with each other: it reads their source")


def _mean(rows: FloatArray) -> FloatArray:
    """The mean of what exists in each row; 0 where nothing does."""
    missing = np.isnan(rows)
    sums: Any = np.where(missing, 0.0, rows).sum(axis=1)
    return np.asarray(sums / np.maximum((~missing).sum(axis=1), 1))


def _length(words: Index, models: FloatArray) -> FloatArray:
    """Words of each summary over the mean of its models, at most 1; 1 where the models have no words."""
    present = ~np.isnan(models)
    mean = np.where(present, models, 0.0).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    return np.asarray(np.where(mean > 0, np.minimum(words / np.maximum(mean, 1e-12), 1.0), 1.0))
