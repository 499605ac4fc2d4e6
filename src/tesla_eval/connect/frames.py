"""Tables in memory: frames of pandas and Polars, Arrow tables and data sets of Hugging Face get columns of scores.

None of these libraries is imported before a frame of its own comes in. Rows keep their order and their index. A
row without a hypothesis, without any reference, or without the source that the metric reads has no score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.connect.batches import SIGNATURE_KEY, check_missing, complete_rows, texts_or_empty
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.segments import streams_by_segment, texts_of
from tesla_eval.metrics.shortcuts import metrics_for
from tesla_eval.texts.tables import Columns, Missing

_Frame = TypeVar("_Frame")
_SIGNATURES = "tesla_eval"  # where a frame that can carry metadata says what made its scores


def score_frame(
    frame: _Frame,
    hypothesis: str = "",
    references: str | Sequence[str] = (),
    metric: str | Metric | Sequence[str | Metric] = "x",
    lang: str = "auto",
    *,
    source: str | None = None,
    features: bool = False,
    missing: Missing = "null",
    **options: Any,
) -> _Frame:
    """The frame with a column of segment scores per metric, named as in results (`tesla-m`, `bleu:tok=intl`).

    `hypothesis`, `references` and `source` are names of columns; by default the usual ones, such as `mt`, `ref` and
    `src`. A column of references may hold lists of texts. With
    `features` every feature has a column too, such as `tesla-m.ms.1`. A column of that name is replaced. Missing values
    are `None`, NaN, NA and null; they give a missing score, or with `missing="error"` an error. With `missing="skip"`
    rows are left out that a metric cannot score, with `missing="empty"` they are scored as empty texts. Options go to
    the metrics.
    """
    add_columns = _adder(frame)
    check_missing(missing)
    chosen = _columns(frame, hypothesis, references, source)
    texts = texts_or_empty(_column(frame, chosen.hyp[0]), missing)
    streams = list(_streams(frame, texts, chosen.ref))
    sources = texts_or_empty(_column(frame, chosen.src[0]), missing) if chosen.src else None
    columns: dict[str, FloatArray] = {}
    signatures: dict[str, str] = {}
    kept = np.ones(len(texts), bool)
    _, named = metrics_for(metric, lang, streams, options)
    for name, metric_object in named:
        complete = complete_rows(metric_object, texts, streams, sources, missing)
        if missing == "error" and not complete.all():
            row = int(np.argmin(complete)) + 1
            raise InputError(f"row {row} of the frame lacks a text that {name} needs")
        kept &= complete
        rows = np.flatnonzero(complete).tolist()
        names = [name, *(f"{name}.{feature}" for feature in metric_object.feature_names if features)]
        columns.update((column, np.full(len(texts), np.nan)) for column in names)
        if len(rows) == 0:
            continue
        scored = metric_object.corpus_score(
            _taken(texts, rows),
            [_taken(stream, rows) for stream in streams],
            None if sources is None else _taken(sources, rows),
        )
        signatures[name] = str(scored.signature)
        for column, values in zip(names, [scored.segments, *scored.features.T], strict=False):
            columns[column][rows] = values
    scored_frame: _Frame = add_columns(frame, columns, signatures)
    if missing == "skip" and not kept.all():
        scored_frame = _rows_of(scored_frame, kept)
    return scored_frame


def _rows_of(frame: Any, kept: npt.NDArray[np.bool_]) -> Any:
    """The rows that are kept: pandas indexes with a mask, Polars and Arrow filter."""
    return frame[kept] if hasattr(frame, "loc") else frame.filter(kept)


def _columns(frame: Any, hypothesis: str, references: str | Sequence[str], source: str | None) -> Columns:
    """The columns that are named, and the usual ones for the rest, as in tables on the command line."""
    named = [references] if isinstance(references, str) else references
    given = Columns((hypothesis,) if hypothesis else (), tuple(named), () if source is None else (source,))
    return given.found_in(_names(frame), "the frame")


def _names(frame: Any) -> list[str]:
    return list(map(str, getattr(frame, "column_names", None) or frame.columns))


def _column(frame: Any, name: str) -> list[Any]:
    names = _names(frame)
    if names.count(name) != 1:
        problem = "no column" if name not in names else "more than one column"
        raise InputError(f"the frame has {problem} {name!r}; its columns are: {', '.join(names)}")
    column: list[Any] = texts_of(frame[name])
    return column


def _streams(frame: Any, hypotheses: list[Any], names: Sequence[str]) -> Iterator[list[Any]]:
    """The columns of references as streams; a column of lists is as many streams as its longest list."""
    for name in names:
        column = _column(frame, name)
        if any(isinstance(cell, str) for cell in column) or all(cell is None for cell in column):
            yield column
        else:
            yield from map(texts_of, streams_by_segment(hypotheses, column))


def _taken(texts: list[Any], rows: list[int]) -> list[Any]:
    return texts if len(rows) == len(texts) else [texts[row] for row in rows]


def _to_pandas(frame: Any, columns: dict[str, FloatArray], signatures: dict[str, str]) -> Any:
    scored = frame.assign(**columns)
    scored.attrs = {**frame.attrs, _SIGNATURES: {**frame.attrs.get(_SIGNATURES, {}), **signatures}}
    return scored


def _to_polars(frame: Any, columns: dict[str, FloatArray], _signatures: dict[str, str]) -> Any:
    import polars as pl

    return frame.with_columns(pl.Series(name, values).fill_nan(None) for name, values in columns.items())


def _to_arrow(frame: Any, columns: dict[str, FloatArray], signatures: dict[str, str]) -> Any:
    import pyarrow as pa

    arrays = {
        field: column
        for field, column in zip(frame.schema, frame.columns, strict=True)
        if field.name not in columns
    }
    for name, values in columns.items():
        metadata = {SIGNATURE_KEY: signatures[name]} if name in signatures else None
        arrays[pa.field(name, pa.float64(), metadata=metadata)] = pa.array(values, mask=np.isnan(values))
    schema = pa.schema(list(arrays), frame.schema.metadata)
    return type(frame).from_arrays(list(arrays.values()), schema=schema)


def _to_dataset(frame: Any, columns: dict[str, FloatArray], _signatures: dict[str, str]) -> Any:
    replaced = frame.remove_columns([name for name in columns if name in frame.column_names])
    for name, values in columns.items():
        replaced = replaced.add_column(
            name, [None if np.isnan(value) else value for value in values.tolist()]
        )
    return replaced


_ADD_COLUMNS = {
    ("datasets", "Dataset"): _to_dataset,
    ("pandas", "DataFrame"): _to_pandas,
    ("polars", "DataFrame"): _to_polars,
    ("pyarrow", "Table"): _to_arrow,
    ("pyarrow", "RecordBatch"): _to_arrow,
}


def _adder(frame: object) -> Callable[[Any, dict[str, FloatArray], dict[str, str]], Any]:
    """How a frame of this kind gets columns; kinds are told by name, so that no library is imported."""
    for kind in type(frame).__mro__:
        add_columns = _ADD_COLUMNS.get((kind.__module__.partition(".")[0], kind.__name__))
        if add_columns is not None:
            return add_columns
    hint = "; use tesla_eval.connect.polars.score in it" if type(frame).__name__ == "LazyFrame" else ""
    raise UsageError(f"{type(frame).__name__} is not a frame of pandas, Polars or Arrow{hint}")
