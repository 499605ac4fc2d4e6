"""N-gram language models: text to word numbers, the model as arrays of a resource file, and queries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tesla_eval._core import NgramModel
from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.errors import ResourceError, UsageError
from tesla_eval.base.resources import (
    SUFFIX,
    Resource,
    find_resource,
    from_byte_planes,
    installed_resources,
    interpreting,
    missing_resource,
    read_resource,
)
from tesla_eval.language.analysis import AnalysedBatch, Pipeline, load_pipeline, load_stems
from tesla_eval.language.analysis.batch import LemmaMap, WordMap
from tesla_eval.language.analysis.languages import resolve_language

KIND = "lm"

UNKNOWN, SENTENCE_START, SENTENCE_END = "<unk>", "<s>", "</s>"
SPECIAL_WORDS = (UNKNOWN, SENTENCE_START, SENTENCE_END)
"""The first words of every vocabulary; the core knows them by their numbers."""

_TOKENS_VERSION = 1  # to be raised when the tokeniser cuts ordinary text in another way


def analysis_fingerprint(pipeline: Pipeline) -> str:
    """What decides which words a model sees: the tokeniser, what cuts words out of longer ones, and stems."""
    parts = {"tokens": str(_TOKENS_VERSION), **pipeline.signature}
    names = ["tokens", "lang", "segmenter", "compounds", *(["lemmas"] if pipeline.keep_punctuation else [])]
    return "|".join(f"{name}:{parts[name]}" for name in names if name in parts)


def model_pipeline(language: str, *, stems: bool) -> Pipeline:
    """The analysis of a model of words as they are written, or of the stems that PEM reads (specification §13)."""
    return load_stems(language) if stems else load_pipeline(language)


def analyse_chunks(pipeline: Pipeline, chunks: Iterable[Sequence[str]]) -> Iterator[AnalysedBatch]:
    """The texts as a model reads them, one batch per chunk."""
    for chunk in chunks:
        yield pipeline.analyse(chunk, keep_punctuation=True)[0]


def word_numbers(numbers: Mapping[str, int], *, stems: bool) -> WordMap:
    """The numbers that a vocabulary gives to the words of analysed texts; 0 for a word that it does not have."""
    if stems:
        return LemmaMap(lambda lemma: numbers.get(lemma, 0))
    return WordMap(lambda form: numbers.get(form.lower(), 0))


TRIGRAM = "3gram"
"""The name of the built-in model that TESLA-F uses (specification §8: order 3)."""


class LanguageModel:
    """The probability of texts in a language.

    >>> model = load_language_model("en")
    >>> good, bad = model.normalised(["I have never been there.", "Been I there have never."])
    >>> bool(good > bad)
    True
    """

    def __init__(self, resource: Resource) -> None:
        self.stems = bool(resource.info.get("stems"))
        self._pipeline = model_pipeline(resource.language, stems=self.stems)
        expected = analysis_fingerprint(self._pipeline)
        if resource.analysis != expected:
            raise ResourceError(
                f"{resource.path}: was made for another analysis ({resource.analysis or 'unknown'}; installed is "
                f"{expected}); rebuild it with `tesla train lm`"
            )
        with interpreting(resource, "language model", "rebuild it with `tesla train lm`"):
            self.words = resource.text("words").split("\n")
            if tuple(self.words[: len(SPECIAL_WORDS)]) != SPECIAL_WORDS:
                raise ValueError("the vocabulary does not begin with the special words")
            self._core = _core_model(resource, len(self.words))
        self._numbers = word_numbers(
            {word: number for number, word in enumerate(self.words)}, stems=self.stems
        )
        self.language = resource.language
        self.order = self._core.order
        self.fingerprint = resource.fingerprint
        self.unigrams = np.asarray(self._core.distribution([]))

    def analyse(self, texts: Sequence[str]) -> AnalysedBatch:
        """The texts split into the words that the model uses."""
        return self._pipeline.analyse(texts, keep_punctuation=True)[0]

    def score(self, batch: AnalysedBatch) -> FloatArray:
        """ln P of every text, its end included."""
        return self._core.score(batch.offsets, self._numbers.of(batch))

    def normalised(self, texts: Sequence[str] | AnalysedBatch) -> FloatArray:
        """(1/L) ln P of every text, L its number of words; NaN where it has none (specification §8).

        A batch must be one that `analyse` could have made.
        """
        batch = texts if isinstance(texts, AnalysedBatch) else self.analyse(texts)
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
        return math.exp(-self.score(batch).sum() / (len(batch.word) + len(batch)))

    def distribution(self, context: Sequence[str]) -> FloatArray:
        """P(word | context) for every word of `words`; the context is of words as the model reads them."""
        index = {word: number for number, word in enumerate(self.words)}
        return self._core.distribution([index.get(word, 0) for word in context])


@cache
def load_language_model(language: str, name: str = TRIGRAM) -> LanguageModel:
    """The language model of that name: a file's path, or `lm-NAME-LANGUAGE.tesla` of the user or built in.

    It is loaded once per process.
    """
    code = resolve_language(language)
    path = Path(name) if name.endswith(".tesla") else find_resource(f"{KIND}-{name}", code)
    if path is None:
        raise missing_resource(
            f"language model {name!r}", code, f"tesla train lm -l {code} -o lm-{name}-{code}.tesla TEXT"
        )
    resource = read_resource(path, KIND)
    if resource.language != code:
        raise UsageError(f"{path}: is for language {resource.language!r}, not for {code!r}")
    return LanguageModel(resource)


_LEAST_LEFT = {False: 1e-7, True: 1e-3}
"""The least mass a context keeps for words it was not seen with, for probabilities as they are and rounded ones."""

Numbers = npt.NDArray[np.uint32]


def installed_language_models(language: str) -> list[str]:
    """The names of the models that are installed for a language, in alphabetical order.

    >>> "3gram" in installed_language_models("en")
    True
    """
    start, end = "lm-", f"-{language}{SUFFIX}"
    names = [path.name for path in installed_resources() if path.name.endswith(end)]
    return sorted({name[len(start) : -len(end)] for name in names if name.startswith(start)})


def _core_model(resource: Resource, size: int) -> NgramModel:
    """The model of `size` words to ask; `ValueError` or `KeyError` if the arrays are not those of a model."""
    order, steps = int(resource.info["order"]), [float(step) for step in resource.info["steps"]]
    words: list[Numbers] = [np.arange(size, dtype=np.uint32)]
    children = [from_byte_planes(resource.arrays[f"children{n}"]) for n in range(1, order)]
    words.extend(
        _sums(from_byte_planes(resource.arrays[f"words{n}"]), children[n - 2]) for n in range(2, order + 1)
    )
    stored = [resource.arrays[f"probability{n}"] for n in range(1, order + 1)]
    logs = [
        np.ascontiguousarray(values, np.float32) if not step else (-step * values).astype(np.float32)
        for values, step in zip(stored, steps, strict=True)
    ]
    return NgramModel(words, logs, children, _LEAST_LEFT[any(steps)])


def _sums(differences: Numbers, children: Numbers) -> Numbers:
    if int(children.sum(dtype=np.int64)) != len(differences):
        raise ValueError("the numbers of children and n-grams differ")
    totals = np.cumsum(differences, dtype=np.int64)
    starts = np.cumsum(children, dtype=np.int64) - children
    before = np.concatenate([[0], totals])[starts]
    words: Index = totals - np.repeat(before, children)
    if len(words) and int(words.max()) > np.iinfo(np.uint32).max:
        raise ValueError("a word number is beyond the vocabulary")
    return words.astype(np.uint32)
