"""TESLA-S with the source (specification §10, beyond the papers): content of the models, and amount of content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.errors import UsageError
from tesla_eval.base.explanations import ValueDetail
from tesla_eval.base.records import Signature
from tesla_eval.language.analysis import AnalysedBatch
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.results import Explanation, SegmentScores
from tesla_eval.metrics.segments import References, distinct_texts
from tesla_eval.metrics.tesla_s import TeslaSRecall
from tesla_eval.metrics.tesla_s_source import TeslaSSource, needed_sources

MOST_OFTEN = 3
"""A word of the source counts as often as it occurs there, at most so often."""
LARGEST = 3
"""A summary needs no more words than so many times those of the models to have the full amount."""


class TeslaSX(Metric):
    """Content of the models, and how much of what the source says most; less for repetition, length, contradictions.

    score = (content · (1 − share) + amount · share) · distinct · length · consistent

    >>> metric = TeslaSX()
    >>> source = "On Monday a storm hit the coast of Spain. The storm closed roads. Schools in Spain were closed too."
    >>> texts = "A storm hit Spain.", "A storm hit Spain. A storm hit Spain.", "A bird sang.", source
    >>> [round(metric.sentence_score(text, ["Spain was hit by a storm."], source).score, 2) for text in texts]
    [0.44, 0.4, 0.01, 0.0]
    """

    id: ClassVar[str] = "tesla-s-x"
    uses_source: ClassVar[bool] = True
    feature_names = ("content", "amount", "distinct", "length", "consistent")
    sections: ClassVar[Mapping[str, str]] = {"share": "§10"}

    def __init__(self, lang: str = "en", *, share: float = 0.6, workers: int = 1) -> None:
        if not 0 <= share <= 1:
            raise UsageError(f"{self.id}: share {share!r} must lie between 0 and 1")
        self.share = share
        self.content = TeslaSRecall(lang)
        self.support = TeslaSSource(lang)
        self.lang = self.content.lang
        self.workers = workers

    def get_signature(self) -> Signature:
        """Name, version, language and resources."""
        return self.support.get_signature().with_items({"metric": self.id})

    def score_segments(
        self, hypotheses: Sequence[str], references: References, sources: Sequence[str] | None = None
    ) -> SegmentScores:
        """The score of each summary with its parts."""
        wholes, whole_of = distinct_texts(needed_sources(self.id, hypotheses, sources))
        content = self.content.score_segments(hypotheses, references).scores
        models = [[text or "" for text in stream] for stream in references]
        y, x, *sides = self.content.analysis.analyse(hypotheses, wholes, *models)
        present = np.array([[text is not None for text in stream] for stream in references])
        amount = amount_of_source(
            y, x, whole_of, _mean_where([distinct_words(side) for side in sides], present)
        )
        words = _mean_where([side.lengths for side in sides], present)
        support = self.support.score_segments(hypotheses, sources=sources).features
        consistent = support[:, self.support.feature_names.index("consistent")]
        factors = [_distinct_trigrams(y), _length(y.lengths, x.lengths[whole_of], words), consistent]
        scores = ((1 - self.share) * content + self.share * amount) * np.prod(factors, axis=0)
        return SegmentScores(scores, np.column_stack([content, amount, *factors]))

    def explain(
        self, hypothesis: str, references: Sequence[str] = (), sources: str | None = None
    ) -> Explanation:
        """For each model the parts of the score, and the matching behind the content."""
        given = None if sources is None else [sources]
        matched = self.content.explain(hypothesis, references)
        details = []
        for detail in matched.references:
            scored = self.score_segments([hypothesis], [[detail.text]], given)
            parts = zip(self.feature_names, scored.features[0].tolist(), strict=True)
            values = (ValueDetail(name=name, value=value) for name, value in parts)
            details.append(
                replace(detail, score=float(scored.scores[0]), features=(*values, *detail.features))
            )
        streams = [[text] for text in references]
        score = float(self.score_segments([hypothesis], streams, given).scores[0])
        return Explanation(self.id, self.result_signature(streams), score, hypothesis, tuple(details))

    def pairwise(self, hypotheses: Sequence[str], references: Sequence[str]) -> FloatArray:
        """Refused: there is no source."""
        raise UsageError(f"{self.id} does not compare summaries with each other: it reads their source")


def _content_words(batch: AnalysedBatch) -> tuple[Index, Index]:
    """The content words of every text, each once: keys of text and lower-cased form, and how often they occur."""
    content = batch.function == 0
    text = np.repeat(np.arange(len(batch)), batch.lengths)[content]
    return np.unique(text * (1 << 32) + batch.lowered[content].astype(np.int64), return_counts=True)


def distinct_words(batch: AnalysedBatch) -> Index:
    """How many different content words each text has."""
    return np.bincount(_content_words(batch)[0] >> 32, minlength=len(batch))


def amount_of_source(
    y: AnalysedBatch, x: AnalysedBatch, source_of: Index, models: FloatArray, most_often: int = MOST_OFTEN,
    largest: float = LARGEST,
) -> FloatArray:  # fmt: skip
    """The occurrences in the source of a summary's content words over the most that enough words of it could have.

    `models` are the numbers of different content words of the models; `largest` times as many words are enough.
    """
    keys, counts = _content_words(x)
    counts = np.minimum(counts, most_often)
    own = _content_words(y)[0]
    text = own >> 32
    wanted = source_of[text] * (1 << 32) + (own & 0xFFFFFFFF)
    spot = (
        np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        if len(keys)
        else np.zeros(len(own), np.int64)
    )
    shared = keys[spot] == wanted if len(keys) else np.zeros(len(own), np.bool_)
    reached = np.bincount(text[shared], counts[spot[shared]], len(y))
    order = np.lexsort((-counts, keys >> 32))
    sums = np.append(0, np.cumsum(counts[order]))
    ends = np.searchsorted(keys >> 32, np.arange(len(x) + 1))
    first, last = ends[source_of], ends[source_of + 1]
    enough = np.minimum(last, first + np.maximum(np.rint(largest * models).astype(np.int64), 1))
    return np.asarray(np.minimum(reached / np.maximum(sums[enough] - sums[first], 1), 1.0))


def _distinct_trigrams(batch: AnalysedBatch) -> FloatArray:
    """The share of trigrams that their text does not have before; 1 for texts without any."""
    words = batch.lowered
    text = np.repeat(np.arange(len(batch)), batch.lengths)
    inside = text[2:] == text[:-2]
    rows = np.column_stack([text[2:], words[:-2], words[1:-1], words[2:]])[inside]
    different = np.unique(rows, axis=0)[:, 0] if len(rows) else rows[:, 0]
    count, once = (np.bincount(column, minlength=len(batch)) for column in (rows[:, 0], different))
    return np.where(count > 0, once / np.maximum(count, 1), 1.0)


def _length(words: Index, source: Index, models: FloatArray) -> FloatArray:
    """1 up to half of the source, or twice the models if that is more; then falling to 0 at the whole source."""
    free = np.maximum(2 * models, source / 2)
    room = source - free
    return np.where(room > 0, np.clip((source - words) / np.maximum(room, 1e-9), 0.0, 1.0), 1.0)


def _mean_where(rows: Sequence[Index], present: FloatArray) -> FloatArray:
    """The mean over the models that a summary has."""
    return np.asarray((np.array(rows) * present).sum(axis=0) / np.maximum(present.sum(axis=0), 1))
