"""sacreBLEU: any metric of this package in the place of one of sacreBLEU's own, for example in its `PairedTest`.

sacreBLEU scores a corpus from one additive row of statistics per segment. Where a system's score is the mean of its
segments, the row is `[score, 1]`; BLEU, chrF and TER keep their own statistics.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sacrebleu.metrics.base import Metric as SacreBleuMetric
from sacrebleu.metrics.base import Score, Signature

from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.metrics.requests import named_metric
from tesla_eval.metrics.results import SegmentScores
from tesla_eval.metrics.scoring import Chunk, score_texts
from tesla_eval.metrics.segments import (
    References,
    check_references,
    streams_of_texts,
    texts_of,
)


class TeslaScore(Score):
    """A corpus score of this package as sacreBLEU prints it, with four digits: most of our scales end at 1."""

    def format(
        self, width: int = 4, score_only: bool = False, signature: str = "", is_json: bool = False
    ) -> str:
        """The score as text or JSON."""
        return super().format(width, score_only, signature, is_json)


class TeslaSignature(Signature):
    """The metric's own signature, with what sacreBLEU adds to it: number of references, seed, kind of test."""

    def __init__(self, own: str, args: dict[str, Any]) -> None:
        super().__init__(args)
        items = dict(item.split(":", 1) for item in own.split("|"))
        self.info = {**items, **{key: value for key, value in self.info.items() if key not in items}}
        self._abbr = {**{key: key for key in self.info}, **self._abbr}

    def format(self, short: bool = False) -> str:
        """The signature as text, in the metric's own order."""
        known = {key: value for key, value in self.info.items() if value is not None}
        return "|".join(f"{self._abbr[key] if short else key}:{value}" for key, value in known.items())


class TeslaMetric(SacreBleuMetric):
    """The metric that `-m NAME` means, with the methods that sacreBLEU's tests call.

    `references` are kept, as in sacreBLEU, for calls that give none. Other options go to the metric.

    >>> metric = TeslaMetric("m", lang="en")
    >>> metric.corpus_score(["The cats sat."], [["The cat sat."]])
    tesla-m = 0.5873
    """

    def __init__(
        self, metric: str = "m", lang: str = "en", *, references: References | None = None, **options: Any
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        name, self.metric = named_metric(metric, lang, **options)
        if self.metric.uses_source and not self.metric.needs_references:
            raise UsageError(f"{self.metric.id} reads source texts, which sacreBLEU does not pass on")
        # sacreBLEU keeps the results of several metrics by this name.
        self.name = ":".join([name, *(f"{key}={value}" for key, value in options.items())])
        self._has_statistics = self.metric.formula_of_sums is not None
        self._fitted = self.metric  # to the references seen last
        self._ref_cache = None if references is None else streams_of_texts(references)

    def _extract_corpus_statistics(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str | None]] | None
    ) -> list[list[float]]:
        """One row per segment: its score and 1, or the statistics of the metric."""
        given = self._ref_cache if references is None else streams_of_texts(references)
        if given is None:
            raise InputError("there are no references: pass them here or as TeslaMetric(references=…)")
        texts = texts_of(hypotheses)
        check_references(texts, given, needed=self.metric.needs_references)
        count = self.metric.count_references(given)
        self.num_refs = count if isinstance(count, int) else -1  # sacreBLEU's sign for "var"
        if not self._has_statistics:
            return [[score, 1.0] for score in self.metric.corpus_score(texts, given).segments.tolist()]
        self._fitted = self.metric.for_corpus(given)
        statistics = score_texts(self._fitted, Chunk([texts], given)).statistics
        assert statistics is not None, "a metric with a formula has statistics"
        rows: list[list[float]] = statistics.tolist()
        return rows

    def _aggregate_and_compute(self, stats: Iterable[Sequence[float]]) -> TeslaScore:
        """The score of the rows, added up as our own `corpus_score` does it."""
        rows = np.array(list(stats), np.float64)
        if not self._has_statistics:
            scores, counts = (math.fsum(column) for column in rows.T)
            return TeslaScore(self.name, scores / counts)
        total = self._fitted.new_total()
        total.add(SegmentScores(np.empty(len(rows)), np.empty((len(rows), 0)), rows))
        return TeslaScore(self.name, total.score())

    def _compute_score_from_stats(self, stats: Sequence[float]) -> TeslaScore:
        """The score of one row of sums."""
        return self._aggregate_and_compute([stats])

    def sentence_score(self, hypothesis: str, references: Sequence[str]) -> TeslaScore:
        """The score of one segment, as the metric itself gives it."""
        return TeslaScore(self.name, self.metric.sentence_score(hypothesis, references).score)

    def get_signature(self) -> TeslaSignature:
        """The signature of the metric, once references are known, as sacreBLEU's tests complete it."""
        own, arguments = self._fitted.get_signature(), dict(vars(self))
        if not self.metric.needs_references:
            arguments["num_refs"] = None
        elif (count := arguments.get("num_refs")) is not None:
            own = own.with_references("var" if count == -1 else count)
        return TeslaSignature(str(own), arguments)

    # sacreBLEU's way from one text to its statistics; the methods above score whole corpora instead.

    def _preprocess_segment(self, sent: str) -> str:
        return sent

    def _extract_reference_info(self, refs: Sequence[str]) -> dict[str, Any]:
        return {"references": list(refs)}

    def _compute_segment_statistics(self, hypothesis: str, ref_kwargs: dict[str, Any]) -> list[float]:
        streams = [[reference] for reference in ref_kwargs["references"]]
        (row,) = self._extract_corpus_statistics([hypothesis], streams)
        return row
