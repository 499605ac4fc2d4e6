"""Texts as words that can be replaced, dropped and moved: what kinds of damage are made with."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tesla_eval.language.analysis import AnalysedBatch, load_pipeline
from tesla_eval.language.analysis.conllu import FUNCTION_TAGS, UNIVERSAL_TAGS
from tesla_eval.language.analysis.languages import is_spaced

_APOSTROPHES = ("'", "’")


@dataclass(frozen=True)
class Word:
    """One word of a text: its span, and what the analysis says of it. Without a tagger `tag` is empty."""

    start: int
    end: int
    surface: str
    lemma: str
    tag: str
    fine_tag: str

    @property
    def is_function(self) -> bool:
        """Whether it is a function word (specification §1)."""
        return self.tag in FUNCTION_TAGS


@dataclass(frozen=True)
class Words:
    """A text and its words in order; punctuation and blanks lie between them."""

    text: str
    words: tuple[Word, ...]
    blank: str
    """What separates words: a space, or nothing in languages that are written without."""

    def __len__(self) -> int:
        return len(self.words)

    def tagged(self, *tags: str) -> list[Word]:
        """The words with one of these universal tags."""
        return [word for word in self.words if word.tag in tags]

    def replaced(self, word: Word, surface: str) -> str:
        """The text with another form in the place of a word; a capital at its beginning is kept."""
        if word.surface[:1].isupper():
            surface = surface[:1].upper() + surface[1:]
        return self.text[: word.start] + surface + self.text[word.end :]

    def without(self, word: Word) -> str:
        """The text without a word and one of the blanks around it."""
        before, rest = self.text[: word.start], self.text[word.end :]
        if rest[:1].isspace():
            return (before + rest.lstrip()).rstrip()
        return before.rstrip() + rest

    def with_surfaces(self, surfaces: Iterable[str]) -> str:
        """The text with other forms in the places of all words."""
        parts, end = [], 0
        for word, surface in zip(self.words, surfaces, strict=True):
            parts += [self.text[end : word.start], surface]
            end = word.end
        return "".join(parts) + self.text[end:]


@dataclass(frozen=True)
class Corpus:
    """The other material that kinds of damage may use besides the text itself."""

    language: str
    references: Sequence[Words]
    sources: Sequence[str] | None = None

    @property
    def tagged(self) -> bool:
        """Whether the language has a tagger."""
        return load_pipeline(self.language).tagged

    @cached_property
    def by_tag(self) -> dict[str, list[Word]]:
        """Different words of all references by universal tag, in order of appearance."""
        words: dict[str, dict[tuple[str, str], Word]] = {}
        for text in self.references:
            for word in text.words:
                words.setdefault(word.tag, {}).setdefault((word.lemma, word.surface), word)
        return {tag: list(unique.values()) for tag, unique in words.items()}


@dataclass(frozen=True)
class Case:
    """One text to be damaged. `draw` depends on the seed, the kind, the segment and nothing else."""

    words: Words
    segment: int
    corpus: Corpus
    draw: random.Random

    @property
    def text(self) -> str:
        """The text as it is."""
        return self.words.text

    def another_reference(self) -> Words | None:
        """The reference of another segment that has another text."""
        own, references = self.corpus.references[self.segment].text, self.corpus.references
        for _ in range(8):
            other = references[self.draw.randrange(len(references))]
            if other.text not in (own, self.text) and len(other):
                return other
        return None


def analysed_words(texts: Sequence[str], language: str) -> list[Words]:
    """The words of some texts.

    >>> (text,) = analysed_words(["Don't panic, Arthur!"], "en")
    >>> [(word.surface, word.tag) for word in text.words]
    [("Don't", 'AUX'), ('panic', 'VERB'), ('Arthur', 'PROPN')]
    """
    (batch,) = load_pipeline(language).analyse(texts)
    spaced = is_spaced(language)
    blank = " " if spaced else ""
    return [Words(text, tuple(_words(batch, k, spaced)), blank) for k, text in enumerate(texts)]


def _words(batch: AnalysedBatch, index: int, spaced: bool) -> Iterator[Word]:
    """The tokens of a text; parts of a compound or of a contraction that are written as one word are one."""
    text, tags = batch.texts[index], batch.vocabulary.tags
    has_tags = len(tags) > 1
    span = slice(batch.offsets[index], batch.offsets[index + 1])
    universal = batch.universal[span].tolist()
    last: Word | None = None
    for token, number in zip(batch.tokens(index), universal, strict=True):
        tag = UNIVERSAL_TAGS[number] if has_tags and number < len(UNIVERSAL_TAGS) else ""
        word = Word(token.start, token.end, token.surface, token.lemma, tag, token.pos)
        if last is not None:
            gap = text[last.end : word.start]
            if spaced and (gap == "" or gap.isalpha()) and not last.surface.endswith(_APOSTROPHES):
                last = Word(
                    last.start, word.end, text[last.start : word.end], last.lemma, last.tag, last.fine_tag
                )
                continue
            yield last
        last = word
    if last is not None:
        yield last
