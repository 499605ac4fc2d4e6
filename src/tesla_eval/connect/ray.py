"""Ray Data: datasets scored on a cluster. Each worker loads its own models once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tesla_eval.base.errors import need_package
from tesla_eval.connect.batches import BatchScorer, metrics_by_name, text_columns
from tesla_eval.metrics.base import Metric
from tesla_eval.texts.tables import Missing

if TYPE_CHECKING:
    import pyarrow
    from ray.data import Dataset


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
    workers: int | None = None,
    **options: Any,
) -> Dataset:
    """A dataset with a column of scores per metric instead of the texts; ids and all other columns are carried over.

    `keep` names the columns to carry over, `options` are those of the metric. A null hypothesis is the empty text,
    and so is the reference of a row that has none; with `missing="error"` such a row is an error, with `"null"` it
    gets a null score, with `"skip"` it is left out. `workers` is the number of actors; by default as many as the
    cluster has CPUs.
    """
    need_package("ray", "'tesla-eval[ray]'")
    import ray

    columns = text_columns(hypothesis, references, source)
    scorer = BatchScorer(metrics_by_name(metric, lang, **options), columns, keep=keep, missing=missing)
    size = workers or _cpus()
    nodes = [node["Resources"].get("CPU", 0) for node in ray.nodes() if node["Alive"]]
    return dataset.map_batches(
        _Worker,
        fn_constructor_args=(scorer,),
        batch_size=None,  # a block
        batch_format="pyarrow",
        zero_copy_batch=True,
        compute=ray.data.ActorPoolStrategy(size=size),
        # Tasks that read need a whole CPU of some machine. If workers took all of them, nothing would ever be read.
        num_cpus=0.5 if all(cpus >= 2 for cpus in nodes if cpus) else 0,
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


def _cpus() -> int:
    """The CPUs of the cluster; without one, a cluster is started on this machine."""
    import ray

    if not ray.is_initialized():
        ray.init()
    return max(int(ray.cluster_resources().get("CPU", 1)), 1)
