"""The usual metrics beside ours: sacreBLEU's BLEU and TER, with its options and its signatures.

sacreBLEU scores one corpus at a time. A bootstrap asks for thousands of resamples, so its formulas stand here once
more, over arrays: the last axis holds the statistics in sacreBLEU's order. Tests hold them to sacreBLEU's own numbers.
"""

from __future__ import annotations

import math
import threading
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from tesla_eval.base.arrays import ExactSum, FloatArray
from tesla_eval.base.errors import UsageError
from tesla_eval.base.records import Signature
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.results import Score, SegmentScores
from tesla_eval.metrics.segments import References

__all__ = [
    "UNSPACED_TOKENISERS",
    "Bleu",
    "BleuChar",
    "SacreBleuMetric",
    "SacreBleuSignature",
    "StatisticsTotal",
    "Ter",
    "TerChar",
    "check_order",
    "corpus_score_of_sums",
]

UNSPACED_TOKENISERS = {"zh": "zh", "ja": "char", "th": "char"}  # where words are not spaced
_HIGHEST_ORDER = 32  # of n-grams: more is a typing error


class SacreBleuSignature(Signature):
    """A signature that becomes sacreBLEU's own, to the letter, once the number of references is known."""

    def __init__(self, metric: str, own: str, segment: str) -> None:
        items, segment_items = (
            dict(item.split(":", 1) for item in text.split("|")) for text in (own, segment)
        )
        different = {f"segment-{key}": value for key, value in segment_items.items() if items[key] != value}
        super().__init__({"metric": metric, **items, **different})
        self.own, self.segment = own, segment

    def with_references(self, count: int | str) -> Signature:
        """sacreBLEU's signature of a corpus score."""
        return _PastedSignature(self["metric"], self.own, count)

    def of_segments(self, count: int | str) -> Signature:
        """sacreBLEU's signature of a segment's score."""
        return _PastedSignature(self["metric"], self.segment, count)


class _PastedSignature(Signature):
    """sacreBLEU's own signature; the metric is an item, but not part of the text."""

    def __init__(self, metric: str, own: str, count: int | str) -> None:
        self._text = f"nrefs:{count}|{own}"
        super().__init__({"metric": metric, **dict(item.split(":", 1) for item in self._text.split("|"))})

    def __str__(self) -> str:
        return self._text


class StatisticsTotal:
    """A corpus score from the sum of the segments' statistics, the same whatever their order."""

    def __init__(self, score: Callable[[list[float]], float]) -> None:
        self._score = score
        self._counts: FloatArray | None = None
        """The sum of statistics that are whole numbers, which is exact in any order."""
        self._others: list[ExactSum] = []

    def add(self, part: SegmentScores) -> None:
        """Take in more segments."""
        statistics = part.statistics
        assert statistics is not None
        if (statistics == np.trunc(statistics)).all():
            counts: FloatArray = statistics.sum(axis=0)
            self._counts = counts if self._counts is None else self._counts + counts
        else:
            self._add(statistics)

    def _add(self, statistics: FloatArray) -> None:
        self._others = self._others or [ExactSum() for _ in statistics.T]
        for total, column in zip(self._others, statistics.T, strict=True):
            total.add(column)

    def score(self) -> float:
        """The corpus score of the segments so far."""
        if self._others and self._counts is not None:
            self._add(self._counts[None])
            self._counts = None
        sums = map(float, self._others) if self._counts is None else self._counts.tolist()
        return self._score(_statistics_of(sums))


class SacreBleuMetric(Metric):
    """One of sacreBLEU's metrics; segments one by one, the corpus from the sum of their statistics."""

    option_aliases: ClassVar[dict[str, str]] = {}
    """sacreBLEU's longer names of the options."""

    def __init__(self, lang: str = "en", *, workers: int = 1, **options: Any) -> None:
        self.lang = lang
        self.workers = workers
        try:
            self._corpus, self._segment = self._make(lang, **options)
        except (ImportError, RuntimeError, OSError) as error:
            raise UsageError(f"{self.id}: sacreBLEU cannot do this here: {error}") from error
        self._lock = threading.Lock()  # sacreBLEU makes no promise about threads

    @abstractmethod
    def _make(self, lang: str, **options: Any) -> tuple[Any, Any]:
        """sacreBLEU's metric for a corpus and for a segment."""

    @abstractmethod
    def score_of_sums(self, sums: FloatArray) -> FloatArray:
        """The corpus scores of summed statistics, for many sums at once."""

    def get_signature(self) -> SacreBleuSignature:
        """The metric and its settings, those for segments too; for results it is sacreBLEU's own signature."""
        return SacreBleuSignature(self.id, *map(_signature_text, (self._corpus, self._segment)))

    def sentence_score(
        self, hypothesis: str, references: Sequence[str] = (), sources: str | None = None
    ) -> Score:
        """The score of one segment, with sacreBLEU's signature for single sentences."""
        found = super().sentence_score(hypothesis, references, sources)
        return Score(
            found.metric, found.score, found.features, self.get_signature().of_segments(len(references))
        )

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
    """BLEU, by default with the tokeniser that sacreBLEU advises for the language.

    >>> metric = Bleu(tok="intl", lc=True)
    >>> str(metric.corpus_score(["A cat."], [["The cat."]]).signature).rpartition("|")[0]
    'nrefs:1|case:lc|eff:no|tok:intl|smooth:exp'
    """

    id: ClassVar[str] = "bleu"
    tokeniser: ClassVar[str | None] = None
    option_aliases: ClassVar[dict[str, str]] = {
        "tokenize": "tok", "lowercase": "lc", "smooth": "smooth_method", "effective_order": "eff",
    }  # fmt: skip

    def __init__(
        self,
        lang: str = "en",
        *,
        tok: str | None = None,
        lc: bool = False,
        smooth_method: str = "exp",
        smooth_value: float | None = None,
        max_ngram_order: int = 4,
        eff: bool = False,
        workers: int = 1,
    ) -> None:
        super().__init__(
            lang, workers=workers, tokenize=tok, lowercase=lc, smooth_method=smooth_method,
            smooth_value=smooth_value, max_ngram_order=max_ngram_order, effective_order=eff,
        )  # fmt: skip

    def _make(self, lang: str, **options: Any) -> tuple[Any, Any]:
        from sacrebleu.metrics.bleu import BLEU

        options["tokenize"] = options["tokenize"] or self.tokeniser or UNSPACED_TOKENISERS.get(lang, "13a")
        _check_choice(self.id, "tok", options["tokenize"], BLEU.TOKENIZERS)
        _check_choice(self.id, "smooth_method", options["smooth_method"], BLEU.SMOOTH_DEFAULTS)
        check_order(self.id, "max_ngram_order", options["max_ngram_order"], 1)
        if not 0 <= (options["smooth_value"] or 0) < math.inf:
            raise UsageError(f"{self.id}: smooth_value must not be negative")
        # sacreBLEU advises the effective order for single sentences, and none for a corpus.
        return BLEU(**options), BLEU(**{**options, "effective_order": True})

    def score_of_sums(self, sums: FloatArray) -> FloatArray:
        """BLEU of (..., lengths of system and reference, matches by order, n-grams by order)."""
        system, reference = sums[..., 0], sums[..., 1]
        orders = (sums.shape[-1] - 2) // 2
        matches, ngrams = sums[..., 2 : 2 + orders], sums[..., 2 + orders :]
        matched = (matches > 0).any(axis=-1)
        matches, ngrams = self._smoothed(matches, ngrams)
        counted = np.logical_and.accumulate(ngrams > 0, axis=-1)
        exists = matched & np.where(counted, matches > 0, True).all(axis=-1)
        if not self._corpus.effective_order:
            exists &= counted.all(axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(counted, np.log(matches / ngrams), 0.0)
            log_precision = logs.sum(axis=-1) / counted.sum(axis=-1)
            log_brevity = np.minimum(0.0, 1 - reference / system)
            return np.asarray(np.where(exists, 100 * np.exp(log_precision + log_brevity), 0.0))

    def _smoothed(self, matches: FloatArray, ngrams: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Matches and n-grams with sacreBLEU's smoothing of orders without a match."""
        method, value = self._corpus.smooth_method, self._corpus.smooth_value
        if value is None:
            value = self._corpus.SMOOTH_DEFAULTS[method]
        if method == "exp":  # the k-th order without a match counts as 1 / 2^k of a match
            return np.where(matches > 0, matches, 0.5 ** np.cumsum(matches == 0, axis=-1)), ngrams
        if method == "floor":
            return np.where(matches > 0, matches, value), ngrams
        if method == "add-k":
            added = np.where(np.arange(matches.shape[-1]) > 0, value, 0.0)
            return matches + added, ngrams + added
        return matches, ngrams


class BleuChar(Bleu):
    """BLEU over characters."""

    id: ClassVar[str] = "bleu-char"
    tokeniser = "char"


class Ter(SacreBleuMetric):
    """TER: edits per reference word; lower is better."""

    id: ClassVar[str] = "ter"
    higher_is_better: ClassVar[bool] = False
    option_aliases: ClassVar[dict[str, str]] = {"normalised": "normalized", "asian": "asian_support"}

    def __init__(
        self,
        lang: str = "en",
        *,
        normalized: bool = False,
        no_punct: bool = False,
        asian_support: bool | None = None,
        case_sensitive: bool = False,
        workers: int = 1,
    ) -> None:
        asian = lang in UNSPACED_TOKENISERS if asian_support is None else asian_support
        super().__init__(
            lang, workers=workers, normalized=normalized, no_punct=no_punct, asian_support=asian,
            case_sensitive=case_sensitive,
        )  # fmt: skip

    def _make(self, lang: str, **options: Any) -> tuple[Any, Any]:
        from sacrebleu.metrics.ter import TER

        metric = TER(**options)
        return metric, metric

    def score_of_sums(self, sums: FloatArray) -> FloatArray:
        """TER of (..., edits, length of the reference)."""
        edits, length = sums[..., 0], sums[..., 1]
        return np.asarray(
            100 * np.divide(edits, length, out=(edits > 0).astype(np.float64), where=length > 0)
        )


class TerChar(Ter):
    """TER over characters: edits per character of the reference, white space left out.

    >>> round(TerChar("zh").sentence_score("买伞", ["买雨伞"]).score, 2)
    33.33
    """

    id: ClassVar[str] = "ter-char"

    def get_signature(self) -> SacreBleuSignature:
        """sacreBLEU's, and the unit."""
        signature = super().get_signature()
        return SacreBleuSignature(
            self.id, *(f"{text}|unit:char" for text in (signature.own, signature.segment))
        )

    def _score_segments(self, hypotheses: Sequence[str], references: References) -> SegmentScores:
        spread = [[None if text is None else _spread(text) for text in stream] for stream in references]
        return super()._score_segments(list(map(_spread, hypotheses)), spread)


def _spread(text: str) -> str:
    """A text with every character a word."""
    return " ".join("".join(text.split()))


def corpus_score_of_sums(metric: Metric) -> Callable[[FloatArray], FloatArray] | None:
    """How `metric` scores a corpus from the sum of its segments' statistics, or None if it averages segments.

    >>> corpus_score_of_sums(Ter())(np.array([[1.0, 4.0], [3.0, 4.0]]))
    array([25., 75.])
    """
    formula: Callable[[FloatArray], FloatArray] | None = getattr(metric, "score_of_sums", None)
    return formula


def _signature_text(metric: Any) -> str:
    """sacreBLEU's signature without the number of references, which is a property of the data."""
    metric.num_refs = 1
    return str(metric.get_signature()).removeprefix("nrefs:1|")


def _check_choice(metric: str, option: str, value: str, known: Collection[str]) -> None:
    if value not in known:
        raise UsageError(f"{metric}: {option}={value} is unknown; there are {', '.join(known)}")


def check_order(metric: str, option: str, value: int, least: int) -> None:
    """Refuse an order of n-grams that is a typing error."""
    if not least <= value <= _HIGHEST_ORDER:
        raise UsageError(f"{metric}: {option} is from {least} to {_HIGHEST_ORDER}, not {value}")


def _statistics_of(sums: Iterable[float]) -> list[float]:
    """Statistics as sacreBLEU counts them: whole numbers where they are whole."""
    return [int(value) if value.is_integer() else value for value in sums]
