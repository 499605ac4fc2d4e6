"""Pivot n-grams as a group of features (SPEC §7, §8): six F-measures for every pivot language."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tesla_eval.analysis import AnalysedBatch, Analysis, Pipeline
from tesla_eval.bags import FUNCTION_WORD_DISCOUNT, PivotFeature, build_pivot_bags, pivot_network
from tesla_eval.bags.pivot import LEAST_NGRAM_PROBABILITY, LEAST_PROBABILITY, PivotNetwork
from tesla_eval.matching import RECALL_WEIGHT, Matches, match_pairs
from tesla_eval.matching.pivot import explain_pivot_feature, explain_segments
from tesla_eval.metrics.feature_groups import (
    FeatureGroup,
    FloatArray,
    Index,
    measured_columns,
    measured_names,
)
from tesla_eval.pivot import PhraseTable, installed_pivots, load_phrase_table

__all__ = ["LONGEST_PIVOT_NGRAM", "PivotGroup", "PivotLimits", "load_tables", "pivot_group"]

LONGEST_PIVOT_NGRAM = 3
"""SPEC §7: n-grams of one to three words."""


@dataclass(frozen=True)
class PivotLimits:
    """What is left out of networks and bags (SPEC §6)."""

    least_probability: float = LEAST_PROBABILITY
    least_ngram_probability: float = LEAST_NGRAM_PROBABILITY


def load_tables(analysis: Analysis, pivots: Sequence[str | PhraseTable] | None = None) -> list[PhraseTable]:
    """The tables of these pivot languages, by default of all that are installed for the language of the analysis."""
    language = analysis.signature["lang"]
    wanted = installed_pivots(language) if pivots is None else pivots
    tables = [
        pivot if isinstance(pivot, PhraseTable) else load_phrase_table(language, pivot) for pivot in wanted
    ]
    if isinstance(analysis, Pipeline):  # who brings an analysis along vouches for its lemmas
        for table in tables:
            table.check_analysis()
    return tables


class PivotGroup(FeatureGroup):
    """The F-measures `fr.lem.1` … `fr.pos.3` of every pivot language, or with `measures` `fr.lem.1.p` and so on."""

    name: ClassVar[str] = "pivots"

    def __init__(
        self,
        tables: Sequence[PhraseTable],
        *,
        measures: Sequence[str] = (),
        longest: int = LONGEST_PIVOT_NGRAM,
        discount: float = FUNCTION_WORD_DISCOUNT,
        alpha: float = RECALL_WEIGHT,
        limits: PivotLimits | None = None,
    ) -> None:
        self.tables = tuple(tables)
        self._longest, self._discount, self._alpha = longest, discount, alpha
        self._limits = limits or PivotLimits()
        self._measures = tuple(measures)
        self._features = [
            [
                PivotFeature(table.pivot, similarity, n)
                for similarity in ("lem", "pos")
                for n in range(1, longest + 1)
            ]
            for table in tables
        ]
        problems = [feature.name for features in self._features for feature in features]
        self.feature_names = measured_names(problems, measures)

    @property
    def signature(self) -> dict[str, str]:
        """The pivot languages with the fingerprints of their tables."""
        return {"pivots": "+".join(f"{t.pivot}.{t.resource.fingerprint}" for t in self.tables) or "none"}

    def restricted(self, names: Collection[str]) -> FeatureGroup:
        """The group without the pivot languages that no name belongs to."""
        wanted = {name.split(".")[0] for name in names}
        kept = [table for table in self.tables if table.pivot in wanted]
        return PivotGroup(
            kept, measures=self._measures, longest=self._longest, discount=self._discount, alpha=self._alpha,
            limits=self._limits,
        )  # fmt: skip

    def prepare(self, batch: AnalysedBatch) -> Any:
        """The pivot bags of the texts, a list of them for each pivot language."""
        return [
            build_pivot_bags(
                batch, table, features, discount=self._discount, least_probability=self._limits.least_probability,
                least_ngram_probability=self._limits.least_ngram_probability,
            )
            for table, features in zip(self.tables, self._features, strict=True)
        ]  # fmt: skip

    def match(
        self, reference: Any, hypothesis: Any, reference_index: Index, hypothesis_index: Index
    ) -> Matches:
        """Precision, recall and F of all features."""
        found = [
            match_pairs(x, y, reference_index, hypothesis_index, self._alpha)
            for x, y in zip(reference, hypothesis, strict=True)
        ]
        if not found:
            return Matches(*(np.empty((len(reference_index), 0)) for _ in range(3)))
        return Matches(*(
            np.concatenate([getattr(part, name) for part in found], axis=1) for name in ("precision", "recall", "f")
        ))  # fmt: skip

    def compare(
        self, reference: Any, hypothesis: Any, reference_index: Index, hypothesis_index: Index
    ) -> FloatArray:
        """F, or the measures wished for, of all features."""
        found = self.match(reference, hypothesis, reference_index, hypothesis_index)
        return measured_columns(found, self._measures)

    def explain(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> list[dict[str, Any]]:
        """Each feature with its flow; that of single words also with the phrases and what translations carried."""
        only = np.zeros(1, np.int64)
        found = self.match(self.prepare(reference), self.prepare(hypothesis), only, only)
        entries: list[dict[str, Any]] = []
        column = 0
        for table, features in zip(self.tables, self._features, strict=True):
            networks = self._network(reference, table), self._network(hypothesis, table)
            for feature in features:
                if not np.isnan(found.f[0, column]):
                    entry = explain_pivot_feature(*networks, feature, self._discount)
                    for name in ("precision", "recall", "f"):
                        entry[name] = float(getattr(found, name)[0, column])
                    if feature.similarity == "lem" and feature.n == 1:
                        entry["segments"] = self._segments(entry, networks, (reference, hypothesis))
                    entries.append(entry)
                column += 1
        return entries

    def _network(self, batch: AnalysedBatch, table: PhraseTable) -> PivotNetwork:
        return pivot_network(
            batch, table, self._longest, least_probability=self._limits.least_probability,
            least_ngram_probability=self._limits.least_ngram_probability,
        )  # fmt: skip

    def _segments(
        self, entry: dict[str, Any], networks: tuple[PivotNetwork, PivotNetwork],
        batches: tuple[AnalysedBatch, AnalysedBatch],
    ) -> dict[str, Any]:  # fmt: skip
        segments = {}
        for side, network, batch in zip(("reference", "hypothesis"), networks, batches, strict=True):
            matched: dict[str, float] = {}
            for link in entry["flow"]:
                matched[link[side]] = matched.get(link[side], 0.0) + link["weight"]
            segments[side] = explain_segments(network, batch.tokens(0), matched, self._discount)
        return segments


def pivot_group(analysis: Analysis, measures: Sequence[str] = ()) -> FeatureGroup | None:
    """The group with all installed pivot languages of the analysis's language; nothing where there is none."""
    tables = load_tables(analysis)
    return PivotGroup(tables, measures=measures) if tables else None
