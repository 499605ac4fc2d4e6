"""Polars: scores as an expression, for eager and lazy frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from tesla_eval.base.errors import UsageError
from tesla_eval.connect.frames import score_frame
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.requests import named_metric


def score(
    hypothesis: str,
    references: str | Sequence[str],
    metric: str | Metric = "x",
    lang: str = "en",
    *,
    source: str | None = None,
    **options: Any,
) -> pl.Expr:
    """The segment scores of each row, as an expression named as the metric is in results (`tesla-m`, `bleu:tok=intl`).

    The metric is made once, when the expression is. A lazy frame is scored batch by batch, so a metric whose scores
    depend on the whole corpus is refused.
    """
    name, scorer = named_metric(metric, lang, **options)
    if scorer.corpus_wide:
        raise UsageError(f"{scorer.id} depends on the references of the whole corpus: use score_frame")
    columns = [references] if isinstance(references, str) else list(references)
    read = dict.fromkeys([hypothesis, *columns, *([source] if source else [])])

    def score_batch(batch: pl.Series) -> pl.Series:
        scored = score_frame(batch.struct.unnest(), hypothesis, columns, scorer, source=source)
        return scored[scorer.id]

    expression = pl.struct(list(read)).map_batches(score_batch, pl.Float64, is_elementwise=True)
    return expression.alias(name)
