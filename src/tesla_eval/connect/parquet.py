"""Parquet files in constant memory: read batch by batch, scored by our own threads, written as the scores come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tesla_eval.base.errors import InputError
from tesla_eval.base.files import replacing
from tesla_eval.connect.batches import BatchScorer, ScoredBatch
from tesla_eval.metrics.empty_texts import EmptyTexts
from tesla_eval.metrics.scoring import NamedMetric, Scored, map_texts
from tesla_eval.texts.tables import open_parquet

if TYPE_CHECKING:
    import pyarrow

_ROWS_AT_ONCE = 2048
_ROW_GROUP = 1 << 17  # rows that are written together
_ROW_GROUP_BYTES = 32 << 20  # or fewer, if they are large


def scored_schema(path: str, scorer: BatchScorer) -> pyarrow.Schema:
    """The columns of the results for a file; `InputError` names the file that does not fit."""
    with open_parquet(path) as file:
        return scorer.schema(file.schema_arrow)


def written_systems(path: str, scorer: BatchScorer) -> tuple[str, ...]:
    """The systems in the column that names them, in the order of their first rows; without one, the scorer's."""
    if not scorer.columns.system:
        return scorer.systems
    names: dict[str, None] = {}
    with open_parquet(path) as file:
        for batch in file.iter_batches(columns=list(scorer.columns.system)):
            names.update(dict.fromkeys(map(str, batch.column(0).unique().to_pylist())))
    return tuple(names)


def score_parquet(
    path: str,
    output: str | Path,
    scorer: BatchScorer,
    *,
    workers: int = 1,
    advance: Callable[[int], None] = lambda rows: None,
) -> Scored:
    """Score a Parquet file into another one, which appears only when it is complete; rows keep their order.

    `workers` threads score; `advance` is told how many more rows are done.
    """
    systems = written_systems(path, scorer)
    total = Scored(systems, [NamedMetric(*item) for item in scorer.metrics.items()], "nothing")
    empty = EmptyTexts(scorer.systems if len(scorer.systems) > 1 else [""], "row")
    rows = 0

    def scored_batches() -> Iterator[pyarrow.RecordBatch]:
        nonlocal rows
        for scored in map_texts(score, _batches(path, scorer), workers):
            total.add(scored.parts_of(systems) if scored.writers else scored.parts)
            if scored.texts.segments:
                total.note_chunk(scored.texts)
                empty.add(scored.texts)
            rows += scored.batch.num_rows
            advance(scored.batch.num_rows)
            yield scored.batch

    def score(numbered: tuple[int, pyarrow.RecordBatch]) -> ScoredBatch:
        first_row, batch = numbered
        return scorer.score(batch, path, first_row)

    schema = scored_schema(path, scorer)
    with replacing(Path(output)) as temporary:
        write_parquet(temporary, schema, scored_batches())
        if not rows:
            raise InputError(f"{path}: is empty; it must have a row for each segment")
    empty.warn()
    return total


def write_parquet(path: Path, schema: pyarrow.Schema, batches: Iterable[pyarrow.RecordBatch]) -> None:
    """Write batches to a file, in row groups of a bounded size."""
    import pyarrow
    from pyarrow import parquet

    with parquet.ParquetWriter(path, schema) as writer:
        group: list[pyarrow.RecordBatch] = []
        for batch in batches:
            group.append(batch)
            rows = sum(one.num_rows for one in group)
            if rows >= _ROW_GROUP or sum(one.nbytes for one in group) >= _ROW_GROUP_BYTES:
                writer.write_table(pyarrow.Table.from_batches(group, schema), row_group_size=rows)
                group = []
        if group:
            writer.write_table(pyarrow.Table.from_batches(group, schema))


def _batches(path: str, scorer: BatchScorer) -> Iterator[tuple[int, pyarrow.RecordBatch]]:
    """The columns that a scorer reads, so many rows at a time; and the number of rows before."""
    first_row = 0
    with open_parquet(path) as file:
        scorer.schema(file.schema_arrow)  # refuses what does not fit
        columns = scorer.needed(file.schema_arrow)
        # One thread: it reads far faster than rows are scored.
        for batch in file.iter_batches(_ROWS_AT_ONCE, columns=columns, use_threads=False):
            yield first_row, batch
            first_row += batch.num_rows
