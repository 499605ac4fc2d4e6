"""The grammar of labelled spans, and the tree that such spans are.

Chains of single children become one label (`SBAR+S`). Nodes with more than two children are split around their head:
right sisters join first, then left ones; `@NP` is a noun phrase that lacks some of its children.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval.matching.kernels import SpanGrammar
from tesla_eval_papers.syntax.trees import Tree

PARTIAL = "@"
JOIN = "+"
GLUE = "FRAG"
"""The label over the parts of a sentence for which no tree was found."""


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
        return (*self.tags, *(f"^{name}" for name in self.categories))

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """The tops of labels."""
        return tuple(dict.fromkeys(top_of(label) for label in self.labels))

    @cached_property
    def parents(self) -> tuple[str, ...]:
        """The bottoms of labels."""
        return tuple(dict.fromkeys(bottom_of(label) for label in self.labels))

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

    @classmethod
    def from_info(cls, info: Any) -> Grammar:
        """The grammar that plain data describe; `ValueError` or `LookupError` if they are not a grammar."""
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
