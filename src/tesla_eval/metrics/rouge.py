"""ROUGE-1, -2 and -L through rouge-score, and ROUGE-SU4 by its definition (Lin 2004) over the same tokens.

rouge-score knows no SU4: unigrams and skip bigrams with at most four words between the two, all in one bag.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import cache, lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tesla_eval.analysis.languages import resolve_language
from tesla_eval.analysis.tokenisers import tokenise
from tesla_eval.errors import UsageError
from tesla_eval.metrics.base import Metric, SegmentScores
from tesla_eval.records import Explanation, Signature
from tesla_eval.segments import References

__all__ = ["RougeMetric", "skip_unigrams"]

Measures = tuple[float, float, float]
"""Precision, recall, F1."""

_RECALL, _F1 = 1, 2  # places in `Measures`

SKIP = 4
"""ROUGE-SU4: up to so many words between the two of a skip bigram."""


class RougeMetric(Metric):
    """One kind of ROUGE, as F1 or as recall; the best of several references.

    English is cut and stemmed as rouge-score does it (letters a to z, Porter). That leaves nothing of most other
    languages, so these are cut into words by our tokeniser, lower-cased, without punctuation and without stemming.
    """

    kind: ClassVar[str | None]
    """rouge-score's name; `None` for SU4, which it does not have."""
    measure: ClassVar[int] = _F1
    feature_names = ("precision", "recall", "f")

    def __init__(self, lang: str = "en", *, stem: bool = True, workers: int = 1) -> None:
        self.lang = resolve_language(lang)
        self.workers = workers
        self._stem = stem and self.lang == "en"
        self._score = self._scorer()

    def get_signature(self) -> Signature:
        """Kind, version of rouge-score, tokeniser and stemming."""
        from importlib.metadata import version

        return Signature(
            {
                "metric": self.id, "rouge-score": version("rouge-score"),
                "tok": "rouge-score" if self.lang == "en" else f"tesla-{self.lang}",
                "stem": "porter" if self._stem else "no", "references": "max",
            }
        )  # fmt: skip

    def score_segments(self, hypotheses: Sequence[str], references: References) -> SegmentScores:
        """Scores, and precision, recall and F1 of the best reference as features."""
        rows = [
            max(
                (self._score(text, hypothesis) for text in given if text is not None),
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

    def _scorer(self) -> Callable[[str, str], Measures]:
        """From reference and hypothesis to precision, recall and F1."""
        try:
            from rouge_score import rouge_scorer
        except ImportError:
            raise UsageError(
                f"{self.id} needs rouge-score, which is not installed: pip install 'tesla-eval[rouge]'"
            ) from None
        tokeniser = _Tokeniser(self.lang, self._stem)
        kind = self.kind
        if kind is None:
            return lambda reference, hypothesis: _overlap(
                skip_unigrams(tokeniser.tokenize(reference)), skip_unigrams(tokeniser.tokenize(hypothesis))
            )
        scorer: Any = rouge_scorer.RougeScorer([kind], tokenizer=tokeniser)
        return lambda reference, hypothesis: tuple(scorer.score(reference, hypothesis)[kind])


class Rouge1(RougeMetric):
    """ROUGE-1: F1 of unigrams."""

    id: ClassVar[str] = "rouge1"
    kind = "rouge1"


class Rouge1Recall(Rouge1):
    """ROUGE-1: recall of unigrams."""

    id: ClassVar[str] = "rouge1-recall"
    measure = _RECALL


class Rouge2(RougeMetric):
    """ROUGE-2: F1 of bigrams."""

    id: ClassVar[str] = "rouge2"
    kind = "rouge2"


class Rouge2Recall(Rouge2):
    """ROUGE-2: recall of bigrams."""

    id: ClassVar[str] = "rouge2-recall"
    measure = _RECALL


class RougeL(RougeMetric):
    """ROUGE-L: F1 of the longest common subsequence."""

    id: ClassVar[str] = "rougel"
    kind = "rougeL"


class RougeLRecall(RougeL):
    """ROUGE-L: recall of the longest common subsequence."""

    id: ClassVar[str] = "rougel-recall"
    measure = _RECALL


class RougeSU4(RougeMetric):
    """ROUGE-SU4: F1 of skip bigrams and unigrams."""

    id: ClassVar[str] = "rougesu4"
    kind = None


class RougeSU4Recall(RougeSU4):
    """ROUGE-SU4: recall of skip bigrams and unigrams."""

    id: ClassVar[str] = "rougesu4-recall"
    measure = _RECALL


class _Tokeniser(NamedTuple):
    """What rouge-score asks for its tokens."""

    lang: str
    stem: bool

    def tokenize(self, text: str) -> list[str]:
        return _tokens(self.lang, self.stem, text)


@lru_cache(maxsize=1 << 14)
def _tokens(lang: str, stem: bool, text: str) -> list[str]:
    """The tokens of a text; kept, because stemming is slow and every text meets many others."""
    if lang != "en":
        return [word.lower() for word in tokenise(text, lang) if any(map(str.isalnum, word))]
    found: list[str] = _rouge_tokeniser(stem).tokenize(text)
    return found


@cache
def _rouge_tokeniser(stem: bool) -> Any:
    from rouge_score.tokenizers import DefaultTokenizer

    return DefaultTokenizer(stem)


def skip_unigrams(tokens: Sequence[str], skip: int = SKIP) -> Counter[Hashable]:
    """The bag of ROUGE-SU: unigrams, and pairs with at most `skip` tokens between them.

    >>> skip_unigrams(["a", "b", "c"], 0) == Counter(["a", "b", "c", ("a", "b"), ("b", "c")])
    True
    """
    bag: Counter[Hashable] = Counter(tokens)
    for distance in range(1, skip + 2):
        bag.update(zip(tokens, tokens[distance:], strict=False))
    return bag


def _overlap(reference: Counter[Hashable], hypothesis: Counter[Hashable]) -> Measures:
    common = sum((reference & hypothesis).values())
    precision = common / max(hypothesis.total(), 1)
    recall = common / max(reference.total(), 1)
    return precision, recall, 2 * precision * recall / (precision + recall) if common else 0.0
