"""Readers of NomBank 1.0 with the Penn Treebank: propositions over `.mrg` trees.

A proposition is one line: `wsj/02/wsj_0201.mrg 0 12 effect 01 12:0-rel 5:1-ARG0 13:1-ARG1`. A pointer `terminal:height`
names a node: the terminal counts words and traces from 0, the height counts steps up. `*` chains a trace and what it
stands for, `,` joins the pieces of one argument, `;` is an older sign for a chain, and `:` stands inside each pointer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tesla_eval.base.errors import InputError
from tesla_eval.texts.lines import LineReader, read_lines
from tesla_eval_papers.syntax.treebank import GoldPredicate, TreebankSentence, read_treebank
from tesla_eval_papers.syntax.trees import TRACE, Tree, read_trees, without_traces

_FEWEST_COLUMNS = 6
_POINTER = re.compile(r"(\d{1,6}):(\d{1,4})")
_LABEL = re.compile(r"([0-9:*,;]+)-([A-Za-z][A-Za-z0-9-]*)")
_ARGUMENT = re.compile(r"(?:ARG|arg)(?:\d|M|m|A)")
_HYPHEN_TAG = re.compile(r"-H\d+")
_SECTION = re.compile(r"(\d\d)/[^/]*")
_PREDICATE = "rel"
_SUPPORT = "SUPPORT"


@dataclass(frozen=True)
class Proposition:
    """One line: where, the predicate's terminal, and labelled chains of pieces of pointers (terminal, height)."""

    file: str
    sentence: int
    terminal: int
    lemma: str
    arguments: tuple[tuple[str, tuple[tuple[tuple[int, int], ...], ...]], ...]
    """Label, and its alternatives (`*`, `;`), each of one or more pieces (`,`)."""


def read_propositions(path: str) -> Iterator[tuple[str, Proposition]]:
    """The propositions of a file, each with its place for messages."""
    reader = LineReader(path)
    for line in reader:
        if not line.strip():
            continue
        place = f"{reader.name}, line {reader.count}"
        columns = line.split()
        if len(columns) < _FEWEST_COLUMNS or not (columns[1].isdecimal() and columns[2].isdecimal()):
            raise InputError(f"{place}: is not file, sentence, terminal, lemma, sense and labelled pointers")
        arguments = tuple(_argument(place, column) for column in columns[5:])
        yield place, Proposition(columns[0], int(columns[1]), int(columns[2]), columns[3], arguments)


def _argument(place: str, text: str) -> tuple[str, tuple[tuple[tuple[int, int], ...], ...]]:
    matched = _LABEL.fullmatch(text)
    if matched is None:
        raise InputError(f"{place}: {text[:40]!r} is not a pointer and a label, such as 13:1-ARG1")
    chains = []
    for chain in re.split(r"[*;]", matched[1]):
        pieces = []
        for piece in chain.split(","):
            pointer = _POINTER.fullmatch(piece)
            if pointer is None:
                raise InputError(f"{place}: {piece[:40]!r} is not terminal:height, such as 13:1")
            pieces.append((int(pointer[1]), int(pointer[2])))
        chains.append(tuple(pieces))
    return matched[2], tuple(chains)


def read_mrg(path: str) -> list[Tree]:
    """The trees of a `.mrg` file, with traces and function tags as they are."""
    return list(read_trees("\n".join(read_lines(path)), path))


def section_split(file: str) -> str:
    """The paper's use of a section of the Wall Street Journal: 2 to 21 `train`, 24 `dev`, 23 `test`, else nothing.

    >>> [section_split(f"wsj/{number}/wsj_{number}01.mrg") for number in ("00", "02", "21", "23", "24")]
    ['', 'train', 'train', 'test', 'dev']
    """
    matched = _SECTION.search(file)
    number = int(matched[1]) if matched else 0
    return "train" if 2 <= number <= 21 else {23: "test", 24: "dev"}.get(number, "")


def read_gold(path: str, treebank: Path | None, split: str | None) -> list[TreebankSentence]:
    """The sentences of JSON Lines or, with a folder of trees, of NomBank; all of them, or those of one split."""
    return read_treebank(path, split) if treebank is None else read_nombank(path, treebank, split)


def read_nombank(propositions: str, treebank: Path, split: str | None = None) -> list[TreebankSentence]:
    """The sentences with propositions, without traces, in the order of the propositions; all, or those of one split.

    `treebank` is the folder to which the file names in the propositions are relative. Arguments without any word
    (only traces) are dropped, and so is SUPPORT, which is not an argument.
    """
    trees: dict[str, list[Tree]] = {}
    predicates_of: dict[tuple[str, int], list[GoldPredicate]] = {}
    for place, proposition in read_propositions(propositions):
        if split is not None and section_split(proposition.file) != split:
            continue
        if proposition.file not in trees:
            path = treebank / proposition.file
            if ".." in Path(proposition.file).parts or not path.is_file():
                raise InputError(f"{place}: there is no file {proposition.file!r} in {treebank}")
            trees[proposition.file] = read_mrg(str(path))
        if proposition.sentence >= len(trees[proposition.file]):
            raise InputError(f"{place}: {proposition.file} has no tree {proposition.sentence}")
        tree = trees[proposition.file][proposition.sentence]
        predicate = _predicate(place, proposition, tree)
        if predicate is not None:
            predicates_of.setdefault((proposition.file, proposition.sentence), []).append(predicate)
    if split is not None and not predicates_of:
        raise InputError(
            f"{propositions}: has no sentences of the split {split!r}: sections 2 to 21 are train, 24 dev, 23 test"
        )
    return [
        _sentence(trees[file][number], predicates, section_split(file))
        for (file, number), predicates in predicates_of.items()
    ]


def _sentence(tree: Tree, predicates: list[GoldPredicate], split: str) -> TreebankSentence:
    bare, _ = without_traces(tree)
    assert bare is not None  # a predicate is a word
    if bare.label != "TOP":
        bare = Tree("TOP", [bare]).renumber()
    leaves = bare.leaves()
    words = tuple(leaf.word or "" for leaf in leaves)
    return TreebankSentence(words, tuple(leaf.label for leaf in leaves), bare, split, tuple(predicates))


def _predicate(place: str, proposition: Proposition, tree: Tree) -> GoldPredicate | None:
    leaves = tree.leaves()
    _, numbers = without_traces(tree)
    if proposition.terminal >= len(leaves):
        raise InputError(f"{place}: the tree has no terminal {proposition.terminal}")
    index = numbers.get(proposition.terminal)
    if index is None:
        return None
    arguments: list[tuple[str, int, int]] = []
    for name, chains in proposition.arguments:
        label = _HYPHEN_TAG.sub("", name)
        if label == _PREDICATE:
            arguments.append(("V", index, index + 1))
        elif label != _SUPPORT and _ARGUMENT.match(label):
            spans = [_span(place, leaves, numbers, pointer) for chain in chains for pointer in chain]
            arguments.extend((label, *span) for span in dict.fromkeys(spans) if span is not None)
    tag = leaves[proposition.terminal].label
    return GoldPredicate(index, proposition.lemma, tag, tuple(dict.fromkeys(arguments)))


def _span(
    place: str, leaves: list[Tree], numbers: dict[int, int], pointer: tuple[int, int]
) -> tuple[int, int] | None:
    """The words below a node, counted without traces; `None` where it is empty."""
    terminal, height = pointer
    if terminal >= len(leaves):
        raise InputError(f"{place}: the tree has no terminal {terminal}")
    node: Tree | None = leaves[terminal]
    for _ in range(height):
        node = node.parent if node is not None else None
    if node is None:
        raise InputError(f"{place}: {terminal}:{height} points above the root")
    words = [numbers[old] for old in range(node.start, node.end) if leaves[old].label != TRACE]
    return (words[0], words[-1] + 1) if words else None
