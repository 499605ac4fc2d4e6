"""Ray Data: datasets scored on a cluster. Each worker loads its own models once.

A worker that dies is replaced and its block scored again. With an output folder, a run that broke resumes: blocks whose
scores are in the folder are not scored again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tesla_eval.base.errors import InputError, ResourceError, TeslaError, UsageError, need_package
from tesla_eval.connect.batches import BatchScorer, metrics_by_name, text_columns
from tesla_eval.connect.leftovers import no_leftovers
from tesla_eval.connect.parquet import RowGroupSpan, read_span, row_group_spans
from tesla_eval.connect.parts import Part, PartFolder
from tesla_eval.metrics.base import Metric
from tesla_eval.texts.tables import Missing

if TYPE_CHECKING:
    import pyarrow
    from ray.data import Dataset


_RETRIES = 4  # of the same rows, if workers die: rows that kill every worker must not do so for ever


class ScoredFolder(NamedTuple):
    """Where the scores are, how many rows and parts there are, and how many of the parts an earlier run had made."""

    path: Path
    rows: int
    parts: int
    reused: int


@contextmanager
def connected(address: str | None, workers: int | None) -> Iterator[None]:
    """A connection to a cluster; without an address, to one of this machine alone that ends with the connection."""
    need_package("ray", "'tesla-eval[ray]'")
    if (
        address is None
    ):  # where clusters are not enabled, as on macOS and Windows, Ray keeps to the loopback address
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    import ray

    local = {"num_cpus": workers, "include_dashboard": False}
    with no_leftovers() if address is None else nullcontext():
        try:
            ray.init(
                address or "local", log_to_driver=False, logging_level="ERROR",
                **local if address is None else {},
            )  # fmt: skip
        except (ConnectionError, ValueError) as error:
            problem = f"--address {address}: there is no" if address is not None else "cannot start a"
            raise UsageError(f"{problem} Ray cluster ({error})") from error
        try:
            yield
        finally:
            ray.shutdown()


def score_dataset(
    dataset: Dataset,
    metric: str | Metric | Sequence[str | Metric] = "x",
    lang: str = "en",
    *,
    hypothesis: str | Sequence[str] = "mt",
    references: str | Sequence[str] = "ref",
    source: str | None = None,
    keep: Sequence[str] | None = None,
    missing: Missing = "empty",
    output: str | Path | None = None,
    workers: int | None = None,
    **options: Any,
) -> Dataset:
    """A dataset with a column of scores per metric instead of the texts; ids and all other columns are carried over.

    `keep` names the columns to carry over, `options` are those of the metric. A null
    hypothesis is the empty text, and so is the reference of a row that has none; with `missing="error"` such a row is
    an error, with `"null"` it gets a null score, with `"skip"` it is left out.
    `workers` is the number of actors; by default as many as the
    cluster has CPUs.

    With an `output` folder the dataset is scored at once, and the result reads the scores from there. Run the same
    again after a failure: it goes on where it stopped. Every machine must see the folder under the same name.
    """
    need_package("ray", "'tesla-eval[ray]'")
    columns = text_columns(hypothesis, references, source)
    scorer = BatchScorer(metrics_by_name(metric, lang, **options), columns, keep=keep, missing=missing)
    if output is None:
        return _mapped(dataset, _Worker, (scorer,), workers)
    import ray

    return ray.data.read_parquet(str(score_to_folder(dataset, scorer, output, workers=workers).path))


def score_to_folder(
    dataset: Dataset, scorer: BatchScorer, output: str | Path, *, workers: int | None = None
) -> ScoredFolder:
    """Score a dataset into a folder of parts, which hold the rows in the dataset's order."""
    need_package("ray", "'tesla-eval[ray]'")
    folder = PartFolder(output, scorer)
    with folder.opened() as present:
        mapped = _mapped(dataset, _BlockWorker, (folder, present), workers)
        mapped.context.execution_options.preserve_order = True
        with _own_errors():
            parts = [
                Part(row["content"], int(row["rows"]), bool(row["reused"])) for row in mapped.iter_rows()
            ]
        if not parts:
            raise InputError("the dataset is empty; it must have a row for each segment")
        return _published(folder, parts)


def score_files(
    paths: Sequence[str], scorer: BatchScorer, output: str | Path, *, workers: int | None = None
) -> ScoredFolder:
    """Score Parquet files, as parts of one table, into a folder of parts.

    Workers read the files themselves: texts do not travel through Ray, and Ray Data, whose own processes cost more CPU
    time than those of Ray, is not needed. Every machine must see the files under the same names.
    """
    need_package("ray", "'tesla-eval[ray]'")
    import ray

    folder = PartFolder(output, scorer)
    spans = [span for path in paths for span in row_group_spans(str(Path(path).resolve()))]
    if not spans:
        raise InputError(f"{paths[0]}: is empty; it must have a row for each segment")
    make = ray.remote(
        num_cpus=1, scheduling_strategy="SPREAD", max_restarts=-1, max_task_retries=_RETRIES
    )(_FileWorker).remote  # fmt: skip
    with folder.opened(paths) as present:
        pool = [make(folder, present, scorer) for _ in range(min(workers or _cpus(), len(spans)))]
        with _own_errors():
            lists = _map_in_order(pool, spans)
        return _published(folder, [Part(*part) for parts in lists for part in parts])


def _map_in_order(pool: Sequence[Any], spans: Sequence[RowGroupSpan]) -> list[list[Part]]:
    """The parts of every span; each worker gets its next span when it has finished one."""
    import ray

    parts: list[list[Part]] = [[] for _ in spans]
    waiting = iter(enumerate(spans))
    running = {}
    for worker, (place, span) in zip(pool, waiting, strict=False):
        running[worker.score.remote(span)] = worker, place
    while running:
        (ready,), _ = ray.wait(list(running), num_returns=1)
        worker, place = running.pop(ready)
        parts[place] = ray.get(ready)
        for following, span in waiting:
            running[worker.score.remote(span)] = worker, following
            break
    return parts


def _published(folder: PartFolder, parts: Sequence[Part]) -> ScoredFolder:
    folder.publish(parts)
    return ScoredFolder(
        folder.path, sum(part.rows for part in parts), len(parts), sum(part.reused for part in parts)
    )


class _Worker:
    """Scores blocks. The scorer is made once per process, when Ray sends it."""

    def __init__(self, scorer: BatchScorer) -> None:
        self._scorer = scorer

    def __call__(self, table: pyarrow.Table) -> pyarrow.Table:
        import pyarrow

        if not table.num_columns:
            return table
        return pyarrow.Table.from_batches(self._scorer.batches(table), self._scorer.schema(table.schema))


class _BlockWorker:
    """Scores blocks into parts of a folder, and returns only the names of the parts."""

    def __init__(self, folder: PartFolder, present: frozenset[str]) -> None:
        self._folder, self._present = folder, present

    def __call__(self, table: pyarrow.Table) -> pyarrow.Table:
        return _listed([self._folder.score(table, self._present)] if table.num_rows else [])


class _FileWorker:
    """Scores row groups of files into parts of a folder."""

    def __init__(self, folder: PartFolder, present: frozenset[str], scorer: BatchScorer) -> None:
        self._folder, self._present, self._scorer = folder, present, scorer

    def score(self, span: RowGroupSpan) -> list[Part]:
        return [
            self._folder.score(table, self._present, place=span.path, first_row=first_row)
            for first_row, table in read_span(span, self._scorer)
        ]


def _listed(parts: Sequence[Part]) -> pyarrow.Table:
    import pyarrow

    return pyarrow.table(
        {
            "content": pyarrow.array([part.content for part in parts], pyarrow.string()),
            "rows": pyarrow.array([part.rows for part in parts], pyarrow.int64()),
            "reused": pyarrow.array([part.reused for part in parts], pyarrow.bool_()),
        }
    )


def _mapped(
    dataset: Dataset, worker: type[_Worker | _BlockWorker], arguments: tuple[Any, ...], workers: int | None
) -> Dataset:
    import ray

    size = workers or _cpus()
    nodes = [node["Resources"].get("CPU", 0) for node in ray.nodes() if node["Alive"]]
    return dataset.map_batches(
        worker,
        fn_constructor_args=arguments,
        batch_size=None,  # a block
        batch_format="pyarrow",
        zero_copy_batch=True,
        compute=ray.data.ActorPoolStrategy(size=size),
        # Tasks that read need a whole CPU of some machine. If workers took all of them, nothing would ever be read.
        num_cpus=0.5 if all(cpus >= 2 for cpus in nodes if cpus) else 0,
    )


def _cpus() -> int:
    """The CPUs of the cluster; without one, a cluster is started on this machine."""
    import ray

    if not ray.is_initialized():
        ray.init()
    return max(int(ray.cluster_resources().get("CPU", 1)), 1)


@contextmanager
def _own_errors() -> Iterator[None]:
    """An error that a worker raised on purpose, without the stack of Ray around it."""
    from ray.exceptions import RayActorError

    try:
        yield
    except RayActorError as error:
        raise ResourceError(
            f"a worker died {_RETRIES + 1} times on the same rows ({str(error).splitlines()[0]}); give workers more "
            "memory, and run the same again: parts that are complete are kept"
        ) from error
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None:
            own = getattr(cause, "cause", None)  # what Ray calls the error of the worker
            if isinstance(own, TeslaError):
                raise type(own)(str(own)) from None
            cause = cause.__cause__
        raise
