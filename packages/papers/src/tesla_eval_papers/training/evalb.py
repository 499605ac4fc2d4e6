"""Labelled brackets counted as `evalb` does: no TOP, no punctuation, ADVP and PRT are the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from tesla_eval_papers.syntax.trees import Tree

_LEFT_OUT = frozenset({"TOP", "ROOT", "S1", ""})
_PUNCTUATION = frozenset({",", ":", "``", "''", "."})
_EQUAL = {"PRT": "ADVP"}


def brackets(tree: Tree, tags: list[str]) -> Counter[tuple[str, int, int]]:
    """The labelled brackets over words that are not punctuation by `tags` (the gold ones).

    >>> from tesla_eval_papers.syntax.trees import read_tree
    >>> sorted(brackets(read_tree("(TOP (S (NP (PRP We)) (VP (VBP go)) (. .)))"), ["PRP", "VBP", "."]))
    [('NP', 0, 1), ('S', 0, 2), ('VP', 1, 2)]
    """
    position = [0]
    for tag in tags:
        position.append(position[-1] + (tag not in _PUNCTUATION))
    brackets: Counter[tuple[str, int, int]] = Counter()
    for node in tree.nodes():
        if node.is_leaf or node.label in _LEFT_OUT:
            continue
        start, end = position[node.start], position[node.end]
        if end > start:
            brackets[_EQUAL.get(node.label, node.label), start, end] += 1
    return brackets


@dataclass
class BracketCounts:
    """Brackets of gold trees, of predicted trees, and of both; sentences that are wholly right."""

    gold: int = 0
    predicted: int = 0
    matched: int = 0
    sentences: int = 0
    exact: int = 0

    def add(self, gold: Tree, predicted: Tree) -> None:
        """Count one sentence; the gold tree's tags say what is punctuation."""
        tags = [leaf.label for leaf in gold.leaves()]
        right, given = brackets(gold, tags), brackets(predicted, tags)
        self.gold += right.total()
        self.predicted += given.total()
        self.matched += (right & given).total()
        self.sentences += 1
        self.exact += right == given

    def to_dict(self) -> dict[str, object]:
        """Shares from 0 to 1."""
        precision = self.matched / self.predicted if self.predicted else 0.0
        recall = self.matched / self.gold if self.gold else 0.0
        total = self.predicted + self.gold
        return {
            "labelled": {
                "precision": precision,
                "recall": recall,
                "f1": 2 * self.matched / total if total else 0.0,
            },
            "exact": self.exact / self.sentences if self.sentences else 0.0,
        }


def count_brackets(pairs: Iterable[tuple[Tree, Tree]]) -> BracketCounts:
    """Counts over pairs of a gold and a predicted tree."""
    counts = BracketCounts()
    for gold, predicted in pairs:
        counts.add(gold, predicted)
    return counts
