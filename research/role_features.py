"""The group `roles`: who did what to whom in two English texts (specification §16). No metric of ours has it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import isnan, nan
from typing import ClassVar, NamedTuple

import numpy as np

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.explanations import ValueDetail
from tesla_eval.base.resources import find_resource
from tesla_eval.language.analysis import AnalysedBatch, Analysis
from tesla_eval.matching.matcher import RECALL_WEIGHT
from tesla_eval.metrics.contradictions.exchanges import Exchange
from tesla_eval.metrics.features import FIRST, BoundGroup, Feature, FeatureGroup, GroupDetail
from tesla_eval_papers.metrics.features.exchanges import participants
from tesla_eval_papers.srl.labeller import KIND, load_labeller
from tesla_eval_papers.srl.propositions import Proposition, read_propositions
from tesla_eval_papers.syntax.tree_parser import load_tree_parser

__all__ = ["RoleGroup"]

_LABELS = {
    "roles.triples": "predicate, role and argument",
    "roles.fillers": "role and argument",
    "roles.links": "predicate and argument",
}
_EXCHANGED = "roles.exchanged"


@dataclass(frozen=True)
class RoleGroup(FeatureGroup):
    """Bags of predicates with their arguments, and exchanged roles. Needs a parser and a labeller: English only."""

    name: ClassVar[str] = "roles"

    nouns: bool = True
    """Nouns with labelled arguments too, not verbs alone."""
    alpha: float = RECALL_WEIGHT

    def bind(self, analysis: Analysis) -> BoundGroup | None:
        """The group, or nothing for a language without a role labeller."""
        language = analysis.signature["lang"]
        return None if find_resource(KIND, language) is None else _BoundRoles(language, self)


class _Prepared(NamedTuple):
    """Of each text the propositions, and the bags of the three features."""

    propositions: list[tuple[Proposition, ...]]
    bags: list[tuple[Counter[tuple[str, ...]], ...]]


class _BoundRoles(BoundGroup):
    features = (
        *(Feature(name, RoleGroup.name, "roles", label, name) for name, label in _LABELS.items()),
        Feature(_EXCHANGED, RoleGroup.name, "exchanged", "exchanged roles", _EXCHANGED, more_is_better=False),
    )

    def __init__(self, language: str, declared: RoleGroup) -> None:
        self._language, self._declared = language, declared

    @property
    def signature(self) -> dict[str, str]:
        labeller = load_labeller(self._language).fingerprint if self._declared.nouns else "none"
        return {"parser": load_tree_parser(self._language).fingerprint, "srl": labeller}

    def prepare(self, batch: AnalysedBatch) -> _Prepared:
        """The propositions of each different text."""
        different = list(dict.fromkeys(batch.texts))
        propositions_of = dict(
            zip(
                different,
                read_propositions(different, self._language, nouns=self._declared.nouns),
                strict=True,
            )
        )
        bags = {text: _bags(propositions) for text, propositions in propositions_of.items()}
        return _Prepared(
            [propositions_of[text] for text in batch.texts], [bags[text] for text in batch.texts]
        )

    def compare(
        self, reference: _Prepared, hypothesis: _Prepared, reference_index: Index, hypothesis_index: Index
    ) -> FloatArray:
        """F of the three bags, and the share of the reference's participants that are exchanged.

        NaN where neither text has anything to compare, or the reference has no doer and undergoer.
        """
        rows = np.empty((len(reference_index), len(self.features)))
        for row, (r, h) in enumerate(zip(reference_index.tolist(), hypothesis_index.tolist(), strict=True)):
            for column, (x, y) in enumerate(zip(reference.bags[r], hypothesis.bags[h], strict=True)):
                rows[row, column] = _f(x, y, self._declared.alpha)
            rows[row, -1] = _exchanged(reference.propositions[r], hypothesis.propositions[h])
        return rows

    def explain(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> GroupDetail:
        values = self.compare(self.prepare(reference), self.prepare(hypothesis), FIRST, FIRST)[0]
        details = tuple(
            ValueDetail(name=feature.name, value=value)
            for feature, value in zip(self.features, values.tolist(), strict=True)
            if not isnan(value)
        )
        return GroupDetail(values, details)


def _bags(propositions: Iterable[Proposition]) -> tuple[Counter[tuple[str, ...]], ...]:
    """Predicates with role and argument; roles with argument; predicates with argument."""
    triples = [(one.predicate, role, argument) for one in propositions for role, argument in one.arguments]
    return (
        Counter(triples),
        Counter((role, argument) for _, role, argument in triples),
        Counter((predicate, argument) for predicate, _, argument in triples),
    )


def _f(reference: Counter[tuple[str, ...]], hypothesis: Counter[tuple[str, ...]], alpha: float) -> float:
    """F of two bags, with the weight `alpha` for recall; NaN if both are empty."""
    sizes = alpha * reference.total() + (1 - alpha) * hypothesis.total()
    return (reference & hypothesis).total() / sizes if sizes else nan


def _exchanged(reference: Iterable[Proposition], hypothesis: Iterable[Proposition]) -> float:
    """The share of (predicate, doer, undergoer) of the reference that the hypothesis has the other way round."""
    possible = len(participants(reference))
    return len(find_exchanges(hypothesis, reference)) / possible if possible else nan


def exchanged_roles(hypothesis: str, reference: str, language: str = "en") -> list[Exchange]:
    """Where subject and object around the same predicate are exchanged; the passive voice is no exchange.

    >>> exchanged_roles("The cat chased the dog.", "The dog chased the cat.")
    [Exchange(predicate='chase', doer='dog', undergoer='cat')]
    >>> exchanged_roles("The cat was chased by the dog.", "The dog chased the cat.")
    []
    """
    return find_exchanges(*read_propositions([hypothesis, reference], language))


def find_exchanges(hypothesis: Iterable[Proposition], reference: Iterable[Proposition]) -> list[Exchange]:
    """The exchanges between the propositions of two texts, as `read_propositions` gives them for many texts at once.

    Doer and undergoer must both have changed places, and no other mention of the predicate in the hypothesis may have
    them as the reference does.
    """
    said = participants(hypothesis)
    return [
        Exchange(predicate, doer, undergoer)
        for predicate, doer, undergoer in participants(reference)
        if (predicate, undergoer, doer) in said and (predicate, doer, undergoer) not in said
    ]
