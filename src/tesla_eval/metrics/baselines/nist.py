"""NIST (Doddington 2002), over words as mteval-v13a cuts them, or over characters.

N-grams are weighted by their information in the references of a whole corpus.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.records import Signature
from tesla_eval.base.version import __version__
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.baselines.bleu import UNSPACED_TOKENISERS, StatisticsTotal, check_choice, check_order
from tesla_eval.metrics.results import SegmentScores
from tesla_eval.metrics.segments import References

_LONGEST = 5
_BETA = math.log(0.5) / math.log(1.5) ** 2
"""The penalty is ½ where the system has two thirds of the reference's words."""

Words = Sequence[str]


class Information(NamedTuple):
    """The weight of every n-gram of some references, in bits."""

    weights: Mapping[tuple[str, ...], float]
    fingerprint: str

    @classmethod
    def of(cls, references: Iterable[Words], longest: int) -> Information:
        """Info(w1 … wn) = log2 of count(w1 … wn-1) / count(w1 … wn); single words against all words."""
        counts: Counter[tuple[str, ...]] = Counter()
        total = checksum = 0
        for words in references:
            total += len(words)
            checksum = zlib.crc32("\0".join([*words, "\n"]).encode("utf-8", "surrogatepass"), checksum)
            for n in range(1, longest + 1):
                counts.update(_ngrams(words, n))
        weights = {
            ngram: math.log((counts[ngram[:-1]] if len(ngram) > 1 else total) / count, 2)
            for ngram, count in counts.items()
        }
        return cls(weights, f"{checksum:08x}")


def _ngrams(words: Words, n: int) -> Iterable[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(n)), strict=False)


def count_segment(
    hypothesis: Words, references: Sequence[Words], longest: int, information: Information
) -> list[float]:
    """Information of the matches by order, n-grams by order, words of the references and of the system.

    Every order takes the reference under which its precision is highest; lengths are summed over the orders.
    """
    matched, ngrams, reference_words = [], [], 0
    for n in range(1, longest + 1):
        counts = Counter(_ngrams(hypothesis, n))
        total = max(len(hypothesis) - n + 1, 0)
        candidates = []
        for words in references:
            common = counts & Counter(_ngrams(words, n))
            value = math.fsum(information.weights[ngram] * count for ngram, count in common.items())
            candidates.append((value / total if total else 0.0, value, len(words)))
        _, value, length = max(candidates)
        matched.append(value)
        ngrams.append(float(total))
        reference_words += length
    return [*matched, *ngrams, float(reference_words), float(longest * len(hypothesis))]


def nist_of_sums(sums: FloatArray) -> FloatArray:
    """NIST of (..., statistics of `count_segment`, summed over segments)."""
    longest = (sums.shape[-1] - 2) // 2
    matched, ngrams = sums[..., :longest], sums[..., longest : 2 * longest]
    reference_words, system_words = sums[..., -2], sums[..., -1]
    precision = np.divide(matched, ngrams, out=np.zeros_like(matched), where=ngrams > 0).sum(axis=-1)
    ratio = np.divide(
        system_words, reference_words, out=np.ones_like(system_words), where=reference_words > 0
    )
    penalties = np.reshape(list(map(_penalty, ratio.ravel().tolist())), ratio.shape)
    return np.asarray(precision * penalties)


def _penalty(ratio: float) -> float:
    """What remains of the score of a system with this share of the reference's words.

    >>> _penalty(0.0), round(_penalty(2 / 3), 9), _penalty(1.5)
    (0.0, 0.5, 1.0)
    """
    if not 0 < ratio < 1:
        return float(ratio > 0)
    return math.exp(_BETA * math.log(ratio) ** 2)  # NumPy's functions differ from processor to processor


class Nist(Metric):
    """NIST: n-grams of up to five words, each worth the information that it carries in the references.

    The information comes from the references of the whole corpus; a sentence alone has only its own.

    >>> round(Nist().corpus_score(["A cat sat."], [["The cat sat down."]]).score, 4)
    1.4117
    """

    id: ClassVar[str] = "nist"
    corpus_wide: ClassVar[bool] = True
    signed: ClassVar[frozenset[str]] = frozenset({"n", "tok", "lc"})

    def __init__(
        self,
        lang: str = "en",
        *,
        n: int = _LONGEST,
        tok: str | None = None,
        lc: bool = True,
        workers: int = 1,
    ) -> None:
        from sacrebleu.metrics.bleu import BLEU

        check_order(self.id, "n", n, 1)
        self.lang, self.workers, self.n, self.lc = lang, workers, n, lc
        self.tok = tok or UNSPACED_TOKENISERS.get(lang, "13a")
        check_choice(self.id, "tok", self.tok, BLEU.TOKENIZERS)
        self._preprocess: Callable[[str], str] = BLEU(tokenize=self.tok, lowercase=lc)._preprocess_segment
        self._information: Information | None = None

    def get_signature(self) -> Signature:
        """Orders, tokeniser, case, and the references that the information comes from, if they are known."""
        items = {
            "metric": self.id, "version": __version__, "n": str(self.n), "tok": self.tok,
            "case": "lc" if self.lc else "mixed",
        }  # fmt: skip
        if self._information is not None:
            items["information"] = self._information.fingerprint
        return Signature(items)

    def for_corpus(self, references: References) -> Nist:
        """The same metric with the information of these references."""
        fitted = type(self)(self.lang, n=self.n, tok=self.tok, lc=self.lc, workers=self.workers)
        texts = (
            self._words(text) for texts in zip(*references, strict=True) for text in texts if text is not None
        )
        fitted._information = Information.of(texts, self.n)
        return fitted

    def __reduce__(self) -> tuple[Any, ...]:
        make, arguments, state = super().__reduce__()
        return make, arguments, {**state, "_information": self._information}

    def _words(self, text: str) -> Words:
        return self._preprocess(text).split()

    def score_segments(self, hypotheses: Sequence[str], references: References) -> SegmentScores:
        """The scores of segments, and the statistics whose sums score a corpus."""
        rows = []
        for hypothesis, *given in zip(hypotheses, *references, strict=True):
            words = [self._words(text) for text in given if text is not None]
            information = self._information or Information.of(words, self.n)
            rows.append(count_segment(self._words(hypothesis), words, self.n, information))
        statistics = np.array(rows, np.float64).reshape(len(rows), 2 * self.n + 2)
        return SegmentScores(nist_of_sums(statistics), np.empty((len(rows), 0)), statistics)

    def score_of_sums(self, sums: FloatArray) -> FloatArray:
        """The corpus scores of summed statistics, for many sums at once."""
        return nist_of_sums(sums)

    def new_total(self) -> StatisticsTotal:
        """An empty corpus score."""
        return StatisticsTotal(lambda sums: float(nist_of_sums(np.array(sums))))
