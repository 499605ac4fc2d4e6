"""Training a tagger from CoNLL-U: deterministic to the bit, with a lexicon of word forms if there is one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from tesla_eval._core import TaggerTrainer
from tesla_eval.analysis.conllu import UNIVERSAL_TAGS, UNKNOWN, Word
from tesla_eval.analysis.tagger import KIND, Label, packed
from tesla_eval.errors import BuildError
from tesla_eval.resources import Resource

__all__ = ["TaggerSettings", "train_tagger"]


@dataclass(frozen=True)
class TaggerSettings:
    """How a tagger is trained; the defaults were chosen on development sets."""

    fine_tags: bool = False
    """Learn XPOS and UPOS together; otherwise UPOS alone."""
    min_label_count: int = 50
    """Rarer pairs of XPOS and UPOS are no labels of their own: any label with their UPOS is right."""
    epochs: int = 8
    margin: int = 10
    """The right label must win by more than this, else it is learned from: such weights survive pruning."""
    min_feature_count: int = 2
    scale: float = 2.0
    """Units of the stored weights per unit of the averaged ones."""
    min_weight: int = 3
    """Smaller weights, in stored units, are dropped."""
    seed: int = 1


def train_tagger(
    sentences: Sequence[Sequence[Word]],
    language: str,
    *,
    lexicon: Mapping[str, str] | None = None,
    settings: TaggerSettings | None = None,
    after_epoch: Callable[[int], object] = lambda errors: None,
) -> Resource:
    """A tagger's resource, learned from tagged sentences and the classes of a lexicon's forms.

    `after_epoch` is told how many words were still wrong.
    """
    settings = settings or TaggerSettings()
    labels = choose_labels(sentences, settings)
    numbers = {label: number for number, label in enumerate(labels)}
    universal = {tag: number for number, tag in enumerate(UNIVERSAL_TAGS)}
    trainer = TaggerTrainer([universal[label.universal] for label in labels])
    for form, number in _class_numbers(lexicon or {}).items():
        trainer.add_to_lexicon(form, number)
    for sentence in sentences:
        gold = [numbers.get(label_of(word, settings), -1 - universal[word.upos]) for word in sentence]
        trainer.add_sentence([word.form for word in sentence], gold)
    trainer.prepare(settings.min_feature_count)
    for epoch in range(settings.epochs):
        after_epoch(trainer.run_epoch(settings.seed + epoch, settings.margin))
    arrays = trainer.quantised(settings.scale, settings.min_weight)
    return Resource(KIND, language, packed(arrays, labels), info={"settings": asdict(settings)})


def label_of(word: Word, settings: TaggerSettings) -> Label:
    """The label that a word of the training data asks for."""
    return Label(word.xpos if settings.fine_tags else word.upos, word.upos)


def choose_labels(sentences: Iterable[Sequence[Word]], settings: TaggerSettings) -> list[Label]:
    """The labels worth learning, the most frequent first; every universal tag that occurs keeps one."""
    counts: Counter[Label] = Counter()
    for sentence in sentences:
        for word in sentence:
            if word.upos == UNKNOWN:
                raise BuildError(f"the training data holds a word without a universal tag: {word.form!r}")
            label = label_of(word, settings)
            counts[Label(word.upos, word.upos) if label.fine == UNKNOWN else label] += 1
    if not counts:
        raise BuildError("the training data holds no words")
    if settings.fine_tags:  # a universal tag may stand in for a fine one only where no fine one is known
        fine = {label.universal for label in counts if label.fine != label.universal}
        for tag in fine:
            counts.pop(Label(tag, tag), None)
    ranked = sorted(counts, key=lambda label: (-counts[label], label))
    served: set[str] = set()
    labels = []
    for label in ranked:
        if counts[label] >= settings.min_label_count or label.universal not in served:
            labels.append(label)
            served.add(label.universal)
    return labels


def _class_numbers(lexicon: Mapping[str, str]) -> dict[str, int]:
    """Forms to numbers of their classes, the most frequent 255 of them."""
    counts = Counter(lexicon.values())
    ranked = sorted(counts, key=lambda name: (-counts[name], name))[:255]
    numbers = {name: number for number, name in enumerate(ranked, 1)}
    return {form: numbers[name] for form, name in lexicon.items() if name in numbers}
