"""Training of the role labeller: instances, sparse matrices, the paper's learners and auxiliary problems (§16)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import BuildError, UsageError
from tesla_eval_papers.srl.constituents import ParsedSentence
from tesla_eval_papers.srl.evaluation import gold_arguments, gold_constituents, noun_predicates
from tesla_eval_papers.srl.features import (
    CLASSIFICATION_FEATURES,
    IDENTIFICATION_FEATURES,
    ArgumentCandidate,
    Predicate,
    extract,
)
from tesla_eval_papers.srl.frames import UNKNOWN_TYPE
from tesla_eval_papers.srl.labeller import RoleLabeller
from tesla_eval_papers.srl.predicates import noun_places, predicate_features
from tesla_eval_papers.srl.scorer import Scorer
from tesla_eval_papers.syntax.treebank import TreebankSentence
from tesla_eval_papers.syntax.trees import Tree

LEARNERS = ("linear", "maxent", "aso")
DIMENSIONS = 20
"""h of section 5.1."""
TOLERANCE = 1e-3
"""A search ends where the gradient is so much smaller than at first; auxiliary problems may end ten times earlier. The
built-in model was made with it. Smaller is better and slower (`research/srl.py convergence`)."""
SMALLEST_WEIGHT = 20
"""Weights of the built-in model below so many thousandths are dropped."""


class FeatureTable:
    """Feature texts by number, and examples as a sparse matrix of ones."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.numbers)

    def row(self, features: Iterable[str], *, learn: bool) -> list[int]:
        """The numbers of features; new ones are added if they are to be learned from."""
        if learn:
            numbers = self.numbers
            return [numbers.setdefault(feature, len(numbers)) for feature in features]
        return [number for feature in features if (number := self.numbers.get(feature)) is not None]

    @property
    def names(self) -> list[str]:
        """The features by number."""
        return list(self.numbers)


@dataclass
class Examples:
    """Examples of one task: rows of feature numbers and one label each (empty: no argument)."""

    table: FeatureTable = field(default_factory=FeatureTable)
    rows: list[list[int]] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)

    def add(self, features: Iterable[str], label: str) -> None:
        """Take in an example to learn from."""
        self.rows.append(self.table.row(features, learn=True))
        self.labels.append(label)

    @cached_property
    def matrix(self) -> Any:
        """The sparse matrix."""
        return sparse_matrix(self.rows, len(self.table))

    def label_matrix(self, names: Sequence[str]) -> npt.NDArray[np.bool_]:
        """One column per label."""
        return np.asarray(np.array(self.labels)[:, None] == np.array(list(names)))


@dataclass
class RoleExamples:
    """The training examples of all three decisions."""

    predicates: Examples = field(default_factory=Examples)
    identification: Examples = field(default_factory=Examples)
    classification: Examples = field(default_factory=Examples)

    @property
    def roles(self) -> list[str]:
        """The labels of arguments, the most frequent first."""
        counts = Counter(self.classification.labels)
        return sorted(counts, key=lambda label: (-counts[label], label))


def sparse_matrix(rows: Sequence[Sequence[int]], columns: int) -> Any:
    """The matrix that has a 1 where a row has a feature."""
    from scipy.sparse import csr_matrix

    offsets = np.cumsum([0, *map(len, rows)])
    indices = np.fromiter((number for row in rows for number in row), np.int32, int(offsets[-1]))
    return csr_matrix((np.ones(len(indices)), indices, offsets), shape=(len(rows), columns))


def collect_examples(
    sentences: Sequence[TreebankSentence],
    trees: Sequence[Tree],
    nomtypes: Mapping[str, str],
    *,
    identification: Sequence[str] = IDENTIFICATION_FEATURES,
    classification: Sequence[str] = CLASSIFICATION_FEATURES,
) -> RoleExamples:
    """The examples of sentences with these trees; of several labels of one constituent the first is kept."""
    examples = RoleExamples()
    for annotated, tree in zip(sentences, trees, strict=True):
        sentence = ParsedSentence(tree)
        with_arguments = set()
        for gold_predicate in noun_predicates(annotated):
            gold = gold_arguments(gold_predicate)
            if gold:
                with_arguments.add(gold_predicate.index)
            predicate = predicate_at(sentence, gold_predicate.index, nomtypes)
            labels = {id(c): names[0] for c, names in gold_constituents(sentence, gold)}
            for constituent in sentence.constituents:
                candidate = ArgumentCandidate(predicate, constituent)
                label = labels.get(id(constituent), "")
                examples.identification.add(extract(candidate, identification), label)
                if label:
                    examples.classification.add(extract(candidate, classification), label)
        for place in noun_places(sentence):
            features = predicate_features(sentence, place, predicate_at(sentence, place, nomtypes).nomtype)
            examples.predicates.add(features, "yes" if place in with_arguments else "")
    if not examples.classification.rows:
        raise BuildError("the sentences have no noun predicate with an argument that is a constituent")
    return examples


def predicate_at(sentence: ParsedSentence, index: int, nomtypes: Mapping[str, str]) -> Predicate:
    """The predicate at a place, with its type."""
    plain = Predicate(sentence, index, UNKNOWN_TYPE)
    return Predicate(sentence, index, nomtypes.get(plain.lemma, UNKNOWN_TYPE))


def fit_weights(
    examples: Examples,
    targets: npt.NDArray[np.bool_],
    learner: str,
    *,
    structure: FloatArray | None = None,
    tolerance: float = TOLERANCE,
) -> FloatArray:
    """The weights of target problems (rows) by a learner of `LEARNERS`; `structure` is Θ, for aso."""
    from tesla_eval_papers.models.aso import fit_problems

    if learner == "maxent":
        return _maximum_entropy(examples.matrix, targets)
    return fit_problems(
        examples.matrix, targets, structure=structure if learner == "aso" else None, tolerance=tolerance
    )


def _maximum_entropy(matrix: Any, targets: npt.NDArray[np.bool_]) -> FloatArray:
    """Logistic regression: binary for one problem, multinomial for several labels of which one is right."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1.0, fit_intercept=False, max_iter=500, tol=1e-4)
    truth = targets[:, 0] if targets.shape[1] == 1 else targets.argmax(axis=1)
    model.fit(matrix, truth)
    if targets.shape[1] == 1:
        return np.asarray(model.coef_)
    weights = np.full((targets.shape[1], matrix.shape[1]), -1e3)
    weights[model.classes_] = model.coef_
    return weights


def unobservable_structure(
    examples: Examples, roles: Sequence[str], dimensions: int, tolerance: float
) -> FloatArray:
    """Θ of the labels as auxiliary problems (section 5.1)."""
    from tesla_eval_papers.models.aso import fit_problems, shared_structure

    weights = fit_problems(examples.matrix, examples.label_matrix(roles), tolerance=10 * tolerance)
    return shared_structure(weights, dimensions)


def train_labeller(
    examples: RoleExamples,
    nomtypes: Mapping[str, str],
    learner: str = "aso",
    *,
    dimensions: int = DIMENSIONS,
    classification_dimensions: int | None = None,
    smallest: int = 1,
    tolerance: float = TOLERANCE,
    progress: Callable[[str], object] = lambda stage: None,
) -> RoleLabeller:
    """A labeller of these examples by a learner of `LEARNERS`.

    `dimensions` is h of ASO, and `classification_dimensions` that of classification if it is another.
    """
    if learner not in LEARNERS:
        raise UsageError(f"there is no learner {learner!r}; there are {', '.join(LEARNERS)}")
    roles = examples.roles
    of_labels = dimensions if classification_dimensions is None else classification_dimensions
    scorers = []
    for name, task, labels, h in (
        ("predicates", examples.predicates, ["yes"], 0),
        ("identification", examples.identification, ["argument"], dimensions),
        ("classification", examples.classification, roles, of_labels),
    ):
        progress(name)
        chosen = "linear" if name == "predicates" else learner
        structure = unobservable_structure(task, roles, h, tolerance) if chosen == "aso" else None
        targets = task.label_matrix(labels) if labels is roles else (np.array(task.labels) != "")[:, None]
        weights = fit_weights(task, targets, chosen, structure=structure, tolerance=tolerance)
        scorers.append(Scorer.from_weights(labels, task.table.names, weights.T, smallest=smallest))
    predicates, identification, classification = scorers
    return RoleLabeller(predicates, identification, classification, nomtypes)
