"""What the tests of the engines share: a table, and its scores by one process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tesla_eval.connect.batches import BatchScorer, metrics_by_name
from tesla_eval.connect.parquet import score_parquet
from tesla_eval.texts.tables import Columns
from tests.fixtures import shipped_pairs

ROOT = Path(__file__).resolve().parents[2]
PLAIN = Columns(hyp=("mt",), ref=("ref",))


def write_pairs(path: Path, count: int, *, row_group: int, first: int = 0) -> None:
    """Rows with ids, no two alike."""
    import pyarrow
    from pyarrow import parquet

    pairs = shipped_pairs("en")
    ids = range(first, first + count)
    sides = [[f"{pairs[i % len(pairs)][side]} {i}" for i in ids] for side in (0, 1)]
    table = pyarrow.table({"id": ids, "mt": sides[0], "ref": sides[1]})
    parquet.write_table(table, path, row_group_size=row_group)


def own_scores(*paths: Path) -> Any:
    """Ids and scores by one process and one thread."""
    import pyarrow
    from pyarrow import parquet

    scorer = BatchScorer(metrics_by_name("m", "en"), PLAIN)
    tables = []
    for path in paths:
        output = path.with_suffix(".own")
        score_parquet(str(path), output, scorer)
        tables.append(parquet.read_table(output))
    return pyarrow.concat_tables(tables)


def same_rows(found: Any, expected: Any) -> bool:
    """Whether ids and scores are the same to the last bit, whatever the order of rows."""
    found, expected = found.sort_by("id"), expected.sort_by("id")
    return found["id"].equals(expected["id"]) and found["tesla-m"].equals(expected["tesla-m"])
