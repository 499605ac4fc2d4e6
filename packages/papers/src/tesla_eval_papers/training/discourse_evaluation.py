"""The parser against annotated documents: connectives, senses, arguments, relations without a connective."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from tesla_eval_papers.discourse.arguments import SentenceFacts, inner_features, pair_features
from tesla_eval_papers.discourse.connectives import connective_features
from tesla_eval_papers.discourse.document import Relation, TokenIndex
from tesla_eval_papers.discourse.relation_parser import Parser
from tesla_eval_papers.training.discourse import (
    gold_connectives,
    gold_inner,
    gold_neighbours,
)
from tesla_eval_papers.training.gdtb import GoldDocument, GoldRelation

__all__ = ["Accuracy", "Overlap", "ParserMeasures", "evaluate_parser"]


@dataclass
class Overlap:
    """Sets compared item by item: how many were found, expected, and both."""

    given: int = 0
    right: int = 0
    expected: int = 0

    def add(self, given: Set[object], expected: Set[object]) -> None:
        """Count one more pair of sets."""
        self.given += len(given)
        self.right += len(given & expected)
        self.expected += len(expected)

    @property
    def precision(self) -> float:
        """The share of what was found that is right."""
        return self.right / self.given if self.given else 0.0

    @property
    def recall(self) -> float:
        """The share of what is right that was found."""
        return self.right / self.expected if self.expected else 0.0

    @property
    def f1(self) -> float:
        """The balanced F of the two."""
        total = self.given + self.expected
        return 2 * self.right / total if total else 0.0


@dataclass
class Accuracy:
    """Labels right of all, and what the commonest label alone would reach."""

    right: int = 0
    total: int = 0
    labels: Counter[str] = field(default_factory=Counter)

    def add(self, label: str, accepted: Sequence[str]) -> None:
        """Count one more answer; any of `accepted` is right."""
        self.right += label in accepted
        self.total += 1
        self.labels.update(accepted)

    @property
    def share(self) -> float:
        """Right of all."""
        return self.right / self.total if self.total else 0.0

    @property
    def majority(self) -> float:
        """What always saying the commonest label gives."""
        return max(self.labels.values()) / self.total if self.total else 0.0


@dataclass
class ParserMeasures:
    """All measures of a parser over some documents.

    The sense of a connective, the arguments of an explicit relation and the sense of an implicit one are measured
    with the gold connective or the gold arguments given, `*_found` where the parser found the connective itself.
    """

    connectives: Overlap = field(default_factory=Overlap)
    explicit_sense: Accuracy = field(default_factory=Accuracy)
    explicit_sense_found: Accuracy = field(default_factory=Accuracy)
    location: Accuracy = field(default_factory=Accuracy)
    arguments: dict[str, tuple[Overlap, Overlap]] = field(default_factory=dict)
    """Token overlap of Arg1 and of Arg2, by type of relation as the parser found it by itself."""
    neighbour_type: Accuracy = field(default_factory=Accuracy)
    implicit_sense: Accuracy = field(default_factory=Accuracy)
    implicit_sense_between: Accuracy = field(default_factory=Accuracy)
    implicit_sense_within: Accuracy = field(default_factory=Accuracy)

    def rows(self) -> list[tuple[str, str, str]]:
        """The measures as a table: name, value, and beside it the commonest label's share, or precision and recall."""

        def f1(name: str, overlap: Overlap) -> tuple[str, str, str]:
            return name, f"{overlap.f1:.3f}", f"P {overlap.precision:.3f} R {overlap.recall:.3f}"

        def share(name: str, accuracy: Accuracy) -> tuple[str, str, str]:
            return name, f"{accuracy.share:.3f}", f"majority {accuracy.majority:.3f} of {accuracy.total}"

        return [
            f1("connectives F1", self.connectives),
            share("explicit sense, gold connectives", self.explicit_sense),
            share("explicit sense, connectives found", self.explicit_sense_found),
            share("Arg1 in the same sentence or not", self.location),
            *(
                f1(f"{kind}: {part} token F1", overlap)
                for kind, overlaps in self.arguments.items()
                for part, overlap in zip(("Arg1", "Arg2"), overlaps, strict=True)
            ),
            share("type of neighbouring sentences", self.neighbour_type),
            share("implicit sense, all", self.implicit_sense),
            share("implicit sense, between sentences", self.implicit_sense_between),
            share("implicit sense, within a sentence", self.implicit_sense_within),
        ]


def evaluate_parser(parser: Parser, documents: Sequence[GoldDocument]) -> ParserMeasures:
    """The parser's measures over annotated documents."""
    measures = ParserMeasures()
    for document in documents:
        _measure_connectives(parser, document, measures)
        _measure_non_explicit(parser, document, measures)
        _measure_whole_parse(parser.parse(document.document), document, measures)
    return measures


def _measure_connectives(parser: Parser, document: GoldDocument, measures: ParserMeasures) -> None:
    sentences = document.document.sentences
    gold = list(gold_connectives(document))
    places = [(number, candidate) for number, candidate, _ in gold]
    examples = [connective_features(sentences[number], candidate) for number, candidate in places]
    relations = parser.explicit_relations(sentences, parser.boundaries(sentences), places, examples)
    accepted = _accepted_senses(document)
    for (number, _, relation), answer in zip(gold, relations, strict=True):
        measures.explicit_sense.add(answer.sense, accepted[relation.connective])
        same = {s for s, _ in relation.arg1} == {number}
        measures.location.add("same" if answer.arg1 else "other", ["same" if same else "other"])
        where = "Explicit, same sentence" if same else "Explicit, other sentence"
        previous = range(len(sentences[number - 1])) if number else ()
        arg1 = {(number, t) for t in answer.arg1} or {(number - 1, t) for t in previous}
        _add_arguments(measures, where, arg1, {(number, t) for t in answer.arg2}, relation)
        _add_arguments(measures, "Explicit", arg1, {(number, t) for t in answer.arg2}, relation)


def _accepted_senses(document: GoldDocument) -> dict[tuple[TokenIndex, ...], list[str]]:
    """The senses of each connective; a few have two relations."""
    accepted: dict[tuple[TokenIndex, ...], list[str]] = {}
    for relation in document.relations:
        if relation.explicit and relation.connective:
            known = accepted.setdefault(relation.connective, [])
            known.extend(sense for sense in relation.senses if sense not in known)
    return accepted


def _add_arguments(
    measures: ParserMeasures, name: str, arg1: Set[TokenIndex], arg2: Set[TokenIndex], relation: GoldRelation
) -> None:
    first, second = measures.arguments.setdefault(name, (Overlap(), Overlap()))
    first.add(arg1, set(relation.arg1))
    second.add(arg2, set(relation.arg2))


def _measure_non_explicit(parser: Parser, document: GoldDocument, measures: ParserMeasures) -> None:
    sentences = document.document.sentences
    facts = [SentenceFacts(sentence) for sentence in sentences]
    between = list(gold_neighbours(document))
    pairs = [pair_features(facts[number], facts[number + 1]) for number, _ in between]
    for (_, relation), kind in zip(between, parser.classifiers["type"].predict(pairs), strict=True):
        measures.neighbour_type.add(kind, [relation.type])
    within = list(gold_inner(document))
    clauses = [inner_features(sentences[number], left, right) for number, left, right, _ in within]
    senses = parser.classifiers["implicit_sense"].predict([*pairs, *clauses])
    relations = [relation for _, relation in between] + [relation for *_, relation in within]
    for index, (relation, sense) in enumerate(zip(relations, senses, strict=True)):
        if relation.type == "Implicit":
            measures.implicit_sense.add(sense, relation.senses)
            part = measures.implicit_sense_between if index < len(between) else measures.implicit_sense_within
            part.add(sense, relation.senses)


def _measure_whole_parse(
    relations: Sequence[Relation], document: GoldDocument, measures: ParserMeasures
) -> None:
    """Connectives, and arguments of non-explicit relations, with nothing given but the sentences."""
    accepted = _accepted_senses(document)
    explicit = {relation.connective: relation for relation in relations if relation.explicit}
    measures.connectives.add(explicit.keys(), accepted.keys())
    for connective in explicit.keys() & accepted.keys():
        measures.explicit_sense_found.add(explicit[connective].sense, accepted[connective])
    for kind in ("Implicit", "AltLex", "EntRel", "NoRel"):
        first, second = measures.arguments.setdefault(kind, (Overlap(), Overlap()))
        ours = [relation for relation in relations if relation.type == kind]
        gold = [relation for relation in document.relations if relation.type == kind]
        first.add({i for r in ours for i in r.arg1}, {i for r in gold for i in r.arg1})
        second.add({i for r in ours for i in r.arg2}, {i for r in gold for i in r.arg2})
