"""Training language models: count words, then n-grams, estimate modified Kneser–Ney order by order; ARPA in and out."""

from __future__ import annotations

import gzip
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from tesla_eval._core import NgramEstimator
from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import BuildError, UsageError
from tesla_eval.base.files import replacing, scratch_folder
from tesla_eval.base.parallel import NO_PROGRESS, Progress
from tesla_eval.base.resources import UNSTATED, Provenance, Resource, byte_planes, text_array
from tesla_eval.language.analysis import AnalysedBatch, Pipeline
from tesla_eval.language.lm import (
    KIND,
    SPECIAL_WORDS,
    analyse_chunks,
    analysis_fingerprint,
    model_pipeline,
    word_numbers,
)

Discounts = tuple[float, float, float]
"""What is taken from the count of an n-gram that counts once, twice, three times or more."""

FALLBACK: Discounts = (0.5, 1.0, 1.5)
"""KenLM's discounts, for texts that are too small or too unusual for the formulas."""


def discounts(count_of_counts: Sequence[int]) -> Discounts | None:
    """D1, D2, D3+ from t1 .. t4, where t_k n-grams count k times; `None` where the formulas give nothing usable.

    >>> discounts([10, 5, 2, 1])  # Y = 1/2: D1 = 1 - 1/2, D2 = 2 - 3/2 * 2/5, D3+ = 3 - 2 * 1/2
    (0.5, 1.4, 2.0)
    >>> discounts([10, 0, 2, 1]) is None
    True
    """
    t1, t2, t3, t4 = count_of_counts
    if not (t1 and t2 and t3):
        return None
    y = t1 / (t1 + 2 * t2)
    values = (1 - 2 * y * t2 / t1, 2 - 3 * y * t3 / t2, 3 - 4 * y * t4 / t3)
    return values if all(0 <= value <= k for k, value in enumerate(values, 1)) else None


LONGEST = 5
"""The highest order; the core's arrays have room for no more."""

_BLOCK = 1 << 18
_CODES = 256


@dataclass(frozen=True)
class LanguageModelSettings:
    """Settings of a language model; the defaults are those of specification §8."""

    order: int = 3
    least_count: int = 2
    """Words seen less often are `<unk>`."""
    prune: tuple[int, ...] = ()
    """By order: n-grams seen at most this often are left out; the last number applies to all higher orders."""
    stems: bool = False
    """PEM's stems (specification §13) in the place of words as they are written."""
    memory: int = 1 << 30
    """Bytes for sorting; the rest goes to disk."""

    def __post_init__(self) -> None:
        if not 1 <= self.order <= LONGEST:
            raise UsageError(f"order {self.order}: must be 1 to {LONGEST}")
        if self.least_count < 1:
            raise UsageError(f"least count {self.least_count}: must be 1 or more")
        if len(self.prune) > self.order or list(self.thresholds) != sorted(self.thresholds):
            raise UsageError(
                f"prune {self.prune}: give at most one number per order, each at least as large as the one before"
            )
        if self.thresholds[0] != 0:
            raise UsageError(
                "prune: the first number must be 0 because single words are kept; raise the least count instead"
            )

    @property
    def thresholds(self) -> list[int]:
        """One number per order."""
        given = list(self.prune) or [0]
        return given + given[-1:] * (self.order - len(given))


class NgramBlock(NamedTuple):
    """Some n-grams of one order, one per row, sorted by their words from the last to the first."""

    keys: npt.NDArray[np.uint32]
    """The words' numbers, the last word first."""
    parents: npt.NDArray[np.uint32]
    """For each the row, one order below, of the n-gram without its first word."""
    probability: FloatArray
    backoff: FloatArray


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


@contextmanager
def train_language_model(
    texts: Callable[[], Iterable[Sequence[str]]],
    language: str,
    settings: LanguageModelSettings | None = None,
    *,
    folder: Path | None = None,
    progress: Progress = NO_PROGRESS,
) -> Iterator[TrainedModel]:
    """Learn from `texts`, which is called twice and must give the same lines; temporary files go to `folder`.

    >>> with train_language_model(lambda: [["A cat sat.", "A cat ran."]], "en") as model:
    ...     model.words
    ('<unk>', '<s>', '</s>', '.', 'a', 'cat')
    """
    settings = settings or LanguageModelSettings()
    pipeline = model_pipeline(language, stems=settings.stems)
    words, tokens = _vocabulary(_ticking(pipeline, texts, "counting words", progress), settings)
    if not tokens:
        raise BuildError("the text to learn a language model from is empty")
    numbers = word_numbers({word: number for number, word in enumerate(words)}, stems=settings.stems)
    with scratch_folder("tesla-lm", folder) as scratch:
        estimator = NgramEstimator(
            settings.order, len(words), settings.thresholds, str(scratch), max(settings.memory, 1 << 16)
        )
        try:
            for batch in _ticking(pipeline, texts, "counting n-grams", progress):
                estimator.add(batch.offsets, numbers.of(batch))
            discounts_of_orders, fallbacks = _estimate(estimator, settings.order, progress)
        except RuntimeError as error:  # the disk is full
            raise BuildError(f"{error}; choose a folder with more free space (--temp)") from error
        yield TrainedModel(
            pipeline.language, settings, words, tokens, discounts_of_orders, fallbacks, estimator
        )


def _ticking(
    pipeline: Pipeline, texts: Callable[[], Iterable[Sequence[str]]], stage: str, progress: Progress
) -> Iterator[AnalysedBatch]:
    progress.stage(stage)
    for batch in analyse_chunks(pipeline, texts()):
        yield batch
        progress.advance(len(batch))


def _vocabulary(
    batches: Iterable[AnalysedBatch], settings: LanguageModelSettings
) -> tuple[tuple[str, ...], int]:
    """The words seen often enough, the most frequent first, behind the special ones; and the number of tokens."""
    counts: Counter[str] = Counter()
    for batch in batches:
        lexicon = batch.vocabulary.lexicon
        numbers, texts_of = (batch.lemma, lexicon.lemmas) if settings.stems else (batch.word, lexicon.forms)
        types, seen = np.unique(numbers, return_counts=True)
        for word, count in zip(texts_of(types), seen.tolist(), strict=True):
            counts[word.lower()] += count
    tokens = counts.total()
    frequent = [
        word for word, count in counts.items() if count >= settings.least_count and word not in SPECIAL_WORDS
    ]
    return (*SPECIAL_WORDS, *sorted(frequent, key=lambda word: (-counts[word], word))), tokens


def _estimate(
    estimator: NgramEstimator, order: int, progress: Progress
) -> tuple[tuple[Discounts, ...], tuple[int, ...]]:
    progress.stage("adjusting counts (n-grams)")
    estimator.adjust_counts(progress.advance)
    by_formula = [discounts(estimator.count_of_counts(n)) for n in range(1, order + 1)]
    chosen = tuple(FALLBACK if of_order is None else of_order for of_order in by_formula)
    for n, values in enumerate(chosen, 1):
        progress.stage(f"estimating order {n} (n-grams)")
        estimator.estimate(n, values, progress.advance)
    progress.stage("joining (n-grams)")
    estimator.join_backoffs(progress.advance)
    return chosen, tuple(n for n, of_order in enumerate(by_formula, 1) if of_order is None)


_LOG_ZERO = -99.0
"""What ARPA writes for the logarithm of 0, the probability of a sentence's start."""


def write_arpa(path: Path, model: TrainedModel) -> None:
    """Write the model as ARPA, gzipped if the name says so; an interrupted build leaves nothing half-made."""
    order = model.settings.order
    with (
        replacing(path) as temporary,
        temporary.open("wb") as raw,
        _text(raw, packed=path.suffix == ".gz") as out,
    ):
        out.write("\\data\\\n")
        out.writelines(f"ngram {n}={model.ngrams(n)}\n" for n in range(1, order + 1))
        for n in range(1, order + 1):
            out.write(f"\n\\{n}-grams:\n")
            for block in model.blocks(n):
                out.writelines(_lines(block, model.words, with_backoff=n < order))
        out.write("\n\\end\\\n")


def _lines(block: NgramBlock, words: tuple[str, ...], *, with_backoff: bool) -> Iterator[str]:
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log10(block.probability), _LOG_ZERO).tolist()
    backoffs = np.log10(block.backoff).tolist()
    for key, log, backoff in zip(block.keys[:, ::-1].tolist(), logs, backoffs, strict=True):
        text = " ".join([words[number] for number in key])
        yield f"{log:.7g}\t{text}\t{backoff:.7g}\n" if with_backoff else f"{log:.7g}\t{text}\n"


def _text(raw: IO[bytes], *, packed: bool) -> IO[str]:
    """Text that goes to `raw`, gzipped without a name and a time: the same model gives the same bytes."""
    binary = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) if packed else raw
    return io.TextIOWrapper(cast("IO[bytes]", binary), encoding="utf-8", newline="\n")


def model_resource(
    model: TrainedModel,
    *,
    rounded: bool = False,
    provenance: Provenance = UNSTATED,
    info: Mapping[str, Any] | None = None,
) -> Resource:
    """The trained model as a resource; `rounded` keeps eight bits of each logarithm."""
    order = model.settings.order
    arrays: dict[str, npt.NDArray[Any]] = {"words": text_array("\n".join(model.words))}
    steps = []
    for n in range(1, order + 1):
        blocks = list(model.blocks(n))
        with np.errstate(divide="ignore"):
            logs = np.log(np.concatenate([block.probability for block in blocks] or [np.zeros(0)]))
        arrays[f"probability{n}"], step = _rounded(logs) if rounded else (logs.astype(np.float32), 0.0)
        steps.append(step)
        if n > 1:
            parents = np.concatenate([block.parents for block in blocks] or [np.zeros(0, np.uint32)])
            first_words = np.concatenate([block.keys[:, -1] for block in blocks] or [np.zeros(0, np.uint32)])
            children = np.bincount(parents, minlength=model.ngrams(n - 1)).astype(np.uint32)
            arrays[f"children{n - 1}"] = byte_planes(children)
            arrays[f"words{n}"] = byte_planes(_differences(first_words.astype(np.uint32), children))
    counts = [model.ngrams(n) for n in range(1, order + 1)]
    described = {
        "order": order, "ngrams": counts, "words": len(model.words), "tokens": model.tokens, "steps": steps,
        "least count": model.settings.least_count, "prune": model.settings.thresholds,
        "discounts": [[round(value, 6) for value in values] for values in model.discounts], **(info or {}),
        **({"stems": True} if model.settings.stems else {}),
    }  # fmt: skip
    analysis = analysis_fingerprint(model_pipeline(model.language, stems=model.settings.stems))
    return Resource(
        KIND, model.language, arrays, analysis=analysis, provenance=provenance, info=described
    )  # fmt: skip


def _rounded(logs: FloatArray) -> tuple[npt.NDArray[np.uint8], float]:
    """Logarithms as multiples of a step; that of probability 0, which only a sentence's start has, as the least."""
    lowest = np.where(np.isfinite(logs), logs, 0.0)
    step = float(-lowest.min(initial=-1.0)) / (_CODES - 1)
    return np.rint(-np.maximum(logs, -step * (_CODES - 1)) / step).astype(np.uint8), step


def _differences(words: npt.NDArray[np.uint32], children: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """The ascending words of each parent as differences, which compress better."""
    differences = np.empty_like(words)
    differences[:1], differences[1:] = words[:1], words[1:] - words[:-1]
    starts = (np.cumsum(children, dtype=np.int64) - children)[children > 0]
    differences[starts] = words[starts]
    return differences
