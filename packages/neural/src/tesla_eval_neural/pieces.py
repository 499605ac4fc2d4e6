"""Texts to the pieces that an encoder reads: WordPiece (BERT, LaBSE), Unigram (XLM-R, E5), byte pairs (RoBERTa).

A tokeniser is plain data in the encoder's file. WordPieces are cut in the core. Of the others every different word is
cut once; the cuts are kept.
"""

from __future__ import annotations

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tesla_eval.matching.kernels import CharacterMap, WordPieceCutter

__all__ = ["BytePairs", "CutTexts", "Pieces", "Tokeniser", "Unigram", "WordPiece", "tokeniser_of"]

Span = tuple[int, int]
_MOST_KEPT = 1 << 18  # different words
_REMOVED = ("Cc", "Cf", "Co", "Cs")  # control characters and the like; what Unicode has not assigned stays
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


class Pieces(NamedTuple):
    """The pieces of a text, and where each word that they belong to lies in it."""

    ids: list[int]
    spans: list[Span]


class CutTexts(NamedTuple):
    """The pieces of some texts, one text after the other."""

    offsets: npt.NDArray[np.int64]
    pieces: npt.NDArray[np.uint32]
    words: npt.NDArray[np.uint32]
    """For each piece the number of its word in the text."""


class Tokeniser(ABC):
    """Cuts texts into pieces, given as numbers of the vocabulary."""

    @abstractmethod
    def cut(self, texts: Sequence[str]) -> CutTexts:
        """The pieces of some texts."""

    @abstractmethod
    def spans(self, text: str) -> list[Span]:
        """Where the words of a text lie."""

    def ids(self, text: str) -> list[int]:
        """The pieces of a text."""
        ids: list[int] = self.cut([text]).pieces.tolist()
        return ids

    def pieces(self, text: str) -> Pieces:
        """The pieces of a text with the place of their words."""
        spans, cut = self.spans(text), self.cut([text])
        return Pieces(cut.pieces.tolist(), [spans[word] for word in cut.words.tolist()])


class _Kept(dict[str, tuple[int, ...]]):
    """Words with their pieces; a new word is cut when it is asked for."""

    def __init__(self, cut: Callable[[str], tuple[int, ...]]) -> None:
        self._cut = cut

    def __missing__(self, word: str) -> tuple[int, ...]:
        if len(self) >= _MOST_KEPT:
            self.clear()
        self[word] = pieces = self._cut(word)
        return pieces


class _WordByWord(Tokeniser):
    def __init__(self) -> None:
        self._kept = _Kept(self.cut_word)

    @abstractmethod
    def words(self, text: str) -> Sequence[str]:
        """The words of a text as they are cut."""

    @abstractmethod
    def cut_word(self, word: str) -> tuple[int, ...]:
        """The pieces of a word."""

    def cut(self, texts: Sequence[str]) -> CutTexts:
        """The pieces of some texts."""
        cuts = [[self._kept[word] for word in self.words(text)] for text in texts]
        offsets = np.cumsum([0, *(sum(map(len, words)) for words in cuts)], dtype=np.int64)
        pieces = (number for words in cuts for ids in words for number in ids)
        numbers = (word for words in cuts for word, ids in enumerate(words) for _ in ids)
        size = int(offsets[-1])
        return CutTexts(offsets, np.fromiter(pieces, np.uint32, size), np.fromiter(numbers, np.uint32, size))


@dataclass(frozen=True)
class _Characters:
    """Every character as BERT reads it; punctuation and ideographs stand alone."""

    lowercase: bool
    strip_accents: bool
    ideographs: bool

    def read(self, character: str) -> str:
        """A character between other spaces, without them, or nothing."""
        if character in "\t\n\r":
            return " "
        if character in "\0\ufffd" or unicodedata.category(character) in _REMOVED:
            return ""
        if character.isspace():
            return " "
        ideograph = self.ideographs and any(first <= ord(character) <= last for first, last in _IDEOGRAPHS)
        if self.strip_accents:
            decomposed = unicodedata.normalize("NFD", character)
            character = "".join(c for c in decomposed if unicodedata.category(c) != "Mn")
        if self.lowercase:
            character = "".join(map(str.lower, character))
        parts = (f" {c} " if _is_punctuation(c) else c for c in character)
        return f" {character} " if ideograph else "".join(parts)


def _is_punctuation(character: str) -> bool:
    code = ord(character)
    ascii_symbol = 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126
    return ascii_symbol or unicodedata.category(character).startswith("P")


class WordPiece(Tokeniser):
    """BERT's: the longest piece first, then the longest that continues the word.

    >>> tokeniser = WordPiece(["[UNK]", "un", "##known", "?"], unknown=0)
    >>> tokeniser.ids("Unknown?"), tokeniser.ids("strange")
    ([1, 2, 3], [0])
    """

    def __init__(
        self,
        vocabulary: Sequence[str],
        unknown: int,
        *,
        lowercase: bool = True,
        strip_accents: bool = True,
        ideographs: bool = True,
        prefix: str = "##",
        longest_word: int = 100,
    ) -> None:
        self._characters = _Characters(lowercase, strip_accents, ideographs)
        self._cutter = WordPieceCutter(
            "\n".join(vocabulary), unknown, prefix, longest_word, CharacterMap(self._change, str)
        )

    def _change(self, character: str) -> tuple[str, int]:
        return self._characters.read(character), 0

    def cut(self, texts: Sequence[str]) -> CutTexts:
        """The pieces of some texts; one unknown piece for a word that the vocabulary cannot spell."""
        return CutTexts(*self._cutter.cut(texts))

    def spans(self, text: str) -> list[Span]:
        """Where the words lie: from their first to their last character."""
        spans: list[Span] = []
        open_word = False
        for place, character in enumerate(text):
            for read in self._characters.read(character):
                if read == " ":
                    open_word = False
                elif open_word:
                    spans[-1] = (spans[-1][0], place + 1)
                else:
                    spans.append((place, place + 1))
                    open_word = True
        return spans


class Unigram(_WordByWord):
    """SentencePiece's: the most probable pieces of a word, which begins with `▁`.

    >>> tokeniser = Unigram(["<unk>", "▁un", "known", "▁", "u"], [0.0, -2.0, -3.0, -1.0, -9.0], unknown=0)
    >>> tokeniser.ids("unknown"), tokeniser.ids("known")
    ([1, 2], [3, 2])
    """

    def __init__(self, vocabulary: Sequence[str], scores: Sequence[float], unknown: int) -> None:
        super().__init__()
        self._scores = {
            piece: (score, number)
            for number, (piece, score) in enumerate(zip(vocabulary, scores, strict=True))
        }
        self._unknown = unknown
        self._worst = min(scores, default=0.0) - 10.0
        self._longest = max(map(len, vocabulary), default=1)

    def words(self, text: str) -> list[str]:
        """The words between white space in Unicode's compatibility form, each with `▁` before it."""
        return ["▁" + unicodedata.normalize("NFKC", text[start:end]) for start, end in self.spans(text)]

    def cut_word(self, word: str) -> tuple[int, ...]:
        """The pieces with the highest sum of scores; neighbouring unknown characters are one piece."""
        best: list[tuple[float, int, int]] = [(0.0, 0, 0)]  # score, where the last piece begins, its number
        for end in range(1, len(word) + 1):
            score, start, number = best[end - 1][0] + self._worst, end - 1, self._unknown
            for first in range(max(0, end - self._longest), end):
                known = self._scores.get(word[first:end])
                if known is not None and best[first][0] + known[0] > score:
                    score, start, number = best[first][0] + known[0], first, known[1]
            best.append((score, start, number))
        pieces: list[int] = []
        end = len(word)
        while end > 0:
            _, start, number = best[end]
            if not (number == self._unknown and pieces and pieces[-1] == self._unknown):
                pieces.append(number)
            end = start
        return tuple(reversed(pieces))

    def spans(self, text: str) -> list[Span]:
        """Where the words lie."""
        return [match.span() for match in re.finditer(r"\S+", text)]


_BYTES = [*range(33, 127), *range(161, 173), *range(174, 256)]
_BYTE_LETTERS = {byte: chr(byte) for byte in _BYTES} | {
    byte: chr(256 + k) for k, byte in enumerate(b for b in range(256) if b not in set(_BYTES))
}
_CONTRACTIONS = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d")


class _Classes(dict[int, str]):
    """For `str.translate`: `l` for letters, `n` for numbers, a space for white space, `o` for everything else."""

    def __missing__(self, code: int) -> str:
        category = unicodedata.category(chr(code))
        classes = {"L": "l", "N": "n"}
        self[code] = kind = " " if chr(code).isspace() else classes.get(category[0], "o")
        return kind


class BytePairs(_WordByWord):
    """RoBERTa's: UTF-8 bytes as letters, joined pair by pair in the order of the merges.

    >>> tokeniser = BytePairs(["a", "b", "ab", "Ġ", "Ġab"], [("a", "b"), ("Ġ", "ab")], unknown=0)
    >>> tokeniser.ids("ab ab")
    [2, 4]
    """

    def __init__(
        self,
        vocabulary: Sequence[str],
        merges: Sequence[tuple[str, str]],
        unknown: int,
        *,
        leading_space: bool = False,
    ) -> None:
        super().__init__()
        self._numbers = {piece: number for number, piece in enumerate(vocabulary)}
        self._ranks = {pair: rank for rank, pair in enumerate(merges)}
        self._unknown, self._leading_space = unknown, leading_space
        self._classes = _Classes()

    def words(self, text: str) -> list[str]:
        """The words with the space before each, as letters that stand for bytes."""
        lead = " " if self._leading_space and text[:1] not in ("", " ") else ""
        text = lead + text
        return [
            "".join(_BYTE_LETTERS[byte] for byte in text[start:end].encode("utf-8", "surrogatepass"))
            for start, end in self._cuts(text)
        ]

    def cut_word(self, word: str) -> tuple[int, ...]:
        """The pieces that merging leaves."""
        parts = list(word)
        while len(parts) > 1:
            ranks = [self._ranks.get(pair, -1) for pair in pairwise(parts)]
            known = [rank for rank in ranks if rank >= 0]
            if not known:
                break
            place = ranks.index(min(known))
            parts[place : place + 2] = [parts[place] + parts[place + 1]]
        return tuple(self._numbers.get(part, self._unknown) for part in parts)

    def spans(self, text: str) -> list[Span]:
        """Where the words lie, without the space before them."""
        lead = int(self._leading_space and text[:1] not in ("", " "))
        shifted = []
        for start, end in self._cuts(" " * lead + text):
            inner = start + 1 if end - start > 1 and (" " * lead + text)[start] == " " else start
            shifted.append((max(inner - lead, 0), max(end - lead, 0)))
        return shifted

    def _cuts(self, text: str) -> Iterator[Span]:
        """GPT-2's words: contractions; letters, numbers or symbols with a space before; white space."""
        classes = text.translate(self._classes)
        place, size = 0, len(text)
        while place < size:
            short = next((c for c in _CONTRACTIONS if text.startswith(c, place)), None)
            if short is not None:
                end = place + len(short)
            else:
                first = place + 1 if text[place] == " " and place + 1 < size else place
                kind = classes[first]
                if kind == " ":
                    first = place
                    kind = classes[first]
                end = first
                while end < size and classes[end] == kind:
                    end += 1
                if kind == " " and end < size and end - place > 1:
                    end -= 1  # the last space belongs to the word behind it
            yield place, end
            place = end


def tokeniser_of(info: Mapping[str, Any], vocabulary: Sequence[str], more: Mapping[str, Any]) -> Tokeniser:
    """The tokeniser that the header of an encoder's file describes; `ValueError` for one that it cannot be."""
    kind, unknown = info["type"], int(info["unknown"])
    if not 0 <= unknown < len(vocabulary):
        raise ValueError("the unknown piece is not in the vocabulary")
    if kind == "wordpiece":
        return WordPiece(
            vocabulary, unknown, lowercase=bool(info["lowercase"]), strip_accents=bool(info["strip_accents"]),
            ideographs=bool(info["ideographs"]), prefix=str(info["prefix"]), longest_word=int(info["longest_word"]),
        )  # fmt: skip
    if kind == "unigram":
        return Unigram(vocabulary, more["scores"].tolist(), unknown)
    if kind == "bytepairs":
        pairs = [tuple(line.split(" ")) for line in str(more["merges"]).split("\n") if line]
        if not all(len(pair) == 2 for pair in pairs):
            raise ValueError("a merge does not have two parts")
        return BytePairs(
            vocabulary, [(pair[0], pair[1]) for pair in pairs], unknown, leading_space=bool(info["leading_space"])
        )  # fmt: skip
    raise ValueError(f"unknown tokeniser {kind!r}")
