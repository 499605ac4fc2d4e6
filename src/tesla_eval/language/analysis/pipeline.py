"""One pipeline per language (specification §1): tokenise, tag, split compounds, lemmatise, senses, drop punctuation."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tesla_eval._core import Analyser, DamagedDictionaryError, Labels, Lexicon, define_plain
from tesla_eval.base.arrays import distinct
from tesla_eval.base.errors import ResourceError
from tesla_eval.base.forking import new_lock
from tesla_eval.language.analysis.batch import AnalysedBatch, Vocabulary
from tesla_eval.language.analysis.compounds import CompoundSplitter, load_compound_splitter
from tesla_eval.language.analysis.conllu import FUNCTION_TAGS, UNIVERSAL_IDS
from tesla_eval.language.analysis.languages import UNDETERMINED, resolve_language
from tesla_eval.language.analysis.lemmas import Lemmatiser
from tesla_eval.language.analysis.porter import PorterStems
from tesla_eval.language.analysis.senses import INSTALLED, SenseTable, load_senses, synonym_file
from tesla_eval.language.analysis.synonym_formats import read_synonyms
from tesla_eval.language.analysis.tags import TaggerModel, load_tagger
from tesla_eval.language.analysis.tokenisers import (
    LATIN_LETTERS,
    compose,
    compose_in_latin_letters,
    load_tokeniser,
    not_a_text,
    segmenter_signature,
)

WEAK_TAGGER = 90.0
"""Percent of universal tags right, below which users are warned."""

NO_SYNONYMS = "no synonyms"
"""The shortcoming of a language without a table of senses."""

_MOST_WORD_TYPES = 1 << 19  # then a new vocabulary is begun, so that endless input needs no endless memory
_KEPT_BATCHES, _KEPT_TEXTS = 64, 1 << 15
_HASHED_TEXTS = 16

_Key = tuple[tuple[str, ...], bool]
"""Texts, and whether their punctuation is kept."""


class _LargeKey(NamedTuple):
    """The key of many texts."""

    texts: tuple[str, ...]
    keep_punctuation: bool

    def __hash__(self) -> int:
        """Some of the texts tell most groups apart, and to hash all of them takes longer than to compare two groups."""
        return hash((self.texts[:: len(self.texts) // _HASHED_TEXTS], self.keep_punctuation))


@dataclass(frozen=True)
class _Definer:
    """Adds lemmas and senses of new word types to a lexicon, and the parts of new compounds."""

    lexicon: Lexicon
    lemmatiser: Lemmatiser | PorterStems
    senses: SenseTable | None
    compounds: CompoundSplitter | None

    def __call__(self, words: npt.NDArray[np.uint32]) -> None:
        if self.compounds is None:  # the core has defined the plain ones
            self.lexicon.define_words(words, self._lemma_ids(words), [])
            return
        compounds = []
        while len(words):
            parts = self._parts(words)
            split = np.array([bool(cut) for cut in parts], bool)
            self._define_simple(words[~split])
            compounds.append((words[split], [cut for cut in parts if cut]))
            words = distinct(np.array([part[0] for cut in parts for part in cut], np.uint32))
        # Parts before wholes: another thread may use a compound as soon as it is defined.
        for wholes, parts in reversed(compounds):
            self.lexicon.define_words(wholes, self._lemma_ids(wholes), parts)

    def _define_simple(self, words: npt.NDArray[np.uint32]) -> None:
        """Add words that are not compounds; most are handled in the core, without blocking other threads."""
        if not len(words):
            return
        assert self.lemmatiser.plain is not None  # stems are English, which has no compounds
        index = None if self.senses is None else self.senses.index
        rest = define_plain(self.lexicon, words, self.lemmatiser.plain, index)
        if len(rest):
            self.lexicon.define_words(rest, self._lemma_ids(rest), [])

    def _lemma_ids(self, words: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        lemmas = [self.lemmatiser.full_lemma(form) for form in self.lexicon.forms(words)]
        if self.senses is None:
            return self.lexicon.intern_lemmas(
                lemmas, np.zeros(len(lemmas) + 1, np.int64), np.zeros(0, np.uint32)
            )
        return self.lexicon.intern_lemmas(lemmas, *self.senses.lookup(lemmas))

    def _parts(self, words: npt.NDArray[np.uint32]) -> list[list[tuple[int, int, int]]]:
        """For each compound its parts as (word type, start, end), for any other word nothing."""
        assert self.compounds is not None
        parts: list[list[tuple[int, int, int]]] = []
        for form in self.lexicon.forms(words):
            spans = self.compounds.split(form)
            if len(spans) < 2:
                parts.append([])
                continue
            # A part is written as if it stood alone: a noun's parts begin like the noun.
            alone = [_cased_like(form, form[start:end]) for start, end in spans]
            ids = self.lexicon.intern_words(alone).tolist()
            parts.append([(number, start, end) for number, (start, end) in zip(ids, spans, strict=True)])
        return parts


class Pipeline:
    """The analysis of one language; made once, shared by all metrics and threads.

    >>> (batch,) = load_pipeline("en").analyse(["The cats sat."])
    >>> [(t.lemma, t.pos, t.function) for t in batch.tokens(0)]
    [('the', 'DT', True), ('cat', 'NNS', False), ('sit', 'VBD', False)]
    """

    def __init__(
        self,
        language: str,
        *,
        tagger: TaggerModel | None,
        lemmatiser: Lemmatiser | PorterStems,
        senses: SenseTable | None,
        compounds: CompoundSplitter | None = None,
        keep_punctuation: bool = False,
    ) -> None:
        self.language = language
        self.tagger = tagger
        self.tagged = tagger is not None
        self.lemmatiser = lemmatiser
        self.senses = senses
        self.compounds = compounds
        self.keep_punctuation = keep_punctuation
        self._tokeniser = load_tokeniser(language)
        self._lock = new_lock()
        self._kept: OrderedDict[_Key, AnalysedBatch] = OrderedDict()  # those used last come last
        self._begin_vocabulary()

    def _begin_vocabulary(self) -> None:
        self.vocabulary = Vocabulary(Lexicon(self.tagger.core if self.tagger else None))
        self._kept.clear()
        self._kept_texts = 0
        self._analyser: Analyser | None = None  # made when it is needed: it reads dictionaries

    def forget_batches(self) -> None:
        """Drop the recently analysed batches, so that their texts are analysed again; their words stay known."""
        with self._lock:
            self._kept.clear()
            self._kept_texts = 0
            if self._analyser is not None:
                self._analyser.forget_recent()

    @property
    def signature(self) -> dict[str, str]:
        """The parts of a metric's signature that name this analysis."""
        parts = {
            "lang": self.language,
            "letters": "latin" if self.language in LATIN_LETTERS else None,
            **segmenter_signature(self.language),
            "tagger": self.tagger.resource.fingerprint if self.tagger else "none",
            "lemmas": self.lemmatiser.name,
            "compounds": self.compounds.fingerprint if self.compounds else None,
            "senses": self.senses.resource.fingerprint if self.senses is not None else "none",
            "punctuation": "kept" if self.keep_punctuation else None,
        }
        return {name: value for name, value in parts.items() if value is not None}

    @property
    def lemma_fingerprint(self) -> str:
        """Everything that decides about lemmas: a table over lemmas records it and is refused under another one."""
        parts = self.signature
        return "|".join(
            f"{name}:{parts[name]}"
            for name in ("segmenter", "lemmas", "compounds", "punctuation")
            if name in parts
        )

    @property
    def shortcomings(self) -> list[str]:
        """What this language lacks, for a warning; nothing where the user asked for no analysis (`und`)."""
        if self.language == UNDETERMINED.code:
            return []
        missing = []
        if self.tagger is None:
            missing.append("no tagger, so parts of speech are not compared")
        elif self.tagger.accuracy < WEAK_TAGGER:
            missing.append(f"a weak tagger ({self.tagger.accuracy:.1f} % of the words right)")
        if self.senses is None:
            missing.append(NO_SYNONYMS)
        return missing

    def analyse(self, *groups: Sequence[str], keep_punctuation: bool = False) -> list[AnalysedBatch]:
        """One batch for each group of texts, all over the same vocabulary.

        Recently analysed groups are not analysed again, so references that several systems share cost only once. Nor is
        a single text of such a group: texts that were scored are explained without a second analysis.
        """
        keep_punctuation = keep_punctuation or self.keep_punctuation
        keys: list[_Key] = [
            (tuple(group), keep_punctuation)
            if len(group) < _HASHED_TEXTS
            else _LargeKey(tuple(group), keep_punctuation)
            for group in groups
        ]
        vocabulary, analyser = self.in_core()
        with self._lock:  # another thread may have begun a new vocabulary
            batches = [self._recent(key) if self.vocabulary is vocabulary else None for key in keys]
        new = dict.fromkeys(key for key, batch in zip(keys, batches, strict=True) if batch is None)
        if not new:
            return batches  # type: ignore[return-value]  # none is None
        try:
            cores = analyser.analyse([texts for texts, _ in new], keep_punctuation)
        except UnicodeEncodeError as error:
            raise not_a_text(error) from error
        except DamagedDictionaryError as error:
            raise self._damaged(error) from error
        made = {key: AnalysedBatch(key[0], vocabulary, core) for key, core in zip(new, cores, strict=True)}
        with self._lock:
            for key, batch in made.items():
                self._keep(key, batch)
        return [made[key] if batch is None else batch for key, batch in zip(keys, batches, strict=True)]

    def in_core(self) -> tuple[Vocabulary, Analyser]:
        """What analyses texts in the core, and the vocabulary that it fills: a new one where the last one is full."""
        with self._lock:
            if self.vocabulary.lexicon.word_count > _MOST_WORD_TYPES:
                self._begin_vocabulary()
            if self._analyser is None:
                labels = self.tagger.labels if self.tagger else ()
                meanings = Labels(
                    tags=np.array([self.vocabulary.tag_id(label.fine) for label in labels], np.uint16),
                    universal=np.array([UNIVERSAL_IDS[label.universal] for label in labels], np.uint8),
                    function=np.array([label.universal in FUNCTION_TAGS for label in labels], np.uint8),
                    noun=np.array([label.universal == "NOUN" for label in labels], np.uint8),
                )
                # Where compounds are split, words are defined after their parts are known.
                lemmas = self.lemmatiser.plain if self.compounds is None else None
                composed = compose_in_latin_letters if self.language in LATIN_LETTERS else compose
                lexicon, senses = self.vocabulary.lexicon, None if self.senses is None else self.senses.index
                define = _Definer(lexicon, self.lemmatiser, self.senses, self.compounds)
                self._analyser = Analyser(
                    lexicon, self._tokeniser, lemmas, senses, define, meanings, self.keep_punctuation, composed
                )  # fmt: skip
            return self.vocabulary, self._analyser

    def _recent(self, key: _Key) -> AnalysedBatch | None:
        """The batch of these texts if they were analysed recently, alone or, if it is one text, in a group."""
        batch = self._kept.get(key)
        if batch is not None:
            self._kept.move_to_end(key)
        elif len(key[0]) == 1 and self._kept_texts > len(self._kept):  # some groups have several texts
            in_groups = (
                group.alone(key[0][0])
                for (texts, with_punctuation), group in self._kept.items()
                if len(texts) > 1 and with_punctuation == key[1]
            )
            batch = next(filter(None, in_groups), None)
        return batch

    def _keep(self, key: _Key, batch: AnalysedBatch) -> None:
        if batch.vocabulary is not self.vocabulary:  # another thread has begun a new one
            return
        known = len(self._kept)
        self._kept[key] = batch
        if len(self._kept) > known:
            self._kept_texts += len(batch.texts)
        while len(self._kept) > _KEPT_BATCHES or (self._kept_texts > _KEPT_TEXTS and len(self._kept) > 1):
            _, forgotten = self._kept.popitem(last=False)
            self._kept_texts -= len(forgotten.texts)

    def _damaged(self, error: DamagedDictionaryError) -> ResourceError:
        return ResourceError(f"simplemma's dictionary for {self.language!r}: {error}; reinstall simplemma")


def _cased_like(form: str, part: str) -> str:
    return part[:1].upper() + part[1:] if form[:1].isupper() else part


@cache
def load_pipeline(language: str, synonyms: str | None = None) -> Pipeline:
    """The pipeline of a language, by its code or alias; resources load once per process.

    `synonyms` is a file of synonyms to take the place of the built-in ones, `cilin`, `installed` or `none`.
    """
    code = resolve_language(language)
    if code != language:
        return load_pipeline(code, synonyms)
    return Pipeline(
        code,
        tagger=load_tagger(code),
        lemmatiser=Lemmatiser(code),
        senses=senses_of(code, synonyms),
        compounds=load_compound_splitter(code),
    )


@cache
def load_stems(language: str) -> Pipeline:
    """PEM's analysis (specification §13): stems of English words, lemmas of others, punctuation; nothing else.

    >>> (batch,) = load_stems("en").analyse(["The cats sat."])
    >>> [token.lemma for token in batch.tokens(0)]
    ['the', 'cat', 'sat', '.']
    """
    code = resolve_language(language)
    if code != language:
        return load_stems(code)
    compounds = load_compound_splitter(code)
    return Pipeline(
        code,
        tagger=None if compounds is None else load_tagger(code),  # compounds are nouns
        lemmatiser=PorterStems() if code == "en" else Lemmatiser(code),
        senses=None,
        compounds=compounds,
        keep_punctuation=True,
    )


def senses_of(language: str, synonyms: str | None) -> SenseTable | None:
    """The language's own table, or the one that the user chose."""
    if synonyms is None:
        return load_senses(language)
    path = synonym_file(synonyms, language)
    table = None if path is None else read_synonyms(path, language)
    if table is None or synonyms != INSTALLED:
        return table
    # The signature says that the thesaurus is this machine's.
    return SenseTable(replace(table.resource).known_as(f"{INSTALLED}-{table.resource.fingerprint}"))
