"""Training a language model: count the words, then the n-grams, then estimate, order after order.

The text is read twice and never held; n-grams are sorted in runs on disk (`core/lm/ngram_estimator.h`), so that texts
larger than memory can be learned from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tesla_eval._core import NgramEstimator
from tesla_eval.analysis import AnalysedBatch, Pipeline, load_pipeline
from tesla_eval.errors import BuildError, UsageError
from tesla_eval.lm.discounts import FALLBACK, Discounts, discounts
from tesla_eval.lm.words import SPECIAL_WORDS, WordNumbers, read_words

__all__ = ["LONGEST", "LanguageModelSettings", "NgramBlock", "TrainedModel", "train_language_model"]

LONGEST = 5
"""The highest order; the core's arrays have room for no more."""

_BLOCK = 1 << 18

Stage = Callable[[str, int], None]
"""Is told what is being done, and how many more records of it are done."""


@dataclass(frozen=True)
class LanguageModelSettings:
    """What can be chosen; the defaults are SPEC §8's."""

    order: int = 3
    least_count: int = 2
    """Words seen less often are `<unk>`."""
    prune: tuple[int, ...] = ()
    """By order: n-grams seen at most so often are left out; the last number goes for all higher orders."""
    memory: int = 1 << 30
    """Bytes for sorting; more goes to disk."""

    def __post_init__(self) -> None:
        if not 1 <= self.order <= LONGEST:
            raise UsageError(f"order {self.order}: must be 1 to {LONGEST}")
        if self.least_count < 1:
            raise UsageError(f"least count {self.least_count}: must be 1 or more")
        if len(self.prune) > self.order or list(self.thresholds) != sorted(self.thresholds):
            raise UsageError(
                f"prune {self.prune}: at most one number an order, and none below the one before"
            )
        if self.thresholds[0] != 0:
            raise UsageError(
                "prune: single words stay, so the first number is 0; raise the least count instead"
            )

    @property
    def thresholds(self) -> list[int]:
        """One number an order."""
        given = list(self.prune) or [0]
        return given + given[-1:] * (self.order - len(given))


class NgramBlock(NamedTuple):
    """Some n-grams of one order, one a row, sorted by their words from the last to the first."""

    keys: npt.NDArray[np.uint32]
    """The words' numbers, the last word first."""
    parents: npt.NDArray[np.uint32]
    """For each the row, one order below, of the n-gram without its first word."""
    probability: npt.NDArray[np.float64]
    backoff: npt.NDArray[np.float64]


@dataclass(frozen=True)
class TrainedModel:
    """A model as it lies on disk after training; it lasts as long as the `with` block that made it."""

    language: str
    settings: LanguageModelSettings
    words: tuple[str, ...]
    tokens: int
    discounts: tuple[Discounts, ...]
    fallbacks: tuple[int, ...]
    """The orders whose counts were too few or too odd for Chen & Goodman's formulas."""
    _estimator: NgramEstimator

    def ngrams(self, n: int) -> int:
        """How many n-grams of order n the model has."""
        return self._estimator.kept(n)

    def blocks(self, n: int) -> Iterator[NgramBlock]:
        """The n-grams of order n, block after block."""
        for start in range(0, self.ngrams(n), _BLOCK):
            yield NgramBlock(*self._estimator.read(n, start, _BLOCK))


def _silent(stage: str, done: int) -> None:
    pass


@contextmanager
def train_language_model(
    texts: Callable[[], Iterable[Sequence[str]]],
    language: str,
    settings: LanguageModelSettings | None = None,
    *,
    folder: Path | None = None,
    progress: Stage = _silent,
) -> Iterator[TrainedModel]:
    """Learn from `texts`, which is called twice for the same chunks of lines; `folder` takes the files in between.

    >>> with train_language_model(lambda: [["A cat sat.", "A cat ran."]], "en") as model:
    ...     model.words
    ('<unk>', '<s>', '</s>', '.', 'a', 'cat')
    """
    settings = settings or LanguageModelSettings()
    pipeline = load_pipeline(language)
    words, tokens = _vocabulary(_ticking(pipeline, texts, "counting words", progress), settings.least_count)
    if not tokens:
        raise BuildError("the text to learn a language model from is empty")
    numbers = WordNumbers({word: number for number, word in enumerate(words)})
    with TemporaryDirectory(prefix="tesla-lm-", dir=folder) as scratch:
        estimator = NgramEstimator(
            settings.order, len(words), settings.thresholds, scratch, max(settings.memory, 1 << 16)
        )
        try:
            for batch in _ticking(pipeline, texts, "counting n-grams", progress):
                estimator.add(batch.offsets, numbers.of(batch))
            found, fallbacks = _estimate(estimator, settings.order, progress)
        except RuntimeError as error:  # the disk is full
            raise BuildError(f"{error}; name a folder with more room (--temp)") from error
        yield TrainedModel(pipeline.language, settings, words, tokens, found, fallbacks, estimator)


def _ticking(
    pipeline: Pipeline, texts: Callable[[], Iterable[Sequence[str]]], stage: str, progress: Stage
) -> Iterator[AnalysedBatch]:
    for batch in read_words(pipeline, texts()):
        yield batch
        progress(stage, len(batch))


def _vocabulary(batches: Iterable[AnalysedBatch], least_count: int) -> tuple[tuple[str, ...], int]:
    """The words seen often enough, the most frequent first, behind the special ones; and the number of tokens."""
    counts: Counter[str] = Counter()
    for batch in batches:
        types, seen = np.unique(batch.word, return_counts=True)
        for form, count in zip(batch.vocabulary.lexicon.forms(types), seen.tolist(), strict=True):
            counts[form.lower()] += count
    tokens = counts.total()
    frequent = [word for word, count in counts.items() if count >= least_count and word not in SPECIAL_WORDS]
    return (*SPECIAL_WORDS, *sorted(frequent, key=lambda word: (-counts[word], word))), tokens


def _estimate(
    estimator: NgramEstimator, order: int, progress: Stage
) -> tuple[tuple[Discounts, ...], tuple[int, ...]]:
    estimator.adjust_counts(lambda done: progress("adjusting counts", done))
    by_formula = [discounts(estimator.count_of_counts(n)) for n in range(1, order + 1)]
    chosen = tuple(FALLBACK if found is None else found for found in by_formula)
    for n, found in enumerate(chosen, 1):
        estimator.estimate(n, found, lambda done, n=n: progress(f"estimating order {n}", done))  # type: ignore[misc]
    estimator.join_backoffs(lambda done: progress("joining", done))
    return chosen, tuple(n for n, found in enumerate(by_formula, 1) if found is None)
