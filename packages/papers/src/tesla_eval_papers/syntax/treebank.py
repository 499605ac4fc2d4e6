"""Reader of treebanks with roles: one JSON object per sentence with tokens, tags, a bracketed tree and predicates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tesla_eval.base.errors import InputError
from tesla_eval.texts.lines import read_json_lines
from tesla_eval_papers.syntax.trees import Tree, read_tree


@dataclass(frozen=True)
class GoldPredicate:
    """A predicate and its arguments as (label, start, end), ends exclusive; `V` is the predicate's own span."""

    index: int
    lemma: str
    tag: str
    arguments: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class TreebankSentence:
    """A sentence with what people annotated."""

    tokens: tuple[str, ...]
    tags: tuple[str, ...]
    tree: Tree
    split: str = ""
    predicates: tuple[GoldPredicate, ...] = ()


def read_treebank(path: str, split: str | None = None) -> list[TreebankSentence]:
    """The sentences of a file, or of one split; `InputError` names the line, or the splits that the file has."""
    sentences = []
    splits: set[str] = set()
    for place, record in read_json_lines(path):
        part = record.get("split", "")
        splits.add(str(part))
        if split is None or part == split:
            sentences.append(_sentence(place, record))
    if not sentences:
        known = ", ".join(sorted(splits)) or "none"
        raise InputError(f"{path}: has no sentences of the split {split!r}; its splits: {known}")
    return sentences


def _sentence(place: str, record: dict[str, Any]) -> TreebankSentence:
    tokens, tags = record.get("tokens"), record.get("pos")
    if not (_texts(tokens) and _texts(tags) and isinstance(record.get("tree"), str)):
        raise InputError(f"{place}: needs 'tokens' and 'pos', lists of texts, and 'tree', a text")
    assert isinstance(tokens, list)
    assert isinstance(tags, list)
    tree = read_tree(record["tree"], place)
    leaves = tree.leaves()
    if not len(leaves) == len(tokens) == len(tags):
        raise InputError(
            f"{place}: has {len(tokens)} tokens, {len(tags)} tags and a tree of {len(leaves)} words"
        )
    for leaf, token in zip(leaves, tokens, strict=True):
        leaf.word = token  # the tree escapes brackets
    predicates = tuple(_predicates(place, record.get("preds", []), len(tokens)))
    return TreebankSentence(tuple(tokens), tuple(tags), tree, str(record.get("split", "")), predicates)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _predicates(place: str, records: Any, words: int) -> Iterator[GoldPredicate]:
    try:
        for record in records:
            arguments = tuple((str(label), int(start), int(end)) for label, start, end in record["args"])
            index = int(record["i"])
            if not 0 <= index < words or any(not 0 <= start < end <= words for _, start, end in arguments):
                raise ValueError("a span lies outside of the sentence")
            yield GoldPredicate(index, str(record["lemma"]), str(record["pos"]), arguments)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{place}: 'preds' must list predicates with i, lemma, pos and args ({error})"
        ) from None
