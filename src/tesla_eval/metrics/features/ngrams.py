"""Word n-grams, skip bigrams and character n-grams as groups of features (specification §5, §8b, §10)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tesla_eval import _core
from tesla_eval.base.errors import UsageError
from tesla_eval.language.analysis import AnalysedBatch, Analysis
from tesla_eval.language.analysis.batch import Vocabulary, word_facts
from tesla_eval.matching.bags.ngram_bags import (
    FUNCTION_WORD_DISCOUNT,
    IDENTITY,
    LONGEST_CHARACTER_NGRAM,
    SYNONYMY,
    NgramFeature,
    bag_recipe,
    exact_discount,
)
from tesla_eval.matching.matcher import RECALL_WEIGHT, explain_feature
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

LONGEST_NGRAM = 3
"""specification §5: n-grams of one to three words."""
WINDOW = 4
"""specification §10: up to so many words lie between the two of a skip bigram."""
_WIDEST_WINDOW = 1000

_LABELS = {
    "ms": "words and synonyms",
    SYNONYMY: "words and synonyms",
    "lem": "lemmas",
    "pos": "parts of speech",
    IDENTITY: "words",
}


def check_weights(alpha: float, discount: float) -> None:
    """Refuse a weight of recall that no F-measure has, and a discount that cannot be kept exactly."""
    if not 0 <= alpha <= 1:
        raise UsageError(f"alpha {alpha!r}: must lie between 0 and 1")
    exact_discount(discount)


@dataclass(frozen=True)
class NgramGroup(FeatureGroup):
    """Word n-grams as TESLA-M matches them: `ms.1` is their F; with `measures` `ms.1.p`, `ms.1.r` and `ms.1.f`."""

    name: ClassVar[str] = "target"
    sections: ClassVar[Mapping[str, str]] = {"max_n": "§5", "discount": "§2", "alpha": "§4"}

    similarities: tuple[str, ...] = fixed(("ms", "pos"))
    measures: tuple[str, ...] = fixed(())
    max_n: int = LONGEST_NGRAM
    discount: float = FUNCTION_WORD_DISCOUNT
    alpha: float = RECALL_WEIGHT

    def __post_init__(self) -> None:
        if not 1 <= self.max_n <= LONGEST_NGRAM:
            raise UsageError(f"max_n {self.max_n!r}: must be 1, 2 or {LONGEST_NGRAM}")
        check_weights(self.alpha, self.discount)

    def bind(self, analysis: Analysis) -> BoundGroup | None:
        """The n-grams of an analysis; without tags the features of tags do not exist, nor a group of them alone."""
        kinds = [similarity for similarity in self.similarities if similarity != "pos" or analysis.tagged]
        if not kinds:
            return None
        features = [NgramFeature(kind, n) for kind in kinds for n in range(1, self.max_n + 1)]
        return _BoundNgrams(tuple(features), self.measures, self.discount, self.alpha, self.name)


@dataclass(frozen=True)
class TagGroup(NgramGroup):
    """N-grams of parts of speech, beside words that are compared without them: `pos.1` … `pos.3`."""

    name: ClassVar[str] = "tags"

    similarities: tuple[str, ...] = fixed(("pos",))


@dataclass(frozen=True)
class SkipBigramGroup(FeatureGroup):
    """Unigrams and skip bigrams of equal words, as TESLA-S matches them: `s.1` and `s.skip`."""

    name: ClassVar[str] = "words"
    prefix: ClassVar[str] = "s"
    sections: ClassVar[Mapping[str, str]] = {"window": "§10", "discount": "§10", "alpha": "§10"}

    window: int = WINDOW
    discount: float = FUNCTION_WORD_DISCOUNT
    alpha: float = RECALL_WEIGHT

    def __post_init__(self) -> None:
        if not 1 <= self.window <= _WIDEST_WINDOW:
            raise UsageError(f"window {self.window!r}: must lie between 1 and {_WIDEST_WINDOW}")
        check_weights(self.alpha, self.discount)

    def bind(self, analysis: Analysis) -> BoundGroup:
        """The two problems."""
        problems = (
            NgramFeature(IDENTITY, 1, label=f"{self.prefix}.1"),
            NgramFeature(IDENTITY, 2, gap=self.window, label=f"{self.prefix}.skip"),
        )
        return _BoundNgrams(problems, (), self.discount, self.alpha, self.name)


@dataclass(frozen=True)
class SourceGroup(SkipBigramGroup):
    """The same two problems with the source in the place of the model: F with α = 0 is the precision of the summary."""

    name: ClassVar[str] = "source"
    prefix: ClassVar[str] = "source"

    alpha: float = fixed(0.0)


class _BoundNgrams(CoreGroup):
    def __init__(
        self, problems: tuple[NgramFeature, ...], measures: tuple[str, ...], discount: float, alpha: float, group: str
    ) -> None:  # fmt: skip
        self.problems, self.measures, self.discount, self.alpha = problems, measures, discount, alpha
        self._group = group
        described = [
            Feature(
                problem.name, group, problem.similarity, _LABELS[problem.similarity],
                problem.label or problem.similarity,
            )
            for problem in problems
        ]  # fmt: skip
        super().__init__(self._made, measured_features(described, measures))

    def _made(self, vocabulary: Vocabulary) -> _core.FeatureGroup:
        form, recipe = bag_recipe(self.problems, self.discount)
        facts = word_facts(None)[vocabulary]
        return _core.NgramGroup(vocabulary.lexicon, form, facts, recipe, self.alpha, self.measures)

    def restricted(self, names: Collection[str]) -> BoundGroup:
        count = len(self.problems)
        kept = [
            problem
            for place, problem in enumerate(self.problems)
            if any(feature.name in names for feature in self.features[place::count])
        ]
        return _BoundNgrams(tuple(kept), self.measures, self.discount, self.alpha, self._group)

    def explain(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> GroupDetail:
        details = [
            explain_feature(reference, hypothesis, problem, self.discount, self.alpha)
            for problem in self.problems
        ]
        measures = {
            "p": [detail.precision for detail in details], "r": [detail.recall for detail in details],
            "f": [detail.f for detail in details],
        }  # fmt: skip
        values = [value for measure in self.measures or ("f",) for value in measures[measure]]
        return GroupDetail(np.array(values), tuple(detail for detail in details if not isnan(detail.f)))

    def explain_words(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> FeatureDetail | None:
        first = next((problem for problem in self.problems if problem.similarity != "pos"), None)
        if first is None:
            return None
        detail = explain_feature(reference, hypothesis, first, self.discount, self.alpha)
        return None if isnan(detail.f) else detail


@dataclass(frozen=True)
class CharacterGroup(FeatureGroup):
    """Character n-grams of the raw text without white space: `chr.1.p` … `chr.6.f`."""

    name: ClassVar[str] = "chars"

    max_order: int = fixed(LONGEST_CHARACTER_NGRAM)
    measures: tuple[str, ...] = fixed(MEASURES)
    alpha: float = RECALL_WEIGHT

    def bind(self, analysis: Analysis) -> BoundGroup:
        """The characters, whatever the analysis."""
        return _BoundCharacters(self.max_order, self.measures, self.alpha)


class _BoundCharacters(CoreGroup):
    def __init__(self, max_order: int, measures: Sequence[str], alpha: float) -> None:
        self._max_order, self._measures, self._alpha = max_order, measures, alpha
        problems = [
            Feature(f"chr.{n}", CharacterGroup.name, "chr", "characters", "chr")
            for n in range(1, max_order + 1)
        ]
        group = _core.CharacterGroup(max_order, alpha, measures)
        super().__init__(lambda _: group, measured_features(problems, measures))

    def restricted(self, names: Collection[str]) -> BoundGroup:
        """No longer n-grams than the longest that is named."""
        longest = max((int(name.split(".")[1]) for name in names if name.startswith("chr.")), default=1)
        return _BoundCharacters(longest, self._measures, self._alpha)

    def explain(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> GroupDetail:
        """Precision, recall and F of every order. The flow between single characters is omitted."""
        from tesla_eval.base.explanations import MeasuredDetail  # not before something is explained

        every = _core.CharacterGroup(self._max_order, self._alpha, MEASURES)
        values, rows = explained_measures(every, reference, hypothesis, self._measures)
        details = tuple(
            MeasuredDetail(name=f"chr.{n}", similarity=IDENTITY, n=n, precision=p, recall=r, f=f)
            for n, (p, r, f) in enumerate(rows, 1)
            if not isnan(f)
        )
        return GroupDetail(values, details)


_SLIDING_ORDERS = 3
_GROWTH = 2
_SHORT, _LONG = 250, 700
"""Characters of the reference, blanks included, between which n-grams become longer by `_GROWTH`."""
_SLIDING_FEATURES = tuple(
    Feature(f"slide.{n}", "sliding", "slide", "characters", "slide") for n in range(1, _SLIDING_ORDERS + 1)
)


@dataclass(frozen=True)
class SlidingCharacterGroup(FeatureGroup):
    """F of n = 1, 2, 3 characters; of n + 2 where the reference is a paragraph; a mean of both between.

    In a paragraph nearly all single characters and bigrams of any text find a partner: they measure its length.
    """

    name: ClassVar[str] = "sliding"

    def bind(self, analysis: Analysis) -> BoundGroup:
        """The characters, whatever the analysis."""
        group = _core.SlidingGroup(_SLIDING_ORDERS, _GROWTH, _SHORT, _LONG, RECALL_WEIGHT)
        return CoreGroup(lambda _: group, _SLIDING_FEATURES)
