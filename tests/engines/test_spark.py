"""Spark: a local cluster of two executors."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from shutil import which

import pytest

from tesla_eval.connect.spark import score_dataframe
from tests.engines.common import ROOT, own_scores, same_rows, write_pairs

pyspark = pytest.importorskip("pyspark", reason="make test-engines installs it")
arrow = pytest.importorskip("pyarrow")
pytestmark = [
    pytest.mark.skipif(which("java") is None, reason="Spark needs Java"),
    pytest.mark.skipif(sys.platform != "linux", reason="a cluster of two executors runs on Linux"),
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


def test_a_frame_has_the_scores_of_this_machine(spark, data, expected, tmp_path: Path) -> None:
    from pyarrow import dataset

    scored = score_dataframe(spark.read.parquet(str(data)).repartition(PARTITIONS), "m", "en")
    assert scored.columns == ["id", "tesla-m"]
    scored.write.parquet(f"file://{tmp_path / 'scores'}")
    assert same_rows(dataset.dataset(str(tmp_path / "scores")).to_table(), expected)


def test_lists_nulls_and_columns_with_odd_names(spark) -> None:
    rows = [("The cats sat.", ["The cat sat.", None], 1), (None, ["x"], 2), ("A dog.", None, 3)]
    frame = spark.createDataFrame(rows, "`m.t` string, `ref` array<string>, `an id` int")
    found = score_dataframe(frame, "m", hypothesis="m.t", missing="null").collect()
    assert [row["an id"] for row in found] == [1, 2, 3]
    assert [row["tesla-m"] is None for row in found] == [False, True, True]
    with pytest.raises(Exception, match=r"row 2 of a batch \(an id 2\): has no 'm.t'|row 1 of a batch"):
        score_dataframe(frame, "m", hypothesis="m.t").collect()
