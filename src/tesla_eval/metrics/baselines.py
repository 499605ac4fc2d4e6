"""The usual metrics beside ours: sacreBLEU's BLEU, chrF, chrF++ and TER, each with its own signature.

sacreBLEU scores one corpus at a time. A bootstrap asks for thousands of resamples, so the formulas of its defaults
stand here once more, over arrays: the last axis holds the statistics in sacreBLEU's order. Tests hold them to
sacreBLEU's own numbers.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from tesla_eval.arrays import FloatArray
from tesla_eval.metrics.base import Metric, SegmentScores
from tesla_eval.records import Signature
from tesla_eval.segments import References

__all__ = ["Bleu", "BleuChar", "Chrf", "ChrfPlusPlus", "SacreBleuMetric", "Ter", "corpus_score_of_sums"]

_UNSPACED = {"zh": "zh", "ja": "char", "th": "char"}  # BLEU's tokeniser where words are not spaced
_CHRF_BETA = 2.0


class StatisticsTotal:
    """A corpus score from the sum of the segments' statistics."""

    def __init__(self, score: Callable[[list[float]], float]) -> None:
        self._score = score
        self._sum: FloatArray | None = None

    def add(self, part: SegmentScores) -> None:
        """Take in more segments."""
        assert part.statistics is not None
        added: FloatArray = part.statistics.sum(axis=0)
        self._sum = added if self._sum is None else self._sum + added

    def score(self) -> float:
        """The corpus score of the segments so far."""
        assert self._sum is not None
        return self._score(_statistics_of(self._sum))


class SacreBleuMetric(Metric):
    """One of sacreBLEU's metrics; segments one by one, the corpus from the sum of their statistics."""

    def __init__(self, lang: str = "en", *, workers: int = 1) -> None:
        self.lang = lang
        self.workers = workers
        self._corpus, self._segment = self._make(lang)
        self._lock = threading.Lock()  # sacreBLEU makes no promise about threads

    @abstractmethod
    def _make(self, lang: str) -> tuple[Any, Any]:
        """sacreBLEU's metric for a corpus and for a segment."""

    @staticmethod
    @abstractmethod
    def score_of_sums(sums: FloatArray) -> FloatArray:
        """The corpus scores of summed statistics, for many sums at once."""

    def get_signature(self) -> Signature:
        """sacreBLEU's signature, with the settings for segments where they differ."""
        items = _signature_items(self._corpus)
        segment = _signature_items(self._segment)
        different = {f"segment-{key}": value for key, value in segment.items() if items[key] != value}
        return Signature({"metric": self.id, **items, **different})

    def score_segments(self, hypotheses: Sequence[str], references: References) -> SegmentScores:
        """The scores and statistics of some segments."""
        with self._lock:
            return self._score_segments(hypotheses, references)

    def _score_segments(self, hypotheses: Sequence[str], references: References) -> SegmentScores:
        rows = []
        for index, hypothesis in enumerate(hypotheses):
            given = [stream[index] for stream in references]
            # An empty reference among others is a missing one; where there is no other, sacreBLEU refuses the empty
            # text, so it gets a character that no hypothesis can match.
            kept = [text for text in given if text] or ["\x00"]
            rows.append(self._corpus._extract_corpus_statistics([hypothesis], [[text] for text in kept])[0])
        statistics = np.array(rows, np.float64)
        scores = np.array([self._segment._compute_score_from_stats(row).score for row in rows])
        return SegmentScores(scores, np.empty((len(rows), 0)), statistics)

    def new_total(self) -> StatisticsTotal:
        """An empty corpus score."""
        return StatisticsTotal(
            lambda statistics: float(self._corpus._compute_score_from_stats(statistics).score)
        )


class Bleu(SacreBleuMetric):
    """BLEU, with the tokeniser that sacreBLEU advises for the language."""

    id: ClassVar[str] = "bleu"
    tokeniser: ClassVar[str | None] = None

    def _make(self, lang: str) -> tuple[Any, Any]:
        from sacrebleu.metrics.bleu import BLEU

        tokeniser = self.tokeniser or _UNSPACED.get(lang, "13a")
        # sacreBLEU advises the effective order for single sentences, and none for a corpus.
        return BLEU(tokenize=tokeniser), BLEU(tokenize=tokeniser, effective_order=True)

    @staticmethod
    def score_of_sums(sums: FloatArray) -> FloatArray:
        """BLEU of (..., lengths of system and reference, matches by order, n-grams by order), smoothing `exp`."""
        system, reference = sums[..., 0], sums[..., 1]
        orders = (sums.shape[-1] - 2) // 2
        matches, ngrams = sums[..., 2 : 2 + orders], sums[..., 2 + orders :]
        # The k-th order without a match counts as 1 / 2^k of a match.
        smoothed = np.where(matches > 0, matches, 0.5 ** np.cumsum(matches == 0, axis=-1))
        exists = (ngrams > 0).all(axis=-1) & (matches > 0).any(axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_precision = np.log(smoothed / ngrams).mean(axis=-1)
            log_brevity = np.minimum(0.0, 1 - reference / system)
            return np.asarray(np.where(exists, 100 * np.exp(log_precision + log_brevity), 0.0))


class BleuChar(Bleu):
    """BLEU over characters."""

    id: ClassVar[str] = "bleu-char"
    tokeniser = "char"


class Chrf(SacreBleuMetric):
    """chrF: character n-grams."""

    id: ClassVar[str] = "chrf"
    word_order: ClassVar[int] = 0

    def _make(self, lang: str) -> tuple[Any, Any]:
        from sacrebleu.metrics.chrf import CHRF

        metric = CHRF(word_order=self.word_order)
        return metric, metric

    @staticmethod
    def score_of_sums(sums: FloatArray) -> FloatArray:
        """chrF of (..., for each order: n-grams of the system, of the reference, matches)."""
        triples = sums.reshape(*sums.shape[:-1], -1, 3)
        system, reference, matches = np.moveaxis(triples, -1, 0)
        counted = (system > 0) & (reference > 0)
        orders = np.maximum(counted.sum(axis=-1), 1)
        precision, recall = (
            np.divide(matches, side, out=np.zeros_like(matches), where=counted).sum(axis=-1) / orders
            for side in (system, reference)
        )
        factor = _CHRF_BETA**2
        weighted = factor * precision + recall
        product = (1 + factor) * precision * recall
        return np.asarray(100 * np.divide(product, weighted, out=np.zeros_like(product), where=weighted > 0))


class ChrfPlusPlus(Chrf):
    """chrF++: character n-grams and word bigrams."""

    id: ClassVar[str] = "chrf++"
    word_order = 2


class Ter(SacreBleuMetric):
    """TER: edits per reference word; lower is better."""

    id: ClassVar[str] = "ter"
    higher_is_better: ClassVar[bool] = False

    def _make(self, lang: str) -> tuple[Any, Any]:
        from sacrebleu.metrics.ter import TER

        metric = TER(asian_support=lang in _UNSPACED)
        return metric, metric

    @staticmethod
    def score_of_sums(sums: FloatArray) -> FloatArray:
        """TER of (..., edits, length of the reference)."""
        edits, length = sums[..., 0], sums[..., 1]
        return np.asarray(
            100 * np.divide(edits, length, out=(edits > 0).astype(np.float64), where=length > 0)
        )


def corpus_score_of_sums(metric: Metric) -> Callable[[FloatArray], FloatArray] | None:
    """How `metric` scores a corpus from the sum of its segments' statistics, or None if it averages segments.

    >>> corpus_score_of_sums(Ter())(np.array([[1.0, 4.0], [3.0, 4.0]]))
    array([25., 75.])
    """
    return metric.score_of_sums if isinstance(metric, SacreBleuMetric) else None


def _signature_items(metric: Any) -> dict[str, str]:
    metric.num_refs = 1  # asked for, but a property of the data, not of the metric
    items = dict(metric.get_signature().info)
    del items["nrefs"]
    return {key: str(value) for key, value in items.items() if value is not None}


def _statistics_of(row: FloatArray) -> list[float]:
    """Statistics as sacreBLEU counts them: whole numbers where they are whole."""
    return [int(value) if value.is_integer() else value for value in row.tolist()]
