"""CoNLL-U and the universal tags: a strict reader of analysed text, one sentence at a time, plain or gzipped.

Whatever is not sound CoNLL-U raises an `InputError` that names file and line. Nothing is guessed, and nothing
skipped but empty nodes (`8.1`), which stand for no text. Memory is bounded by the longest sentence, and
that by `MAX_WORDS`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

from tesla_eval.base.errors import InputError
from tesla_eval.base.records import Span
from tesla_eval.texts.lines import LineReader

UNIVERSAL_TAGS = (
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT",
    "SCONJ", "SYM", "VERB", "X",
)  # fmt: skip
UNIVERSAL_IDS = {tag: number for number, tag in enumerate(UNIVERSAL_TAGS)}
FUNCTION_TAGS = frozenset({"ADP", "AUX", "CCONJ", "DET", "PART", "PRON", "SCONJ"})
"""Specification §1, decision "function words". Numbers and interjections are content."""
UNKNOWN = "_"
MAX_WORDS = 100_000

_ID = re.compile(r"([1-9][0-9]{0,8})(?:-([1-9][0-9]{0,8})|\.[0-9]{1,9})?|0\.[1-9][0-9]{0,8}")
_KNOWN_TAGS = frozenset({*UNIVERSAL_TAGS, UNKNOWN})


class Word(NamedTuple):
    """A word and its annotation; `_` for a missing value."""

    form: str
    lemma: str
    upos: str
    xpos: str
    space_after: bool = True


class MultiWord(NamedTuple):
    """A surface token that holds the words `[start, end)`: French `du` = `de` + `le`."""

    start: int
    end: int
    form: str
    space_after: bool = True


class Sentence(NamedTuple):
    """One sentence; `line` is where it begins in its file."""

    words: tuple[Word, ...]
    multiwords: tuple[MultiWord, ...] = ()
    comments: tuple[tuple[str, str], ...] = ()
    line: int = 0

    def comment(self, key: str) -> str | None:
        """The value of the comment `# key = value`, `None` if it has none."""
        return next((value for name, value in self.comments if name == key), None)

    @property
    def text(self) -> str:
        """The raw text: the comment `# text` if it holds the tokens, else these joined as their spacing says."""
        return self._text_with_places()[0]

    def _text_with_places(self) -> tuple[str, list[Span]]:
        tokens = self.surface()
        given = self.comment("text")
        if given is not None and (places := _places(given, tokens)) is not None:
            return given, places
        text, places = "", []
        for token in tokens:
            places.append((len(text), len(text) + len(token.form)))
            text += token.form + " " * token.space_after
        return text[: places[-1][1]], places

    def placed_words(self, *, split: bool) -> Iterator[tuple[Word, Span]]:
        """The words, or the surface tokens unless they are `split`, each with its place in `text`.

        Parts that do not spell their multi-word token have the place of the whole.

        >>> parts = Word("Do", "do", "AUX", "_"), Word("n't", "not", "PART", "_")
        >>> sentence = Sentence((*parts, Word("go", "go", "VERB", "_")), (MultiWord(0, 2, "Don't"),))
        >>> [(word.form, place) for word, place in sentence.placed_words(split=True)]
        [('Do', (0, 2)), ("n't", (2, 5)), ('go', (6, 8))]
        """
        _, places = self._text_with_places()
        tokens = self.surface()
        if not split:
            yield from zip(tokens, places, strict=True)
            return
        ends = {multiword.start: multiword.end for multiword in self.multiwords}
        first = 0
        for token, place in zip(tokens, places, strict=True):
            end = ends.get(first, first + 1)
            parts = self.words[first:end]
            yield from zip(parts, _places_of_parts(parts, token.form, place), strict=True)
            first = end

    def surface(self) -> tuple[Word, ...]:
        """The tokens as written: a multi-word token is one token with the tags of its content.

        >>> parts = Word("de", "de", "ADP", "_"), Word("le", "le", "DET", "_")
        >>> [(token.form, token.upos) for token in Sentence(parts, (MultiWord(0, 2, "du"),)).surface()]
        [('du', 'ADP')]
        """
        tokens: list[Word] = []
        done = 0
        for multiword in self.multiwords:
            content = content_word(self.words[multiword.start : multiword.end])
            tokens.extend(self.words[done : multiword.start])
            tokens.append(content._replace(form=multiword.form, space_after=multiword.space_after))
            done = multiword.end
        tokens.extend(self.words[done:])
        return tuple(tokens)


def _places(text: str, tokens: Sequence[Word]) -> list[Span] | None:
    """Where each token stands in the text, which has nothing but white space beside them; None if it has not."""
    places = []
    end = 0
    for token in tokens:
        start = _skip_space(text, end)
        if not text.startswith(token.form, start):
            return None
        end = start + len(token.form)
        places.append((start, end))
    return places if _skip_space(text, end) == len(text) else None


def _places_of_parts(parts: Sequence[Word], form: str, place: Span) -> list[Span]:
    if "".join(part.form for part in parts) != form:
        return [place] * len(parts)
    return list(pairwise(accumulate((len(part.form) for part in parts), initial=place[0])))


def _skip_space(text: str, start: int) -> int:
    while start < len(text) and text[start].isspace():
        start += 1
    return start


def content_word(parts: Sequence[Word]) -> Word:
    """The part that gives a multi-word token its tags: the first that is no function word, else the first of all.

    So `del` (de + el) is a preposition, as it is in treebanks that do not split it.
    """
    return next((part for part in parts if part.upos not in FUNCTION_TAGS), parts[0])


def read_conllu(path: Path | str) -> Iterator[Sentence]:
    """The sentences of a file, which may be gzipped (`.gz`), or of standard input (`-`)."""
    reader = LineReader(str(path))
    return parse_conllu(reader, reader.name)


def parse_conllu(text: str | Iterable[str], name: str = "CoNLL-U", first_line: int = 1) -> Iterator[Sentence]:
    """The sentences of a text or of lines without ends; errors call it `name` and count from `first_line`."""
    lines = (line.removesuffix("\r") for line in text.split("\n")) if isinstance(text, str) else text
    builder = _SentenceBuilder()
    number = first_line
    try:
        for number, line in enumerate(lines, first_line):
            if line:
                builder.add(line, number)
            elif builder.started:
                yield builder.finish()
                builder = _SentenceBuilder()
        if builder.started:
            yield builder.finish()
    except _LineError as error:
        raise InputError(f"{name}, line {number}: {error}") from None


class _LineError(Exception):
    """What is wrong with a line; `parse_conllu` adds where."""


class _SentenceBuilder:
    """Collects the lines of one sentence and checks that they fit together."""

    def __init__(self) -> None:
        self.words: list[Word] = []
        self.multiwords: list[MultiWord] = []
        self.comments: list[tuple[str, str]] = []
        self.line = 0

    @property
    def started(self) -> bool:
        return self.line > 0

    def add(self, line: str, number: int) -> None:
        self.line = self.line or number
        if line.startswith("#"):
            self._add_comment(line)
        else:
            self._add_token(line.split("\t"))

    def finish(self) -> Sentence:
        if not self.words:
            raise _LineError("the sentence that ends here has no words")
        if self.multiwords and self.multiwords[-1].end > len(self.words):
            raise _LineError("the sentence ends inside a multi-word token")
        return Sentence(tuple(self.words), tuple(self.multiwords), tuple(self.comments), self.line)

    def _add_comment(self, line: str) -> None:
        if self.words or self.multiwords:
            raise _LineError("a comment is inside a sentence")
        key, equals, value = line[1:].partition("=")
        if equals:
            self.comments.append((key.strip(), value.strip()))

    def _add_token(self, columns: list[str]) -> None:
        if len(columns) != 10:
            raise _LineError(f"has {len(columns)} columns separated by tabs, not 10")
        identifier, form, lemma, upos, xpos = columns[:5]
        match = _ID.fullmatch(identifier)
        if match is None:
            raise _LineError(f"{identifier!r} is not a word number, a range or an empty node")
        if not form.strip() or not lemma.strip() or not xpos.strip():
            raise _LineError("form, lemma and XPOS may not be empty (unknown is `_`)")
        space_after = "SpaceAfter=No" not in columns[9].split("|")
        if "." in identifier:
            return
        first, last = int(match[1]), int(match[2] or match[1])
        if first != len(self.words) + 1:
            raise _LineError(f"word {first} comes where word {len(self.words) + 1} should come")
        if "-" in identifier:
            self._add_multiword(MultiWord(first - 1, last, form, space_after))
            return
        if upos not in _KNOWN_TAGS:
            raise _LineError(f"{upos!r} is not a universal tag")
        if len(self.words) == MAX_WORDS:
            raise _LineError(f"the sentence has more than {MAX_WORDS} words")
        self.words.append(Word(form, lemma, upos, xpos, space_after))

    def _add_multiword(self, multiword: MultiWord) -> None:
        if multiword.end <= multiword.start:
            raise _LineError("the range of a multi-word token runs backwards")
        if self.multiwords and multiword.start < self.multiwords[-1].end:
            raise _LineError("multi-word tokens overlap")
        self.multiwords.append(multiword)
