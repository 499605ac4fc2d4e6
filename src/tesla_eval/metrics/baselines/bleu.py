"""The usual metrics beside ours: what sacreBLEU's have in common, its signatures, and BLEU.

The core counts BLEU's n-grams and computes its scores, equal to sacreBLEU's to the bit.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from tesla_eval._core import WordTexts, count_bleu, score_bleu
from tesla_eval.base.arrays import ExactSum, FloatArray, Index
from tesla_eval.base.errors import UsageError
from tesla_eval.base.forking import new_lock
from tesla_eval.base.records import Signature
from tesla_eval.language.analysis.languages import resolve_language
from tesla_eval.metrics.base import Metric, Total
from tesla_eval.metrics.results import Score, SegmentScores
from tesla_eval.metrics.segments import References, blocks_of_pairs, new_matrix, streams_of_one, texts_of

UNSPACED_TOKENISERS = {"zh": "zh", "ja": "char", "th": "char"}  # where words are not spaced
_HIGHEST_ORDER = 32  # of n-grams: more is a typing error
_TOKENISERS_OF_SACREBLEU = {"ja": "ja-mecab", "ko": "ko-mecab"}
"""Where sacreBLEU cuts words by MeCab, which the extras sacrebleu[ja] and sacrebleu[ko] install."""
_TOKENISERS_OF_CORE = frozenset({"13a", "intl", "zh", "char", "none"})
_SUM_IS_CORRECTED = sum([1e100, 1.0, -1e100]) == 1.0
"""Whether `sum`, which adds up logarithms in sacreBLEU, corrects rounding errors: so it does from Python 3.12 on."""


class SacreBleuSignature(Signature):
    """A signature that becomes sacreBLEU's own, to the letter, once the number of references is known."""

    def __init__(self, metric: str, own: str, segment: str) -> None:
        items, segment_items = (
            dict(item.split(":", 1) for item in text.split("|")) for text in (own, segment)
        )
        different = {f"segment-{key}": value for key, value in segment_items.items() if items[key] != value}
        super().__init__({"metric": metric, **items, **different})
        self.own, self.segment = own, segment

    def with_items(self, items: Mapping[str, str]) -> SacreBleuSignature:
        """The signature with what sacreBLEU's leaves out."""
        added = "".join(f"|{key}:{value}" for key, value in items.items())
        return SacreBleuSignature(self["metric"], self.own + added, self.segment + added)

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
    """A corpus score from the exact sums of the segments' statistics, the same whatever their order."""

    def __init__(self, score: Callable[[list[float]], float]) -> None:
        self._score = score
        self._sums: list[ExactSum] = []

    def add(self, part: SegmentScores) -> None:
        """Take in more segments."""
        statistics = part.statistics
        assert statistics is not None
        self._sums = self._sums or [ExactSum() for _ in statistics.T]
        for total, column in zip(self._sums, statistics.T, strict=True):
            total.add(column)

    def score(self) -> float:
        """The corpus score of the segments so far."""
        return self._score(list(map(float, self._sums)))


class SacreBleuTotal:
    """A corpus score from the segments' statistics, added up in their order as sacreBLEU does it.

    With several references TER counts parts of words, so that the order shows in the last bit.
    """

    def __init__(self, score: Callable[[list[float]], float]) -> None:
        self._score = score
        self._sums: FloatArray | None = None

    def add(self, part: SegmentScores) -> None:
        """Take in more segments, which come after those so far."""
        rows = part.statistics
        assert rows is not None
        so_far = np.zeros(rows.shape[1]) if self._sums is None else self._sums
        # One row after the other; `sum` may pair them.
        self._sums = np.add.accumulate(np.concatenate([so_far[None], rows]))[-1]

    def sums(self) -> list[float]:
        """The sums so far, as sacreBLEU counts them: whole numbers where they are whole."""
        assert self._sums is not None
        return [int(value) if value.is_integer() else value for value in self._sums.tolist()]

    def score(self) -> float:
        """The corpus score of the segments so far."""
        return self._score(self.sums())


def _signature_text(metric: Any) -> str:
    """sacreBLEU's signature without the number of references, which is a property of the data and changes with it."""
    metric.num_refs = 1
    return str(metric.get_signature()).removeprefix("nrefs:1|")


class SacreBleuMetric(Metric):
    """One of sacreBLEU's metrics; segments one by one, the corpus from the sum of their statistics."""

    blank_is_text: ClassVar[bool] = True

    def __init__(self, lang: str = "en", *, workers: int = 1, **options: Any) -> None:
        self.lang = resolve_language(lang)
        self.workers = workers
        try:
            self._corpus, self._segment = self._make(self.lang, **options)
        except (ImportError, RuntimeError, OSError) as error:
            raise UsageError(f"{self.id}: sacreBLEU cannot do this here: {error}") from error
        self._signature_texts = [_signature_text(metric) for metric in (self._corpus, self._segment)]
        self._lock = new_lock()  # sacreBLEU makes no promise about threads
        self._segment_signatures: dict[int, Signature] = {}
        """Those of single sentences by the number of references, as they are asked for."""

    @abstractmethod
    def _make(self, lang: str, **options: Any) -> tuple[Any, Any]:
        """sacreBLEU's metric for a corpus and for a segment."""

    @abstractmethod
    def score_of_sums(self, sums: FloatArray) -> FloatArray:
        """The corpus scores of summed statistics, for many sums at once."""

    def get_signature(self) -> SacreBleuSignature:
        """The metric and its settings, those for segments too; for results it is sacreBLEU's own signature."""
        return SacreBleuSignature(self.id, *self._signature_texts)

    def sentence_score(
        self, hypothesis: str, references: Sequence[str] = (), sources: str | None = None
    ) -> Score:
        """The score of one segment, with sacreBLEU's signature for single sentences."""
        streams = streams_of_one(hypothesis, references, blank_is_text=self.blank_is_text)
        scored = self._score_one(hypothesis, streams, sources)
        signature = self._segment_signatures.get(len(streams))
        if signature is None:
            signature = self.get_signature().of_segments(len(streams))
            self._segment_signatures[len(streams)] = signature
        return Score(self.id, float(scored.scores[0]), {}, signature)

    def score_segments(self, hypotheses: Sequence[str], references: References) -> SegmentScores:
        """The scores and statistics of some segments."""
        with self._lock:
            return self._score_segments(hypotheses, references)

    def _score_segments(self, hypotheses: Sequence[str], references: References) -> SegmentScores:
        rows = []
        for index, hypothesis in enumerate(hypotheses):
            given = [[stream[index]] for stream in references if stream[index] is not None]
            rows.append(self._corpus._extract_corpus_statistics([hypothesis], given)[0])
        statistics = np.array(rows, np.float64)
        scores = np.array([self._segment._compute_score_from_stats(row).score for row in rows])
        return SegmentScores(scores, np.empty((len(rows), 0)), statistics)

    def new_total(self) -> SacreBleuTotal:
        """An empty corpus score."""
        return SacreBleuTotal(
            lambda statistics: float(self._corpus._compute_score_from_stats(statistics).score)
        )


class Bleu(SacreBleuMetric):
    """BLEU, by default with the tokeniser that sacreBLEU takes for the language.

    The core cuts by `13a`, `intl` (with the characters of Unicode 18.0), `zh`, `char` and `none` itself.
    For Japanese and Korean that is MeCab. Where it is not installed, characters and 13a take its place; the signature
    shows it (`tok`), and `shortcomings` says it.

    >>> metric = Bleu(tok="intl", lc=True)
    >>> str(metric.corpus_score(["A cat."], [["The cat."]]).signature).rpartition("|")[0]
    'nrefs:1|case:lc|eff:no|tok:intl|smooth:exp'
    """

    id: ClassVar[str] = "bleu"
    signed: ClassVar[frozenset[str]] = frozenset({"tok", "lc", "smooth_method", "eff"})
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

        self._tokeniser = options["tokenize"] or _default_tokeniser(lang)
        options["tokenize"] = self._tokeniser
        check_choice(self.id, "tok", options["tokenize"], BLEU.TOKENIZERS)
        check_choice(self.id, "smooth_method", options["smooth_method"], BLEU.SMOOTH_DEFAULTS)
        check_order(self.id, "max_ngram_order", options["max_ngram_order"], 1)
        if not 0 <= (options["smooth_value"] or 0) < math.inf:
            raise UsageError(f"{self.id}: smooth_value must not be negative")
        # sacreBLEU advises the effective order for single sentences, and none for a corpus.
        return BLEU(**options), BLEU(**{**options, "effective_order": True})

    @property
    def shortcomings(self) -> list[str]:
        """That the tokeniser of sacreBLEU is not installed, and which one takes its place."""
        _, options = vars(self)["_arguments"]
        advised = _TOKENISERS_OF_SACREBLEU.get(self.lang, self._tokeniser)
        if options.get("tok") or advised == self._tokeniser:
            return []
        return [
            f"no {advised} for {self.id}, which takes tok:{self._tokeniser} instead "
            f"(pip install 'sacrebleu[{self.lang}]')"
        ]

    def score_segments(self, hypotheses: Sequence[str], references: References) -> SegmentScores:
        """The scores and statistics of some segments."""
        texts, index = index_of_texts(hypotheses, references)
        statistics = count_bleu(self._words(texts), *index, self._corpus.max_ngram_order)
        return SegmentScores(
            self._score(statistics, self._segment), np.empty((len(hypotheses), 0)), statistics
        )

    def pairwise(self, hypotheses: Sequence[str], references: Sequence[str]) -> FloatArray:
        """The score of every hypothesis (row) against every reference (column); each text is tokenised once."""
        hypotheses, references = texts_of(hypotheses), texts_of(references)
        matrix = new_matrix(hypotheses, references)
        if not matrix.size:
            return matrix
        words = self._words([*hypotheses, *references])
        for rows, i, j in blocks_of_pairs(*matrix.shape):
            statistics = count_bleu(words, i, len(hypotheses) + j[None], self._corpus.max_ngram_order)
            matrix[rows] = self._score(statistics, self._segment).reshape(len(rows), -1)
        return matrix

    def _words(self, texts: list[str]) -> WordTexts:
        if self._corpus.lowercase:
            texts = [text.lower() for text in texts]
        if self._tokeniser in _TOKENISERS_OF_CORE:
            return WordTexts.by_sacrebleu(texts, self._tokeniser)
        with self._lock:
            texts = [self._corpus.tokenizer(text.rstrip()) for text in texts]
        return WordTexts.by_sacrebleu(texts, "none")

    def score_of_sums(self, sums: FloatArray) -> FloatArray:
        """BLEU of (..., lengths of system and reference, matches by order, n-grams by order)."""
        rows = np.ascontiguousarray(sums, np.float64).reshape(-1, sums.shape[-1])
        return np.asarray(self._score(rows, self._corpus).reshape(sums.shape[:-1]))

    def _score(self, statistics: FloatArray, settings: Any) -> FloatArray:
        method, value = settings.smooth_method, settings.smooth_value
        if value is None:
            value = settings.SMOOTH_DEFAULTS[method] or 0
        return score_bleu(statistics, method, value, settings.effective_order, _SUM_IS_CORRECTED)

    def parts_of_total(self, total: Total) -> dict[str, Any]:
        """Precisions by order (smoothed, in percent), brevity penalty and lengths."""
        assert isinstance(total, SacreBleuTotal)  # made by `new_total`
        parts = self._corpus._compute_score_from_stats(total.sums())
        return {
            "precisions": tuple(parts.precisions),
            "brevity_penalty": parts.bp,
            "system_length": parts.sys_len,
            "reference_length": parts.ref_len,
        }


def index_of_texts(
    hypotheses: Sequence[str], references: References
) -> tuple[list[str], tuple[Index, Index]]:
    """All texts in one list, the places of the hypotheses in it, and those of the references of each stream.

    A missing reference has the place -1.

    >>> texts, (hypothesis, streams) = index_of_texts(["a", "b"], [["c", None], ["d", ""]])
    >>> texts, hypothesis.tolist(), streams.tolist()
    (['a', 'b', 'c', '', 'd', ''], [0, 1], [[2, -1], [4, 5]])
    """
    count = len(hypotheses)
    texts = list(hypotheses)
    streams = np.arange(count, (len(references) + 1) * count).reshape(len(references), count)
    for stream, places in zip(references, streams, strict=True):
        if None in stream:
            places[[text is None for text in stream]] = -1
            texts.extend(text or "" for text in stream)
        else:
            texts.extend(stream)  # type: ignore[arg-type]  # none is missing
    return texts, (np.arange(count), streams)


def _default_tokeniser(lang: str) -> str:
    """sacreBLEU's tokeniser of a language, or what takes its place where it is not installed."""
    from sacrebleu.metrics.bleu import BLEU

    advised = _TOKENISERS_OF_SACREBLEU.get(lang)
    if advised is not None:
        try:
            BLEU(tokenize=advised)
        except (ImportError, RuntimeError, OSError, AssertionError):  # not installed, or another dictionary
            pass
        else:
            return advised
    return UNSPACED_TOKENISERS.get(lang, "13a")


def check_choice(metric: str, option: str, value: str, known: Collection[str]) -> None:
    """Refuse a word that an option does not take."""
    if value not in known:
        raise UsageError(f"{metric}: {option}={value} is unknown; there are {', '.join(known)}")


def check_order(metric: str, option: str, value: int, least: int) -> None:
    """Refuse an order of n-grams that is a typing error."""
    if not least <= value <= _HIGHEST_ORDER:
        raise UsageError(f"{metric}: {option} is from {least} to {_HIGHEST_ORDER}, not {value}")
