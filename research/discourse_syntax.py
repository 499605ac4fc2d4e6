"""Connectives and senses of GDTB with and without parse trees: `python -m research.discourse_syntax [--cache FILE]`.

The trees are those of the built-in parser. Connectives get the features of Pitler and Nenkova (2009): the highest
category over the connective alone (self), its parent, its siblings and what the right one holds, alone, in pairs and
with the connective; and those of Lin, Ng and Kan (2014): the path to the root, in full and without repetitions.
Implicit relations get the production rules of both arguments (Lin, Kan and Ng 2009).

Features and penalty are chosen on dev by what was learned from train. The chosen ones learn from train and dev and are
measured on test, by genre. `--unseen` also leaves out each genre in turn, over train and dev.
"""

from __future__ import annotations

import argparse
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval.language.analysis import load_pipeline
from tesla_eval_papers.discourse.arguments import SentenceFacts, inner_features, pair_features
from tesla_eval_papers.discourse.classifier import Classifier
from tesla_eval_papers.discourse.connectives import (
    USUAL_SENSE,
    ConnectiveCandidate,
    Inventory,
    connective_features,
    without_overlap,
)
from tesla_eval_papers.discourse.document import SentenceWords, TokenIndex
from tesla_eval_papers.discourse.relation_parser import USED
from tesla_eval_papers.syntax.tree_parser import load_tree_parser
from tesla_eval_papers.syntax.trees import Tree, read_tree
from tesla_eval_papers.training.discourse import (
    OTHER,
    connective_name,
    fit_classifier,
    gold_connectives,
    gold_inner,
    gold_neighbours,
)
from tesla_eval_papers.training.gdtb import GoldDocument, read_gdtb

ROOT = Path(__file__).resolve().parents[1]
GDTB = ROOT.parent / "shared" / "data" / "discourse" / "gdtb"

NAME, WORDS, PITLER, PATHS, RULES = "connective", "words", "categories", "paths", "rules"
_CONNECTIVE_VARIANTS = (
    (NAME,), (NAME, PITLER, PATHS), (WORDS,), (WORDS, PITLER), (WORDS, PATHS), (WORDS, PITLER, PATHS)
)  # fmt: skip
VARIANTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "use": _CONNECTIVE_VARIANTS,
    "sense": _CONNECTIVE_VARIANTS,
    "implicit": ((WORDS,), (WORDS, RULES)),
}
"""Groups of features: the connective alone, all that the shipped parser uses, and three kinds from trees."""
FROM_TREES = frozenset({PITLER, PATHS, RULES})
COSTS = {"use": (0.5, 0.2), "sense": (0.3, 0.1), "implicit": (0.02, 0.007)}
"""The first is the one of the shipped parser."""
TITLES = {
    "use": "connectives F1",
    "sense": "explicit sense, gold connectives",
    "implicit": "implicit sense, gold arguments",
}
RESAMPLES = 2000
FREQUENT = 12
"""Connectives with a row of their own."""

Place = tuple[int, tuple[int, ...]]


@dataclass(frozen=True)
class Example:
    """The features of one decision in groups, its label, and where it stands."""

    groups: Mapping[str, list[str]]
    label: str
    accepted: tuple[str, ...] = ()
    number: int = 0
    candidate: ConnectiveCandidate | None = None

    def features(self, variant: Sequence[str]) -> list[str]:
        return [one for group in variant for one in self.groups[group]]


@dataclass
class Described:
    """A document as examples of each decision; `connectives` are the gold ones by place."""

    genre: str
    split: str
    examples: dict[str, list[Example]] = field(default_factory=dict)
    connectives: dict[Place, str | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Setting:
    variant: tuple[str, ...]
    cost: float

    def __str__(self) -> str:
        return f"{' + '.join(self.variant)}, cost {self.cost}"

    @property
    def with_trees(self) -> bool:
        return not FROM_TREES.isdisjoint(self.variant)


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--cache", type=Path, help="keep the trees in this file, and read them from there")
    options.add_argument("--unseen", action="store_true", help="also measure on genres left out")
    given = options.parse_args()
    corpus = read_gdtb(str(GDTB / "docs.jsonl.gz"), str(GDTB / "relations.tsv.gz"), load_pipeline("en"))
    trees = parse([sentence for one in corpus for sentence in one.document.sentences], given.cache)
    train, dev, test = ([one for one in corpus if one.split == split] for split in ("train", "dev", "test"))
    before = {kind: Setting((WORDS,), costs[0]) for kind, costs in COSTS.items()}
    after = choose(describe(train, train, trees), describe(dev, train, trees))
    learned = [*train, *dev]
    report_test(describe(learned, learned, trees), describe(test, learned, trees), before, after)
    if given.unseen:
        report_unseen(learned, trees, before, after)


def parse(sentences: Sequence[SentenceWords], cache: Path | None) -> dict[int, Tree]:
    """The trees by the identity of their sentence; all go through bracketed text, so a cache changes no figure."""
    parser = load_tree_parser("en")
    digest = hashlib.sha256(parser.fingerprint.encode())
    for sentence in sentences:
        digest.update("\n".join((*sentence.words, *sentence.tags, "")).encode())
    lines = cache.read_text("utf-8").split("\n") if cache is not None and cache.exists() else [""]
    if lines[0] != digest.hexdigest():
        parses = parser.parse_tagged([list(s.words) for s in sentences], [list(s.tags) for s in sentences])
        lines = [digest.hexdigest(), *(str(one.tree) for one in parses)]
        if cache is not None:
            cache.write_text("\n".join(lines), "utf-8")
    return {id(sentence): read_tree(line) for sentence, line in zip(sentences, lines[1:], strict=True)}


def describe(
    documents: Sequence[GoldDocument], learned: Sequence[GoldDocument], trees: Mapping[int, Tree]
) -> list[Described]:
    """The documents as examples; the inventory of connectives comes from `learned`."""
    names = {candidate.name for one in learned for _, candidate, _ in gold_connectives(one)}
    inventory = Inventory({name for name in names if any(c.isalpha() for c in name)} | set(USUAL_SENSE))
    return [_describe(one, inventory, trees) for one in documents]


def _describe(one: GoldDocument, inventory: Inventory, trees: Mapping[int, Tree]) -> Described:
    sentences = one.document.sentences
    described = Described(one.genre, one.split)
    accepted: dict[tuple[TokenIndex, ...], dict[str, None]] = {}
    for relation in one.relations:
        if relation.explicit and relation.connective:
            accepted.setdefault(relation.connective, {}).update(dict.fromkeys(relation.senses))
            number = relation.connective[0][0]
            tokens = tuple(token for _, token in relation.connective)
            described.connectives[number, tokens] = connective_name(sentences[number].lower, tokens)
    use, sense = [], []
    for number, sentence in enumerate(sentences):
        tree = trees[id(sentence)]
        for candidate in inventory.candidates(sentence.lower):
            groups = _connective_groups(sentence, tree, candidate)
            label = USED if (number, candidate.tokens) in described.connectives else OTHER
            use.append(Example(groups, label, number=number, candidate=candidate))
    for number, candidate, relation in gold_connectives(one):
        groups = _connective_groups(sentences[number], trees[id(sentences[number])], candidate)
        sense.append(Example(groups, relation.sense, tuple(accepted[relation.connective])))
    described.examples = {"use": use, "sense": sense, "implicit": list(_implicit(one, trees))}
    return described


def _connective_groups(
    sentence: SentenceWords, tree: Tree, candidate: ConnectiveCandidate
) -> dict[str, list[str]]:
    categories, paths = tree_features(tree, candidate)
    return {
        NAME: [f"c={candidate.name}"],
        WORDS: connective_features(sentence, candidate),
        PITLER: categories,
        PATHS: paths,
    }


def tree_features(tree: Tree, candidate: ConnectiveCandidate) -> tuple[list[str], list[str]]:
    """Of a connective's first piece: features of self, parent and siblings, and features of the path to the root."""
    first, end = candidate.first, candidate.head_end
    node = tree.leaves()[first]
    while node.parent is not None and node.parent.start == first and node.parent.end <= end:
        node = node.parent
    own = node.label if node.end == end else "-"
    while node.parent is not None and node.end < end:  # no node holds it alone: the lowest that covers it
        node = node.parent
    parent = node.parent
    siblings = parent.children if parent is not None else [node]
    place = next(k for k, sibling in enumerate(siblings) if sibling is node)
    left = siblings[place - 1].label if place else "-"
    following = siblings[place + 1] if place + 1 < len(siblings) else None
    inside = {below.label for below in following.nodes()} if following is not None else set()
    facts = [
        f"S={own}", f"P={parent.label if parent is not None else '-'}", f"L={left}",
        f"R={following.label if following is not None else '-'}", f"RV={'VP' in inside}", f"RS={'S' in inside}",
    ]  # fmt: skip
    pairs = [f"{a}&{b}" for k, a in enumerate(facts) for b in facts[k + 1 :]]
    labels = [one.label for one in _upwards(node)]
    paths = [f"path={'^'.join(labels)}", f"short={'^'.join(label for label, _ in groupby(labels))}"]
    with_name = [[f"{candidate.name}|{one}" for one in some] for some in (facts, paths)]
    return [*facts, *pairs, *with_name[0]], [*paths, *with_name[1]]


def _upwards(node: Tree | None) -> Iterator[Tree]:
    while node is not None:
        yield node
        node = node.parent


def _implicit(one: GoldDocument, trees: Mapping[int, Tree]) -> Iterator[Example]:
    """Implicit relations and AltLex with their arguments given; only the former are measured, so only they accept."""
    sentences = one.document.sentences
    facts = [SentenceFacts(sentence) for sentence in sentences]
    for number, relation in gold_neighbours(one):
        if relation.type in ("Implicit", "AltLex"):
            first, second = (trees[id(sentences[k])] for k in (number, number + 1))
            groups = {
                WORDS: pair_features(facts[number], facts[number + 1]),
                RULES: rule_features(rules(first), rules(second)),
            }
            yield Example(groups, relation.sense, relation.senses if relation.type == "Implicit" else ())
    for number, left, right, relation in gold_inner(one):
        tree = trees[id(sentences[number])]
        groups = {
            WORDS: inner_features(sentences[number], left, right),
            RULES: rule_features(rules(tree, left), rules(tree, right)),
        }
        yield Example(groups, relation.sense, relation.senses if relation.type == "Implicit" else ())


def rules(tree: Tree, tokens: Sequence[int] | None = None) -> set[str]:
    """The production rules of a tree, or of its nodes that lie within the tokens."""
    within = None if tokens is None else set(tokens)
    return {
        f"{node.label}→{' '.join(child.label for child in node.children)}"
        for node in tree.nodes()
        if not node.is_leaf and (within is None or within.issuperset(range(node.start, node.end)))
    }


def rule_features(first: set[str], second: set[str]) -> list[str]:
    """Rules of the first argument, of the second, and of both."""
    sides = (("1", first), ("2", second), ("b", first & second))
    return [f"{side}:{rule}" for side, found in sides for rule in sorted(found)]


def choose(train: Sequence[Described], dev: Sequence[Described]) -> dict[str, Setting]:
    """The best setting with trees of each decision on dev; prints all of them."""
    print("| decision | features, cost | dev |\n|---|---|--:|")
    chosen: dict[str, Setting] = {}
    for kind, variants in VARIANTS.items():
        figures: dict[Setting, float] = {}
        counts: dict[Setting, FloatArray] = {}
        for setting in (Setting(variant, cost) for variant in variants for cost in COSTS[kind]):
            counts[setting] = measure(kind, setting, train, dev)
            figures[setting] = ratio(counts[setting])
            print(f"| {TITLES[kind]} | {setting} | {figures[setting]:.3f} |", flush=True)
        chosen[kind] = max((one for one in figures if one.with_trees), key=lambda one: figures[one])
        plain = max((one for one in figures if not one.with_trees), key=lambda one: figures[one])
        gain = interval(counts[plain], counts[chosen[kind]])
        print(f"| | *{chosen[kind]}* against *{plain}* | {gain} |", flush=True)
    return chosen


def measure(
    kind: str, setting: Setting, learned: Sequence[Described], tests: Sequence[Described]
) -> FloatArray:
    """One row per document of `tests`, two counts whose sums' ratio is the measure."""
    if kind == "use":
        found = find_connectives(setting, learned, tests)
        return np.array(
            [f1_counts(places, one.connectives) for places, one in zip(found, tests, strict=True)]
        )
    model = _fit(kind, setting, learned)
    rows = []
    for one in tests:
        tried = [example for example in one.examples[kind] if example.accepted]
        answers = model.predict([example.features(setting.variant) for example in tried])
        right = sum(answer in example.accepted for answer, example in zip(answers, tried, strict=True))
        rows.append((float(right), float(len(tried))))
    return np.array(rows)


def _fit(kind: str, setting: Setting, learned: Sequence[Described]) -> Classifier:
    examples = [example for one in learned for example in one.examples[kind]]
    features = [example.features(setting.variant) for example in examples]
    return fit_classifier(features, [example.label for example in examples], rarest=3, cost=setting.cost)


def find_connectives(
    setting: Setting, learned: Sequence[Described], tests: Sequence[Described]
) -> list[dict[Place, str | None]]:
    """The connectives of each document as the parser would find them."""
    model = _fit("use", setting, learned)
    documents = []
    for one in tests:
        tried = one.examples["use"]
        margins = model.margins([example.features(setting.variant) for example in tried], USED)
        found: dict[Place, str | None] = {}
        for number, group in groupby(range(len(tried)), key=lambda k: tried[k].number):
            rows = list(group)
            candidates = [candidate for k in rows if (candidate := tried[k].candidate) is not None]
            kept = without_overlap(candidates, [margins[k] for k in rows])
            found |= {(number, candidates[k].tokens): candidates[k].name for k in kept}
        documents.append(found)
    return documents


def f1_counts(
    found: Mapping[Place, str | None], gold: Mapping[Place, str | None], name: str | None = None
) -> tuple[float, float]:
    """Twice the right ones, and all found and expected; of one connective if it is named."""
    ours, theirs = ({place for place in one if name in (None, one[place])} for one in (found, gold))
    return 2.0 * len(ours & theirs), float(len(ours) + len(theirs))


def ratio(counts: FloatArray) -> float:
    """The measure over all documents."""
    right, total = counts.sum(axis=0)
    return float(right / total) if total else float("nan")


def interval(before: FloatArray, after: FloatArray) -> str:
    """The gain, and its 95 % interval by resampling documents."""
    picks = np.random.default_rng(0).integers(0, len(before), (RESAMPLES, len(before)))
    sums = [counts[picks].sum(axis=1) for counts in (before, after)]
    gains = sums[1][:, 0] / sums[1][:, 1] - sums[0][:, 0] / sums[0][:, 1]
    low, high = np.quantile(gains, [0.025, 0.975])
    return f"{ratio(after) - ratio(before):+.3f} [{low:+.3f}, {high:+.3f}]"


def report_test(
    learned: Sequence[Described],
    tests: Sequence[Described],
    before: Mapping[str, Setting],
    after: Mapping[str, Setting],
) -> None:
    """The table by genre: each decision without and with trees."""
    counts = [
        [measure(kind, settings[kind], learned, tests) for settings in (before, after)] for kind in TITLES
    ]
    genres = np.array([one.genre for one in tests])
    print("\n| genre | " + " | ".join(f"{title}, without | with" for title in TITLES.values()) + " |")
    print("|---|" + "--:|" * 2 * len(TITLES))
    for genre in sorted(set(genres.tolist())):
        cells = [f"{ratio(one[genres == genre]):.3f}" for pair in counts for one in pair]
        print(f"| {genre} | {' | '.join(cells)} |")
    print(f"| **all** | {' | '.join(f'{ratio(one):.3f}' for pair in counts for one in pair)} |")
    print(f"| gain | {' | '.join(f'| {interval(*pair)}' for pair in counts)} |", flush=True)
    report_names(learned, tests, before["use"], after["use"])


def report_names(
    learned: Sequence[Described], tests: Sequence[Described], before: Setting, after: Setting
) -> None:
    """F1 of the most frequent connectives without and with trees."""
    gold = [one.connectives for one in tests]
    frequent = Counter(name for places in gold for name in places.values() if name).most_common(FREQUENT)
    print("\n| connective | in test | F1, without | with |\n|---|--:|--:|--:|")
    found = [find_connectives(setting, learned, tests) for setting in (before, after)]
    for name, count in frequent:
        cells = [
            f"{ratio(np.array([f1_counts(*pair, name) for pair in zip(places, gold, strict=True)])):.3f}"
            for places in found
        ]
        print(f"| *{name}* | {count} | {' | '.join(cells)} |", flush=True)


def report_unseen(
    documents: Sequence[GoldDocument],
    trees: Mapping[int, Tree],
    before: Mapping[str, Setting],
    after: Mapping[str, Setting],
) -> None:
    """Connectives and explicit senses of each genre by what was learned from the others."""
    totals: dict[str, list[list[FloatArray]]] = {kind: [[], []] for kind in ("use", "sense")}
    print("\n| genre left out | " + " | ".join(f"{TITLES[kind]}, without | with" for kind in totals) + " |")
    print("|---|" + "--:|" * 2 * len(totals))
    for genre in sorted({one.genre for one in documents}):
        others = [one for one in documents if one.genre != genre]
        learned = describe(others, others, trees)
        tests = describe([one for one in documents if one.genre == genre], others, trees)
        cells = []
        for kind, pair in totals.items():
            for settings, collected in zip((before, after), pair, strict=True):
                collected.append(measure(kind, settings[kind], learned, tests))
                cells.append(f"{ratio(collected[-1]):.3f}")
        print(f"| {genre} | {' | '.join(cells)} |", flush=True)
    pooled = [[np.concatenate(one) for one in pair] for pair in totals.values()]
    print(f"| **all** | {' | '.join(f'{ratio(one):.3f}' for pair in pooled for one in pair)} |")
    print(f"| gain | {' | '.join(f'| {interval(*pair)}' for pair in pooled)} |")


if __name__ == "__main__":
    main()
