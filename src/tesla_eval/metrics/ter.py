"""TER beside our metrics: sacreBLEU's own, segment by segment.

Its formula stands here once more, over arrays, because a bootstrap asks for thousands of resamples.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import InputError
from tesla_eval.metrics.baselines import UNSPACED_TOKENISERS, SacreBleuMetric, SacreBleuSignature
from tesla_eval.metrics.results import SegmentScores
from tesla_eval.metrics.segments import References


class Ter(SacreBleuMetric):
    """TER: edits per reference word; lower is better.

    Time grows with the third power of the length: texts of more than `max_words` words are refused.
    """

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
        max_words: int = 1_500,
        workers: int = 1,
    ) -> None:
        self._max_words = max_words
        asian = lang in UNSPACED_TOKENISERS if asian_support is None else asian_support
        super().__init__(
            lang, workers=workers, normalized=normalized, no_punct=no_punct, asian_support=asian,
            case_sensitive=case_sensitive,
        )  # fmt: skip

    def _make(self, lang: str, **options: Any) -> tuple[Any, Any]:
        from sacrebleu.metrics.ter import TER

        metric = TER(**options)
        return metric, metric

    def _score_segments(self, hypotheses: Sequence[str], references: References) -> SegmentScores:
        for text in chain(hypotheses, *references):
            words = len(text.split()) if text and len(text) > self._max_words else 0
            if words > self._max_words:
                raise InputError(
                    f"a text has {words:,} words, more than {self._max_words:,}: split it into segments, "
                    f"or raise the bound: -m {self.id}:max_words={words} (in Python max_words={words})"
                )
        return super()._score_segments(hypotheses, references)

    def score_of_sums(self, sums: FloatArray) -> FloatArray:
        """TER of (..., edits, length of the reference)."""
        edits, length = sums[..., 0], sums[..., 1]
        return np.asarray(
            100 * np.divide(edits, length, out=np.asarray(edits > 0, np.float64), where=length > 0)
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
