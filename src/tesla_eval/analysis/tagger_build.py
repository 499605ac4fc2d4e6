"""Building a tagger from files: read, train, measure, and describe where it all comes from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from tesla_eval.analysis.conllu import Sentence, Word, read_conllu
from tesla_eval.analysis.tagger import TaggerAccuracy, TaggerModel, evaluate
from tesla_eval.analysis.tagger_training import TaggerSettings, train_tagger
from tesla_eval.resources import Resource

__all__ = ["TOKEN_VIEWS", "TaggerData", "TokenView", "build_tagger", "read_treebanks"]

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
    licence: str = "",
    sources: Sequence[str] = (),
    date: str = "",
    after_epoch: Callable[[int], object] = lambda errors: None,
) -> Resource:
    """A tagger's resource with its accuracies in `info`.

    They are measured before and after the development set was learned from. The `sources` default to what the
    treebanks' own comments (`# source = `) say.
    """
    settings = settings or TaggerSettings()

    def train(sentences: Sequence[Sentence]) -> Resource:
        texts = list(_texts(sentences, view))
        return train_tagger(texts, language, lexicon=data.lexicon, settings=settings, after_epoch=after_epoch)

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
    return replace(
        resource, info=info, licence=licence, date=date, sources=tuple(sources) or tuple(_sources(learned))
    )


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
