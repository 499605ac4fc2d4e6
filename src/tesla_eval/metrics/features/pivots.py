"""Pivot n-grams as a group of features (specification §6, §7): six F-measures for every pivot language."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.errors import UsageError
from tesla_eval.language.analysis import AnalysedBatch, Analysis, Pipeline
from tesla_eval.language.pivot import LEAST_PROBABILITY, PhraseTable, installed_pivots, load_phrase_table
from tesla_eval.matching.bags.ngram_bags import (
    FUNCTION_WORD_DISCOUNT,
    LEAST_NGRAM_PROBABILITY,
    PivotFeature,
    PivotNetwork,
    build_pivot_bags,
    pivot_network,
)
from tesla_eval.matching.matcher import (
    RECALL_WEIGHT,
    Matches,
    explain_pivot_feature,
    explain_segments,
    match_pairs,
)
from tesla_eval.metrics.features import (
    FIRST,
    BoundGroup,
    Feature,
    FeatureGroup,
    GroupDetail,
    fixed,
    unspelled,
)
from tesla_eval.metrics.features.measures import measured_columns, measured_features
from tesla_eval.metrics.features.ngrams import LONGEST_NGRAM, check_weights

if TYPE_CHECKING:
    from tesla_eval.base.explanations import PivotDetail, PivotPhrase


def tables_signature(tables: Sequence[PhraseTable]) -> str:
    """The pivot languages with the fingerprints of their tables, and how these were pruned."""
    return "+".join(table.signature for table in tables) or "none"


@dataclass(frozen=True)
class PivotGroup(FeatureGroup):
    """The F-measures `fr.lem.1` … `fr.pos.3` of every pivot language; with `measures` `fr.lem.1.p` and so on.

    `pivots` are codes of languages with an installed phrase table, or tables; by default all that are installed.
    """

    name: ClassVar[str] = "pivots"
    sections: ClassVar[Mapping[str, str]] = {
        "pivots": "§7", "max_n": "§7", "discount": "§6", "alpha": "§4", "least_probability": "§6",
        "least_ngram_probability": "§6",
    }  # fmt: skip

    measures: tuple[str, ...] = fixed(())
    similarities: tuple[str, ...] = fixed(("lem", "pos"))
    pivots: Sequence[str | PhraseTable] | None = unspelled(None)
    max_n: int = LONGEST_NGRAM
    discount: float = FUNCTION_WORD_DISCOUNT
    alpha: float = RECALL_WEIGHT
    least_probability: float = LEAST_PROBABILITY
    least_ngram_probability: float = LEAST_NGRAM_PROBABILITY

    def __post_init__(self) -> None:
        if not (0 <= self.least_probability < 1 and 0 <= self.least_ngram_probability < 1):
            raise UsageError("the least probabilities must lie between 0 and 1")
        check_weights(self.alpha, self.discount)

    def bind(self, analysis: Analysis) -> BoundGroup | None:
        """The group over the phrase tables; nothing where there are none."""
        language = analysis.signature["lang"]
        tables = [
            pivot if isinstance(pivot, PhraseTable) else load_phrase_table(language, pivot)
            for pivot in (installed_pivots(language) if self.pivots is None else self.pivots)
        ]
        if isinstance(analysis, Pipeline):  # users who bring their own analysis vouch for its lemmas
            for table in tables:
                table.check_analysis()
        return _BoundPivots(tuple(tables), self) if tables else None

    def advice(self, language: str) -> str:
        """How to get a phrase table."""
        return (
            f"{language!r} has no phrase table; make one with `tesla train phrase-table -l {language} --pivot PIVOT`, "
            "or use -m m"
        )


@dataclass(frozen=True)
class _BoundPivots(BoundGroup):
    tables: tuple[PhraseTable, ...]
    declared: PivotGroup

    @property
    def features(self) -> tuple[Feature, ...]:  # type: ignore[override]  # derived from the tables
        problems = [
            Feature(
                one.name, PivotGroup.name, one.pivot, f"pivot {one.pivot}", f"{one.pivot}.{one.similarity}"
            )
            for table in self.tables
            for one in self._problems(table)
        ]
        return measured_features(problems, self.declared.measures)

    @property
    def signature(self) -> dict[str, str]:
        return {"pivots": tables_signature(self.tables)}

    def restricted(self, names: Collection[str]) -> BoundGroup:
        wanted = {feature.kind for feature in self.features if feature.name in names}
        return replace(self, tables=tuple(table for table in self.tables if table.pivot in wanted))

    def _problems(self, table: PhraseTable) -> list[PivotFeature]:
        orders = range(1, self.declared.max_n + 1)
        return [
            PivotFeature(table.pivot, similarity, n)
            for similarity in self.declared.similarities
            for n in orders
        ]

    @property
    def _limits(self) -> dict[str, float]:
        return {
            "least_probability": self.declared.least_probability,
            "least_ngram_probability": self.declared.least_ngram_probability,
        }

    def prepare(self, batch: AnalysedBatch) -> list[Any]:
        """The pivot bags of the texts for each pivot language."""
        discount = self.declared.discount
        return [
            build_pivot_bags(batch, table, self._problems(table), discount=discount, **self._limits)
            for table in self.tables
        ]

    def compare(
        self, reference: Any, hypothesis: Any, reference_index: Index, hypothesis_index: Index
    ) -> FloatArray:
        return measured_columns(
            self._match(reference, hypothesis, reference_index, hypothesis_index), self.declared.measures
        )

    def _match(self, reference: Any, hypothesis: Any, i: Index, j: Index) -> Matches:
        """Precision, recall and F of the problems of all tables."""
        by_table = [
            match_pairs(x, y, i, j, self.declared.alpha) for x, y in zip(reference, hypothesis, strict=True)
        ]
        return Matches(*(
            np.concatenate([getattr(part, name) for part in by_table], axis=1) for name in ("precision", "recall", "f")
        ))  # fmt: skip

    def explain(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> GroupDetail:
        """Each feature with its flow; that of single words also with the phrases and what translations carried."""
        matches = self._match(self.prepare(reference), self.prepare(hypothesis), FIRST, FIRST)
        measures = iter(np.stack([matches.precision[0], matches.recall[0], matches.f[0]], axis=1).tolist())
        details: list[PivotDetail] = []
        for table in self.tables:
            networks = [
                pivot_network(batch, table, self.declared.max_n, **self._limits)
                for batch in (reference, hypothesis)
            ]
            for problem in self._problems(table):
                p, r, f = next(measures)
                if np.isnan(f):
                    continue
                detail = explain_pivot_feature(
                    networks[0], networks[1], problem, self.declared.discount, (p, r, f)
                )
                if problem.similarity == "lem" and problem.n == 1:
                    detail = replace(
                        detail, segments=self._phrases(detail, networks, (reference, hypothesis))
                    )
                details.append(detail)
        return GroupDetail(measured_columns(matches, self.declared.measures)[0], tuple(details))

    def _phrases(
        self, detail: PivotDetail, networks: Sequence[PivotNetwork], batches: Sequence[AnalysedBatch]
    ) -> dict[str, tuple[PivotPhrase, ...]]:
        phrases = {}
        for side, network, batch in zip(("reference", "hypothesis"), networks, batches, strict=True):
            matched: dict[str, float] = {}
            for link in detail.flow:
                word = getattr(link, side)
                matched[word] = matched.get(word, 0.0) + link.weight
            phrases[side] = explain_segments(network, batch.tokens(0), matched, self.declared.discount)
        return phrases
