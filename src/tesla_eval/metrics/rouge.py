"""ROUGE-1, -2, -L, -Lsum and -SU4 (Lin 2004), tokenised and counted as the package rouge-score does it.

rouge-score has no SU4: unigrams and skip bigrams with at most four words between the two, all in one bag.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar

import numpy as np

from tesla_eval.base.errors import UsageError
from tesla_eval.base.records import Signature
from tesla_eval.base.version import __version__
from tesla_eval.language.analysis.languages import resolve_language
from tesla_eval.language.analysis.porter import rouge_stem
from tesla_eval.language.analysis.sentences import split_sentences
from tesla_eval.language.analysis.tokenisers import tokenise
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.results import Explanation, SegmentScores
from tesla_eval.metrics.rouge_counting import (
    Measures,
    match_ngrams,
    match_skip_bigrams,
    match_subsequence,
    match_summaries,
    skip_unigrams,
)
from tesla_eval.metrics.segments import References

__all__ = ["RougeMetric", "skip_unigrams"]

_RECALL, _F1 = 1, 2  # places in `Measures`
_ENGLISH_TOKEN = re.compile("[a-z0-9]+")


class RougeMetric(Metric):
    """One kind of ROUGE, as F1 or as recall; the best of several references.

    English is cut and stemmed as rouge-score does it (letters a to z, Porter). That leaves nothing of most other
    languages, so these are cut into words by our tokeniser, lower-cased, without punctuation and without stemming.
    """

    measure: ClassVar[int] = _F1
    feature_names = ("precision", "recall", "f")

    def __init__(self, lang: str = "en", *, stem: bool = True, workers: int = 1) -> None:
        self.lang = resolve_language(lang)
        self.workers = workers
        self._stem = stem and self.lang == "en"

    @abstractmethod
    def match(self, reference: str, hypothesis: str) -> Measures:
        """Precision, recall and F1 of one hypothesis against one reference."""

    def tokens(self, text: str) -> Sequence[str]:
        """The tokens that are counted."""
        return _tokens(self.lang, self._stem, text)

    def get_signature(self) -> Signature:
        """Kind, version, tokeniser and stemming."""
        return Signature(
            {
                "metric": self.id, "version": __version__, "lang": self.lang,
                "tok": "rouge-score" if self.lang == "en" else f"tesla-{self.lang}",
                "stem": "porter" if self._stem else "no", "references": "max",
            }
        )  # fmt: skip

    def score_segments(self, hypotheses: Sequence[str], references: References) -> SegmentScores:
        """Scores, and precision, recall and F1 of the best reference as features."""
        rows = [
            max(
                (self.match(text, hypothesis) for text in given if text is not None),
                key=lambda measures: (measures[self.measure], measures),
            )
            for hypothesis, *given in zip(hypotheses, *references, strict=True)
        ]
        features = np.array(rows, np.float64).reshape(len(rows), 3)
        return SegmentScores(features[:, self.measure].copy(), features)

    def explain(
        self, hypothesis: str, references: Sequence[str] = (), sources: str | None = None
    ) -> Explanation:
        """Refused: what matches what is for our own metrics to show."""
        raise UsageError(f"{self.id} cannot be explained: take -m s, which matches the same skip bigrams")


class Rouge1(RougeMetric):
    """ROUGE-1: F1 of unigrams."""

    id: ClassVar[str] = "rouge1"

    def match(self, reference: str, hypothesis: str) -> Measures:
        """Precision, recall and F1 of the unigrams."""
        return match_ngrams(self.tokens(reference), self.tokens(hypothesis), 1)


class Rouge1Recall(Rouge1):
    """ROUGE-1: recall of unigrams."""

    id: ClassVar[str] = "rouge1-recall"
    measure = _RECALL


class Rouge2(RougeMetric):
    """ROUGE-2: F1 of bigrams."""

    id: ClassVar[str] = "rouge2"

    def match(self, reference: str, hypothesis: str) -> Measures:
        """Precision, recall and F1 of the bigrams."""
        return match_ngrams(self.tokens(reference), self.tokens(hypothesis), 2)


class Rouge2Recall(Rouge2):
    """ROUGE-2: recall of bigrams."""

    id: ClassVar[str] = "rouge2-recall"
    measure = _RECALL


class RougeL(RougeMetric):
    """ROUGE-L: F1 of the longest common subsequence."""

    id: ClassVar[str] = "rougel"

    def match(self, reference: str, hypothesis: str) -> Measures:
        """Precision, recall and F1 of the longest common subsequence."""
        return match_subsequence(self.tokens(reference), self.tokens(hypothesis))


class RougeLRecall(RougeL):
    """ROUGE-L: recall of the longest common subsequence."""

    id: ClassVar[str] = "rougel-recall"
    measure = _RECALL


class RougeLsum(RougeMetric):
    """ROUGE-Lsum: F1 of the longest common subsequences, sentence by sentence.

    Lines of a text are its sentences, as in rouge-score. A text of one line is cut by our sentence splitter, unless
    `split` is off.
    """

    id: ClassVar[str] = "rougelsum"

    def __init__(self, lang: str = "en", *, stem: bool = True, split: bool = True, workers: int = 1) -> None:
        super().__init__(lang, stem=stem, workers=workers)
        self.split = split

    def match(self, reference: str, hypothesis: str) -> Measures:
        """Precision, recall and F1 of the union of subsequences."""
        return match_summaries(*(list(map(self.tokens, self._sentences(x))) for x in (reference, hypothesis)))

    def get_signature(self) -> Signature:
        """The same, and how texts become sentences."""
        sentences = "lines-or-splitter" if self.split else "lines"
        return Signature({**super().get_signature(), "sentences": sentences})

    def _sentences(self, text: str) -> list[str]:
        if self.split and "\n" not in text:
            return [text[start:end] for start, end in split_sentences(text, self.lang)]
        return [line for line in text.split("\n") if line]


class RougeLsumRecall(RougeLsum):
    """ROUGE-Lsum: recall of the longest common subsequences, sentence by sentence."""

    id: ClassVar[str] = "rougelsum-recall"
    measure = _RECALL


class RougeSU4(RougeMetric):
    """ROUGE-SU4: F1 of skip bigrams and unigrams."""

    id: ClassVar[str] = "rougesu4"

    def match(self, reference: str, hypothesis: str) -> Measures:
        """Precision, recall and F1 of the skip bigrams and unigrams."""
        return match_skip_bigrams(self.tokens(reference), self.tokens(hypothesis))


class RougeSU4Recall(RougeSU4):
    """ROUGE-SU4: recall of skip bigrams and unigrams."""

    id: ClassVar[str] = "rougesu4-recall"
    measure = _RECALL


@lru_cache(maxsize=1 << 14)
def _tokens(lang: str, stem: bool, text: str) -> tuple[str, ...]:
    """The tokens of a text; kept, because every text meets many others."""
    if lang != "en":
        return tuple(word.lower() for word in tokenise(text, lang) if any(map(str.isalnum, word)))
    words = _ENGLISH_TOKEN.findall(text.lower())
    return tuple(map(rouge_stem, words) if stem else words)
