"""The analysed form of many texts: flat arrays over one lexicon, as the core reads them."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval._core import Lexicon, Tokens
from tesla_eval.analysis.conllu import UNIVERSAL_IDS
from tesla_eval.errors import InputError
from tesla_eval.records import Token

__all__ = ["AnalysedBatch", "Vocabulary"]

_MOST_TAGS = 1 << 16
_OTHER = UNIVERSAL_IDS["X"]
_NOT_LOWERED = np.uint32(0xFFFFFFFF)


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
                f"more than {_MOST_TAGS} different tags: the column of tags holds something else"
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
            new = np.unique(words[known[words] == _NOT_LOWERED])
            if len(new):
                known[new] = self.lexicon.intern_words([form.lower() for form in self.lexicon.forms(new)])
            found: npt.NDArray[np.uint32] = known[words]
            return found


@dataclass(frozen=True)
class AnalysedBatch:
    """N texts: token k of text i lies at `offsets[i] + k` of every array."""

    texts: tuple[str, ...]
    vocabulary: Vocabulary
    offsets: npt.NDArray[np.int64]
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
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of tokens of each text."""
        return np.diff(self.offsets)

    @cached_property
    def core_tokens(self) -> Tokens:
        """The arrays that bags are made of, as one object of the core."""
        return Tokens(self.offsets, self.lemma, self.tag, self.function)

    @cached_property
    def surface_tokens(self) -> Tokens:
        """The same with lower-cased surface forms in the place of lemmas, for bags that compare those (SPEC §10)."""
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
        senses = np.array([sense for token in flat for sense in token.senses], np.uint32)
        lemmas = [token.lemma.lower() for token in flat]
        try:
            lemma = vocabulary.lexicon.intern_lemmas(lemmas, sense_offsets, senses)
        except ValueError as error:
            raise InputError(f"own analysis: {error}; senses belong to the lemma (SPEC §1)") from error
        return cls(
            texts=tuple(texts),
            vocabulary=vocabulary,
            offsets=offsets,
            word=vocabulary.lexicon.intern_words([token.surface for token in flat]),
            lemma=lemma,
            tag=np.array([vocabulary.tag_id(token.pos) for token in flat], np.uint16),
            universal=np.array([UNIVERSAL_IDS.get(token.pos, _OTHER) for token in flat], np.uint8),
            function=np.array([token.function for token in flat], np.uint8),
            start=np.array([token.start for token in flat], np.uint32),
            end=np.array([token.end for token in flat], np.uint32),
        )
