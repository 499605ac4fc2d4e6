"""Spark: a local cluster of two executors; a Python worker that is killed in the middle loses nothing."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from shutil import which

import pytest

from tesla_eval.connect.spark import score_dataframe
from tests.engines.common import ROOT, Killer, own_scores, processes_below, same_rows, write_pairs

pyspark = pytest.importorskip("pyspark", reason="make test-engines installs it")
arrow = pytest.importorskip("pyarrow")
pytestmark = [
    pytest.mark.skipif(which("java") is None, reason="Spark needs Java"),
    pytest.mark.skipif(sys.platform != "linux", reason="finds the workers in /proc"),
]

ROWS, PARTITIONS = 24_000, 8


@pytest.fixture(scope="module")
def spark():
    """Two executors with one core each, each a process of its own."""
    from pyspark.sql import SparkSession

    os.environ.update(PYSPARK_PYTHON=sys.executable, PYTHONPATH=str(ROOT), SPARK_LOCAL_IP="127.0.0.1")
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "1g")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "500")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("data") / "data.parquet"
    write_pairs(path, ROWS, row_group=ROWS // PARTITIONS)
    return path


@pytest.fixture(scope="module")
def expected(data):
    return own_scores(data)


def busy_worker() -> int | None:
    """A Python worker, forked from the daemon of its executor, that has worked for a while."""
    found = processes_below(os.getpid())
    daemons = {pid for pid, (_, command, _) in found.items() if "pyspark.daemon" in command}
    return next(
        (pid for pid, (parent, _, seconds) in found.items() if parent in daemons and seconds > 0.4), None
    )


def test_a_killed_worker_loses_nothing(spark, data, expected, tmp_path: Path) -> None:
    from pyarrow import dataset

    frame = spark.read.parquet(str(data)).repartition(PARTITIONS)
    scored = score_dataframe(frame, "m", "en")
    assert scored.columns == ["id", "tesla-m"]
    output = tmp_path / "scores"
    with Killer(busy_worker) as killer:
        scored.write.parquet(f"file://{output}")
    assert killer.killed is not None
    assert same_rows(dataset.dataset(str(output)).to_table(), expected)
    failed = spark.sparkContext.statusTracker()
    stages = [
        failed.getStageInfo(n)
        for job in failed.getJobIdsForGroup(None)
        for n in failed.getJobInfo(job).stageIds
    ]
    assert sum(stage.numFailedTasks for stage in stages if stage is not None) >= 1, "the kill was felt"


def test_lists_nulls_and_columns_with_odd_names(spark) -> None:
    rows = [("The cats sat.", ["The cat sat.", None], 1), (None, ["x"], 2), ("A dog.", None, 3)]
    frame = spark.createDataFrame(rows, "`m.t` string, `ref` array<string>, `an id` int")
    found = score_dataframe(frame, "m", hypothesis="m.t", missing="null").collect()
    assert [row["an id"] for row in found] == [1, 2, 3]
    assert [row["tesla-m"] is None for row in found] == [False, True, True]
    with pytest.raises(Exception, match=r"row 2 of a batch \(an id 2\): has no 'm.t'|row 1 of a batch"):
        score_dataframe(frame, "m", hypothesis="m.t").collect()
