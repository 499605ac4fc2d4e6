"""From trees to binary trees over labelled spans, and the grammar that training trees show.

`tesla_eval_papers.syntax.grammar` says how spans are labelled, and goes back to trees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tesla_eval.matching.kernels import MOST_SPAN_LABELS
from tesla_eval_papers.syntax.grammar import JOIN, PARTIAL, Grammar, bottom_of, top_of
from tesla_eval_papers.syntax.heads import head_index
from tesla_eval_papers.syntax.trees import Tree


@dataclass(frozen=True)
class BinaryNode:
    """A labelled span with its two children (bare words have no node: their tags stand here)."""

    label: str
    start: int
    end: int
    children: tuple[BinaryNode | str, ...]
    """Two children, or one tag."""
    split: int = 0


def binarise(tree: Tree) -> BinaryNode | str:
    """The binary tree over one node of a tree; a word is its tag."""
    if tree.is_leaf:
        return tree.label
    chain = [tree.label]
    while len(tree.children) == 1 and not tree.children[0].is_leaf:
        tree = tree.children[0]
        chain.append(tree.label)
    label = JOIN.join(chain)
    children = [(child.start, child.end, binarise(child)) for child in tree.children]
    if len(children) == 1:
        return BinaryNode(label, tree.start, tree.end, (children[0][2],))
    head = head_index(tree.label, tuple(child.label for child in tree.children))
    partial = PARTIAL + tree.label
    first, last, node = children[head]
    order = [*range(head + 1, len(children)), *range(head - 1, -1, -1)]
    for number, place in enumerate(order):
        name = label if number == len(order) - 1 else partial
        start, end, sister = children[place]
        if place > head:
            node = BinaryNode(name, first, end, (node, sister), split=start)
            last = end
        else:
            node = BinaryNode(name, start, last, (sister, node), split=end)
            first = start
    return node


class TreeGrammar(Grammar):
    """A grammar that binary trees are expressed in, to be learned from."""

    def to_info(self) -> dict[str, Any]:
        """The grammar as plain data, which `from_info` reads."""
        return {
            "labels": list(self.labels),
            "tags": list(self.tags),
            "rules": [" ".join(rule) for rule in self.rules],
            "unary": [" ".join(rule) for rule in self.unary],
        }

    @cached_property
    def label_numbers(self) -> dict[str, int]:
        """Labels by name."""
        return {label: number for number, label in enumerate(self.labels)}

    def known_label(self, label: str) -> str | None:
        """The label itself, or the nearest one that the grammar has: a rare chain loses links from below."""
        if label in self.label_numbers:
            return label
        links = label.split(JOIN)
        for shorter in (links[:-1], links[1:], links[:1], links[-1:]):
            if JOIN.join(shorter) in self.label_numbers:
                return JOIN.join(shorter)
        return None

    def symbol_of(self, child: BinaryNode | str) -> int | None:
        """The symbol that a parent's rule sees."""
        if isinstance(child, str):
            return self.symbol_numbers.get(child)
        label = self.known_label(child.label)
        return None if label is None else self.symbol_numbers["^" + top_of(label)]

    def node_rows(self, root: BinaryNode) -> list[tuple[int, int, int, int, int, int]] | None:
        """Start, end, split, label, left and right of each node in preorder; `None` for what it cannot express."""
        rows = []
        stack: list[BinaryNode | str] = [root]
        while stack:
            node = stack.pop()
            if isinstance(node, str):
                continue
            label = self.known_label(node.label)
            children = [self.symbol_of(child) for child in node.children]
            if label is None or None in children:
                return None
            left, right = (children[0], children[1]) if len(children) == 2 else (0, 0)
            assert left is not None
            assert right is not None
            rows.append((node.start, node.end, node.split, self.label_numbers[label], left, right))
            stack.extend(reversed(node.children))
        return rows


def build_grammar(trees: Iterable[BinaryNode | str], tags: Sequence[str], rarest: int) -> TreeGrammar:
    """The grammar of binary trees; labels of fewer than `rarest` spans are left out."""
    roots = [tree for tree in trees if isinstance(tree, BinaryNode)]
    counts: Counter[str] = Counter()
    nodes: list[BinaryNode] = []
    stack: list[BinaryNode | str] = list(roots)
    while stack:
        node = stack.pop()
        if isinstance(node, BinaryNode):
            counts[node.label] += 1
            nodes.append(node)
            stack.extend(node.children)
    frequent = [
        label for label, count in sorted(counts.items(), key=lambda c: (-c[1], c[0])) if count >= rarest
    ]
    grammar = TreeGrammar(tuple(frequent[:MOST_SPAN_LABELS]), tuple(tags), (), ())
    rules: Counter[tuple[str, str, str]] = Counter()
    unary: Counter[tuple[str, str]] = Counter()
    for node in nodes:
        label = grammar.known_label(node.label)
        symbols = [grammar.symbol_of(child) for child in node.children]
        if label is None or None in symbols:
            continue
        names = [grammar.symbols[number] for number in symbols if number is not None]
        if len(names) == 2:
            rules[bottom_of(label), names[0], names[1]] += 1
        else:
            unary[bottom_of(label), names[0]] += 1
    return TreeGrammar(grammar.labels, grammar.tags, tuple(sorted(rules)), tuple(sorted(unary)))
