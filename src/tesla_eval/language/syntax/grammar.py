"""From trees to binary trees over labelled spans, and back; the grammar that training trees show.

Chains of single children become one label (`SBAR+S`). Nodes with more than two children are split around their head:
right sisters join first, then left ones; `@NP` is a noun phrase that lacks some of its children.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval._core import MOST_SPAN_LABELS, SpanGrammar
from tesla_eval.language.syntax.heads import head_index
from tesla_eval.language.syntax.trees import Tree

__all__ = ["BinaryNode", "Grammar", "binarise", "build_grammar"]

PARTIAL = "@"
JOIN = "+"
GLUE = "FRAG"
"""What joins the parts of a sentence that has no tree of its own."""


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


@dataclass(frozen=True)
class Grammar:
    """Labels, tags and rules by number; the arrays are what the core takes."""

    labels: tuple[str, ...]
    tags: tuple[str, ...]
    rules: tuple[tuple[str, str, str], ...]
    """Parent, left and right symbol."""
    unary: tuple[tuple[str, str], ...]
    """Parent over a tag."""

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """Tags, then categories (a category may have the name of a tag: they are different symbols)."""
        return (*(f"{tag}" for tag in self.tags), *(f"^{name}" for name in self.categories))

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """The tops of labels."""
        return tuple(dict.fromkeys(top_of(label) for label in self.labels))

    @cached_property
    def parents(self) -> tuple[str, ...]:
        """The bottoms of labels."""
        return tuple(dict.fromkeys(bottom_of(label) for label in self.labels))

    @cached_property
    def label_numbers(self) -> dict[str, int]:
        """Labels by name."""
        return {label: number for number, label in enumerate(self.labels)}

    @cached_property
    def symbol_numbers(self) -> dict[str, int]:
        """Symbols by name."""
        return {symbol: number for number, symbol in enumerate(self.symbols)}

    def to_core(self) -> SpanGrammar:
        """The grammar of the core."""
        symbols = self.symbol_numbers
        parents = {name: number for number, name in enumerate(self.parents)}

        def column(values: Iterable[int]) -> npt.NDArray[np.uint8]:
            return np.array(list(values), np.uint8)

        return SpanGrammar(
            len(self.tags),
            len(self.parents),
            column(symbols["^" + top_of(label)] for label in self.labels),
            column(parents[bottom_of(label)] for label in self.labels),
            column(symbol.startswith("^" + PARTIAL) for symbol in self.symbols),
            column(parents[rule[0]] for rule in self.rules),
            column(symbols[rule[1]] for rule in self.rules),
            column(symbols[rule[2]] for rule in self.rules),
            column(parents[rule[0]] for rule in self.unary),
            column(self.tags.index(rule[1]) for rule in self.unary),
        )

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

    def tree(self, nodes: Sequence[tuple[int, int, int]], words: Sequence[str], tags: Sequence[str]) -> Tree:
        """The tree of nodes (start, end, label number) in preorder over tagged words."""
        top = Tree("TOP")
        open_nodes: list[tuple[Tree, int]] = [(top, len(words))]
        at = 0  # the next word that has no place yet

        def fill(end: int) -> None:
            nonlocal at
            while at < end:
                open_nodes[-1][0].children.append(Tree(tags[at], word=words[at]))
                at += 1

        for start, end, number in nodes:
            while open_nodes[-1][1] <= start:
                fill(open_nodes[-1][1])
                open_nodes.pop()
            fill(start)
            label = self.labels[number]
            if label.startswith(PARTIAL):
                open_nodes.append((open_nodes[-1][0], end))
                continue
            node = open_nodes[-1][0]
            for name in label.split(JOIN):
                node.children.append(Tree(name))
                node = node.children[-1]
            open_nodes.append((node, end))
        while open_nodes:
            fill(open_nodes[-1][1])
            open_nodes.pop()
        if len(top.children) > 1 or (top.children and top.children[0].is_leaf):
            top.children = [Tree(GLUE, top.children)]
        return top.renumber()

    def to_info(self) -> dict[str, Any]:
        """The grammar as plain data."""
        return {
            "labels": list(self.labels),
            "tags": list(self.tags),
            "rules": [" ".join(rule) for rule in self.rules],
            "unary": [" ".join(rule) for rule in self.unary],
        }

    @classmethod
    def from_info(cls, info: Any) -> Grammar:
        """The grammar that `to_info` told; `ValueError` or `LookupError` if it is none."""
        rules = tuple(tuple(str(rule).split(" ")) for rule in info["rules"])
        unary = tuple(tuple(str(rule).split(" ")) for rule in info["unary"])
        if any(len(rule) != 3 for rule in rules) or any(len(rule) != 2 for rule in unary):
            raise ValueError("a rule has not the right number of symbols")
        return cls(tuple(map(str, info["labels"])), tuple(map(str, info["tags"])), rules, unary)  # type: ignore[arg-type]


def top_of(label: str) -> str:
    """The category that the parent sees."""
    return label.partition(JOIN)[0]


def bottom_of(label: str) -> str:
    """The category that expands."""
    return label.rpartition(JOIN)[2]


def build_grammar(trees: Iterable[BinaryNode | str], tags: Sequence[str], rarest: int) -> Grammar:
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
    grammar = Grammar(tuple(frequent[:MOST_SPAN_LABELS]), tuple(tags), (), ())
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
    return Grammar(grammar.labels, grammar.tags, tuple(sorted(rules)), tuple(sorted(unary)))
