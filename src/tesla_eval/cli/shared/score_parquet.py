"""`tesla score -o scores.parquet` and `tesla score --engine ray -o FOLDER`: Parquet in and out, in constant memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click
import numpy as np

from tesla_eval.base.errors import UsageError
from tesla_eval.cli.shared.options import NamedMetric
from tesla_eval.cli.shared.score_formats import Results
from tesla_eval.cli.shared.terminal import note, progress
from tesla_eval.connect.batches import BatchScorer, is_list_type, need_package
from tesla_eval.connect.parquet import check_columns, parquet_rows, parquet_schema, score_parquet
from tesla_eval.metrics.base import MeanTotal
from tesla_eval.metrics.results import SegmentScores
from tesla_eval.texts.columns import Columns

__all__ = ["check_table_request", "score_to_table"]


def check_table_request(
    files: Sequence[str],
    output: Path | None,
    engine: str | None,
    address: str | None,
    *,
    other: Sequence[str],
    refused: Mapping[str, bool],
) -> None:
    """Refuse, before any work is done, what these outputs cannot hold."""
    wanted = "--engine" if engine is not None else f"-o {output}"
    if other or not all(file.endswith(".parquet") for file in files):
        raise UsageError(
            f"{wanted} takes Parquet tables (.parquet) with hypotheses and references, no other files"
        )
    for option, given in refused.items():
        if given:
            raise UsageError(f"{wanted} goes without {option}")
    if engine is None:
        if address is not None:
            raise UsageError("--address goes with --engine ray")
        if len(files) > 1:
            raise UsageError(
                f"-o {output} takes one table; for several systems, name several columns: --columns hyp=A+B. With "
                "--engine ray -o FOLDER, several files are parts of one table"
            )
    elif output is None or output == Path("-") or output.suffix == ".parquet" or output.is_file():
        raise UsageError("--engine ray writes a folder of Parquet files: name it with -o FOLDER")


def score_to_table(
    files: Sequence[str],
    output: Path,
    chosen: Sequence[NamedMetric],
    *,
    columns: str | None,
    keep: str | None,
    engine: str | None,
    address: str | None,
    jobs: int,
    check: Callable[[Sequence[str]], None],
) -> Results:
    """Score the table and return the system scores; `check` is told the systems before the work begins."""
    schema = parquet_schema(files[0])
    roles = (Columns() if columns is None else Columns.parse(columns)).found_in(schema.names, files[0])
    if not roles.ref and any(one.metric.needs_references for one in chosen):
        raise UsageError(f"{files[0]}: which column holds the references? Write --columns hyp=NAME,ref=NAME")
    kept: dict[str | None, list[str] | None] = {None: None, "all": schema.names, "none": []}
    scorer = BatchScorer(
        {one.name: one.metric for one in chosen},
        roles,
        keep=kept[keep] if keep in kept else [name for name in (keep or "").split(",") if name],
    )
    check_columns(files, scorer)
    systems = roles.hyp if len(roles.hyp) > 1 or engine is not None else (files[0],)
    check(systems)
    if engine is not None:
        folder = _score_with_ray(files, output, scorer, address, jobs)
        means = [name for name, metric in scorer.metrics.items() if isinstance(metric.new_total(), MeanTotal)]
        one_reference = len(roles.ref) == 1 and not is_list_type(schema.field(roles.ref[0]).type)
        return _results(scorer, systems, means, _means(folder, scorer, means), 1 if one_reference else 0)
    with progress("segments", parquet_rows(files[0])) as bar:
        scored = score_parquet(files[0], output, scorer, workers=jobs, advance=bar.advance)
    return _results(scorer, systems, list(scorer.metrics), scored.scores, scored.references)


def _results(
    scorer: BatchScorer, systems: Sequence[str], metrics: Sequence[str], scores: Sequence[Sequence[float]],
    references: int | str,
) -> Results:  # fmt: skip
    signatures = [
        str(metric.get_signature().with_references(references if metric.needs_references else 0))
        for name, metric in scorer.metrics.items()
        if name in metrics
    ]
    return Results(
        systems=tuple(systems), metrics=tuple(metrics), signatures=tuple(signatures),
        scores=tuple(map(tuple, scores)), segments=None,
    )  # fmt: skip


def _score_with_ray(
    files: Sequence[str], output: Path, scorer: BatchScorer, address: str | None, jobs: int
) -> Path:
    """Score the files on a cluster, or on one that lives for this run only; returns the folder of the parts."""
    need_package("ray", "ray")
    import ray

    from tesla_eval.connect.ray import score_files

    context = click.get_current_context()
    workers = jobs if context.get_parameter_source("jobs") is not click.core.ParameterSource.DEFAULT else None
    own = {"num_cpus": workers, "include_dashboard": False} if address is None else {}
    try:
        ray.init(address or "local", log_to_driver=False, logging_level="ERROR", **own)
    except (ConnectionError, ValueError) as error:
        problem = (
            "cannot start a Ray cluster"
            if address is None
            else f"--address {address}: there is no Ray cluster"
        )
        raise UsageError(f"{problem} ({error})") from error
    try:
        folder = score_files(files, scorer, output, workers=workers)
    finally:
        ray.shutdown()
    note(
        f"{folder.path}: {folder.rows} rows in {folder.parts} parts"
        + (f", {folder.reused} of them were there already" if folder.reused else "")
    )
    return folder.path


def _means(folder: Path, scorer: BatchScorer, metrics: Sequence[str]) -> list[list[float]]:
    """The system scores that are means of the segments' scores."""
    from pyarrow import parquet

    totals = [[MeanTotal() for _ in metrics] for _ in scorer.systems]
    for path in sorted(folder.glob("part-*.parquet")):
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches():
                for row, system in zip(totals, scorer.systems, strict=True):
                    for total, metric in zip(row, metrics, strict=True):
                        scores = batch.column(scorer.column_name(system, metric)).to_numpy()
                        total.add(SegmentScores(scores, np.empty((len(scores), 0))))
    return [[total.score() for total in row] for row in totals]
