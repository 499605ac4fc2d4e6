"""Building the constituency parser: tags by taggers that have not seen the sentence, a grammar, span weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval.base.errors import BuildError
from tesla_eval.base.resources import Resource, byte_planes
from tesla_eval.language.analysis.conllu import Word
from tesla_eval.language.analysis.tags import TaggerModel
from tesla_eval.matching.kernels import SpanTrainer, span_word_key
from tesla_eval.training.taggers import TaggerSettings, train_tagger
from tesla_eval_papers.syntax.tree_parser import ANALYSIS, KIND, ConstituencyParser
from tesla_eval_papers.syntax.treebank import TreebankSentence
from tesla_eval_papers.syntax.trees import Tree, read_tree
from tesla_eval_papers.training.evalb import BracketCounts, count_brackets
from tesla_eval_papers.training.grammar import BinaryNode, binarise, build_grammar

__all__ = ["ParserSettings", "evaluate_parser", "fold_of", "jackknifed_tags", "train_parser"]

FOLDS = 10
_TAGGER = TaggerSettings(fine_tags=True, margin=10, scale=2.0, min_weight=3)


@dataclass(frozen=True)
class ParserSettings:
    """How a parser is trained; cost and beam were chosen on a tenth of the training sentences."""

    epochs: int = 2
    """Passes with all features."""
    final_epochs: int = 0
    """Further passes from zero with the largest features alone: a smaller model."""
    rate: float = 0.15
    cost: float = 4.0
    """How much better the right label must be."""
    beam: int = 8
    min_updates: int = 3
    """A feature gets a weight from this update on."""
    features: int = 420_000
    """So many are kept for the further passes."""
    scale: float = 40.0
    min_weight: int = 2
    rarest_label: int = 5
    rarest_word: int = 3
    longest: int = 80
    seed: int = 1


def fold_of(index: int, folds: int = FOLDS) -> int:
    """The fold of a sentence: runs of 50 neighbours stay together, because they may be of one text."""
    return index // 50 % folds


def jackknifed_tags(sentences: Sequence[TreebankSentence], tagger: TaggerModel) -> list[list[str]]:
    """The tags that a tagger gives to sentences it did not learn from: one tagger per fold.

    `tagger` is the one that will tag new text: its labels say which universal tag a treebank tag has.
    """
    universal: dict[str, Counter[str]] = {}
    for sentence in sentences:
        for tag, label in zip(sentence.tags, tagger.tag(sentence.tokens), strict=True):
            universal.setdefault(tag, Counter())[label.universal] += 1
    commonest = {tag: counts.most_common(1)[0][0] for tag, counts in universal.items()}
    words = [
        [Word(form, "_", commonest[tag], tag) for form, tag in zip(s.tokens, s.tags, strict=True)]
        for s in sentences
    ]
    tags: list[list[str]] = [[] for _ in sentences]
    for fold in range(FOLDS):
        learned = [sentence for i, sentence in enumerate(words) if fold_of(i) != fold]
        model = TaggerModel.from_resource(train_tagger(learned, tagger.language, settings=_TAGGER))
        for i, sentence in enumerate(sentences):
            if fold_of(i) == fold:
                tags[i] = [label.fine for label in model.tag(sentence.tokens)]
    return tags


_KINDS: dict[str, int] = {
    **dict.fromkeys(("VBD", "VBZ", "VBP", "MD"), 1 | 2),
    **dict.fromkeys(("VB", "VBG", "VBN", "TO"), 2),
    "CC": 4,
    **dict.fromkeys((",", ":"), 8),
    **dict.fromkeys(("WP", "WDT", "WRB", "WP$"), 16),
    "IN": 32,
    **dict.fromkeys(("NN", "NNS", "NNP", "NNPS", "PRP"), 64),
    **dict.fromkeys(("``", "''", "-LRB-", "-RRB-"), 128),
}
"""What `SpanSentence` of the core counts inside a span."""
_BREAKS = {".": 3, ":": 2, "NFP": 2, ",": 1}
"""How well a long sentence may be cut after a word with that tag."""


def train_parser(
    sentences: Sequence[TreebankSentence],
    tags: Sequence[Sequence[str]],
    tagger: TaggerModel,
    settings: ParserSettings | None = None,
    *,
    after_epoch: Callable[[str], object] = lambda line: None,
    measure: Callable[[Resource], str] | None = None,
) -> Resource:
    """A parser's resource, learned from trees with the given tags."""
    settings = settings or ParserSettings()
    all_tags = sorted(
        {label.fine for label in tagger.labels} | {tag for sentence in tags for tag in sentence}
    )
    numbers = {tag: number for number, tag in enumerate(all_tags)}
    trees = [_retagged(s, t) for s, t in zip(sentences, tags, strict=True)]
    roots = [binarise(tree) if tree is not None else "" for tree in trees]
    grammar = build_grammar(roots, all_tags, settings.rarest_label)
    words = _frequent_words(sentences, settings.rarest_word)
    kinds = [_KINDS.get(tag, 0) for tag in all_tags]
    trainer = SpanTrainer(grammar.to_core(), words, kinds)
    added = 0
    for sentence, sentence_tags, root in zip(sentences, tags, roots, strict=True):
        if not isinstance(root, BinaryNode) or len(sentence.tokens) > settings.longest:
            continue
        rows = grammar.node_rows(root)
        if rows is None:
            continue
        trainer.add_sentence(
            list(sentence.tokens),
            np.array([numbers[tag] for tag in sentence_tags], np.uint8),
            np.array(rows, np.int32).reshape(-1),
        )
        added += 1
    if not added:
        raise BuildError("no tree can be learned from")

    def resource(info: dict[str, Any]) -> Resource:
        arrays: dict[str, npt.NDArray[Any]] = dict(trainer.quantised(settings.scale, settings.min_weight))
        arrays["feature_deltas"] = byte_planes(arrays["feature_deltas"])
        sorted_words = np.array(sorted(words), np.uint32)
        arrays["word_deltas"] = byte_planes(np.diff(sorted_words, prepend=np.uint32(0)))
        arrays["tag_kinds"] = np.array(kinds, np.uint8)
        arrays["tag_breaks"] = np.array([_BREAKS.get(tag, 0) for tag in all_tags], np.uint8)
        return Resource(KIND, tagger.language, arrays, analysis=ANALYSIS, info=info)

    info = {"grammar": grammar.to_info(), "settings": asdict(settings), "sentences": added}
    epoch = 0
    for phase, epochs in (("all features", settings.epochs), ("kept features", settings.final_epochs)):
        if phase == "kept features" and epochs:
            trainer.select(settings.features, True)
        for _ in range(epochs):
            wrong = trainer.run_epoch(
                settings.seed + epoch, settings.rate, settings.cost, settings.beam, settings.min_updates
            )
            epoch += 1
            told = f"epoch {epoch} ({phase}): {wrong} of {added} trees wrong, {trainer.features} features"
            after_epoch(told + (f", {measure(resource(info))}" if measure else ""))
    return resource(info)


def _retagged(sentence: TreebankSentence, tags: Sequence[str]) -> Tree | None:
    """A copy of the tree below TOP with other tags; `None` where TOP has several children."""
    if len(sentence.tree.children) != 1:
        return None
    tree = read_tree(str(sentence.tree.children[0]))
    for leaf, tag in zip(tree.leaves(), tags, strict=True):
        leaf.label = tag
    return tree


def _frequent_words(sentences: Sequence[TreebankSentence], rarest: int) -> list[int]:
    counts = Counter(span_word_key(form) for sentence in sentences for form in sentence.tokens)
    return sorted(key for key, count in counts.items() if count >= rarest)


def evaluate_parser(parser: ConstituencyParser, sentences: Sequence[TreebankSentence]) -> BracketCounts:
    """Labelled brackets of our trees, over the treebank's tokens with our tags, against the treebank's."""
    parses = parser.parse_tokens([sentence.tokens for sentence in sentences])
    return count_brackets((s.tree, p.tree) for s, p in zip(sentences, parses, strict=True))
