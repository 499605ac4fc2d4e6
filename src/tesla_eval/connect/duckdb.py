"""DuckDB: a metric as an SQL function, which scores vectors of rows at a time.

SELECT id, tesla_m(mt, ref) FROM 'data.parquet'
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from tesla_eval.base.errors import UsageError, need_package
from tesla_eval.connect.batches import BatchScorer
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.requests import named_metric
from tesla_eval.texts.tables import Columns, Missing

if TYPE_CHECKING:
    import duckdb

_RESULT = "score"
_registered: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()  # by connection: our functions
_SQL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def register(
    connection: duckdb.DuckDBPyConnection,
    metric: str | Metric = "x",
    lang: str = "en",
    *,
    name: str | None = None,
    source: bool = False,
    missing: Missing = "null",
    **options: Any,
) -> str:
    """Add a metric to a connection as an SQL function, and return the function's name.

    The function takes a hypothesis and one or several references, each a text or a list of texts. With `source`, its
    last argument is the source. The score of a row without hypothesis or reference is NULL, or with
    `missing="error"` an error, with `missing="empty"` that of empty texts; to skip such rows, leave them out in SQL.
    A NULL or empty text among several references is left out. The name is the metric's id with underscores
    (`tesla_m`), unless you give another.

    A function of that name is replaced. `options` are those of the metric.
    DuckDB decides how many threads call the function (`SET threads`).
    """
    need_package("duckdb", "'tesla-eval[duckdb]'")
    metric_name, scorer = named_metric(metric, lang, **options)
    if source and not scorer.uses_source:
        raise UsageError(f"{metric_name} does not read the source: leave out source=True")
    if missing == "skip":
        raise UsageError("missing='skip': an SQL function cannot drop rows; write WHERE mt IS NOT NULL")
    chosen = re.sub(r"\W", "_", metric_name) if name is None else name
    if not _SQL_NAME.fullmatch(chosen):
        raise UsageError(f"name={chosen!r}: write letters, digits and underscores")
    if chosen in _registered.get(connection, ()):
        connection.remove_function(chosen)
    connection.create_function(
        chosen,
        _Function(scorer, source=source, missing=missing),
        None,  # any number of arguments
        "DOUBLE",
        type="arrow",
        null_handling="special",  # a NULL is not always a NULL score
    )
    _registered.setdefault(connection, set()).add(chosen)
    return chosen


class _Function:
    """The function that DuckDB calls with columns of a few thousand rows."""

    def __init__(self, metric: Metric, *, source: bool, missing: Missing) -> None:
        self._metric = metric
        self._source = source
        self._missing = missing
        self._scorers: dict[int, BatchScorer] = {}

    def __call__(
        self, *arguments: Any
    ) -> Any:  # DuckDB evaluates these types, so pyarrow's must not be named
        import pyarrow

        scorer = self._scorers.get(len(arguments)) or self._new_scorer(len(arguments))
        names = [str(place) for place in range(len(arguments))]
        arrays = [
            column.combine_chunks() if isinstance(column, pyarrow.ChunkedArray) else column
            for column in arguments
        ]
        return scorer(pyarrow.RecordBatch.from_arrays(arrays, names)).column(0)

    def _new_scorer(self, count: int) -> BatchScorer:
        references = count - 1 - self._source
        if references < 0 or (references == 0 and self._metric.needs_references):
            wanted = "a hypothesis, one or several references" + (", and the source" if self._source else "")
            raise UsageError(f"{self._metric.id}: {count} arguments; give {wanted}")
        columns = Columns(
            hyp=("0",),
            ref=tuple(str(place) for place in range(1, 1 + references)),
            src=(str(count - 1),) if self._source else (),
        )
        scorer = BatchScorer({_RESULT: self._metric}, columns, keep=(), missing=self._missing)
        self._scorers[count] = scorer
        return scorer
