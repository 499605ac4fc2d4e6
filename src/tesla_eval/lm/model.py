"""Asking a language model about texts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tesla_eval.analysis import AnalysedBatch, load_pipeline
from tesla_eval.analysis.languages import resolve_language
from tesla_eval.errors import ResourceError, UsageError
from tesla_eval.lm.storage import KIND, read_model, read_vocabulary
from tesla_eval.lm.words import SENTENCE_END, SPECIAL_WORDS, WordNumbers, analysis_fingerprint
from tesla_eval.resources import Resource, find_resource, read_resource

__all__ = ["TRIGRAM", "LanguageModel", "load_language_model"]

TRIGRAM = "3gram"
"""The name of the built-in model that TESLA-F uses (SPEC §8: order 3)."""


class LanguageModel:
    """The probability of texts in a language.

    >>> model = load_language_model("en")
    >>> good, bad = model.normalised(["I have never been there.", "Been I there have never."])
    >>> bool(good > bad)
    True
    """

    def __init__(self, resource: Resource) -> None:
        self._pipeline = load_pipeline(resource.language)
        expected = analysis_fingerprint(self._pipeline)
        if resource.analysis != expected:
            raise ResourceError(
                f"{resource.path}: was made for another analysis ({resource.analysis or 'unknown'}; here it is "
                f"{expected}); rebuild it with `tesla build lm`"
            )
        try:
            self.words = read_vocabulary(resource)
            if tuple(self.words[: len(SPECIAL_WORDS)]) != SPECIAL_WORDS:
                raise ValueError("the vocabulary does not begin as it should")
            self._core = read_model(resource)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise ResourceError(
                f"{resource.path}: is damaged or no language model ({error}); rebuild it with `tesla build lm`"
            ) from error
        self._numbers = WordNumbers({word: number for number, word in enumerate(self.words)})
        self.language = resource.language
        self.order = self._core.order
        self.fingerprint = resource.fingerprint
        self.unigrams = np.asarray(self._core.distribution([]))

    def analyse(self, texts: Sequence[str]) -> AnalysedBatch:
        """The texts cut into the words that the model knows them by."""
        return self._pipeline.analyse(texts, keep_punctuation=True)[0]

    def score(self, batch: AnalysedBatch) -> npt.NDArray[np.float64]:
        """ln P of every text, its end included."""
        return self._core.score(batch.offsets, self._numbers.of(batch))

    def normalised(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """(1/L) ln P of every text, L its number of words; NaN where it has none (SPEC §8)."""
        batch = self.analyse(texts)
        lengths = batch.lengths
        return np.where(lengths > 0, self.score(batch) / np.maximum(lengths, 1), np.nan)

    def explain(self, text: str) -> list[tuple[str, float]]:
        """Every word as the model reads it, and the sentence's end, with ln P given the words before it."""
        batch = self.analyse([text])
        numbers = self._numbers.of(batch)
        words = [self.words[number] for number in [*numbers.tolist(), SPECIAL_WORDS.index(SENTENCE_END)]]
        return list(zip(words, self._core.score_words(batch.offsets, numbers).tolist(), strict=True))

    def perplexity(self, texts: Sequence[str]) -> float:
        """e to the minus mean of ln P over all words and sentence ends."""
        batch = self.analyse(texts)
        return float(np.exp(-self.score(batch).sum() / (len(batch.word) + len(batch))))

    def distribution(self, context: Sequence[str]) -> npt.NDArray[np.float64]:
        """P(word | context) for every word of `words`; the context is of words as the model reads them."""
        index = {word: number for number, word in enumerate(self.words)}
        return self._core.distribution([index.get(word, 0) for word in context])


@cache
def load_language_model(language: str, name: str = TRIGRAM) -> LanguageModel:
    """The language model of that name: a file's path, or `lm-NAME-LANGUAGE.tesla` of the user or built in.

    It is loaded once a process.
    """
    code = resolve_language(language)
    path = Path(name) if name.endswith(".tesla") else find_resource(f"{KIND}-{name}", code)
    if path is None:
        raise UsageError(
            f"there is no language model {name!r} for language {code!r}; build one with "
            f"`tesla build lm -l {code} -o lm-{name}-{code}.tesla FILE` in your data folder (see `tesla resources`)"
        )
    resource = read_resource(path, KIND)
    if resource.language != code:
        raise UsageError(f"{path}: is a model of language {resource.language!r}, not of {code!r}")
    return LanguageModel(resource)
