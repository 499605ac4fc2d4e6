"""Constituency trees: bracketed text in and out, and walks over them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tesla_eval.base.errors import InputError

_TOKEN = re.compile(r"\(|\)|[^\s()]+")
_DEEPEST = 1000
_ESCAPES = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
_UNESCAPES = {escaped: word for word, escaped in _ESCAPES.items()}
TRACE = "-NONE-"
"""The tag of an empty element in the Penn Treebank."""


class Tree:
    """A node: a word with its tag, or a category over children. `start` and `end` count words from 0.

    >>> tree = read_tree("(S (NP (DT The) (NN cat)) (VP (VBD sat)))")
    >>> [(node.label, node.start, node.end) for node in tree.nodes() if not node.is_leaf]
    [('S', 0, 3), ('NP', 0, 2), ('VP', 2, 3)]
    >>> print(tree)
    (S (NP (DT The) (NN cat)) (VP (VBD sat)))
    """

    __slots__ = ("children", "end", "label", "parent", "start", "word")

    def __init__(self, label: str, children: Sequence[Tree] = (), word: str | None = None) -> None:
        self.label = label
        self.children = list(children)
        self.word = word
        self.parent: Tree | None = None
        self.start = 0
        self.end = 0

    @property
    def is_leaf(self) -> bool:
        """Whether the node is a word."""
        return self.word is not None

    def nodes(self) -> Iterator[Tree]:
        """All nodes in preorder, words included."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def leaves(self) -> list[Tree]:
        """The words from left to right."""
        return [node for node in self.nodes() if node.is_leaf]

    def words(self) -> list[str]:
        """The words as texts."""
        return [node.word for node in self.nodes() if node.word is not None]

    def renumber(self) -> Tree:
        """Set `start`, `end` and `parent` of all nodes below this one; returns the tree."""
        order = list(self.nodes())
        position = 0
        for node in order:
            node.start = position
            if node.is_leaf:
                position += 1
            for child in node.children:
                child.parent = node
        for node in reversed(order):
            node.end = node.children[-1].end if node.children else node.start + 1
        return self

    def __str__(self) -> str:
        parts: list[str] = []
        stack: list[Tree | str] = [self]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                parts.append(item)
            elif item.word is not None:
                parts.append(f"({escape_word(item.label)} {escape_word(item.word)})")
            else:
                parts.append(f"({item.label}")
                stack.append(")")
                for child in reversed(item.children):
                    stack.extend((child, " "))
        return "".join(parts)

    def __repr__(self) -> str:
        return f"read_tree({str(self)!r})"


def escape_word(word: str) -> str:
    """A word as it stands in a bracketed tree.

    >>> escape_word("("), escape_word("f(x)")
    ('-LRB-', 'f-LRB-x-RRB-')
    """
    if word in _ESCAPES:
        return _ESCAPES[word]
    return word.replace("(", "-LRB-").replace(")", "-RRB-")


def unescape_word(word: str) -> str:
    """The word behind its escape: `-LRB-` is `(`."""
    return _UNESCAPES.get(word, word)


def read_tree(text: str, place: str = "tree") -> Tree:
    """The tree of one bracketed text. A pair of brackets without a label, as in `.mrg` files, is the node TOP."""
    trees = list(read_trees(text, place))
    if len(trees) != 1:
        raise InputError(f"{place}: holds {len(trees)} trees, not one")
    return trees[0]


def read_trees(text: str, place: str = "tree") -> Iterator[Tree]:
    """All trees of a text, one after the other, over any number of lines."""
    stack: list[list[str | Tree]] = []
    for token in _TOKEN.findall(text):
        if token == "(":
            if len(stack) >= _DEEPEST:
                raise InputError(f"{place}: a tree is deeper than {_DEEPEST} nodes")
            stack.append([])
        elif not stack:
            raise InputError(f"{place}: {token[:20]!r} stands outside of all brackets")
        elif token == ")":
            node = _node(stack.pop(), place)
            if stack:
                stack[-1].append(node)
            else:
                yield node.renumber()
        else:
            stack[-1].append(token)
    if stack:
        raise InputError(f"{place}: {len(stack)} brackets are not closed")


def _node(parts: Sequence[str | Tree], place: str) -> Tree:
    label = "TOP"
    if parts and isinstance(parts[0], str):
        label, parts = parts[0], parts[1:]
    if len(parts) == 1 and isinstance(parts[0], str):
        return Tree(unescape_word(label), word=unescape_word(parts[0]))
    children = [part for part in parts if isinstance(part, Tree)]
    if not children or len(children) != len(parts):
        raise InputError(f"{place}: the node {label[:20]!r} has neither one word nor children only")
    return Tree(label, children)


def without_traces(tree: Tree) -> tuple[Tree | None, dict[int, int]]:
    """The tree without `-NONE-` words, nodes over nothing and function tags, and the words' old numbers to new ones.

    >>> tree = read_tree("(S (NP-SBJ-1 (-NONE- *)) (VP (VB Go)))")
    >>> print(without_traces(tree)[0], without_traces(tree)[1])
    (S (VP (VB Go))) {1: 0}
    """
    order = list(tree.nodes())
    copies: dict[int, Tree | None] = {}
    for node in reversed(order):
        if node.is_leaf:
            copies[id(node)] = None if node.label == TRACE else Tree(node.label, word=node.word)
        else:
            children = [copy for child in node.children if (copy := copies[id(child)]) is not None]
            copies[id(node)] = Tree(_bare(node.label), children) if children else None
    kept = [node for node in order if node.is_leaf]
    numbers: dict[int, int] = {}
    for old, leaf in enumerate(kept):
        if leaf.label != TRACE:
            numbers[old] = len(numbers)
    copy = copies[id(tree)]
    return (copy.renumber() if copy is not None else None), numbers


def _bare(label: str) -> str:
    """A category without function tags and indices: `NP-SBJ-1` is `NP`."""
    return label if label.startswith("-") else re.split(r"[-=|]", label, maxsplit=1)[0]
