"""TER beside our metrics: sacreBLEU's words and score; the core counts the edits as sacreBLEU does.

The formula stands here once more, over arrays, because a bootstrap asks for thousands of resamples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tesla_eval._core import count_edits
from tesla_eval.base.arrays import FloatArray
from tesla_eval.metrics.baselines.bleu import (
    UNSPACED_TOKENISERS,
    SacreBleuMetric,
    SacreBleuSignature,
    check_choice,
)
from tesla_eval.metrics.results import SegmentScores
from tesla_eval.metrics.segments import References, distinct_texts

LEVELS = ("word", "char")


class Ter(SacreBleuMetric):
    """TER: edits per word of the reference; lower is better. With `level="char"`, edits per character.

    >>> round(Ter("zh", level="char").sentence_score("买伞", ["买雨伞"]).score, 2)
    33.33
    """

    id: ClassVar[str] = "ter"
    higher_is_better: ClassVar[bool] = False
    choices: ClassVar[dict[str, tuple[str, ...]]] = {"level": LEVELS}
    signed: ClassVar[frozenset[str]] = frozenset(
        {"normalized", "no_punct", "asian_support", "case_sensitive", "level"}
    )
    option_aliases: ClassVar[dict[str, str]] = {"normalised": "normalized", "asian": "asian_support"}

    def __init__(
        self,
        lang: str = "en",
        *,
        normalized: bool = False,
        no_punct: bool = False,
        asian_support: bool | None = None,
        case_sensitive: bool = False,
        level: str = "word",
        workers: int = 1,
    ) -> None:
        check_choice(self.id, "level", level, LEVELS)
        self.level = level
        asian = lang in UNSPACED_TOKENISERS if asian_support is None else asian_support
        super().__init__(
            lang, workers=workers, normalized=normalized, no_punct=no_punct, asian_support=asian,
            case_sensitive=case_sensitive,
        )  # fmt: skip

    def _make(self, lang: str, **options: Any) -> tuple[Any, Any]:
        from sacrebleu.metrics.ter import TER

        class CountedByCore(TER):  # type: ignore[misc, unused-ignore]
            def _compute_segment_statistics(self, hypothesis: str, ref_kwargs: dict[str, Any]) -> list[float]:
                references = ref_kwargs["ref_words"]
                edits = min(_count_edits(hypothesis.split(), reference) for reference in references)
                return [edits, sum(map(len, references)) / len(references)]

        metric = CountedByCore(**options)
        return metric, metric

    def get_signature(self) -> SacreBleuSignature:
        """sacreBLEU's, and the unit if it is the character."""
        signature = super().get_signature()
        return signature if self.level == "word" else signature.with_items({"unit": self.level})

    def _score_segments(self, hypotheses: Sequence[str], references: References) -> SegmentScores:
        if self.level == "char":
            hypotheses = list(map(_spread, hypotheses))
            references = [
                [None if text is None else _spread(text) for text in stream] for stream in references
            ]
        return super()._score_segments(hypotheses, references)

    def score_of_sums(self, sums: FloatArray) -> FloatArray:
        """TER of (..., edits, length of the reference)."""
        edits, length = sums[..., 0], sums[..., 1]
        return np.asarray(
            100 * np.divide(edits, length, out=np.asarray(edits > 0, np.float64), where=length > 0)
        )


def _count_edits(hypothesis: Sequence[str], reference: Sequence[str]) -> int:
    _, numbers = distinct_texts([*hypothesis, *reference])
    return count_edits(*np.split(numbers.astype(np.uint32), [len(hypothesis)]))


def _spread(text: str) -> str:
    """The text with spaces between characters, so that each is a word."""
    return " ".join("".join(text.split()))
