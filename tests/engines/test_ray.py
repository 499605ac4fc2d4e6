"""Ray: a local cluster of two machines (two raylets), workers killed in the middle, runs that break and resume."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tesla_eval.base.errors import InputError
from tesla_eval.connect import parquet as parquet_files
from tesla_eval.connect.batches import BatchScorer, metrics_by_name
from tesla_eval.connect.ray import score_dataset, score_files
from tests.engines.common import PLAIN, Killer, own_scores, processes_below, same_rows, write_pairs

ray = pytest.importorskip("ray", reason="make test-engines installs it")
arrow = pytest.importorskip("pyarrow")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds the workers in /proc")

ROWS, ROW_GROUP = 24_000, 2_000


@pytest.fixture(scope="module")
def address():
    """The address of a cluster of two machines with one CPU each."""
    from ray.cluster_utils import Cluster

    machine = {"num_cpus": 1, "object_store_memory": 100_000_000}
    cluster = Cluster(initialize_head=True, head_node_args={**machine, "include_dashboard": False})
    cluster.add_node(**machine)
    ray.init(cluster.address, log_to_driver=False, logging_level="ERROR")
    yield cluster.address
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("data")
    paths = [folder / "a.parquet", folder / "b.parquet"]
    for number, path in enumerate(paths):
        write_pairs(path, ROWS // 2, row_group=ROW_GROUP, first=number * ROWS // 2)
    return paths


@pytest.fixture(scope="module")
def expected(data):
    return own_scores(*data)


@pytest.fixture
def small_spans(monkeypatch) -> None:
    """A worker's share is one row group, so that there are many."""
    monkeypatch.setattr(parquet_files, "_SPAN_ROWS", ROW_GROUP)


def read(folder: Path):
    """All parts in order; no other files."""
    from pyarrow import parquet

    assert not list(folder.glob("_parts"))
    return arrow.concat_tables([parquet.read_table(path) for path in sorted(folder.glob("part-*.parquet"))])


def worker_of(name: str, output: Path):
    """One of the workers with this name, once the first part is complete and before the last one is."""

    def choose() -> int | None:
        if not 1 <= len(list(output.glob("*/_parts/*.parquet"))) < ROWS // ROW_GROUP - 2:
            return None
        found = processes_below(os.getpid()).items()
        return next((pid for pid, (_, command, _) in found if command.startswith(f"ray::{name}")), None)

    return choose


def test_a_killed_worker_loses_nothing(address, data, expected, small_spans, tmp_path: Path) -> None:
    scorer = BatchScorer(metrics_by_name("m", "en"), PLAIN)
    with Killer(worker_of("_FileWorker", tmp_path)) as killer:
        folder = score_files([str(path) for path in data], scorer, tmp_path)
    assert killer.killed is not None
    assert (folder.rows, folder.parts) == (ROWS, ROWS // ROW_GROUP)
    found = read(folder.path)
    assert found["id"].to_pylist() == list(range(ROWS)), "in the order of the input"
    assert same_rows(found, expected)


def test_a_broken_run_resumes(address, data, expected, tmp_path: Path) -> None:
    """The command is killed, not the workers; the same command again goes on where it stopped."""
    output = tmp_path / "out"
    code = (
        "import sys; from tesla_eval.connect import parquet; from tesla_eval.cli import main\n"
        f"parquet._SPAN_ROWS = {ROW_GROUP}; sys.argv = sys.argv[1:]; main()"
    )
    command = [
        sys.executable, "-c", code, "tesla", "score", "--engine", "ray", "--address", address, *map(str, data),
        "-l", "en", "-m", "m", "-o", str(output),
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        while run.poll() is None and len(list(output.glob("*/_parts/*.parquet"))) < 2:
            time.sleep(0.02)
        run.kill()
    assert run.returncode == -signal.SIGKILL, "it was quicker than we are"
    made = len(list(output.glob("*/_parts/*.parquet")))
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    (folder,) = output.glob("signature=*")
    assert f"{ROWS} rows in {ROWS // ROW_GROUP} parts" in again.stderr
    reused = int(again.stderr.partition("parts, ")[2].split()[0])
    assert made <= reused < ROWS // ROW_GROUP
    assert same_rows(read(folder), expected)
    assert "tesla-m" in again.stdout and "nrefs:1" in again.stdout


def test_a_dataset_of_ray_with_a_killed_worker(address, data, expected, tmp_path: Path) -> None:
    """The same through Ray Data, whose blocks come from anywhere."""
    table = arrow.concat_tables([arrow.parquet.read_table(path) for path in data])
    blocks = [table.slice(start, ROW_GROUP).combine_chunks() for start in range(0, ROWS, ROW_GROUP)]
    with Killer(worker_of("MapWorker", tmp_path)) as killer:
        scored = score_dataset(ray.data.from_arrow(blocks), "m", output=tmp_path)
        found = arrow.concat_tables([ray.get(ref) for ref in scored.to_arrow_refs()])
    assert killer.killed is not None
    assert same_rows(found, expected)
    lazy = score_dataset(ray.data.from_arrow(blocks[:2]), "m", keep=["id", "mt"])
    found = arrow.concat_tables([ray.get(ref) for ref in lazy.to_arrow_refs()])
    assert found.column_names == ["id", "mt", "tesla-m"]
    assert same_rows(found, expected.slice(0, 2 * ROW_GROUP))


def test_an_error_of_a_worker_is_ours(address, tmp_path: Path) -> None:
    from pyarrow import parquet

    path = tmp_path / "bad.parquet"
    parquet.write_table(arrow.table({"id": [1, 2], "mt": ["a", None], "ref": ["a", "b"]}), path)
    scorer = BatchScorer(metrics_by_name("m", "en"), PLAIN)
    with pytest.raises(InputError, match=r"bad.parquet, row 2 \(id 2\): has no 'mt'$"):
        score_files([str(path)], scorer, tmp_path / "out")
    found = score_files([str(path)], BatchScorer(scorer.metrics, PLAIN, missing="null"), tmp_path / "out")
    assert read(found.path)["tesla-m"].null_count == 1
