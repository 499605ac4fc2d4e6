"""The shallow discourse parser (specification §11): a text in sentences becomes a list of relations.

`load_discourse_parser` gives the installed parser with the analysis that it was trained with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby, pairwise
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import Index
from tesla_eval.base.resources import find_resource, interpreting, missing_resource, read_resource
from tesla_eval.language.analysis import Pipeline, load_pipeline
from tesla_eval.language.analysis.languages import resolve_language
from tesla_eval.language.analysis.sentences import split_sentences
from tesla_eval_papers.discourse.arguments import (
    SentenceFacts,
    boundary_features,
    clause_features,
    clauses_around,
    cut_clauses,
    inner_features,
    location_features,
    pair_features,
)
from tesla_eval_papers.discourse.classifier import Classifier
from tesla_eval_papers.discourse.connectives import (
    ConnectiveCandidate,
    Inventory,
    connective_features,
    without_overlap,
)
from tesla_eval_papers.discourse.document import (
    Document,
    Relation,
    RelationType,
    Sense,
    SentenceWords,
    TokenIndex,
    analyse_many,
)

CLASSIFIERS = ("use", "sense", "location", "boundary", "clause", "inner", "type", "implicit_sense")
"""The classifiers of a parser, in the order in which they work."""

USED, SAME, BOUNDARY, RELATED = "used", "same", "begins", "related"
"""Labels: the words are a connective; Arg1 lies in the same sentence; a clause begins here; two clauses are related."""
ARG1, ARG2 = "Arg1", "Arg2"

Place: TypeAlias = tuple[int, ConnectiveCandidate]
"""A candidate with the number of its sentence."""
Link: TypeAlias = tuple[RelationType, Sense]


@dataclass(frozen=True)
class FoundConnective:
    """A connective of a sentence with its relation as far as the sentence alone decides it."""

    candidate: ConnectiveCandidate
    sense: Sense
    arg1: tuple[int, ...]
    """Tokens of the same sentence; none if Arg1 is the sentence before."""
    arg2: tuple[int, ...]


class InnerRelation(NamedTuple):
    """An implicit relation of two clauses of one sentence: their tokens."""

    sense: Sense
    arg1: tuple[int, ...]
    arg2: tuple[int, ...]


class Parser:
    """Finds relations by eight linear classifiers, one after the other.

    Connectives and their arguments within a sentence depend on that sentence alone, relations between sentences on two
    neighbours; both are kept, so that the same sentences in another order cost little.
    """

    def __init__(self, inventory: Inventory, classifiers: Mapping[str, Classifier]) -> None:
        self.inventory = inventory
        self.classifiers = dict(classifiers)

    def parse(self, document: Document) -> list[Relation]:
        """The relations of a text, in the order of their second arguments' sentences."""
        return self.parse_orders(document, [range(len(document))])[0]

    def parse_orders(self, document: Document, orders: Sequence[Sequence[int]]) -> list[list[Relation]]:
        """The relations of the same sentences in several orders; indices are those of the reordered text.

        What depends on one sentence is found once, what depends on two neighbours once for each such pair.
        """
        sentences = document.sentences
        boundaries = self.boundaries(sentences)
        inside = self._connectives(sentences, boundaries)
        inner = self._inner(sentences, boundaries, inside)
        pairs = sorted({pair for order in orders for pair in pairwise(order)})
        links = dict(zip(pairs, self._links([SentenceFacts(s) for s in sentences], pairs), strict=True))
        return [
            _assemble(
                [(sentences[i], inside[i], inner[i]) for i in order],
                [links[pair] for pair in pairwise(order)],
            )
            for order in orders
        ]

    def boundaries(self, sentences: Sequence[SentenceWords]) -> list[list[int]]:
        """For each sentence, the margins by which a clause begins with its second, third, ... token."""
        examples = [features for sentence in sentences for features in boundary_features(sentence)]
        margins = iter(self.classifiers["boundary"].margins(examples, BOUNDARY))
        return [[next(margins) for _ in sentence.words[1:]] for sentence in sentences]

    def _connectives(
        self, sentences: Sequence[SentenceWords], boundaries: Sequence[Sequence[int]]
    ) -> list[list[FoundConnective]]:
        """The explicit relations that each sentence holds."""
        places: list[Place] = []
        for number, sentence in enumerate(sentences):
            places.extend((number, candidate) for candidate in self.inventory.candidates(sentence.lower))
        examples = [connective_features(sentences[number], candidate) for number, candidate in places]
        margins = self.classifiers["use"].margins(examples, USED)
        kept: list[int] = []
        for _, group in groupby(range(len(places)), key=lambda index: places[index][0]):
            numbers = list(group)
            chosen = without_overlap([places[n][1] for n in numbers], [margins[n] for n in numbers])
            kept.extend(numbers[index] for index in chosen)
        relations = self.explicit_relations(
            sentences, boundaries, [places[index] for index in kept], [examples[index] for index in kept]
        )
        by_sentence: list[list[FoundConnective]] = [[] for _ in sentences]
        for index, relation in zip(kept, relations, strict=True):
            by_sentence[places[index][0]].append(relation)
        return by_sentence

    def explicit_relations(
        self,
        sentences: Sequence[SentenceWords],
        boundaries: Sequence[Sequence[int]],
        places: Sequence[Place],
        examples: Sequence[list[str]],
    ) -> list[FoundConnective]:
        """Sense and arguments of connectives, `examples` being their features."""
        senses = self.classifiers["sense"].predict(examples)
        locations = self.classifiers["location"].predict(
            [
                location_features(sentences[number], candidate, features)
                for (number, candidate), features in zip(places, examples, strict=True)
            ]
        )
        arguments = self._arguments_inside(sentences, boundaries, places)
        relations = []
        for (number, candidate), sense, location, (arg1, arg2) in zip(
            places, senses, locations, arguments, strict=True
        ):
            same = location == SAME and bool(arg1)
            tokens = arg2 if same else candidate.others(len(sentences[number]))
            relations.append(FoundConnective(candidate, cast("Sense", sense), arg1 if same else (), tokens))
        return relations

    def _arguments_inside(
        self,
        sentences: Sequence[SentenceWords],
        boundaries: Sequence[Sequence[int]],
        places: Sequence[Place],
    ) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Arg1 and Arg2 of connectives as if both lay in their sentence; empty where there are less than two words."""
        clauses = [
            clauses_around(len(sentences[number]), boundaries[number], candidate)
            for number, candidate in places
        ]
        classifier = self.classifiers["clause"]
        scores = classifier.scores(
            [
                features
                for (number, candidate), parts in zip(places, clauses, strict=True)
                for features in clause_features(sentences[number], candidate, parts)
            ]
        )
        columns = [classifier.labels.index(label) for label in (ARG1, ARG2)]
        arguments, begin = [], 0
        for parts in clauses:
            arguments.append(_choose_arguments(parts, scores[begin : begin + len(parts)], *columns))
            begin += len(parts)
        return arguments

    def _inner(
        self,
        sentences: Sequence[SentenceWords],
        boundaries: Sequence[Sequence[int]],
        inside: Sequence[Sequence[FoundConnective]],
    ) -> list[list[InnerRelation]]:
        """The implicit relations of neighbouring clauses within each sentence."""
        places = [
            (number, left, right)
            for number, sentence in enumerate(sentences)
            for left, right in clause_pairs(
                len(sentence), boundaries[number], [t for c in inside[number] for t in c.candidate.tokens]
            )
        ]
        examples = [inner_features(sentences[number], left, right) for number, left, right in places]
        kept = [
            i for i, ahead in enumerate(self.classifiers["inner"].margins(examples, RELATED)) if ahead > 0
        ]
        senses = self.classifiers["implicit_sense"].predict([examples[index] for index in kept])
        by_sentence: list[list[InnerRelation]] = [[] for _ in sentences]
        for index, sense in zip(kept, senses, strict=True):
            number, left, right = places[index]
            by_sentence[number].append(InnerRelation(cast("Sense", sense), left, right))
        return by_sentence

    def _links(self, facts: Sequence[SentenceFacts], pairs: Sequence[tuple[int, int]]) -> list[Link]:
        """Type and sense of the non-explicit relation of each pair of neighbours."""
        examples = [pair_features(facts[first], facts[second]) for first, second in pairs]
        types = self.classifiers["type"].predict(examples)
        senses = self.classifiers["implicit_sense"].predict(examples)
        return [
            (cast("RelationType", kind), cast("Sense", kind if kind in ("EntRel", "NoRel") else sense))
            for kind, sense in zip(types, senses, strict=True)
        ]

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Parser:
        """The parser of a resource file."""
        names = arrays["connectives"].tobytes().decode("utf-8").split("\n")
        return cls(Inventory(names), {name: Classifier.from_arrays(arrays, name) for name in CLASSIFIERS})


def _choose_arguments(
    clauses: Sequence[tuple[int, ...]], scores: Index, first: int, second: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The clauses of Arg1 and of Arg2 by their scores (columns `first`, `second`); each gets one at least."""
    if len(clauses) < 2:
        return (), ()
    labels = np.argmax(scores, axis=1)
    for column, other in ((second, first), (first, second)):
        if column not in labels:
            margins = scores[:, column] - scores.max(axis=1)
            if np.count_nonzero(labels == other) == 1:  # the other argument keeps its only clause
                margins[labels == other] = np.iinfo(np.int64).min
            labels[np.argmax(margins)] = column
    arg1, arg2 = (
        tuple(
            token
            for clause, label in zip(clauses, labels, strict=True)
            if label == column
            for token in clause
        )
        for column in (first, second)
    )
    return arg1, arg2


def clause_pairs(
    length: int, boundaries: Sequence[int], connectives: Sequence[int]
) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Neighbouring clauses of a sentence that no connective joins."""
    taken = set(connectives)
    clauses = cut_clauses(length, boundaries, connectives)
    return [(left, right) for left, right in pairwise(clauses) if right[0] - 1 not in taken]


def _assemble(
    sentences: Sequence[tuple[SentenceWords, Sequence[FoundConnective], Sequence[InnerRelation]]],
    links: Sequence[Link],
) -> list[Relation]:
    """Assemble the relations of a text from those within sentences and those between neighbours."""
    relations = []
    for number, (sentence, connectives, inner) in enumerate(sentences):
        linked = False
        before = _indices(number - 1, range(len(sentences[number - 1][0]))) if number else ()
        for connective in connectives:
            arg1 = _indices(number, connective.arg1) or before
            linked = linked or not connective.arg1
            if arg1 and connective.arg2:  # before the first sentence there is nothing to relate to
                tokens = _indices(number, connective.candidate.tokens)
                relations.append(
                    Relation("Explicit", connective.sense, tokens, arg1, _indices(number, connective.arg2))
                )
        relations.extend(
            Relation("Implicit", sense, (), _indices(number, arg1), _indices(number, arg2))
            for sense, arg1, arg2 in inner
        )
        # As in the PDTB: neighbours that a connective joins have no other relation.
        if number and not linked:
            kind, sense = links[number - 1]
            relations.append(Relation(kind, sense, (), before, _indices(number, range(len(sentence)))))
    return relations


def _indices(sentence: int, tokens: Sequence[int]) -> tuple[TokenIndex, ...]:
    return tuple((sentence, token) for token in tokens)


KIND = "discourse"
"""The kind of resource file that holds a parser."""


@dataclass(frozen=True, eq=False)
class TextParser:
    """A parser with the analysis of its language.

    >>> parser = load_discourse_parser("en")
    >>> document, relations = parser.parse("It rained. We stayed at home because the roads were flooded.")
    >>> [(r.type, r.sense) for r in relations if r.explicit]
    [('Explicit', 'Contingency')]
    """

    pipeline: Pipeline
    parser: Parser
    fingerprint: str

    def documents(self, texts: Sequence[str]) -> list[Document]:
        """The texts in sentences of tagged words."""
        language = self.pipeline.language
        return analyse_many(self.pipeline, [(text, split_sentences(text, language)) for text in texts])

    def parse(self, text: str) -> tuple[Document, list[Relation]]:
        """The text in sentences, and its relations."""
        (document,) = self.documents([text])
        return document, self.parser.parse(document)

    def to_dict(self, text: str) -> dict[str, Any]:
        """The parse as plain data: sentences and relations with their places in the text."""
        document, relations = self.parse(text)
        return {
            "sentences": [[s.spans[0][0], s.spans[-1][1]] for s in document.sentences],
            "relations": [relation.to_dict(text, document.spans) for relation in relations],
        }


@cache
def load_discourse_parser(language: str) -> TextParser:
    """The installed parser of a language, by its code or alias; it is read once per process."""
    code = resolve_language(language)
    if code != language:
        return load_discourse_parser(code)
    path = find_resource(KIND, code)
    if path is None:
        raise missing_resource("discourse parser", code)
    resource = read_resource(path, KIND)
    pipeline = load_pipeline(code)
    installed = analysis_of(pipeline)
    with interpreting(
        resource, "discourse parser", "rebuild it with `python packages/papers/tools/build_discourse.py`"
    ):
        if resource.analysis != installed:
            raise ValueError(f"it was trained with {resource.analysis}, but {installed} is installed")
        return TextParser(pipeline, Parser.from_arrays(resource.arrays), resource.fingerprint)


def analysis_of(pipeline: Pipeline) -> str:
    """What the features depend on: the tagger."""
    return f"tagger:{pipeline.signature['tagger']}"
