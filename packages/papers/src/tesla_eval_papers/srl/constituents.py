"""The constituents of a sentence that may be arguments, with the data that features need."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tesla_eval_papers.syntax.heads import head_leaf
from tesla_eval_papers.syntax.trees import Tree


class Constituent:
    """A span with its highest node: of a chain of single children the one that its parent sees."""

    __slots__ = ("end", "node", "start", "tag", "word")

    def __init__(self, node: Tree) -> None:
        self.node = node
        self.start, self.end = node.start, node.end
        head = head_leaf(node)
        self.word = (head.word or "").lower()
        self.tag = head.label


@dataclass(frozen=True, eq=False)
class ParsedSentence:
    """A tree whose root is TOP, and its constituents from left to right, the longer ones first."""

    tree: Tree

    @cached_property
    def leaves(self) -> list[Tree]:
        """The words."""
        return self.tree.leaves()

    @cached_property
    def words(self) -> list[str]:
        """The words in lower case."""
        return [(leaf.word or "").lower() for leaf in self.leaves]

    @cached_property
    def constituents(self) -> list[Constituent]:
        """One constituent per span, also spans that hold the predicate or lie in others: nothing is pruned."""
        spans: dict[tuple[int, int], Tree] = {}
        for node in self.tree.nodes():
            if node is not self.tree:
                spans.setdefault((node.start, node.end), node)
        return [Constituent(node) for _, node in sorted(spans.items(), key=lambda s: (s[0][0], -s[0][1]))]

    @cached_property
    def by_node(self) -> dict[int, Constituent]:
        """Constituents by the identity of any node of their chain."""
        nodes = (node for node in self.tree.nodes() if node is not self.tree)
        return {id(node): self._by_span[node.start, node.end] for node in nodes}

    @cached_property
    def chunks(self) -> list[tuple[int, str]]:
        """For each word a number and the category of the lowest phrase that it stands in; equal neighbours are one."""
        parents = (leaf.parent for leaf in self.leaves)
        return [(id(parent), parent.label) for parent in parents if parent is not None]

    def constituent_at(self, start: int, end: int) -> Constituent | None:
        """The constituent with exactly that span."""
        return self._by_span.get((start, end))

    @cached_property
    def _by_span(self) -> dict[tuple[int, int], Constituent]:
        return {(c.start, c.end): c for c in self.constituents}
