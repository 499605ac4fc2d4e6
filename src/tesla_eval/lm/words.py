"""Text as a language model reads it (SPEC §8): lower-cased tokens with punctuation kept, as numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tesla_eval.analysis import AnalysedBatch, Pipeline
from tesla_eval.analysis.word_map import WordMap

__all__ = [
    "SENTENCE_END",
    "SENTENCE_START",
    "SPECIAL_WORDS",
    "UNKNOWN",
    "WordNumbers",
    "analysis_fingerprint",
    "read_words",
]

UNKNOWN, SENTENCE_START, SENTENCE_END = "<unk>", "<s>", "</s>"
SPECIAL_WORDS = (UNKNOWN, SENTENCE_START, SENTENCE_END)
"""The first words of every vocabulary; the core knows them by their numbers."""

_TOKENS_VERSION = 1  # to be raised when the tokeniser cuts ordinary text in another way


def analysis_fingerprint(pipeline: Pipeline) -> str:
    """What decides which words a model sees: the tokeniser, and what cuts words out of longer ones."""
    parts = {"tokens": str(_TOKENS_VERSION), **pipeline.signature}
    return "|".join(
        f"{name}:{parts[name]}" for name in ("tokens", "lang", "segmenter", "compounds") if name in parts
    )


def read_words(pipeline: Pipeline, chunks: Iterable[Sequence[str]]) -> Iterator[AnalysedBatch]:
    """The texts as a model reads them, a batch a chunk."""
    for chunk in chunks:
        yield pipeline.analyse(chunk, keep_punctuation=True)[0]


class WordNumbers(WordMap):
    """The numbers that a vocabulary gives to the words of analysed texts; 0 for a word that it does not have."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        super().__init__(lambda form: numbers.get(form.lower(), 0))
