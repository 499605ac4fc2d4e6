"""NIST (Doddington 2002), over words as mteval-v13a cuts them, or over characters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import UsageError
from tesla_eval.base.records import Signature
from tesla_eval.base.version import __version__
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.baselines import UNSPACED_TOKENISERS, StatisticsTotal
from tesla_eval.metrics.nist_counting import Information, Words, count_segment, nist_of_sums
from tesla_eval.metrics.results import SegmentScores
from tesla_eval.metrics.segments import References

_LONGEST = 5
_HIGHEST_ORDER = 32


class Nist(Metric):
    """NIST: n-grams of up to five words, each worth the information that it carries in the references.

    The information comes from the references of the whole corpus; a sentence alone has only its own.

    >>> round(Nist().corpus_score(["A cat sat."], [["The cat sat down."]]).score, 4)
    1.4117
    """

    id: ClassVar[str] = "nist"
    corpus_wide: ClassVar[bool] = True
    tokeniser: ClassVar[str | None] = None

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

        if not 1 <= n <= _HIGHEST_ORDER:
            raise UsageError(f"{self.id}: n is from 1 to {_HIGHEST_ORDER}, not {n}")
        self.lang, self.workers, self.n, self.lc = lang, workers, n, lc
        self.tok = tok or self.tokeniser or UNSPACED_TOKENISERS.get(lang, "13a")
        if self.tok not in BLEU.TOKENIZERS:
            raise UsageError(f"{self.id}: tok={self.tok} is unknown; there are {', '.join(BLEU.TOKENIZERS)}")
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


class NistChar(Nist):
    """NIST over characters."""

    id: ClassVar[str] = "nist-char"
    tokeniser = "char"
