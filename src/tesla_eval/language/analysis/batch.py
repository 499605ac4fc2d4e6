"""The analysed form of many texts: flat arrays over one lexicon, and data of other packages about its word types."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tesla_eval._core import CharacterMap, Lexicon, TokenBatch, Tokens, WordFacts
from tesla_eval.base.arrays import Index
from tesla_eval.base.errors import InputError
from tesla_eval.base.forking import new_lock
from tesla_eval.base.records import Token
from tesla_eval.language.analysis.conllu import UNIVERSAL_IDS
from tesla_eval.language.analysis.frequencies import WordFrequencies
from tesla_eval.language.analysis.tokenisers import compose, compose_all, raw_offsets

_MOST_TAGS = 1 << 16
_OTHER = UNIVERSAL_IDS["X"]
_POSITIONS = ("start", "end")
_ARRAYS = ("word", "lemma", "tag", "universal", "function", *_POSITIONS)


@dataclass(eq=False)
class Vocabulary:
    """The words, lemmas and tags that batches share, as numbers; texts are comparable only within one vocabulary."""

    lexicon: Lexicon
    tag_ids: dict[str, int] = field(default_factory=lambda: {"": 0})
    """The numbers of the tags, in order; 0 is no tag, and like no other."""

    @property
    def tags(self) -> list[str]:
        """The tags by number."""
        return list(self.tag_ids)

    def tag_id(self, tag: str) -> int:
        """The number of a tag."""
        number = self.tag_ids.setdefault(tag, len(self.tag_ids))
        if number >= _MOST_TAGS:
            raise InputError(
                f"more than {_MOST_TAGS} different tags; check that the column of tags really holds tags"
            )
        return number


@dataclass(eq=False, repr=False)
class AnalysedBatch:
    """N texts: token k of text i lies at `offsets[i] + k` of every array. NumPy sees an array when it is asked for."""

    texts: tuple[str, ...]
    vocabulary: Vocabulary
    core: TokenBatch
    """The batch of the core; its `texts` are those above in NFC, Serbian ones in Latin letters."""

    offsets: Index = field(init=False)
    word: npt.NDArray[np.uint32] = field(init=False)
    lemma: npt.NDArray[np.uint32] = field(init=False)
    tag: npt.NDArray[np.uint16] = field(init=False)
    universal: npt.NDArray[np.uint8] = field(init=False)
    function: npt.NDArray[np.uint8] = field(init=False)
    start: npt.NDArray[np.uint32] = field(init=False)
    end: npt.NDArray[np.uint32] = field(init=False)
    has_empty_text: bool = field(init=False)

    def __len__(self) -> int:
        return len(self.texts)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        array = getattr(self.core, name)
        if name in _POSITIONS:
            array = self._in_raw_characters(array)
        vars(self)[name] = array
        return array

    def _in_raw_characters(self, positions: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        """Positions in the texts as they were given; the core counts the characters of NFC."""
        texts = zip(self.texts, self.core.texts, strict=True)
        changed = [index for index, (raw, composed) in enumerate(texts) if raw is not composed]
        if changed:
            positions = positions.copy()
        for index in changed:
            span = slice(self.offsets[index], self.offsets[index + 1])
            raw = self.texts[index]
            places = raw_offsets(raw, in_latin=compose(raw) != self.core.texts[index])
            positions[span] = places[positions[span]]
        return positions

    @cached_property
    def lengths(self) -> Index:
        """The number of tokens of each text."""
        return np.diff(self.offsets)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {text: place for place, text in enumerate(self.texts)}

    def alone(self, text: str) -> AnalysedBatch | None:
        """The batch of this text alone, cut out of this one; None if the text is not in it."""
        place = self._places.get(text)
        if place is None:
            return None
        start, end = self.core.offsets[place : place + 2].tolist()
        arrays = {name: getattr(self.core, name)[start:end] for name in _ARRAYS}
        offsets = np.array([0, end - start], np.int64)
        return AnalysedBatch(
            (text,), self.vocabulary, TokenBatch(offsets, **arrays, texts=[self.core.texts[place]])
        )

    def words_as(self, form: str) -> Tokens:
        """The words that bags are built from: `lemma`, the same `untagged`, or lower-cased `surface` forms (§10)."""
        if form == "lemma":
            return Tokens(self.core)
        if form == "untagged":
            return Tokens(self.offsets, self.lemma, np.zeros_like(self.tag), self.function)
        return Tokens(self.offsets, self.lowered, self.tag, self.function)

    @cached_property
    def lowered(self) -> npt.NDArray[np.uint32]:
        """The words in lower case, by number."""
        return word_facts(None)[self.vocabulary].of(self.core)[0]

    def next_to(self, marked: npt.NDArray[np.bool_], step: int) -> npt.NDArray[np.bool_]:
        """For every token, whether the token `step` places after it in the same text is marked."""
        place = np.arange(len(marked)) + step
        inside = (place >= np.repeat(self.offsets[:-1], self.lengths)) & (
            place < np.repeat(self.offsets[1:], self.lengths)
        )
        inside[inside] = marked[place[inside]]
        return inside

    def tokens(self, index: int) -> list[Token]:
        """The tokens of one text as records."""
        lexicon, tags = self.vocabulary.lexicon, list(self.vocabulary.tag_ids)
        text = self.texts[index]
        return [
            Token(
                surface=text[start:end], start=start, end=end, lemma=lexicon.lemma(lemma), pos=tags[tag],
                function=bool(function), senses=tuple(lexicon.senses(lemma)),
            )
            for start, end, lemma, tag, function in zip(
                *(getattr(self, name)[self.offsets[index] : self.offsets[index + 1]].tolist()
                  for name in ("start", "end", "lemma", "tag", "function")),
                strict=True,
            )
        ]  # fmt: skip

    @classmethod
    def from_arrays(
        cls, texts: Sequence[str], vocabulary: Vocabulary, arrays: Mapping[str, npt.NDArray[Any]]
    ) -> AnalysedBatch:
        """The batch of texts that somebody else analysed; positions are those in the texts as they were given."""
        batch = cls(tuple(texts), vocabulary, TokenBatch(**arrays, texts=compose_all(texts)))
        vars(batch).update({name: arrays[name] for name in _POSITIONS})
        return batch

    @classmethod
    def from_tokens(
        cls, texts: Sequence[str], vocabulary: Vocabulary, tokens: Sequence[Sequence[Token]]
    ) -> AnalysedBatch:
        """The batch of texts whose tokens somebody else found."""
        flat = [token for text in tokens for token in text]
        offsets = np.cumsum([0, *map(len, tokens)], dtype=np.int64)
        sense_offsets = np.cumsum([0, *(len(token.senses) for token in flat)], dtype=np.int64)
        senses = unsigned([sense for token in flat for sense in token.senses], np.uint32)
        lemmas = [token.lemma.lower() for token in flat]
        try:
            lemma = vocabulary.lexicon.intern_lemmas(lemmas, sense_offsets, senses)
        except UnicodeEncodeError:  # a ValueError too
            raise
        except ValueError as error:
            raise InputError(
                f"your own analysis: {error}; tokens with the same lemma must have the same senses (specification §1)"
            ) from error
        return cls.from_arrays(
            texts,
            vocabulary,
            {
                "offsets": offsets,
                "word": vocabulary.lexicon.intern_words([token.surface for token in flat]),
                "lemma": lemma,
                "tag": unsigned([vocabulary.tag_id(token.pos) for token in flat], np.uint16),
                "universal": unsigned([UNIVERSAL_IDS.get(token.pos, _OTHER) for token in flat], np.uint8),
                "function": unsigned([token.function for token in flat], np.uint8),
                "start": unsigned([token.start for token in flat], np.uint32),
                "end": unsigned([token.end for token in flat], np.uint32),
            },
        )


Unsigned = TypeVar("Unsigned", bound=np.unsignedinteger[Any])


def unsigned(numbers: Sequence[int], dtype: type[Unsigned]) -> npt.NDArray[Unsigned]:
    """The numbers as an array; `OverflowError` for one that does not fit, which NumPy before 2 only warns of.

    >>> unsigned([0, 255], np.uint8).tolist()
    [0, 255]
    """
    wide = np.array(numbers, np.int64)
    highest = np.iinfo(dtype).max
    if len(wide) and not 0 <= wide.min() <= wide.max() <= highest:
        raise OverflowError(f"a number is not from 0 to {highest}")
    return wide.astype(dtype)


Known = TypeVar("Known")


@dataclass(eq=False)
class PerVocabulary(Generic[Known]):
    """Data of a package about each vocabulary, created at its first use and dropped with it.

    >>> from tesla_eval.language.analysis import load_pipeline
    >>> (batch,) = load_pipeline("en").analyse(["Two tall trees"])
    >>> sizes = PerVocabulary(lambda vocabulary: vocabulary.lexicon.word_count)
    >>> sizes[batch.vocabulary] == sizes[batch.vocabulary]
    True
    """

    make: Callable[[Vocabulary], Known]
    lock: threading.Lock = field(default_factory=new_lock)
    """Held while the data of a vocabulary is extended."""
    _known: WeakKeyDictionary[Vocabulary, Known] = field(default_factory=WeakKeyDictionary)

    def __getitem__(self, vocabulary: Vocabulary) -> Known:
        known = self._known.get(vocabulary)
        return self._known.setdefault(vocabulary, self.make(vocabulary)) if known is None else known


@dataclass
class _Numbers:
    """The numbers of the first `size` words or lemmas of a vocabulary; the rest of the array is spare room."""

    numbers: npt.NDArray[np.uint32] = field(default_factory=lambda: np.zeros(1, np.uint32))
    size: int = 0


class WordMap:
    """Maps the words of analysed texts to other numbers; every word type is looked at once.

    >>> from tesla_eval.language.analysis import load_pipeline
    >>> (batch,) = load_pipeline("en").analyse(["Two tall trees"])
    >>> WordMap(len).of(batch).tolist()
    [3, 4, 5]
    """

    def __init__(self, number_of: Callable[[str], int]) -> None:
        self._number_of = number_of
        self._known: PerVocabulary[_Numbers] = PerVocabulary(lambda _: _Numbers())

    def of(self, batch: AnalysedBatch) -> npt.NDArray[np.uint32]:
        """The number of every word of the batch."""
        return self._mapped(batch, batch.word, batch.vocabulary.lexicon.forms)

    def _mapped(
        self,
        batch: AnalysedBatch,
        used: npt.NDArray[np.uint32],
        texts_of: Callable[[npt.NDArray[np.uint32]], list[str]],
    ) -> npt.NDArray[np.uint32]:
        with self._known.lock:
            known = self._known[batch.vocabulary]
            end = int(used.max()) + 1 if len(used) else 0
            if end > known.size:
                if end > len(known.numbers):
                    known.numbers = np.resize(known.numbers, 2 * end)
                new = texts_of(np.arange(known.size, end, dtype=np.uint32))
                known.numbers[known.size : end] = [self._number_of(text) for text in new]
                known.size = end
            return known.numbers[used]


class LemmaMap(WordMap):
    """Maps the lemmas of analysed texts to other numbers.

    >>> from tesla_eval.language.analysis import load_pipeline
    >>> (batch,) = load_pipeline("en").analyse(["Two tall trees"])
    >>> LemmaMap(len).of(batch).tolist()
    [3, 4, 4]
    """

    def of(self, batch: AnalysedBatch) -> npt.NDArray[np.uint32]:
        """The number of every lemma of the batch."""
        return self._mapped(batch, batch.lemma, batch.vocabulary.lexicon.lemmas)


CAPITAL_SIGMA = "Σ"
"""The only letter whose lower case depends on its place in the word."""

HAS_DIGIT, _CAPITALISED, _LETTER, HAS_APOSTROPHE = (
    1,
    2,
    4,
    8,
)  # the first three as in core/language/analysis/word_facts.h
LOWERING = CharacterMap(
    lambda c: (
        None if c == CAPITAL_SIGMA else c.lower(),
        HAS_DIGIT * c.isdigit()
        + _CAPITALISED * c.isupper()
        + _LETTER * c.isalpha()
        + HAS_APOSTROPHE * (c in "'’"),
    ),
    str.lower,
)
"""Lower-cases words and records the properties of their characters, both as Python defines them."""


@lru_cache(maxsize=64)
def word_facts(frequencies: WordFrequencies | None) -> PerVocabulary[WordFacts]:
    """What the core knows about the words of each vocabulary, given these frequencies; shared by all groups.

    >>> word_facts(None) is word_facts(None)
    True
    """
    weights = frequencies.core if frequencies else None
    return PerVocabulary(lambda vocabulary: WordFacts(vocabulary.lexicon, LOWERING, weights))
