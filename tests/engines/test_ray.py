"""Ray: a local cluster of two machines (two raylets)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tesla_eval.connect.ray import score_dataset
from tests.engines.common import own_scores, same_rows, write_pairs

ray = pytest.importorskip("ray", reason="make test-engines installs it")
arrow = pytest.importorskip("pyarrow")
pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the cluster of two machines is made of raylets"
)

ROWS, ROW_GROUP = 24_000, 2_000


@pytest.fixture(scope="module")
def cluster():
    """A cluster of two machines with one CPU each."""
    from ray.cluster_utils import Cluster

    machine = {"num_cpus": 1, "object_store_memory": 100_000_000}
    cluster = Cluster(initialize_head=True, head_node_args={**machine, "include_dashboard": False})
    cluster.add_node(**machine)
    ray.init(cluster.address, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("data")
    paths = [folder / "a.parquet", folder / "b.parquet"]
    for number, path in enumerate(paths):
        write_pairs(path, ROWS // 2, row_group=ROW_GROUP, first=number * ROWS // 2)
    return paths


def read(dataset):
    return arrow.concat_tables([ray.get(ref) for ref in dataset.to_arrow_refs()]).sort_by("id")


def test_a_dataset_has_the_scores_of_this_machine(cluster, data) -> None:
    scored = score_dataset(ray.data.read_parquet([str(path) for path in data]), "m")
    assert same_rows(read(scored), own_scores(*data))


def test_the_columns_that_are_kept(cluster, data) -> None:
    table = arrow.parquet.read_table(data[0]).slice(0, ROW_GROUP)
    scored = score_dataset(ray.data.from_arrow([table]), "m", keep=["id", "mt"])
    assert read(scored).column_names == ["id", "mt", "tesla-m"]


def test_a_missing_text_is_named(cluster) -> None:
    rows = arrow.table({"id": [1, 2], "mt": ["a", None], "ref": ["a", "b"]})
    with pytest.raises(Exception, match="has no 'mt'"):
        score_dataset(ray.data.from_arrow([rows]), "m").materialize()
    assert read(score_dataset(ray.data.from_arrow([rows]), "m", missing="null"))["tesla-m"].null_count == 1
