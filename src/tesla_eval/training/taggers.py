"""Building taggers: read files, reduce word-form lexica to suffix classes, train deterministically, measure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy.typing as npt

from tesla_eval._core import MAX_LABELS, TaggerTrainer
from tesla_eval.base.errors import BuildError, InputError
from tesla_eval.base.parallel import NO_PROGRESS, Progress
from tesla_eval.base.resources import UNSTATED, Provenance, Resource, byte_planes, text_array
from tesla_eval.language.analysis.conllu import UNIVERSAL_TAGS, UNKNOWN, Sentence, Word, read_conllu
from tesla_eval.language.analysis.tags import ANALYSIS, KIND, WIDE_ARRAYS, Label, TaggerModel
from tesla_eval.texts.lines import LineReader

WORD_START = "\0"
"""Begins a suffix that is a whole form."""
_LONGEST_FORM = 64
_MOST_CLASSES = 255

_Node = str | tuple[frozenset[str], dict[str, "_Node"]]


class LexiconEntry(NamedTuple):
    """A word form, its lemma and a tag that it can have."""

    form: str
    lemma: str
    tag: str


def read_lexicon(path: Path | str) -> dict[str, str]:
    """The classes of a lexicon's forms."""
    return lexicon_classes((entry.form, entry.tag) for entry in read_lexicon_entries(path))


def read_lexicon_entries(path: Path | str) -> Iterator[LexiconEntry]:
    """The lines of a lexicon: form, lemma and tag, separated by tabs."""
    lines = LineReader(str(path))
    for line in lines:
        columns = line.split("\t")
        if len(columns) != 3 or not columns[0]:
            raise InputError(
                f"{lines.name}, line {lines.count}: must have three columns separated by tabs: form, lemma, tag"
            )
        yield LexiconEntry(*columns)


def lexicon_classes(entries: Iterable[tuple[str, str]]) -> dict[str, str]:
    """From forms and tags to lower-cased forms and their classes; not for rare classes and overlong forms.

    >>> lexicon_classes([("Essen", "NOUN"), ("essen", "VERB"), ("isst", "VERB")])
    {'essen': 'NOUN^ VERB', 'isst': 'VERB'}
    """
    tags: defaultdict[str, set[str]] = defaultdict(set)
    for form, tag in entries:
        if len(form) <= _LONGEST_FORM:
            tags[form.lower()].add(f"{tag}^" if form[0].isupper() else tag)
    classes = {form: " ".join(sorted(names)) for form, names in tags.items()}
    frequent = {name for name, _ in Counter(classes.values()).most_common(_MOST_CLASSES)}
    return {form: name for form, name in classes.items() if name in frequent}


def suffix_rules(classes: Mapping[str, str]) -> dict[str, str]:
    """The fewest suffixes with classes that give every form its own class, the longest suffix deciding.

    >>> suffix_rules({"walked": "V", "talked": "V", "red": "A", "bed": "N"})
    {'': 'V', 'bed': 'N', 'red': 'A'}
    """
    forms = sorted((form[::-1] + WORD_START, name) for form, name in classes.items())
    if not forms:
        return {}
    frequency = Counter(classes.values())

    def grow(first: int, last: int, depth: int) -> _Node:
        """The forms `[first, last)`, alike in their last `depth` characters: one class, or a tree of them."""
        names = {name for _, name in forms[first:last]}
        if len(names) == 1:
            return names.pop()
        children: dict[str, _Node] = {}
        while first < last:
            character, end = forms[first][0][depth], first + 1
            while end < last and forms[end][0][depth] == character:
                end += 1
            children[character] = grow(first, end, depth + 1)
            first = end
        # A class that most children could have makes rules for the others only (Hartigan's parsimony).
        votes = Counter(name for child in children.values() for name in _options(child))
        most = max(votes.values())
        return frozenset(name for name, count in votes.items() if count == most), children

    rules: dict[str, str] = {}

    def assign(node: _Node, inherited: str, suffix: str) -> None:
        options = _options(node)
        if inherited not in options:
            inherited = rules[suffix] = min(options, key=lambda name: (-frequency[name], name))
        if not isinstance(node, str):
            for character, child in node[1].items():
                assign(child, inherited, character + suffix)

    assign(grow(0, len(forms), 0), "", "")
    return rules


def _options(node: _Node) -> frozenset[str]:
    return frozenset({node}) if isinstance(node, str) else node[0]


@dataclass(frozen=True)
class TaggerSettings:
    """How a tagger is trained; the defaults were chosen on development sets."""

    fine_tags: bool = False
    """Learn XPOS and UPOS together; otherwise UPOS alone."""
    min_label_count: int = 50
    """Rarer pairs of XPOS and UPOS are not labels: for them, any label with their UPOS counts as right."""
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
"""For treebanks below `SMALL_TREEBANK_WORDS`: words seen once count, and small weights are kept."""
SMALL_TREEBANK_WORDS = 45_000


def settings_for(
    words: int, *, fine_tags: bool = False, epochs: int = TaggerSettings.epochs
) -> TaggerSettings:
    """The settings for a treebank with this number of words."""
    settings = SMALL_TREEBANK if words < SMALL_TREEBANK_WORDS else TaggerSettings()
    return replace(settings, fine_tags=fine_tags, epochs=epochs)


def train_tagger(
    sentences: Sequence[Sequence[Word]],
    language: str,
    *,
    lexicon: Mapping[str, str] | None = None,
    settings: TaggerSettings | None = None,
    progress: Progress = NO_PROGRESS,
) -> Resource:
    """A tagger's resource, learned from tagged sentences and a lexicon's classes of forms."""
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
        trainer.run_epoch(settings.seed + epoch, settings.margin)
        progress.advance(1)
    arrays = trainer.quantised(settings.scale, settings.min_weight)
    info = {"settings": asdict(settings)}
    return Resource(KIND, language, _packed(arrays, labels), analysis=ANALYSIS, info=info)


def _label(word: Word, settings: TaggerSettings) -> Label:
    return Label(word.xpos if settings.fine_tags else word.upos, word.upos)


def choose_labels(sentences: Iterable[Sequence[Word]], settings: TaggerSettings) -> list[Label]:
    """The labels worth learning, the most frequent first; every universal tag that occurs keeps one."""
    counts: Counter[Label] = Counter()
    universal: set[str] = set()
    for sentence in sentences:
        for word in sentence:
            if word.upos == UNKNOWN:
                raise BuildError(f"the training data contains a word without a universal tag: {word.form!r}")
            universal.add(word.upos)
            label = _label(word, settings)
            if label.fine != UNKNOWN:
                counts[label] += 1
    if not universal:
        raise BuildError("the training data contains no words")
    labels: list[Label] = []
    min_count = settings.min_label_count if settings.fine_tags else 1
    for label in sorted(counts, key=lambda label: (-counts[label], label)):
        if counts[label] >= min_count or label.universal in universal:
            labels.append(label)
            universal.discard(label.universal)
    labels += [Label(tag, tag) for tag in sorted(universal)]  # those without any fine tag
    if len(labels) > MAX_LABELS:
        raise BuildError(
            f"the training data has {len(labels)} pairs of XPOS and UPOS, "
            f"more than the {MAX_LABELS} allowed; leave out --fine-tags"
        )
    return labels


def _numbered(rules: Mapping[str, str]) -> tuple[list[str], list[int]]:
    """Suffixes and the numbers of their classes, from 1."""
    numbers = {name: number for number, name in enumerate(sorted(set(rules.values())), 1)}
    return list(rules), [numbers[name] for name in rules.values()]


TokenView = Literal["words", "surface", "both"]
TOKEN_VIEWS: tuple[TokenView, ...] = get_args(TokenView)
"""What a tagger learns to tag: treebank words, tokens as written (multi-word tokens whole), or both."""


@dataclass(frozen=True)
class TaggerData:
    """What a tagger is built from. The development set is learned from too, after a trial without it."""

    train: Sequence[Sentence]
    dev: Sequence[Sentence] = ()
    test: Sequence[Sentence] = ()
    lexicon: Mapping[str, str] | None = None


def read_treebanks(paths: Iterable[Path | str]) -> list[Sentence]:
    """The sentences of several files."""
    return [sentence for path in paths for sentence in read_conllu(path)]


def build_tagger(
    data: TaggerData,
    language: str,
    *,
    view: TokenView = "both",
    settings: TaggerSettings | None = None,
    provenance: Provenance = UNSTATED,
    progress: Progress = NO_PROGRESS,
) -> Resource:
    """A tagger's resource with its accuracies in `info`.

    They are measured before and after the development set was learned from. The sources default to what the
    treebanks' own comments (`# source = `) say.
    """
    settings = settings or TaggerSettings()

    def train(sentences: Sequence[Sentence]) -> Resource:
        texts = list(_texts(sentences, view))
        return train_tagger(texts, language, lexicon=data.lexicon, settings=settings, progress=progress)

    progress.stage("training (epochs)", settings.epochs * (2 if data.dev else 1))
    accuracy: dict[str, object] = {}
    resource = train(data.train)
    if data.dev:
        trial = TaggerModel.from_resource(resource)
        accuracy["dev, train only"] = _accuracies(trial, data.dev)
        if data.test:
            accuracy["test, train only"] = _accuracies(trial, data.test)
        resource = train([*data.train, *data.dev])
    if data.test:
        accuracy["test"] = _accuracies(TaggerModel.from_resource(resource), data.test)
    info = {**resource.info, "tokens": view, "accuracy": accuracy}
    learned = [*data.train, *data.dev]
    return replace(resource, info=info, provenance=provenance.or_from(_sources(learned)))


def _texts(sentences: Iterable[Sentence], view: TokenView) -> Iterable[Sequence[Word]]:
    for sentence in sentences:
        if view != "surface":
            yield sentence.words
        if view == "surface" or (view == "both" and sentence.multiwords):
            yield sentence.surface()


def _accuracies(model: TaggerModel, sentences: Sequence[Sentence]) -> dict[str, object]:
    """On treebank words and, where they differ, on tokens as written."""
    result = _described(evaluate(model, (sentence.words for sentence in sentences)))
    if any(sentence.multiwords for sentence in sentences):
        result["surface"] = _described(evaluate(model, (sentence.surface() for sentence in sentences)))
    return result


def _described(accuracy: TaggerAccuracy) -> dict[str, object]:
    described: dict[str, object] = {"tokens": accuracy.words, "upos": round(accuracy.universal, 2)}
    if accuracy.fine is not None:
        described["xpos"] = round(accuracy.fine, 2)
    return described


def _sources(sentences: Iterable[Sentence]) -> list[str]:
    """The treebanks that sentences name as their source, with the number of words learned from each."""
    words: Counter[str] = Counter()
    for sentence in sentences:
        words[sentence.comment("source") or "unnamed treebank"] += len(sentence.words)
    return [f"{source} ({count} words)" for source, count in sorted(words.items())]


class TaggerAccuracy(NamedTuple):
    """Shares of words, in percent, with the right universal and, where model and data have them, fine tag."""

    words: int
    universal: float
    fine: float | None


def evaluate(model: TaggerModel, sentences: Iterable[Sequence[Word]]) -> TaggerAccuracy:
    """Tag sentences whose tags are known and count the words that got them."""
    words = universal = fine = with_fine = 0
    has_fine_tags = model.has_fine_tags
    for sentence in sentences:
        for word, label in zip(sentence, model.tag([word.form for word in sentence]), strict=True):
            words += 1
            universal += label.universal == word.upos
            with_fine += has_fine_tags and word.xpos != UNKNOWN
            fine += label.fine == word.xpos
    share_fine = 100 * fine / with_fine if with_fine else None
    return TaggerAccuracy(words, 100 * universal / max(words, 1), share_fine)


def _packed(arrays: Mapping[str, npt.NDArray[Any]], labels: Sequence[Label]) -> dict[str, npt.NDArray[Any]]:
    """A tagger's arrays as they are stored."""
    stored: dict[str, npt.NDArray[Any]] = {"labels": text_array("".join(f"{a}\t{b}\n" for a, b in labels))}
    for name, array in arrays.items():
        stored[name] = byte_planes(array) if name in WIDE_ARRAYS else array
    return stored
