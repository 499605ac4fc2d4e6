"""`tesla score -o scores.parquet`: Parquet in and out, in constant memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tesla_eval.base.errors import UsageError
from tesla_eval.cli.shared.inputs import TextOptions
from tesla_eval.cli.shared.score_formats import Results
from tesla_eval.cli.shared.score_rows import kept_columns
from tesla_eval.cli.shared.terminal import progress
from tesla_eval.connect.batches import BatchScorer
from tesla_eval.connect.parquet import score_parquet, written_systems
from tesla_eval.metrics.scoring import NamedMetric
from tesla_eval.texts.tables import Columns, open_parquet


def check_table_request(texts: TextOptions, output: Path, *, refused: Mapping[str, bool]) -> None:
    """Refuse, before any work is done, what this output cannot hold."""
    if not all(file.endswith(".parquet") for file in texts.systems) or texts.references or texts.source:
        raise UsageError(
            f"-o {output} takes Parquet tables (.parquet) with hypotheses and references, no other files",
            hint="for the rows of a table in another format, write -o FILE.csv or -o FILE.tsv",
        )
    for option, given in refused.items():
        if given:
            raise UsageError(f"-o {output} goes without {option}")
    if len(texts.systems) > 1:
        raise UsageError(
            f"-o {output} takes one table; for several systems, name several columns: --columns hyp=A+B"
        )


def score_to_table(
    texts: TextOptions,
    output: Path,
    chosen: Sequence[NamedMetric],
    *,
    keep: str | None,
    jobs: int,
    check: Callable[[Sequence[str]], None] | None,
) -> Results:
    """Score the table and return the system scores; `check` is told the systems before the work begins."""
    (table,) = texts.systems
    with open_parquet(table) as file:
        schema, rows = file.schema_arrow, file.metadata.num_rows
    columns_used = (texts.columns or Columns()).found_in(schema.names, table)
    if not columns_used.ref and any(one.metric.needs_references for one in chosen):
        raise UsageError(f"{table}: which column holds the references? Write --columns hyp=NAME,ref=NAME")
    scorer = BatchScorer(
        {one.name: one.metric for one in chosen},
        columns_used,
        keep=kept_columns(keep, schema.names),
        missing=texts.missing,
    )
    systems = written_systems(table, scorer)
    if not columns_used.system and len(systems) == 1:
        systems = (table,)
    if check is not None:
        check(systems)
    with progress("scoring (rows)", rows) as bar:
        scored = score_parquet(table, output, scorer, workers=jobs, advance=bar.advance)
    return Results.of(scored, systems)
