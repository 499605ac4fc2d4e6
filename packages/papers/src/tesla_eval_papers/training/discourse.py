"""Training the discourse parser on GDTB, one classifier per decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from tesla_eval.base.parallel import NO_PROGRESS, Progress
from tesla_eval.base.resources import UNSTATED, Provenance, Resource, text_array
from tesla_eval.language.analysis import Pipeline
from tesla_eval_papers.discourse.arguments import (
    SentenceFacts,
    boundary_features,
    clause_features,
    clauses_around,
    inner_features,
    location_features,
    pair_features,
)
from tesla_eval_papers.discourse.classifier import BIAS, WEIGHT_UNITS, Classifier
from tesla_eval_papers.discourse.connectives import (
    USUAL_SENSE,
    ConnectiveCandidate,
    Inventory,
    connective_features,
)
from tesla_eval_papers.discourse.document import (
    SentenceWords,
)
from tesla_eval_papers.discourse.relation_parser import (
    ARG1,
    ARG2,
    BOUNDARY,
    CLASSIFIERS,
    KIND,
    RELATED,
    SAME,
    USED,
    Parser,
    analysis_of,
    clause_pairs,
)
from tesla_eval_papers.training.gdtb import GoldDocument, GoldRelation

__all__ = [
    "classifier_arrays",
    "connective_name",
    "fit_classifier",
    "gold_connectives",
    "gold_neighbours",
    "train_parser",
    "train_parser_resource",
]

_LARGEST_WEIGHT = np.iinfo(np.int16).max
OTHER = "other"
"""The label of what is not used, not in the same sentence, no boundary, in no argument, not related."""
FOLDS = 3


class _Settings(TypedDict):
    rarest: int
    cost: float


_SETTINGS: dict[str, _Settings] = {
    "use": {"rarest": 3, "cost": 0.5},
    "sense": {"rarest": 3, "cost": 0.3},
    "location": {"rarest": 3, "cost": 0.1},
    "boundary": {"rarest": 5, "cost": 0.1},
    "clause": {"rarest": 3, "cost": 0.1},
    "inner": {"rarest": 3, "cost": 0.1},
    "type": {"rarest": 3, "cost": 0.03},
    "implicit_sense": {"rarest": 3, "cost": 0.02},
}
"""Chosen on the development documents."""


@dataclass
class _Examples:
    features: list[list[str]] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)

    def add(self, features: list[str], label: str) -> None:
        self.features.append(features)
        self.labels.append(label)


def gold_connectives(document: GoldDocument) -> Iterator[tuple[int, ConnectiveCandidate, GoldRelation]]:
    """The explicit relations with their connective as a candidate: sentence, candidate, relation.

    Left out are those of which the corpus gives no connective, or one that runs over sentences or three pieces.
    """
    for relation in document.relations:
        if relation.explicit and relation.connective:
            sentences = {sentence for sentence, _ in relation.connective}
            tokens = tuple(token for _, token in relation.connective)
            number = min(sentences)
            name = (
                connective_name(document.document.sentences[number].lower, tokens)
                if len(sentences) == 1
                else None
            )
            if name is not None:
                yield number, ConnectiveCandidate(name, tokens), relation


def connective_name(lower: Sequence[str], tokens: Sequence[int]) -> str | None:
    """The name under which the connective at `tokens` is kept; `None` if it is in more than two pieces.

    >>> connective_name(("if", "so", "then"), (0, 2)), connective_name(("a", "b", "c", "d", "e"), (0, 2, 4))
    ('if .. then', None)
    """
    pieces: list[list[str]] = []
    for place, token in enumerate(tokens):
        if place and tokens[place - 1] + 1 == token:
            pieces[-1].append(lower[token])
        else:
            pieces.append([lower[token]])
    return Inventory.SEPARATOR.join(" ".join(piece) for piece in pieces) if len(pieces) <= 2 else None


def gold_neighbours(document: GoldDocument) -> Iterator[tuple[int, GoldRelation]]:
    """The non-explicit relations of two whole neighbouring sentences: number of the first sentence, relation."""
    for relation in document.relations:
        first, second = {s for s, _ in relation.arg1}, {s for s, _ in relation.arg2}
        if not relation.explicit and len(first) == len(second) == 1 and max(first) + 1 == min(second):
            yield max(first), relation


def train_parser(documents: Sequence[GoldDocument], *, progress: Progress = NO_PROGRESS) -> Parser:
    """A parser from annotated documents; the same documents give the same parser (needs scikit-learn)."""
    progress.stage("training (classifiers)", len(CLASSIFIERS) + 1)
    names = {candidate.name for document in documents for _, candidate, _ in gold_connectives(document)}
    inventory = Inventory({name for name in names if any(c.isalpha() for c in name)} | set(USUAL_SENSE))
    examples = {name: _Examples() for name in CLASSIFIERS}
    for document in documents:
        _collect_connectives(document, inventory, examples)
        _collect_neighbours(document, examples)
    for document, boundaries in _unseen_boundaries(documents):
        _collect_clauses(document, boundaries, examples["clause"])
        _collect_inner(document, boundaries, examples)
    progress.advance(1)
    examples["boundary"] = _boundary_examples(documents)
    classifiers: dict[str, Classifier] = {}
    for name in CLASSIFIERS:
        classifiers[name] = fit_classifier(examples[name].features, examples[name].labels, **_SETTINGS[name])
        progress.advance(1)
    return Parser(inventory, classifiers)


def train_parser_resource(
    documents: Sequence[GoldDocument],
    pipeline: Pipeline,
    *,
    provenance: Provenance = UNSTATED,
    progress: Progress = NO_PROGRESS,
) -> Resource:
    """A parser trained on annotated documents, as a resource file's content."""
    parser = train_parser(documents, progress=progress)
    info = {"documents": len(documents), "genres": sorted({document.genre for document in documents})}
    arrays: dict[str, npt.NDArray[Any]] = {"connectives": text_array("\n".join(parser.inventory.names))}
    for name in CLASSIFIERS:
        arrays.update(classifier_arrays(parser.classifiers[name], name))
    return Resource(
        KIND, pipeline.language, arrays, analysis=analysis_of(pipeline), provenance=provenance, info=info
    )


def classifier_arrays(classifier: Classifier, name: str) -> dict[str, npt.NDArray[Any]]:
    """A classifier as arrays of a resource file, which `Classifier.from_arrays` reads."""
    return {
        f"{name}.labels": text_array("\n".join(classifier.labels)),
        f"{name}.features": text_array("\n".join(classifier.rows)),
        f"{name}.weights": classifier.weights,
    }


def _boundary_examples(documents: Sequence[GoldDocument]) -> _Examples:
    examples = _Examples()
    for document in documents:
        _collect_boundaries(document, examples)
    return examples


def _unseen_boundaries(documents: Sequence[GoldDocument]) -> Iterator[tuple[GoldDocument, list[list[int]]]]:
    """Each document cut into clauses by a classifier that did not see it: so will new text be."""
    for fold in range(FOLDS):
        examples = _boundary_examples([d for n, d in enumerate(documents) if n % FOLDS != fold])
        classifier = fit_classifier(examples.features, examples.labels, **_SETTINGS["boundary"])
        parser = Parser(Inventory(()), {"boundary": classifier})
        for document in documents[fold::FOLDS]:
            yield document, parser.boundaries(document.document.sentences)


def _collect_connectives(
    document: GoldDocument, inventory: Inventory, examples: dict[str, _Examples]
) -> None:
    sentences = document.document.sentences
    gold: dict[tuple[int, tuple[int, ...]], list[GoldRelation]] = {}
    for number, candidate, relation in gold_connectives(document):
        gold.setdefault((number, candidate.tokens), []).append(relation)
    for number, sentence in enumerate(sentences):
        for candidate in inventory.candidates(sentence.lower):
            features = connective_features(sentence, candidate)
            relations = gold.get((number, candidate.tokens), [])
            examples["use"].add(features, USED if relations else OTHER)
            for relation in relations:
                examples["sense"].add(features, relation.sense)
                same = {s for s, _ in relation.arg1} == {number}
                examples["location"].add(
                    location_features(sentence, candidate, features), SAME if same else OTHER
                )


def _collect_boundaries(document: GoldDocument, examples: _Examples) -> None:
    """A clause begins where an argument begins, and after the last token of an argument or a connective."""
    begins: set[tuple[int, int]] = set()
    for relation in document.relations:
        for tokens in (relation.arg1, relation.arg2):
            inside = set(tokens)
            for number, token in tokens:
                if (number, token - 1) not in inside:
                    begins.add((number, token))
                if (number, token + 1) not in inside:
                    begins.add((number, token + 1))
    connectives = {index for relation in document.relations for index in relation.connective}
    # The connective belongs to the clause that it opens.
    begins |= {
        index
        for index in connectives
        if (index[0], index[1] + 1) in begins and (index[0], index[1] - 1) not in connectives
    }
    for number, sentence in enumerate(document.document.sentences):
        for place, features in enumerate(boundary_features(sentence), 1):
            before = (number, place - 1) in connectives
            examples.add(features, BOUNDARY if (number, place) in begins and not before else OTHER)


def _collect_clauses(
    document: GoldDocument, boundaries: Sequence[Sequence[int]], examples: _Examples
) -> None:
    """Clauses as a parser cuts them, each with the argument to which most of its tokens belong."""
    sentences: Sequence[SentenceWords] = document.document.sentences
    for number, candidate, relation in gold_connectives(document):
        if not {s for s, _ in relation.arg1} == {s for s, _ in relation.arg2} == {number}:
            continue
        clauses = clauses_around(len(sentences[number]), boundaries[number], candidate)
        arguments = ((ARG1, {t for _, t in relation.arg1}), (ARG2, {t for _, t in relation.arg2}))
        for clause, features in zip(
            clauses, clause_features(sentences[number], candidate, clauses), strict=True
        ):
            share, label = max((len(tokens.intersection(clause)), label) for label, tokens in arguments)
            examples.add(features, label if 2 * share > len(clause) else OTHER)


def gold_inner(
    document: GoldDocument,
) -> Iterator[tuple[int, tuple[int, ...], tuple[int, ...], GoldRelation]]:
    """The implicit relations within a sentence: its number, the tokens of both arguments in text order, relation."""
    for relation in document.relations:
        sentences = {s for s, _ in (*relation.arg1, *relation.arg2)}
        if relation.type in ("Implicit", "AltLex") and len(sentences) == 1:
            left, right = sorted((tuple(t for _, t in relation.arg1), tuple(t for _, t in relation.arg2)))
            yield min(sentences), left, right, relation


def _collect_inner(
    document: GoldDocument, boundaries: Sequence[Sequence[int]], examples: dict[str, _Examples]
) -> None:
    """Neighbouring clauses with and without an implicit relation that meets between them."""
    sentences = document.document.sentences
    meetings = set()
    for number, left, right, relation in gold_inner(document):
        meetings.add((number, right[0]))
        examples["implicit_sense"].add(inner_features(sentences[number], left, right), relation.sense)
    connectives: dict[int, list[int]] = {}
    for number, candidate, _ in gold_connectives(document):
        connectives.setdefault(number, []).extend(candidate.tokens)
    for number, sentence in enumerate(sentences):
        for left, right in clause_pairs(len(sentence), boundaries[number], connectives.get(number, ())):
            label = RELATED if (number, right[0]) in meetings else OTHER
            examples["inner"].add(inner_features(sentence, left, right), label)


def _collect_neighbours(document: GoldDocument, examples: dict[str, _Examples]) -> None:
    facts = [SentenceFacts(sentence) for sentence in document.document.sentences]
    for number, relation in gold_neighbours(document):
        features = pair_features(facts[number], facts[number + 1])
        examples["type"].add(features, relation.type)
        if relation.type in ("Implicit", "AltLex"):
            examples["implicit_sense"].add(features, relation.sense)


def fit_classifier(
    examples: Sequence[Sequence[str]], labels: Sequence[str], *, rarest: int = 3, cost: float = 0.1
) -> Classifier:
    """Logistic regression, one label against the rest, over features of at least `rarest` examples.

    `cost` is the weight of the examples against the penalty on large weights. Needs scikit-learn.
    """
    counts = Counter(feature for features in examples for feature in set(features))
    names = sorted(feature for feature, count in counts.items() if count >= rarest)
    matrix = _incidence(examples, {feature: column for column, feature in enumerate(names)})
    truth = np.array(labels)
    classes = sorted(set(labels))
    columns = [np.zeros(len(names) + 1)] if len(classes) == 2 else []  # two labels: one decision
    for label in classes[len(columns) :]:
        model = LogisticRegression(C=cost, solver="liblinear", random_state=0)
        model.fit(matrix, truth == label)
        columns.append(np.append(model.intercept_, model.coef_[0]))
    weights = np.rint(np.stack(columns, axis=1) * WEIGHT_UNITS)
    weights = np.clip(weights, -_LARGEST_WEIGHT, _LARGEST_WEIGHT).astype(np.int16)
    kept = np.flatnonzero(np.any(weights != 0, axis=1)).tolist()
    all_names = [BIAS, *names]
    return Classifier(tuple(classes), {all_names[old]: new for new, old in enumerate(kept)}, weights[kept])


def _incidence(examples: Sequence[Sequence[str]], columns: Mapping[str, int]) -> Any:
    """The sparse matrix of which example has which feature."""
    indices: list[int] = []
    offsets = [0]
    for features in examples:
        indices.extend(sorted({columns[feature] for feature in features if feature in columns}))
        offsets.append(len(indices))
    return csr_matrix(
        (np.ones(len(indices)), np.array(indices, np.int64), np.array(offsets, np.int64)),
        shape=(len(examples), len(columns)),
    )
