"""Units and their covering as a group of features (specification §9): TESLA-CELAB's view of two texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np

from tesla_eval.analysis import Analysis
from tesla_eval.analysis.frequencies import load_compound_splitter
from tesla_eval.analysis.languages import UNDETERMINED, resolve_language
from tesla_eval.analysis.pipeline import NO_SYNONYMS
from tesla_eval.analysis.senses import NONE
from tesla_eval.arrays import FloatArray, Index
from tesla_eval.bags import FUNCTION_UNITS, NgramWeights, UnitSplitter, discount_units
from tesla_eval.errors import InputError, UsageError
from tesla_eval.matching import CelabMatcher, SynonymSets, load_synonym_sets
from tesla_eval.matching.celab import MAX_UNITS, ORDER, PRECISION_WEIGHT
from tesla_eval.metrics.groups import BoundGroup, Feature, FeatureGroup, GroupDetail
from tesla_eval.records import Unit, ValueDetail

__all__ = ["CoveringGroup", "UnitAnalysis", "UnitBatch"]

_SHOWN = 20  # characters of a text in a message


@dataclass(frozen=True)
class UnitBatch:
    """Texts as lists of unit keys, in the place of an analysed batch of words."""

    texts: tuple[str, ...]
    keys: tuple[list[str], ...]
    splitter: UnitSplitter

    @cached_property
    def lengths(self) -> Index:
        """The number of units of each text."""
        return np.array([len(keys) for keys in self.keys], np.int64)

    def tokens(self, index: int) -> list[Unit]:
        """The units of one text as records."""
        return self.splitter.split(self.texts[index])


class UnitAnalysis:
    """Cuts texts into units (specification §9), in the place of an analysis into words."""

    tagged = False

    def __init__(self, lang: str, synonyms: str | None, *, pre_tokenized: bool) -> None:
        self.language = resolve_language(lang)
        self._pre_tokenized = pre_tokenized
        self._compounds = None if pre_tokenized else load_compound_splitter(self.language)
        self._asked_for_none = synonyms == NONE
        self.splitter = UnitSplitter(self._compounds, pre_tokenized=pre_tokenized)
        self.synonyms = _synonym_sets(self.language, synonyms, pre_tokenized)

    @property
    def signature(self) -> dict[str, str]:
        """The parts of a metric's signature that name it."""
        return {
            "lang": self.language,
            **({} if self._compounds is None else {"compounds": self._compounds.fingerprint}),
            "senses": "none" if self.synonyms is None else self.synonyms.fingerprint,
            **({"units": "pre-tokenized"} if self._pre_tokenized else {}),
        }

    @property
    def shortcomings(self) -> list[str]:
        """What this language lacks, for a warning."""
        missing = self.synonyms is None and not self._asked_for_none and self.language != UNDETERMINED.code
        return [NO_SYNONYMS] if missing else []

    def analyse(self, *groups: Sequence[str]) -> list[Any]:
        """One batch for each group of texts."""
        return [
            UnitBatch(tuple(texts), tuple(map(self.splitter.keys, texts)), self.splitter) for texts in groups
        ]


@cache
def _synonym_sets(language: str, synonyms: str | None, pre_tokenized: bool) -> SynonymSets | None:
    compounds = None if pre_tokenized else load_compound_splitter(language)
    return load_synonym_sets(language, synonyms, UnitSplitter(compounds, pre_tokenized=pre_tokenized))


@dataclass(frozen=True)
class CoveringGroup(FeatureGroup):
    """What matched n-grams of units cover of both texts: `coverage` is the optimum, `recall` and `precision` its parts.

    `discount` multiplies the weight of an n-gram for each function character in it; `weights` is a rule of the user's
    own (the paper's m(X)).
    """

    name: ClassVar[str] = "units"

    order: int = ORDER
    f: float = PRECISION_WEIGHT
    discount: float = 1.0
    weights: NgramWeights | None = None
    max_units: int = MAX_UNITS

    def __post_init__(self) -> None:
        if self.max_units < 1:
            raise UsageError(f"max_units {self.max_units!r}: must be positive")
        if self.weights is not None and self.discount != 1:
            raise UsageError("weights and discount exclude each other: leave one of them out")

    def bind(self, analysis: Analysis) -> BoundGroup:
        """The matcher with the synonyms of the analysis."""
        assert isinstance(analysis, UnitAnalysis)
        return _BoundCovering(
            CelabMatcher(
                analysis.synonyms, order=self.order, precision_weight=self.f, weights=self._rule(analysis.language),
                max_units=self.max_units,
            )
        )  # fmt: skip

    def _rule(self, language: str) -> NgramWeights | None:
        if self.discount == 1:
            return self.weights
        if language not in FUNCTION_UNITS:
            known = ", ".join(sorted(FUNCTION_UNITS))
            raise UsageError(
                f"the function characters of {language!r} are not known (those of {known} are): "
                "give weights, a rule of your own"
            )
        return discount_units(FUNCTION_UNITS[language], self.discount)


class _BoundCovering(BoundGroup):
    features = tuple(
        Feature(name, CoveringGroup.name, name, "characters", name)
        for name in ("recall", "precision", "coverage")
    )

    def __init__(self, matcher: CelabMatcher) -> None:
        self._matcher = matcher

    def prepare(self, batch: Any) -> tuple[list[str], ...]:
        for text, units in zip(batch.texts, batch.keys, strict=True):
            if len(units) > self._matcher.max_units:
                raise InputError(
                    f"the text that begins {text[:_SHOWN]!r} has {len(units):,} units, more than "
                    f"{self._matcher.max_units:,}: split it into segments, or raise the bound (max_units, on the "
                    "command line --max-units)"
                )
        keys: tuple[list[str], ...] = batch.keys
        return keys

    def compare(
        self, reference: Any, hypothesis: Any, reference_index: Index, hypothesis_index: Index
    ) -> FloatArray:
        covering = self._matcher.match(reference, hypothesis, reference_index, hypothesis_index)
        return np.column_stack([covering.recall, covering.precision, covering.score])

    def explain(self, reference: Any, hypothesis: Any) -> GroupDetail:
        match = self._matcher.explain(self.prepare(reference)[0], self.prepare(hypothesis)[0])
        values = np.array([match.recall, match.precision, match.score])
        details = tuple(
            ValueDetail(name=feature.name, value=value)
            for feature, value in zip(self.features, values.tolist(), strict=True)
            if not np.isnan(value)
        )
        return GroupDetail(values, details, match.to_detail())
