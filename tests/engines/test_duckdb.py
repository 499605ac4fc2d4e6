"""DuckDB: the SQL function gives the bits of our own threads."""

from __future__ import annotations

from pathlib import Path

import pytest

from tesla_eval import create_metric
from tesla_eval.base.errors import UsageError
from tesla_eval.connect.duckdb import register
from tests.engines.common import own_scores, same_rows, write_pairs

duckdb = pytest.importorskip("duckdb", reason="make test-engines installs it")
arrow = pytest.importorskip("pyarrow")


@pytest.fixture
def connection():
    with duckdb.connect() as connected:
        yield connected


@pytest.mark.parametrize("threads", [1, 2])
def test_parquet_in_and_out(connection, tmp_path: Path, threads) -> None:
    from pyarrow import parquet

    data, output = tmp_path / "data.parquet", tmp_path / "scores.parquet"
    write_pairs(data, 10_000, row_group=2_500)
    connection.execute(f"SET threads = {threads}")
    assert register(connection, "m", "en") == "tesla_m"
    connection.execute(f"COPY (SELECT id, tesla_m(mt, ref) AS \"tesla-m\" FROM '{data}') TO '{output}'")
    assert same_rows(parquet.read_table(output), own_scores(data))


def test_references_may_be_several_or_a_list_and_nulls_are_missing(connection) -> None:
    register(connection, "m", "en", name="score")
    metric = create_metric("m", "en")
    both = metric.sentence_score("the cat sat", ["the cat", "a cat sat"]).score
    one = metric.sentence_score("the cat sat", ["the cat"]).score
    found = connection.execute(
        """
        SELECT score('the cat sat', 'the cat', 'a cat sat'), score('the cat sat', ['the cat', 'a cat sat']),
          score('the cat sat', 'the cat', NULL), score('the cat sat', ['the cat', NULL]),
          score(NULL, 'the cat'), score('the cat', NULL), score('the cat', [])
        """
    ).fetchone()
    assert found == (both, both, one, one, None, None, None)
    rows = "(VALUES ('the cat sat', 'the cat'), (NULL, 'x'), ('the cat sat', NULL)) AS t(mt, ref)"
    assert connection.execute(f"SELECT score(mt, ref) FROM {rows}").fetchall() == [(one,), (None,), (None,)]
    assert connection.execute(f"SELECT score(mt, ref) FROM {rows} WHERE ref = 'none'").fetchall() == []


def test_a_metric_that_reads_the_source(connection) -> None:
    register(connection, "s-source", "en", source=True)
    text, source = "The cat sat on the mat.", "The cat sat on the mat all day. A dog barked."
    found = connection.execute("SELECT tesla_s_source(?, ?)", [text, source]).fetchone()
    assert found == (create_metric("s-source", "en").sentence_score(text, sources=source).score,)


def test_what_is_refused(connection) -> None:
    with pytest.raises(UsageError, match="name="):
        register(connection, "m", name="drop table")
    with pytest.raises(UsageError, match="does not read the source"):
        register(connection, "m", source=True)
    register(connection, "m")
    with pytest.raises(duckdb.Error, match="1 arguments; give a hypothesis"):
        connection.execute("SELECT tesla_m('the cat')").fetchall()
    with pytest.raises(duckdb.Error, match="not texts"):
        connection.execute("SELECT tesla_m('the cat', 7)").fetchall()
