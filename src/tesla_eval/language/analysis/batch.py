"""The analysed form of many texts: flat arrays over one lexicon, and what other rooms know about its word types."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tesla_eval import _core
from tesla_eval._core import CharacterMap, Lexicon, TokenBatch, Tokens
from tesla_eval.base.arrays import Index, distinct
from tesla_eval.base.errors import InputError
from tesla_eval.base.records import Token
from tesla_eval.language.analysis.conllu import UNIVERSAL_IDS
from tesla_eval.language.analysis.frequencies import WordFrequencies
from tesla_eval.language.analysis.tokenisers import compose_all, raw_offsets

__all__ = [
    "AnalysedBatch", "CoreBatch", "GrowingArray", "LemmaMap", "PerVocabulary", "Vocabulary", "WordMap", "WordTable",
    "numbers_from", "word_tables",
]  # fmt: skip

_MOST_TAGS = 1 << 16
_OTHER = UNIVERSAL_IDS["X"]
_NOT_LOWERED = np.uint32(0xFFFFFFFF)
_POSITIONS = ("start", "end")


class Vocabulary:
    """The words, lemmas and tags that batches share, as numbers; texts are comparable only within one vocabulary."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._tag_ids: dict[str, int] = {"": 0}  # 0: untagged, like no other
        self._lowered = np.zeros(0, np.uint32)
        self._lowering = threading.Lock()

    def tag_id(self, tag: str) -> int:
        """The number of a tag."""
        number = self._tag_ids.setdefault(tag, len(self._tag_ids))
        if number >= _MOST_TAGS:
            raise InputError(
                f"more than {_MOST_TAGS} different tags; check that the column of tags really holds tags"
            )
        return number

    @property
    def tags(self) -> list[str]:
        """The tags by number."""
        return list(self._tag_ids)

    def lowered(self, words: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        """The words in lower case: numbers to numbers. Every word type is looked at once."""
        with self._lowering:
            known = self._lowered
            if len(known) < self.lexicon.word_count:
                known = np.full(2 * self.lexicon.word_count, _NOT_LOWERED, np.uint32)
                known[: len(self._lowered)] = self._lowered
                self._lowered = known
            new = distinct(words[known[words] == _NOT_LOWERED])
            if len(new):
                known[new] = self.lexicon.intern_words([form.lower() for form in self.lexicon.forms(new)])
            lowered_words: npt.NDArray[np.uint32] = known[words]
            return lowered_words


@dataclass(frozen=True)
class AnalysedBatch:
    """N texts: token k of text i lies at `offsets[i] + k` of every array."""

    texts: tuple[str, ...]
    vocabulary: Vocabulary
    offsets: Index
    word: npt.NDArray[np.uint32]
    lemma: npt.NDArray[np.uint32]
    tag: npt.NDArray[np.uint16]
    universal: npt.NDArray[np.uint8]
    function: npt.NDArray[np.uint8]
    start: npt.NDArray[np.uint32]
    end: npt.NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def composed(self) -> list[str]:
        """The texts in NFC."""
        return compose_all(self.texts)

    @cached_property
    def lengths(self) -> Index:
        """The number of tokens of each text."""
        return np.diff(self.offsets)

    @cached_property
    def has_empty_text(self) -> bool:
        """Whether some text has no token."""
        return bool((self.offsets[1:] == self.offsets[:-1]).any())

    @cached_property
    def core_tokens(self) -> Tokens:
        """The arrays that bags are made of, as one object of the core."""
        return Tokens(self.offsets, self.lemma, self.tag, self.function)

    @cached_property
    def untagged_tokens(self) -> Tokens:
        """The same without tags, for bags that give no credit for equal tags."""
        return Tokens(self.offsets, self.lemma, np.zeros_like(self.tag), self.function)

    @cached_property
    def surface_tokens(self) -> Tokens:
        """The same with lower-cased surface forms instead of lemmas, for bags of surface forms (specification §10)."""
        return Tokens(self.offsets, self.vocabulary.lowered(self.word), self.tag, self.function)

    def tokens(self, index: int) -> list[Token]:
        """The tokens of one text as records."""
        lexicon, tags = self.vocabulary.lexicon, self.vocabulary.tags
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
        """The batch over arrays that the core made."""
        return cls(texts=tuple(texts), vocabulary=vocabulary, **arrays)

    @classmethod
    def from_tokens(
        cls, texts: Sequence[str], vocabulary: Vocabulary, tokens: Sequence[Sequence[Token]]
    ) -> AnalysedBatch:
        """The batch of texts that somebody else analysed."""
        flat = [token for text in tokens for token in text]
        offsets = np.cumsum([0, *map(len, tokens)], dtype=np.int64)
        sense_offsets = np.cumsum([0, *(len(token.senses) for token in flat)], dtype=np.int64)
        senses = unsigned([sense for token in flat for sense in token.senses], np.uint32)
        lemmas = [token.lemma.lower() for token in flat]
        try:
            lemma = vocabulary.lexicon.intern_lemmas(lemmas, sense_offsets, senses)
        except ValueError as error:
            raise InputError(
                f"your own analysis: {error}; tokens with the same lemma must have the same senses (specification §1)"
            ) from error
        return cls(
            texts=tuple(texts),
            vocabulary=vocabulary,
            offsets=offsets,
            word=vocabulary.lexicon.intern_words([token.surface for token in flat]),
            lemma=lemma,
            tag=unsigned([vocabulary.tag_id(token.pos) for token in flat], np.uint16),
            universal=unsigned([UNIVERSAL_IDS.get(token.pos, _OTHER) for token in flat], np.uint8),
            function=unsigned([token.function for token in flat], np.uint8),
            start=unsigned([token.start for token in flat], np.uint32),
            end=unsigned([token.end for token in flat], np.uint32),
        )


class CoreBatch(AnalysedBatch):
    """A batch whose arrays lie in the core; NumPy sees one when it is first asked for."""

    def __init__(
        self, texts: tuple[str, ...], composed: list[str], vocabulary: Vocabulary, core: TokenBatch
    ) -> None:
        vars(self).update(texts=texts, composed=composed, vocabulary=vocabulary, _core=core)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        array = getattr(self._core, name)
        if name in _POSITIONS:
            array = self._in_raw_characters(array)
        vars(self)[name] = array
        return array

    def _in_raw_characters(self, positions: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        """Positions in the texts as they were given; the core counts the characters of NFC."""
        texts = zip(self.texts, self.composed, strict=True)
        changed = [index for index, (raw, composed) in enumerate(texts) if raw is not composed]
        if changed:
            positions = positions.copy()
        for index in changed:
            span = slice(self.offsets[index], self.offsets[index + 1])
            positions[span] = raw_offsets(self.texts[index])[positions[span]]
        return positions

    @property
    def has_empty_text(self) -> bool:
        """Whether some text has no token."""
        return bool(self._core.has_empty_text)

    @cached_property
    def core_tokens(self) -> Tokens:
        """The arrays that bags are made of, as one object of the core."""
        return Tokens(self._core)


Number = TypeVar("Number", bound=np.generic)
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


class GrowingArray(Generic[Number]):
    """An array to which more is added again and again, at an amortised cost proportional to what is added.

    One thread adds at a time; others may read: what they were given stays as it was.

    >>> squares = GrowingArray(np.uint32)
    >>> squares.extend([0, 1]), squares.extend([4])
    (None, None)
    >>> len(squares), squares.values.tolist()
    (3, [0, 1, 4])
    """

    def __init__(self, dtype: type[Number]) -> None:
        self._room: npt.NDArray[Number] = np.empty(0, dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def values(self) -> npt.NDArray[Number]:
        """What was added so far."""
        return self._room[: self._size]

    def extend(self, values: npt.ArrayLike) -> None:
        """Add some more."""
        self.put(self._size, values)

    def put(self, first: int, values: npt.ArrayLike) -> None:
        """Add some more, the first of them as number `first`; what an interrupted addition has left there is dropped.

        Of arrays that belong together one gets its values last. Its length says how many are complete.
        """
        more = np.asarray(values, self._room.dtype)
        size = first + len(more)
        if size > len(self._room):
            room = np.empty(max(size, 2 * len(self._room)), self._room.dtype)
            room[:first] = self._room[:first]
            self._room = room
        self._room[first:size] = more
        self._size = size


Known = TypeVar("Known")


class PerVocabulary(Generic[Known]):
    """What a room knows of each vocabulary, made when the vocabulary is first met and dropped with it.

    >>> from tesla_eval.language.analysis import load_pipeline
    >>> (batch,) = load_pipeline("en").analyse(["Two tall trees"])
    >>> sizes = PerVocabulary(lambda vocabulary: vocabulary.lexicon.word_count)
    >>> sizes[batch.vocabulary] == sizes[batch.vocabulary]
    True
    """

    def __init__(self, make: Callable[[Vocabulary], Known]) -> None:
        self._make = make
        self._known: WeakKeyDictionary[Vocabulary, Known] = WeakKeyDictionary()
        self.lock = threading.Lock()
        """For those who add to what is known."""

    def __getitem__(self, vocabulary: Vocabulary) -> Known:
        known = self._known.get(vocabulary)
        return self._known.setdefault(vocabulary, self._make(vocabulary)) if known is None else known


class WordMap:
    """Maps the words of analysed texts to other numbers.

    >>> from tesla_eval.language.analysis import load_pipeline
    >>> (batch,) = load_pipeline("en").analyse(["Two tall trees"])
    >>> WordMap(len).of(batch).tolist()
    [3, 4, 5]
    """

    def __init__(self, number_of: Callable[[str], int]) -> None:
        self._number_of = number_of
        self._known: PerVocabulary[GrowingArray[np.uint32]] = PerVocabulary(lambda _: GrowingArray(np.uint32))

    def of(self, batch: AnalysedBatch) -> npt.NDArray[np.uint32]:
        """The number of every word of the batch."""
        with self._known.lock:
            known = self._known[batch.vocabulary]
            forms = batch.vocabulary.lexicon.forms(numbers_from(len(known), batch.word))
            known.extend([self._number_of(form) for form in forms])
        return known.values[batch.word]


class LemmaMap:
    """Maps the lemmas of analysed texts to other numbers.

    >>> from tesla_eval.language.analysis import load_pipeline
    >>> (batch,) = load_pipeline("en").analyse(["Two tall trees"])
    >>> LemmaMap(len).of(batch).tolist()
    [3, 4, 4]
    """

    def __init__(self, number_of: Callable[[str], int]) -> None:
        self._number_of = number_of
        self._known: PerVocabulary[GrowingArray[np.uint32]] = PerVocabulary(lambda _: GrowingArray(np.uint32))

    def of(self, batch: AnalysedBatch) -> npt.NDArray[np.uint32]:
        """The number of every lemma of the batch."""
        with self._known.lock:
            known = self._known[batch.vocabulary]
            lemmas = batch.vocabulary.lexicon.lemmas(numbers_from(len(known), batch.lemma))
            known.extend([self._number_of(lemma) for lemma in lemmas])
        return known.values[batch.lemma]


def numbers_from(first: int, used: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """The numbers from `first` to the highest that is used.

    >>> numbers_from(2, np.array([4, 0], np.uint32)).tolist(), numbers_from(0, np.empty(0, np.uint32)).tolist()
    ([2, 3, 4], [])
    """
    return np.arange(first, end_of(used), dtype=np.uint32)


def end_of(used: npt.NDArray[np.uint32]) -> int:
    """The first number above all that are used."""
    return int(used.max()) + 1 if len(used) else 0


_HAS_DIGIT, _CAPITALISED, _LETTER = 1, 2, 4  # as in core/analysis/word_facts.h
_CAPITAL_SIGMA = "Σ"  # the only letter whose small form depends on its place in the word


@cache
def _lowering() -> CharacterMap:
    """Words in small letters, and what Python says of their characters."""
    return CharacterMap(_lowered_character, str.lower)


def _lowered_character(character: str) -> tuple[str | None, int]:
    traits = (
        _HAS_DIGIT * character.isdigit() + _CAPITALISED * character.isupper() + _LETTER * character.isalpha()
    )
    return changed_alone(character, str.lower), traits


def changed_alone(character: str, change: Callable[[str], str]) -> str | None:
    """What becomes of a character; `None` where that depends on the word around it.

    >>> changed_alone("A", str.lower), changed_alone("Σ", str.lower), ["ΣΣ".lower(), "Σ".lower()]
    ('a', None, ['σς', 'σ'])
    """
    return None if character == _CAPITAL_SIGMA else change(character)


class WordTable:
    """What is known of the words of a vocabulary, by number: every word is looked at once, when it is first met."""

    def __init__(self, vocabulary: Vocabulary, frequencies: WordFrequencies | None) -> None:
        self._core = _core.WordFacts(
            vocabulary.lexicon, _lowering(), frequencies.core if frequencies else None
        )
        self.unlisted = frequencies.unlisted if frequencies else math.nan
        """The weight of words that are not listed; no word has it where there is no list."""
        self.folded = GrowingArray(np.uint32)
        """The number of the first word that is the same but for capitals."""
        self.shape = GrowingArray(np.uint8)
        """Bits: has a digit, begins with a capital."""
        self.word_weight = GrowingArray(np.float64)
        self.lemma_weight = GrowingArray(np.float64)

    def learn(self, batch: AnalysedBatch) -> None:
        """Take in the words of a batch that are new."""
        first, end = len(self.word_weight), end_of(batch.word)
        if first < end:
            folded, shapes, weights = self._core.learn_words(first, end)
            self.folded.put(first, folded)
            self.shape.put(first, shapes)
            self.word_weight.put(first, weights)  # the last, which counts the words
        first, end = len(self.lemma_weight), end_of(batch.lemma)
        if first < end:
            self.lemma_weight.extend(self._core.lemma_weights(first, end))


@lru_cache(maxsize=64)
def word_tables(frequencies: WordFrequencies | None) -> PerVocabulary[WordTable]:
    """The tables of all vocabularies with these frequencies: whoever needs one shares it with the others.

    >>> word_tables(None) is word_tables(None)
    True
    """
    return PerVocabulary(lambda vocabulary: WordTable(vocabulary, frequencies))
