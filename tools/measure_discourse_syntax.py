"""Connectives and senses with and without parse trees: `measure_discourse_syntax.py [--dev]`.

The trees are those of the built-in parser. Connectives get the features of Pitler and Nenkova (2009) and of Lin, Ng and
Kan (2014): the highest category over the connective alone (self), its parent and siblings, what the right sibling
holds, and the path to the root. Implicit relations get the production rules of both arguments (Lin et al. 2009).

Learned from the parts train and dev of GDTB, measured on test, by genre; with --dev from train, measured on dev.
About 4 minutes of CPU time.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from tesla_eval.analysis import load_pipeline
from tesla_eval.discourse.arguments import SentenceFacts, inner_features, pair_features
from tesla_eval.discourse.connectives import (
    USUAL_SENSE,
    Candidate,
    Inventory,
    connective_features,
    without_overlap,
)
from tesla_eval.discourse.document import SentenceWords
from tesla_eval.syntax.parser import load_parser
from tesla_eval.syntax.trees import Tree
from tesla_eval.training.discourse import (
    GoldDocument,
    fit_classifier,
    gold_connectives,
    gold_inner,
    gold_neighbours,
    read_gdtb,
)

ROOT = Path(__file__).resolve().parents[1]
GDTB = ROOT.parent / "shared" / "data" / "discourse" / "gdtb"
USED, OTHER = "used", "other"
COSTS = {"use": 0.5, "sense": 0.3, "implicit": 0.02}
"""As in the shipped parser."""
RARE_RULE = 5

Trees = dict[int, Tree]
"""By the identity of a sentence."""
Lists = list[list[str]]


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--dev", action="store_true", help="measure on dev what was learned from train")
    given = options.parse_args()
    corpus = list(read_gdtb(str(GDTB / "docs.jsonl.gz"), str(GDTB / "relations.tsv.gz"), load_pipeline("en")))
    held = "dev" if given.dev else "test"
    learned = [one for one in corpus if one.split == "train" or (one.split == "dev" and not given.dev)]
    tests = [one for one in corpus if one.split == held]
    trees = parse(learned + tests)
    rows: dict[str, dict[str, Counts]] = {}
    for label, with_trees in (("without", {}), ("with", trees)):
        rows[label] = measure(learned, tests, with_trees)
    report(rows, tests)


def parse(documents: Sequence[GoldDocument]) -> Trees:
    sentences = [sentence for one in documents for sentence in one.document.sentences]
    parses = load_parser("en").parse_tagged(
        [list(sentence.words) for sentence in sentences], [list(sentence.tags) for sentence in sentences]
    )
    return {id(sentence): found.tree for sentence, found in zip(sentences, parses, strict=True)}


def tree_features(tree: Tree, candidate: Candidate) -> list[str]:
    """Self, parent, siblings and path of the connective's first piece, alone, in pairs, and with the connective."""
    leaves = tree.leaves()
    first, last = candidate.first, candidate.head_end - 1
    if last >= len(leaves):
        return []
    node = leaves[first]
    while node.parent is not None and node.parent.start == first and node.parent.end <= last + 1:
        node = node.parent
    covers = node.end == last + 1
    while (
        node.parent is not None and node.end < last + 1
    ):  # no node covers it alone: the lowest that covers it
        node = node.parent
    own = node.label if covers else "NONE"
    parent = node.parent
    children = parent.children if parent is not None else []
    place = next((k for k, child in enumerate(children) if child is node), 0)
    left = children[place - 1].label if place else "NONE"
    following = children[place + 1] if place + 1 < len(children) else None
    right = following.label if following is not None else "NONE"
    inside = {child.label for child in following.nodes()} if following is not None else set()
    path = list(_path(node))
    short = "^".join(label for label, _ in groupby(path))
    syntax = [
        f"S={own}", f"P={parent.label if parent is not None else 'NONE'}", f"L={left}", f"R={right}",
        f"RV={'VP' in inside}", f"RS={'S' in inside}",
    ]  # fmt: skip
    pairs = [f"{a}&{b}" for k, a in enumerate(syntax) for b in syntax[k + 1 :]]
    paths = [f"path={'^'.join(path)}", f"short={short}"]
    return [*syntax, *pairs, *paths, *(f"{candidate.name}|{one}" for one in (*syntax, *paths))]


def _path(node: Tree) -> Iterator[str]:
    while node is not None:
        yield node.label
        node = node.parent  # type: ignore[assignment]


def rules(tree: Tree | None, tokens: set[int] | None = None) -> set[str]:
    """The production rules of a tree, or of its nodes that begin in the tokens."""
    if tree is None:
        return set()
    return {
        f"{node.label}→{' '.join(child.label for child in node.children)}"
        for node in tree.nodes()
        if not node.is_leaf and (tokens is None or node.start in tokens)
    }


def rule_features(first: set[str], second: set[str]) -> list[str]:
    return (
        [f"1:{r}" for r in sorted(first)]
        + [f"2:{r}" for r in sorted(second)]
        + [f"b:{r}" for r in sorted(first & second)]
    )


class Counts:
    """Connectives found, right and expected; senses right of all."""

    def __init__(self) -> None:
        self.found = self.right = self.expected = 0
        self.senses: Counter[str] = Counter()

    def add(self, other: Counts) -> None:
        self.found, self.right = self.found + other.found, self.right + other.right
        self.expected += other.expected
        self.senses.update(other.senses)

    def cells(self) -> list[str]:
        f1 = 2 * self.right / max(1, self.found + self.expected)
        shares = [
            self.senses[f"{kind} right"] / max(1, self.senses[f"{kind} all"])
            for kind in ("explicit", "implicit")
        ]
        return [f"{value:.3f}" for value in (f1, *shares)]


def measure(
    learned: Sequence[GoldDocument], tests: Sequence[GoldDocument], trees: Trees
) -> dict[str, Counts]:
    names = {candidate.name for one in learned for _, candidate, _ in gold_connectives(one)}
    inventory = Inventory({name for name in names if any(c.isalpha() for c in name)} | set(USUAL_SENSE))
    use = _Examples()
    sense, implicit = _Examples(), _Examples()
    for one in learned:
        gold = _gold(one)
        for number, candidate, features in candidates(one, inventory, trees):
            relations = gold.get((number, candidate.tokens), [])
            use.add(features, USED if relations else OTHER)
            for relation in relations:
                sense.add(features, relation.sense)
        for features, relation in implicit_relations(one, trees):
            implicit.add(features, relation.sense)
    by_kind = {"use": use, "sense": sense, "implicit": implicit}
    models = {
        kind: fit_classifier(some.features, some.labels, rarest=3, cost=COSTS[kind])
        for kind, some in by_kind.items()
    }
    found: dict[str, Counts] = {}
    for one in tests:
        counts = Counts()
        gold = _gold(one)
        rows = list(candidates(one, inventory, trees))
        margins = models["use"].margins([features for *_, features in rows], USED)
        kept: set[tuple[int, tuple[int, ...]]] = set()
        for number, group in groupby(range(len(rows)), key=lambda index: rows[index][0]):
            places = list(group)
            for k in without_overlap([rows[p][1] for p in places], [margins[p] for p in places]):
                kept.add((number, rows[places[k]][1].tokens))
        counts.found, counts.expected, counts.right = len(kept), len(gold), len(kept & gold.keys())
        given = [(number, candidate, features) for number, candidate, features in
                 described(one, ((n, c) for n, c, _ in gold_connectives(one)), trees)]  # fmt: skip
        answers = models["sense"].predict([features for *_, features in given])
        for (number, candidate, _), answer in zip(given, answers, strict=True):
            accepted = {s for relation in gold[number, candidate.tokens] for s in relation.senses}
            counts.senses.update({"explicit all": 1, "explicit right": int(answer in accepted)})
        relations = list(implicit_relations(one, trees))
        for (_, relation), answer in zip(
            relations, models["implicit"].predict([features for features, _ in relations]), strict=True
        ):
            if relation.type == "Implicit":
                counts.senses.update({"implicit all": 1, "implicit right": int(answer in relation.senses)})
        found.setdefault(one.genre, Counts()).add(counts)
    return found


class _Examples:
    def __init__(self) -> None:
        self.features: Lists = []
        self.labels: list[str] = []

    def add(self, features: list[str], label: str) -> None:
        self.features.append(features)
        self.labels.append(label)


def _gold(one: GoldDocument):  # type: ignore[no-untyped-def]
    gold: dict[tuple[int, tuple[int, ...]], list] = {}  # type: ignore[type-arg]
    for number, candidate, relation in gold_connectives(one):
        gold.setdefault((number, candidate.tokens), []).append(relation)
    return gold


def candidates(
    one: GoldDocument, inventory: Inventory, trees: Trees
) -> Iterator[tuple[int, Candidate, list[str]]]:
    places = (
        (number, candidate)
        for number, sentence in enumerate(one.document.sentences)
        for candidate in inventory.candidates(sentence.lower)
    )
    return described(one, places, trees)


def described(
    one: GoldDocument, places: Iterator[tuple[int, Candidate]], trees: Trees
) -> Iterator[tuple[int, Candidate, list[str]]]:
    for number, candidate in places:
        sentence: SentenceWords = one.document.sentences[number]
        features = connective_features(sentence, candidate)
        if trees:
            features = [*features, *tree_features(trees[id(sentence)], candidate)]
        yield number, candidate, features


def implicit_relations(one: GoldDocument, trees: Trees):  # type: ignore[no-untyped-def]
    sentences = one.document.sentences
    facts = [SentenceFacts(sentence) for sentence in sentences]
    tree: Callable[[int], Tree | None] = lambda number: trees.get(id(sentences[number]))  # noqa: E731
    for number, relation in gold_neighbours(one):
        if relation.type in ("Implicit", "AltLex"):
            features = pair_features(facts[number], facts[number + 1])
            yield [*features, *rule_features(rules(tree(number)), rules(tree(number + 1)))], relation
    for number, left, right, relation in gold_inner(one):
        features = inner_features(sentences[number], left, right)
        more = rule_features(rules(tree(number), set(left)), rules(tree(number), set(right)))
        yield [*features, *more], relation


def report(rows: dict[str, dict[str, Counts]], tests: Sequence[GoldDocument]) -> None:
    genres = sorted({one.genre for one in tests})
    print("| genre | connectives F1, without trees | with | explicit sense, without | with | "
          "implicit sense, without | with |")  # fmt: skip
    print("|---|--:|--:|--:|--:|--:|--:|")
    totals = {label: Counts() for label in rows}
    for genre in genres:
        for label, by_genre in rows.items():
            totals[label].add(by_genre[genre])
        print(_row(genre, *(rows[label][genre] for label in rows)))
    print(_row("**all**", *totals.values()))


def _row(name: str, before: Counts, after: Counts) -> str:
    cells = [cell for pair in zip(before.cells(), after.cells(), strict=True) for cell in pair]
    return f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
