"""Spark: data frames scored by `mapInArrow`. Each Python worker loads its own models once.

Spark runs the tasks of a worker that dies again on another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tesla_eval.base.errors import need_package
from tesla_eval.connect.batches import BatchScorer, metrics_by_name, text_columns
from tesla_eval.metrics.base import Metric
from tesla_eval.texts.tables import Missing

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame


def score_dataframe(
    frame: DataFrame,
    metric: str | Metric | Sequence[str | Metric] = "x",
    lang: str = "en",
    *,
    hypothesis: str | Sequence[str] = "mt",
    references: str | Sequence[str] = "ref",
    source: str | None = None,
    keep: Sequence[str] | None = None,
    missing: Missing = "empty",
    **options: Any,
) -> DataFrame:
    """A data frame with a column of scores per metric instead of the texts; ids and other columns are carried over.

    `keep` names the columns to carry over, `options` are those of the metric. A null
    hypothesis is the empty text, and so is the reference of a row that has none; with `missing="error"` such a row is
    an error, with `"null"` it gets a null score, with `"skip"` it is left out.
    Nothing is scored before Spark is asked for the result.
    """
    need_package("pyspark", "'tesla-eval[spark]'")
    import pyarrow
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    columns = text_columns(hypothesis, references, source)
    scorer = BatchScorer(metrics_by_name(metric, lang, **options), columns, keep=keep, missing=missing)
    schema = to_arrow_schema(frame.schema)
    needed = scorer.needed(schema)
    scored = scorer.schema(schema)
    # Numbers stand for names meanwhile: Spark takes a dot in a name for a field of a structure.
    numbered = frame.select(*map(_quoted, needed)).toDF(*map(str, range(len(needed))))
    plain = from_arrow_schema(pyarrow.schema([field.with_name(str(n)) for n, field in enumerate(scored)]))
    return numbered.mapInArrow(_Scoring(scorer, needed), plain).toDF(*scored.names)


def _quoted(name: str) -> str:
    """A column's name, in which nothing but the quotation mark itself has a meaning."""
    return "`" + name.replace("`", "``") + "`"


class _Scoring:
    """What each task calls with its batches. The scorer is made once per Python worker, which serves many tasks."""

    def __init__(self, scorer: BatchScorer, names: Sequence[str]) -> None:
        self._scorer, self._names = scorer, list(names)

    def __call__(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow

        for batch in batches:
            named = pyarrow.RecordBatch.from_arrays(batch.columns, self._names)
            for scored in self._scorer.batches(named):
                numbers = list(map(str, range(scored.num_columns)))
                yield pyarrow.RecordBatch.from_arrays(scored.columns, numbers)
