"""A new language from the user's own files: tagger, lemmas and synonyms in one go."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tesla_eval.analysis.conllu import UNKNOWN, Sentence
from tesla_eval.analysis.lemma_training import LemmaSettings, count_lemmas, train_lemmas
from tesla_eval.analysis.lemmas import Lemmatiser, normalise_form
from tesla_eval.analysis.synonym_formats import read_synonyms
from tesla_eval.analysis.tagger_build import TaggerData, build_tagger
from tesla_eval.analysis.tagger_lexicon import LexiconEntry, lexicon_classes
from tesla_eval.analysis.tagger_training import settings_for
from tesla_eval.resources import Resource

__all__ = ["LanguageFiles", "build_language", "lemma_accuracy"]


@dataclass(frozen=True)
class LanguageFiles:
    """What a language is built from; only the training sentences must be there."""

    train: Sequence[Sentence]
    test: Sequence[Sentence] = ()
    lexicon: Sequence[LexiconEntry] = ()
    synonyms: Path | None = None


def build_language(
    files: LanguageFiles,
    language: str,
    *,
    licence: str = "",
    sources: Sequence[str] = (),
    date: str = "",
    after_epoch: Callable[[int], object] = lambda errors: None,
) -> list[Resource]:
    """The tagger, the lemma table if the sentences or the lexicon tell lemmas, and the synonyms if there are any.

    What was measured on the test sentences stands in the `info` of tagger and lemmas.
    """
    classes = lexicon_classes((entry.form, entry.tag) for entry in files.lexicon)
    words = sum(len(sentence.words) for sentence in files.train)
    tagger = build_tagger(
        TaggerData(files.train, test=files.test, lexicon=classes or None), language,
        settings=settings_for(words), licence=licence, sources=sources, date=date, after_epoch=after_epoch,
    )  # fmt: skip
    built = [tagger]
    pairs = [*_lemma_pairs(files.train), *((entry.form, entry.lemma) for entry in files.lexicon)]
    if pairs:
        built.append(_lemmas(pairs, files.test, language, tagger))
    if files.synonyms is not None:
        synonyms = read_synonyms(files.synonyms, language).resource
        built.append(replace(synonyms, licence=licence, date=date))
    return built


def _lemmas(
    pairs: Iterable[tuple[str, str]], test: Sequence[Sentence], language: str, like: Resource
) -> Resource:
    """The table of lemmas, under the licence of the tagger that was made from the same files."""
    table = train_lemmas(
        count_lemmas(pairs, language), language, settings=LemmaSettings(), sources=like.sources,
        licence=like.licence, date=like.date,
    )  # fmt: skip
    share = lemma_accuracy(Lemmatiser(language, table), test)
    return table if share is None else replace(table, info={**table.info, "test accuracy": round(share, 2)})


def _lemma_pairs(sentences: Iterable[Sentence]) -> Iterator[tuple[str, str]]:
    """The words with their lemmas; words without letters and digits take no part in matching."""
    for sentence in sentences:
        for word in sentence.surface():
            if word.lemma != UNKNOWN and any(map(str.isalnum, word.form)):
                yield word.form, word.lemma


def lemma_accuracy(lemmatiser: Lemmatiser, sentences: Iterable[Sentence]) -> float | None:
    """The percent of words that get their lemma, lower-cased; `None` if no word has one."""
    pairs = list(_lemma_pairs(sentences))
    if not pairs:
        return None
    found = lemmatiser.lemmas([form for form, _ in pairs])
    gold = [normalise_form(lemma, lemmatiser.language).lower() for _, lemma in pairs]
    return 100 * sum(a == b for a, b in zip(found, gold, strict=True)) / len(pairs)
