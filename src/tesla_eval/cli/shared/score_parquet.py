"""`tesla score -o scores.parquet` and `tesla score --engine ray -o FOLDER`: Parquet in and out, in constant memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click
import numpy as np

from tesla_eval.base.errors import UsageError
from tesla_eval.cli.shared.inputs import TextOptions
from tesla_eval.cli.shared.score_formats import Results
from tesla_eval.cli.shared.score_rows import kept_columns
from tesla_eval.cli.shared.terminal import note, progress
from tesla_eval.connect.batches import BatchScorer, is_list_type
from tesla_eval.connect.parquet import check_columns, score_parquet, written_systems
from tesla_eval.metrics.results import SegmentScores
from tesla_eval.metrics.scoring import NamedMetric, Scored
from tesla_eval.texts.tables import Columns, open_parquet


def check_table_request(
    texts: TextOptions,
    output: Path | None,
    engine: str | None,
    address: str | None,
    *,
    refused: Mapping[str, bool],
) -> None:
    """Refuse, before any work is done, what these outputs cannot hold."""
    wanted = "--engine" if engine is not None else f"-o {output}"
    if not all(file.endswith(".parquet") for file in texts.systems) or texts.references or texts.source:
        raise UsageError(
            f"{wanted} takes Parquet tables (.parquet) with hypotheses and references, no other files",
            hint="for the rows of a table in another format, write -o FILE.csv or -o FILE.tsv",
        )
    for option, given in refused.items():
        if given:
            raise UsageError(f"{wanted} goes without {option}")
    if engine is None:
        if address is not None:
            raise UsageError("--address goes with --engine ray")
        if len(texts.systems) > 1:
            raise UsageError(
                f"-o {output} takes one table; for several systems, name several columns: --columns hyp=A+B. With "
                "--engine ray -o FOLDER, several files are parts of one table"
            )
    elif output is None or output == Path("-") or output.suffix == ".parquet" or output.is_file():
        raise UsageError("--engine ray writes a folder of Parquet files: name it with -o FOLDER")


def score_to_table(
    texts: TextOptions,
    output: Path,
    chosen: Sequence[NamedMetric],
    *,
    keep: str | None,
    engine: str | None,
    address: str | None,
    jobs: int,
    check: Callable[[Sequence[str]], None] | None,
) -> Results:
    """Score the table and return the system scores; `check` is told the systems before the work begins."""
    files = texts.systems
    with open_parquet(files[0]) as file:
        schema, rows = file.schema_arrow, file.metadata.num_rows
    columns_used = (texts.columns or Columns()).found_in(schema.names, files[0])
    if not columns_used.ref and any(one.metric.needs_references for one in chosen):
        raise UsageError(f"{files[0]}: which column holds the references? Write --columns hyp=NAME,ref=NAME")
    scorer = BatchScorer(
        {one.name: one.metric for one in chosen},
        columns_used,
        keep=kept_columns(keep, schema.names),
        missing=texts.missing,
    )
    check_columns(files, scorer)
    systems = written_systems(files, scorer)
    if not columns_used.system and len(systems) == 1 and engine is None:
        systems = (files[0],)
    if check is not None:
        check(systems)
    if engine is not None:
        if scorer.columns.system and scorer.columns.system[0] not in scorer.carried(schema):
            raise UsageError(f"--keep {keep}: keep {scorer.columns.system[0]!r}, which names the systems")
        scored = _means(_score_with_ray(files, output, scorer, address, jobs), scorer, systems)
        if len(columns_used.ref) == 1 and not is_list_type(schema.field(columns_used.ref[0]).type):
            scored.note_references(1)
    else:
        with progress("scoring (rows)", rows) as bar:
            scored = score_parquet(files[0], output, scorer, workers=jobs, advance=bar.advance)
    return Results.of(scored, systems)


def _score_with_ray(
    files: Sequence[str], output: Path, scorer: BatchScorer, address: str | None, jobs: int
) -> Path:
    """Score the files on a cluster, or on one that lives for this run only; returns the folder of the parts."""
    from tesla_eval.connect.ray import connected, score_files

    context = click.get_current_context()
    workers = jobs if context.get_parameter_source("jobs") is not click.core.ParameterSource.DEFAULT else None
    with connected(address, workers):
        folder = score_files(files, scorer, output, workers=workers)
    note(
        f"{folder.path}: {folder.rows} rows in {folder.parts} parts"
        + (f", {folder.reused} of them were there already" if folder.reused else "")
    )
    return folder.path


def _means(folder: Path, scorer: BatchScorer, systems: Sequence[str]) -> Scored:
    """The system scores that are means of the segments' scores; the files hold no statistics for the others."""
    from pyarrow import parquet

    metrics = [NamedMetric(*item) for item in scorer.metrics.items() if item[1].formula_of_sums is None]
    scored = Scored(systems, metrics, "nothing")
    for path in sorted(folder.glob("part-*.parquet")):
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches():
                wrote = scorer.written_by(batch)
                rows = (
                    [slice(None)]
                    if wrote is None
                    else [np.flatnonzero(wrote == system) for system in systems]
                )
                columns = [
                    [batch.column(scorer.column_name(system, one.name)).to_numpy()[chosen] for one in metrics]
                    for system in scorer.systems
                    for chosen in rows
                ]
                scored.add(
                    [[SegmentScores(scores, np.empty((len(scores), 0))) for scores in row] for row in columns]
                )
    return scored
