"""Training a tagger: deterministic to the bit, with a lexicon of word forms if there is one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from tesla_eval._core import MAX_LABELS, TaggerTrainer
from tesla_eval.analysis.conllu import UNIVERSAL_TAGS, UNKNOWN, Word
from tesla_eval.analysis.tagger import ANALYSIS, KIND, Label, packed
from tesla_eval.analysis.tagger_lexicon import suffix_rules
from tesla_eval.errors import BuildError
from tesla_eval.resources import Resource

__all__ = ["SMALL_TREEBANK", "TaggerSettings", "settings_for", "train_tagger"]


@dataclass(frozen=True)
class TaggerSettings:
    """How a tagger is trained; the defaults were chosen on development sets."""

    fine_tags: bool = False
    """Learn XPOS and UPOS together; otherwise UPOS alone."""
    min_label_count: int = 50
    """Rarer pairs of XPOS and UPOS are no labels of their own: any label with their UPOS is right."""
    epochs: int = 8
    margin: int = 20
    """The right label must win by more than this, else it is learned from: such weights survive pruning."""
    min_feature_count: int = 2
    scale: float = 1.5
    """Units of the stored weights per unit of the averaged ones."""
    min_weight: int = 2
    """Smaller weights, in stored units, are dropped."""
    seed: int = 1


SMALL_TREEBANK = TaggerSettings(margin=40, min_feature_count=1, scale=1.0, min_weight=1)
"""For less than `SMALL_TREEBANK_WORDS`: what was seen once counts, and there is room for small weights."""
SMALL_TREEBANK_WORDS = 45_000


def settings_for(
    words: int, *, fine_tags: bool = False, epochs: int = TaggerSettings.epochs
) -> TaggerSettings:
    """The settings for a treebank of so many words."""
    settings = SMALL_TREEBANK if words < SMALL_TREEBANK_WORDS else TaggerSettings()
    return replace(settings, fine_tags=fine_tags, epochs=epochs)


def train_tagger(
    sentences: Sequence[Sequence[Word]],
    language: str,
    *,
    lexicon: Mapping[str, str] | None = None,
    settings: TaggerSettings | None = None,
    after_epoch: Callable[[int], object] = lambda errors: None,
) -> Resource:
    """A tagger's resource, learned from tagged sentences and a lexicon's classes of forms.

    `after_epoch` is told how many words were still wrong.
    """
    settings = settings or TaggerSettings()
    labels = choose_labels(sentences, settings)
    numbers = {label: number for number, label in enumerate(labels)}
    universal = {tag: number for number, tag in enumerate(UNIVERSAL_TAGS)}
    trainer = TaggerTrainer([universal[label.universal] for label in labels])
    trainer.set_lexicon(*_numbered(suffix_rules(lexicon or {})))
    for sentence in sentences:
        gold = [numbers.get(_label(word, settings), -1 - universal[word.upos]) for word in sentence]
        trainer.add_sentence([word.form for word in sentence], gold)
    trainer.prepare(settings.min_feature_count)
    for epoch in range(settings.epochs):
        after_epoch(trainer.run_epoch(settings.seed + epoch, settings.margin))
    arrays = trainer.quantised(settings.scale, settings.min_weight)
    info = {"settings": asdict(settings)}
    return Resource(KIND, language, packed(arrays, labels), analysis=ANALYSIS, info=info)


def _label(word: Word, settings: TaggerSettings) -> Label:
    return Label(word.xpos if settings.fine_tags else word.upos, word.upos)


def choose_labels(sentences: Iterable[Sequence[Word]], settings: TaggerSettings) -> list[Label]:
    """The labels worth learning, the most frequent first; every universal tag that occurs keeps one."""
    counts: Counter[Label] = Counter()
    universal: set[str] = set()
    for sentence in sentences:
        for word in sentence:
            if word.upos == UNKNOWN:
                raise BuildError(f"the training data holds a word without a universal tag: {word.form!r}")
            universal.add(word.upos)
            label = _label(word, settings)
            if label.fine != UNKNOWN:
                counts[label] += 1
    if not universal:
        raise BuildError("the training data holds no words")
    labels: list[Label] = []
    min_count = settings.min_label_count if settings.fine_tags else 1
    for label in sorted(counts, key=lambda label: (-counts[label], label)):
        if counts[label] >= min_count or label.universal in universal:
            labels.append(label)
            universal.discard(label.universal)
    labels += [Label(tag, tag) for tag in sorted(universal)]  # those without any fine tag
    if len(labels) > MAX_LABELS:
        raise BuildError(f"{len(labels)} pairs of XPOS and UPOS are more than {MAX_LABELS}; learn UPOS alone")
    return labels


def _numbered(rules: Mapping[str, str]) -> tuple[list[str], list[int]]:
    """Suffixes and the numbers of their classes, from 1."""
    numbers = {name: number for number, name in enumerate(sorted(set(rules.values())), 1)}
    return list(rules), [numbers[name] for name in rules.values()]
