"""One pipeline a language (SPEC §1): tokenise, tag, split compounds, lemmatise, look up senses, drop punctuation."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from tesla_eval._core import Lexicon
from tesla_eval.analysis.batch import AnalysedBatch, Vocabulary
from tesla_eval.analysis.function_words import is_function_tag
from tesla_eval.analysis.languages import resolve_language
from tesla_eval.analysis.lemmas import Lemmatiser
from tesla_eval.analysis.normalise import compose, raw_offsets
from tesla_eval.analysis.senses import SenseTable, load_senses
from tesla_eval.analysis.tagger import TaggerModel, load_tagger
from tesla_eval.analysis.tokenisers import load_tokeniser
from tesla_eval.errors import InputError

__all__ = ["Pipeline", "load_pipeline"]

_MOST_WORD_TYPES = 1 << 20  # then a new vocabulary is begun, so that endless input needs no endless memory
_KEPT_BATCHES = 64


class Pipeline:
    """The analysis of one language; made once, shared by all metrics and threads.

    >>> batch = load_pipeline("en").analyse(["The cats sat."])
    >>> [(t.lemma, t.pos, t.function) for t in batch.tokens(0)]
    [('the', 'DT', True), ('cat', 'NNS', False), ('sit', 'VBD', False)]
    """

    def __init__(
        self, language: str, *, tagger: TaggerModel | None, lemmatiser: Lemmatiser, senses: SenseTable | None
    ) -> None:
        self.language = language
        self.tagger = tagger
        self.lemmatiser = lemmatiser
        self.senses = senses
        self._tokeniser = load_tokeniser(language)
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[tuple[str, ...], bool], AnalysedBatch] = OrderedDict()
        self._begin_vocabulary()

    def _begin_vocabulary(self) -> None:
        self.vocabulary = Vocabulary(Lexicon(self.tagger.core if self.tagger else None))
        self._kept.clear()
        labels = self.tagger.labels if self.tagger else ()
        self._label_arrays = (
            np.array([self.vocabulary.tag_id(label.fine) for label in labels], np.uint16),
            np.array([label.universal_id for label in labels], np.uint8),
            np.array([is_function_tag(label.universal) for label in labels], np.uint8),
            np.array([label.universal == "NOUN" for label in labels], np.uint8),
        )

    @property
    def signature(self) -> dict[str, str]:
        """The parts of a metric's signature that name this analysis."""
        return {
            "lang": self.language,
            "tagger": self.tagger.fingerprint if self.tagger else "none",
            "lemmas": self.lemmatiser.name,
            "senses": self.senses.resource.fingerprint if self.senses else "none",
        }

    def analyse(self, *groups: Sequence[str], keep_punctuation: bool = False) -> list[AnalysedBatch]:
        """One batch for each group of texts, all over the same vocabulary.

        Groups that were analysed lately are not analysed again: references of several systems cost once.
        """
        with self._lock:
            if self.vocabulary.lexicon.word_count > _MOST_WORD_TYPES:
                self._begin_vocabulary()
            vocabulary, label_arrays = self.vocabulary, self._label_arrays
        batches = []
        for group in groups:
            key = (tuple(group), keep_punctuation)
            with self._lock:
                batch = self._kept.get(key)
            if batch is None or batch.vocabulary is not vocabulary:
                batch = self._analyse(key[0], vocabulary, label_arrays, keep_punctuation)
                with self._lock:
                    self._kept[key] = batch
                    if len(self._kept) > _KEPT_BATCHES:
                        self._kept.popitem(last=False)
            batches.append(batch)
        return batches

    def _analyse(
        self, texts: tuple[str, ...], vocabulary: Vocabulary, label_arrays: tuple[npt.NDArray[np.generic], ...],
        keep_punctuation: bool,
    ) -> AnalysedBatch:  # fmt: skip
        composed = [compose(text) for text in texts]
        try:
            draft = vocabulary.lexicon.draft(self._tokeniser, composed)
        except UnicodeEncodeError as error:
            raise InputError(f"a text holds a lone surrogate, which is no character: {error}") from error
        self._define(vocabulary.lexicon, draft.undefined_words())
        arrays = draft.finish(*label_arrays, keep_punctuation)
        batch = AnalysedBatch.from_arrays(texts, vocabulary, arrays)
        for index, (raw, text) in enumerate(zip(texts, composed, strict=True)):
            if raw is not text:
                _count_raw(batch, index, raw)
        return batch

    def _define(self, lexicon: Lexicon, words: npt.NDArray[np.uint32]) -> None:
        """Give word types that are new their lemmas and senses."""
        if not len(words):
            return
        lemmas = self.lemmatiser.lemmas([lexicon.form(word) for word in words.tolist()])
        if self.senses is None:
            offsets, senses = np.zeros(len(lemmas) + 1, np.int64), np.zeros(0, np.uint32)
        else:
            offsets, ids = self.senses.lookup(lemmas)
            senses = ids.astype(np.uint32)
        lexicon.define_words(words, lexicon.intern_lemmas(lemmas, offsets, senses), [])


def _count_raw(batch: AnalysedBatch, index: int, raw: str) -> None:
    """Let the offsets of one text count its raw characters."""
    offsets = raw_offsets(raw)
    span = slice(batch.offsets[index], batch.offsets[index + 1])
    batch.start[span] = offsets[batch.start[span]]
    batch.end[span] = offsets[batch.end[span]]


@cache
def load_pipeline(language: str) -> Pipeline:
    """The pipeline of a language, by its code or alias; resources load once a process."""
    code = resolve_language(language)
    if code != language:
        return load_pipeline(code)
    return Pipeline(code, tagger=load_tagger(code), lemmatiser=Lemmatiser(code), senses=load_senses(code))
