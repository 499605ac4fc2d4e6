"""The role labeller of nouns: predicates, their arguments and labels, on trees or raw text. Needs no scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval.base.resources import Kind, Resource, interpreting, text_array
from tesla_eval.language.analysis.languages import resolve_language
from tesla_eval_papers.srl.constituents import Constituent, ParsedSentence
from tesla_eval_papers.srl.features import (
    CLASSIFICATION_FEATURES,
    IDENTIFICATION_FEATURES,
    ArgumentCandidate,
    Predicate,
    extract,
)
from tesla_eval_papers.srl.frames import UNKNOWN_TYPE
from tesla_eval_papers.srl.predicates import noun_places, predicate_features
from tesla_eval_papers.srl.scorer import Scorer
from tesla_eval_papers.syntax.tree_parser import ConstituencyParser, load_tree_parser

KIND = "srl"
ANALYSIS = "srl-1"


@dataclass(frozen=True)
class Argument:
    """An argument: label, first word and the word after the last."""

    label: str
    start: int
    end: int


@dataclass(frozen=True)
class LabelledPredicate:
    """A noun that takes arguments, and these."""

    index: int
    lemma: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class LabelledSentence:
    """A sentence with its predicates."""

    tokens: tuple[str, ...]
    predicates: tuple[LabelledPredicate, ...]
    cut: bool = False
    """Whether it was too long and parsed in parts."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "tokens": list(self.tokens),
            "predicates": [
                {
                    "index": predicate.index,
                    "word": self.tokens[predicate.index],
                    "lemma": predicate.lemma,
                    "arguments": [
                        {
                            "label": argument.label,
                            "start": argument.start,
                            "end": argument.end,
                            "text": " ".join(self.tokens[argument.start : argument.end]),
                        }
                        for argument in predicate.arguments
                    ],
                }
                for predicate in self.predicates
            ],
            "cut": self.cut,
        }


@dataclass(frozen=True, eq=False)
class RoleLabeller:
    """Three linear models: which nouns are predicates, which constituents are arguments, which label they have."""

    predicate_scorer: Scorer
    argument_scorer: Scorer
    label_scorer: Scorer
    nomtypes: Mapping[str, str]
    identification: tuple[str, ...] = IDENTIFICATION_FEATURES
    classification: tuple[str, ...] = CLASSIFICATION_FEATURES
    fingerprint: str = ""

    def predicate(self, sentence: ParsedSentence, index: int) -> Predicate:
        """The predicate at a place."""
        plain = Predicate(sentence, index, UNKNOWN_TYPE)
        return Predicate(sentence, index, self.nomtypes.get(plain.lemma, UNKNOWN_TYPE))

    def find_predicates(self, sentence: ParsedSentence) -> list[int]:
        """The places of the nouns that take arguments."""
        places = noun_places(sentence)
        features = [
            predicate_features(sentence, place, self.predicate(sentence, place).nomtype) for place in places
        ]
        scores = self.predicate_scorer.scores(features)
        return [place for place, score in zip(places, scores[:, 0].tolist(), strict=True) if score > 0]

    def find_arguments(self, predicate: Predicate) -> list[Constituent]:
        """The constituents that are arguments of the predicate."""
        constituents = predicate.sentence.constituents
        features = [extract(ArgumentCandidate(predicate, c), self.identification) for c in constituents]
        scores = self.argument_scorer.scores(features)[:, 0].tolist()
        return [c for c, score in zip(constituents, scores, strict=True) if score > 0]

    def classify(self, predicate: Predicate, constituents: Sequence[Constituent]) -> list[str]:
        """The label of each argument; of equally good labels the first."""
        features = [extract(ArgumentCandidate(predicate, c), self.classification) for c in constituents]
        best = np.argmax(self.label_scorer.scores(features), axis=1).tolist() if features else []
        return [self.label_scorer.labels[number] for number in best]

    def label(self, sentence: ParsedSentence, index: int) -> LabelledPredicate:
        """The predicate at a place with its arguments."""
        predicate = self.predicate(sentence, index)
        constituents = self.find_arguments(predicate)
        labels = self.classify(predicate, constituents)
        arguments = tuple(
            Argument(label, c.start, c.end) for label, c in zip(labels, constituents, strict=True)
        )
        return LabelledPredicate(index, predicate.lemma, arguments)

    def label_text(self, text: str, parser: ConstituencyParser) -> list[LabelledSentence]:
        """The predicates of the sentences of a raw text."""
        tokens = parser.sentences(text)
        labelled = []
        for words, parse in zip(tokens, parser.parse_tokens(tokens), strict=True):
            sentence = ParsedSentence(parse.tree)
            predicates = tuple(self.label(sentence, index) for index in self.find_predicates(sentence))
            labelled.append(LabelledSentence(tuple(words), predicates, parse.cut))
        return labelled

    def to_resource(self, language: str, info: Mapping[str, Any]) -> Resource:
        """The labeller as a resource."""
        arrays: dict[str, npt.NDArray[Any]] = {
            **self.predicate_scorer.to_arrays("predicate"),
            **self.argument_scorer.to_arrays("argument"),
            **self.label_scorer.to_arrays("label"),
            "nomtypes": text_array("\n".join(f"{noun}\t{name}" for noun, name in self.nomtypes.items())),
        }
        told = {
            **info,
            "identification": list(self.identification),
            "classification": list(self.classification),
        }
        return Resource(KIND, language, arrays, analysis=ANALYSIS, info=told)

    @classmethod
    def from_resource(cls, resource: Resource) -> RoleLabeller:
        """The labeller that a resource holds."""
        with interpreting(resource, "role labeller", "rebuild it with `tesla train srl`"):
            if resource.analysis != ANALYSIS:
                raise ValueError("it was made by another version of tesla-eval")
            arrays = resource.arrays
            pairs = [line.split("\t") for line in resource.text("nomtypes").split("\n") if line]
            return cls(
                Scorer.from_arrays(arrays, "predicate"),
                Scorer.from_arrays(arrays, "argument"),
                Scorer.from_arrays(arrays, "label"),
                {pair[0]: pair[1] for pair in pairs},
                tuple(map(str, resource.info["identification"])),
                tuple(map(str, resource.info["classification"])),
                resource.fingerprint,
            )


_LABELLERS = Kind(KIND, RoleLabeller.from_resource, "role labeller", "tesla train srl")
read_labeller = _LABELLERS.read
"""The labeller in a file."""


@cache
def load_labeller(language: str) -> RoleLabeller:
    """The installed labeller of a language, by its code or alias; it is read once per process."""
    return _LABELLERS.need(resolve_language(language))


def label_text(text: str, language: str = "en") -> list[LabelledSentence]:
    """The noun predicates of a raw text, with the installed parser and labeller."""
    return load_labeller(language).label_text(text, load_tree_parser(language))
