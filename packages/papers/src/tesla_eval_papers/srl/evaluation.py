"""Precision, recall and F1 of identification, classification with gold arguments, and both together (§16)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tesla_eval_papers.srl.constituents import Constituent, ParsedSentence
from tesla_eval_papers.srl.labeller import RoleLabeller
from tesla_eval_papers.syntax.treebank import GoldPredicate, TreebankSentence
from tesla_eval_papers.syntax.trees import Tree

OWN_SPAN = "V"
"""The label of a predicate's own span, which is no argument."""
_TASKS = ("identification", "classification", "combined")


def noun_predicates(sentence: TreebankSentence) -> list[GoldPredicate]:
    """The predicates that are nouns by the treebank's tags."""
    return [predicate for predicate in sentence.predicates if predicate.tag.startswith("NN")]


def gold_arguments(predicate: GoldPredicate) -> list[tuple[str, int, int]]:
    """The arguments as (label, start, end), each once, without the predicate's own span."""
    return list(dict.fromkeys(argument for argument in predicate.arguments if argument[0] != OWN_SPAN))


@dataclass
class Counts:
    """Numbers of correct, predicted and gold arguments."""

    matched: int = 0
    predicted: int = 0
    gold: int = 0

    def add(self, predicted: set[tuple[int | str, ...]], gold: set[tuple[int | str, ...]]) -> None:
        """Count one predicate's arguments."""
        self.matched += len(predicted & gold)
        self.predicted += len(predicted)
        self.gold += len(gold)

    def to_dict(self) -> dict[str, float]:
        """Shares from 0 to 1; 0 where there is nothing to divide by."""
        total = self.predicted + self.gold
        return {
            "precision": self.matched / self.predicted if self.predicted else 0.0,
            "recall": self.matched / self.gold if self.gold else 0.0,
            "f1": 2 * self.matched / total if total else 0.0,
        }


@dataclass
class RoleCounts:
    """Counts of the three tasks, and by label; `decisions` are what paired tests compare."""

    identification: Counts = field(default_factory=Counts)
    classification: Counts = field(default_factory=Counts)
    combined: Counts = field(default_factory=Counts)
    by_label: dict[str, Counts] = field(default_factory=dict)
    decisions: dict[str, Counter[tuple[int | str, ...]]] = field(default_factory=dict)

    def add(
        self,
        key: tuple[int, ...],
        gold: Sequence[tuple[str, int, int]],
        identified: Sequence[tuple[int, int]],
        classified: Sequence[tuple[str, int, int]],
        combined: Sequence[tuple[str, int, int]],
    ) -> None:
        """Count one predicate; `key` names it among all."""
        for label in {argument[0] for argument in (*gold, *combined)}:
            counts = self.by_label.setdefault(label, Counts())
            counts.add({a for a in combined if a[0] == label}, {a for a in gold if a[0] == label})
        spans: set[tuple[int | str, ...]] = {(start, end) for _, start, end in gold}
        labelled: set[tuple[int | str, ...]] = set(gold)
        answers: list[set[tuple[int | str, ...]]] = [set(identified), set(classified), set(combined)]
        for task, predicted, right in zip(_TASKS, answers, (spans, labelled, labelled), strict=True):
            getattr(self, task).add(predicted, right)
            decided = self.decisions.setdefault(task, Counter())
            for argument in right:
                decided[(*key, *argument)] += argument in predicted  # 1: found, 0: missed
            for argument in predicted - right:
                decided[(*key, *argument)] -= 1

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Shares from 0 to 1 for each task."""
        return {task: getattr(self, task).to_dict() for task in _TASKS}


def gold_constituents(
    sentence: ParsedSentence, gold: Iterable[tuple[str, int, int]]
) -> list[tuple[Constituent, list[str]]]:
    """The constituents that are arguments, with their labels; arguments that are no constituent are left out."""
    labels_of: dict[tuple[int, int], tuple[Constituent, list[str]]] = {}
    for label, start, end in gold:
        constituent = sentence.constituent_at(start, end)
        if constituent is not None:
            labels_of.setdefault((start, end), (constituent, []))[1].append(label)
    return list(labels_of.values())


def evaluate_labeller(
    labeller: RoleLabeller,
    sentences: Sequence[TreebankSentence],
    trees: Sequence[Tree],
    *,
    find_predicates: bool = False,
) -> RoleCounts:
    """Evaluate a labeller on every noun of the sentences, with these trees.

    With `find_predicates` it labels the nouns that it takes for predicates: arguments of others count as missed, those
    of nouns that are no predicates as wrong.
    """
    counts = RoleCounts()
    for number, (annotated, tree) in enumerate(zip(sentences, trees, strict=True)):
        gold_of = {one.index: gold_arguments(one) for one in noun_predicates(annotated)}
        sentence = ParsedSentence(tree)
        found = set(labeller.find_predicates(sentence)) if find_predicates else set(gold_of)
        for index in sorted(found | set(gold_of)):
            gold = gold_of.get(index, [])
            predicate = labeller.predicate(sentence, index)
            arguments = [constituent for constituent, _ in gold_constituents(sentence, gold)]
            labels = labeller.classify(predicate, arguments)
            labelled = labeller.label(sentence, index).arguments if index in found else ()
            counts.add(
                (number, index),
                gold,
                [(argument.start, argument.end) for argument in labelled],
                [(label, c.start, c.end) for label, c in zip(labels, arguments, strict=True)],
                [(argument.label, argument.start, argument.end) for argument in labelled],
            )
    return counts
