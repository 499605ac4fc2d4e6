"""The usual metrics beside ours: sacreBLEU's BLEU, chrF, chrF++ and TER, each with its own signature."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval.metrics.base import Metric, References, SegmentScores
from tesla_eval.records import Signature

__all__ = ["BASELINES", "SacreBleuMetric"]

_UNSPACED = {"zh": "zh", "ja": "char", "th": "char"}  # BLEU's tokeniser where words are not spaced


def _bleu(lang: str, tokeniser: str | None = None) -> tuple[Any, Any]:
    from sacrebleu.metrics.bleu import BLEU

    tokeniser = tokeniser or _UNSPACED.get(lang, "13a")
    # sacreBLEU advises the effective order for single sentences, and none for a corpus.
    return BLEU(tokenize=tokeniser), BLEU(tokenize=tokeniser, effective_order=True)


def _chrf(lang: str, word_order: int = 0) -> tuple[Any, Any]:
    from sacrebleu.metrics.chrf import CHRF

    metric = CHRF(word_order=word_order)
    return metric, metric


def _ter(lang: str) -> tuple[Any, Any]:
    from sacrebleu.metrics.ter import TER

    metric = TER(asian_support=lang in _UNSPACED)
    return metric, metric


BASELINES: dict[str, Callable[[str], tuple[Any, Any]]] = {
    "bleu": _bleu,
    "bleu-char": lambda lang: _bleu(lang, "char"),
    "chrf": _chrf,
    "chrf++": lambda lang: _chrf(lang, word_order=2),
    "ter": _ter,
}
"""By name: a function from the language to sacreBLEU's metric for a corpus and for a segment."""


class StatisticsTotal:
    """A corpus score from the sum of the segments' statistics."""

    def __init__(self, score: Callable[[list[float]], float]) -> None:
        self._score = score
        self._sum: npt.NDArray[np.float64] | None = None

    def add(self, part: SegmentScores) -> None:
        """Take in more segments."""
        assert part.statistics is not None
        added: npt.NDArray[np.float64] = part.statistics.sum(axis=0)
        self._sum = added if self._sum is None else self._sum + added

    def score(self) -> float:
        """The corpus score of the segments so far."""
        assert self._sum is not None
        return self._score(_statistics_of(self._sum))


class SacreBleuMetric(Metric):
    """One of sacreBLEU's metrics; segments one by one, the corpus from the sum of their statistics."""

    def __init__(self, name: str, lang: str = "en") -> None:
        self.id = name  # type: ignore[misc]  # one class serves four metrics
        self.higher_is_better = name != "ter"  # type: ignore[misc]
        self._corpus, self._segment = BASELINES[name](lang)
        self._lock = threading.Lock()  # sacreBLEU makes no promise about threads

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


def _signature_items(metric: Any) -> dict[str, str]:
    metric.num_refs = 1  # asked for, but a property of the data, not of the metric
    items = dict(metric.get_signature().info)
    del items["nrefs"]
    return {key: str(value) for key, value in items.items() if value is not None}


def _statistics_of(row: npt.NDArray[np.float64]) -> list[float]:
    """Statistics as sacreBLEU counts them: whole numbers where they are whole."""
    return [int(value) if value.is_integer() else value for value in row.tolist()]
