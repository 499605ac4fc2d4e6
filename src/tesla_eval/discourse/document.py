"""A text as the discourse parser reads it: sentences of words with tags, lemmas and places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from tesla_eval.analysis import Pipeline
from tesla_eval.analysis.porter import porter_stem
from tesla_eval.discourse.relations import Span

__all__ = [
    "Document",
    "SentenceWords",
]

PUNCTUATION_TAGS = frozenset({",", ".", ":", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP", "SYM"})
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
        """Some of the tokens as if they were the sentence."""
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
    """
    pieces = [text[start:end] for text, spans in texts for start, end in spans]
    (batch,) = pipeline.analyse(pieces, keep_punctuation=True)
    tags = batch.vocabulary.tags
    lemma_text = batch.vocabulary.lexicon.lemma
    offsets, starts, ends = batch.offsets.tolist(), batch.start.tolist(), batch.end.tolist()
    tag_ids, lemma_ids = batch.tag.tolist(), batch.lemma.tolist()
    lemmas = {number: lemma_text(number) for number in set(lemma_ids)}
    documents, piece = [], 0
    for text, spans in texts:
        sentences = []
        for base, _ in spans:
            first, last = offsets[piece], offsets[piece + 1]
            raw = pieces[piece]
            words = tuple(raw[a:b] for a, b in zip(starts[first:last], ends[first:last], strict=True))
            if words:
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
