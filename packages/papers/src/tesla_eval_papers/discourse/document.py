"""Texts as discourse parsing sees them (specification §11): sentences of tagged words, and relations between them.

A relation has a type, a sense, perhaps a connective, and two arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

from tesla_eval.language.analysis import Pipeline
from tesla_eval.language.analysis.porter import porter_stem

PUNCTUATION_TAGS = frozenset({",", ".", ":", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP", "SYM"})
LONGEST_SENTENCE = 250
"""Tokens. Longer ones are read in pieces: people hardly write them, and the parser's work grows with the square of the
length."""
PIECE = 50
"""Tokens of such a piece."""
CONTENT_TAG_INITIALS = ("NN", "VB", "JJ", "RB")
"""Penn tags of nouns, verbs, adjectives and adverbs: the terms of specification §11."""


@dataclass(frozen=True, eq=False)
class SentenceWords:
    """One sentence, punctuation included; places count characters of the whole text."""

    words: tuple[str, ...]
    lower: tuple[str, ...]
    lemmas: tuple[str, ...]
    tags: tuple[str, ...]
    spans: tuple[Span, ...]

    def __len__(self) -> int:
        return len(self.words)

    def part(self, tokens: Sequence[int]) -> SentenceWords:
        """The sentence reduced to some of its tokens."""
        columns = (self.words, self.lower, self.lemmas, self.tags, self.spans)
        return SentenceWords(*(tuple(column[token] for token in tokens) for column in columns))  # type: ignore[arg-type]

    @cached_property
    def content(self) -> frozenset[str]:
        """The lemmas of the content words."""
        return frozenset(
            lemma
            for lemma, tag in zip(self.lemmas, self.tags, strict=True)
            if tag.startswith(CONTENT_TAG_INITIALS)
        )

    @cached_property
    def terms(self) -> dict[int, str]:
        """The stems of nouns, verbs, adjectives and adverbs by token: the terms of specification §11."""
        return {
            token: _stem(word)
            for token, (word, tag) in enumerate(zip(self.lower, self.tags, strict=True))
            if tag.startswith(CONTENT_TAG_INITIALS) and any(character.isalnum() for character in word)
        }


_stem = lru_cache(maxsize=1 << 16)(porter_stem)


@dataclass(frozen=True, eq=False)
class Document:
    """A text in sentences."""

    text: str
    sentences: tuple[SentenceWords, ...]

    def __len__(self) -> int:
        return len(self.sentences)

    @property
    def spans(self) -> list[tuple[Span, ...]]:
        """The places of the tokens, by sentence."""
        return [sentence.spans for sentence in self.sentences]

    def reordered(self, order: Sequence[int]) -> Document:
        """The same sentences in another order; places stay those of the original text."""
        return Document(self.text, tuple(self.sentences[index] for index in order))


def analyse_many(pipeline: Pipeline, texts: Sequence[tuple[str, Sequence[Span]]]) -> list[Document]:
    """Each text with its sentence spans as a document; sentences without a token are left out.

    All texts are tokenised, tagged and lemmatised as one batch.
    Sentences of more than `LONGEST_SENTENCE` tokens (text without full stops) become several of `PIECE` tokens.
    """
    pieces = [text[start:end] for text, spans in texts for start, end in spans]
    (batch,) = pipeline.analyse(pieces, keep_punctuation=True)
    tags = list(batch.vocabulary.tag_ids)
    lemma_text = batch.vocabulary.lexicon.lemma
    offsets, starts, ends = batch.offsets.tolist(), batch.start.tolist(), batch.end.tolist()
    tag_ids, lemma_ids = batch.tag.tolist(), batch.lemma.tolist()
    lemmas = {number: lemma_text(number) for number in set(lemma_ids)}
    documents, piece = [], 0
    for text, spans in texts:
        sentences = []
        for base, _ in spans:
            raw = pieces[piece]
            begin, end = offsets[piece], offsets[piece + 1]
            step = LONGEST_SENTENCE if end - begin <= LONGEST_SENTENCE else PIECE
            for first in range(begin, end, step):
                last = min(first + step, end)
                words = tuple(raw[a:b] for a, b in zip(starts[first:last], ends[first:last], strict=True))
                sentences.append(
                    SentenceWords(
                        words=words,
                        lower=tuple(word.lower() for word in words),
                        lemmas=tuple(lemmas[number] for number in lemma_ids[first:last]),
                        tags=tuple(tags[number] for number in tag_ids[first:last]),
                        spans=tuple(
                            (base + a, base + b)
                            for a, b in zip(starts[first:last], ends[first:last], strict=True)
                        ),
                    )
                )
            piece += 1
        documents.append(Document(text, tuple(sentences)))
    return documents


RelationType = Literal["Explicit", "Implicit", "AltLex", "EntRel", "NoRel"]
Sense = Literal["Temporal", "Contingency", "Comparison", "Expansion", "EntRel", "NoRel"]
"""The four senses of level 1; EntRel and NoRel carry their own name (specification §11)."""

_SEPARATORS = frozenset({",", ";", ":", "-", "--", "–", "—"})

TokenIndex = tuple[int, int]
"""(sentence, token of that sentence), both from 0."""
Span = tuple[int, int]
"""[start, end) in characters of the text."""


@dataclass(frozen=True)
class Relation:
    """One relation of a text: its connective and arguments are token indices in text order."""

    type: RelationType
    sense: Sense
    connective: tuple[TokenIndex, ...]
    arg1: tuple[TokenIndex, ...]
    arg2: tuple[TokenIndex, ...]

    @property
    def explicit(self) -> bool:
        """Whether a connective marks the relation; all other types are Non-Explicit."""
        return self.type == "Explicit"

    def to_dict(self, text: str, spans: Sequence[Sequence[Span]]) -> dict[str, Any]:
        """The relation as plain data: `spans[sentence][token]` are the characters of each token in `text`.

        Arguments are given without the commas that separate them from each other and from the connective.
        """

        def part(indices: tuple[TokenIndex, ...], pieces: list[Span]) -> dict[str, Any]:
            return {
                "text": " … ".join(" ".join(text[start:end].split()) for start, end in pieces),
                "spans": [list(piece) for piece in pieces],
                "sentences": sorted({sentence for sentence, _ in indices}),
            }

        whole = [(spans[s][first][0], spans[s][last][1]) for s, first, last in runs(self.connective)]
        return {
            "type": self.type,
            "sense": self.sense,
            "connective": part(self.connective, whole) if self.connective else None,
            "arg1": part(self.arg1, _argument_pieces(self.arg1, text, spans)),
            "arg2": part(self.arg2, _argument_pieces(self.arg2, text, spans)),
        }


def _argument_pieces(
    indices: tuple[TokenIndex, ...], text: str, spans: Sequence[Sequence[Span]]
) -> list[Span]:
    """Where the unbroken pieces of an argument lie, without separators around them; those without words go."""
    pieces = []
    for sentence, first, last in runs(indices):
        tokens = spans[sentence][first : last + 1]
        words = [span for span in tokens if text[slice(*span)] not in _SEPARATORS] or tokens
        pieces.append((words[0][0], words[-1][1]))
    return [piece for piece in pieces if any(map(str.isalnum, text[slice(*piece)]))] or pieces


def runs(indices: Sequence[TokenIndex]) -> list[tuple[int, int, int]]:
    """Neighbouring tokens joined: (sentence, first, last) of each unbroken piece.

    >>> runs([(0, 1), (0, 2), (0, 5), (1, 0)])
    [(0, 1, 2), (0, 5, 5), (1, 0, 0)]
    """
    spans: list[tuple[int, int, int]] = []
    for sentence, token in indices:
        if spans and spans[-1][0] == sentence and spans[-1][2] + 1 == token:
            spans[-1] = (sentence, spans[-1][1], token)
        else:
            spans.append((sentence, token, token))
    return spans
