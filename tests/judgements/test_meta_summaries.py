"""Summaries with and without human scores: JSON Lines, folders of texts, the layout of REALSumm and SummEval."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.judgements.summaries import read_summaries
from tests.fixtures import SHARED_DATA

ROW = {"id": "t1", "system": "a", "hypothesis": "one", "references": ["uno", "eins"]}


def write_rows(path: Path, rows: list[Any]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_json_lines_with_missing_summary_and_ragged_references(tmp_path: Path) -> None:
    rows = [ROW, {**ROW, "system": "b"}, {"id": 2, "system": "b", "hypothesis": "two", "references": ["dos"]}]
    found = read_summaries(write_rows(tmp_path / "set.jsonl", rows))
    assert (found.name, found.systems, found.topics) == ("set", ("a", "b"), ("t1", "2"))
    assert found.hypotheses == (("one", None), ("one", "two"))
    assert found.reference_streams == (("uno", "dos"), ("eins", None))


def test_human_scores_become_test_sets(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "set.jsonl", [{**ROW, "human": {"fluency": 3, "coherence": None}}])
    sets = {outputs.testset: outputs.human.tolist() for outputs in read_summaries(path).eval_sets()}
    assert sets["set fluency"] == [[3.0]]
    assert np.isnan(sets["set coherence"]).all()
    assert [s.testset for s in read_summaries(path).eval_sets("fluency")] == ["set fluency"]
    with pytest.raises(UsageError, match="there are fluency, coherence"):
        next(read_summaries(path).eval_sets("relevance"))


def test_any_dimension_of_a_judged_set_is_read(tmp_path: Path) -> None:
    write_rows(tmp_path / "docs.jsonl", [{"doc": 1, "refs": ["uno"]}])
    scores = {
        "informativeness": 4,
        "own dimension": 2.5,
        "rouge1_r": 0.3,
        "BLEU": 12.0,
        "note": "text",
        "flag": True,
    }
    write_rows(tmp_path / "summaries.jsonl", [{"doc": 1, "system": "a", "summary": "one", **scores}])
    assert list(read_summaries(str(tmp_path)).human) == ["informativeness", "own dimension"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([1], "line 2: is JSON, but not an object"),
        ({**ROW, "system": 1.5}, "line 2: 'system' is neither a name"),
        ({"id": "x", "system": "b"}, "line 2: has no 'hypothesis'"),
        ({**ROW, "system": "b", "references": "uno"}, "line 2: 'references' must be a list"),
        ({**ROW, "system": "b", "references": ["other"]}, "line 2: t1 has other references"),
        (ROW, "line 2: a second summary of t1 by a"),
        ({**ROW, "system": "b", "human": {"x": "good"}}, "line 2: the human score 'x' is not a number"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, row: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_summaries(write_rows(tmp_path / "set.jsonl", [ROW, row]))


def test_folder_of_texts(tmp_path: Path) -> None:
    files = {
        "peers/a/d1.x.txt": "One.\nTwo.\n", "peers/a/d2.txt": "Three.", "peers/b/d1.x.txt": "",
        "models/d1.x.A.txt": "Uno.", "models/d1.x.B.txt": "Eins.", "models/d2/first.txt": "Tres.",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = read_summaries(str(tmp_path))
    assert found.topics == ("d1.x", "d2")
    assert found.hypotheses == (("One.\nTwo.", "Three."), ("", None))
    assert found.references == (("Uno.", "Eins."), ("Tres.",))
    (tmp_path / "models" / "d3.txt").write_text("?", encoding="utf-8")
    with pytest.raises(InputError, match=r"d3\.txt: belongs to a topic that no system summarised"):
        read_summaries(str(tmp_path))


def test_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has neither"):
        read_summaries(str(tmp_path))


def test_judged_layout(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "docs.jsonl.gz", "wt") as handle:
        handle.write(json.dumps({"doc": 0, "ref_sents": ["One .", "Two ."]}) + "\n")
    row = {"doc": 0, "system": "s", "sents": ["uno", "dos"], "litepyramid_recall": 0.5, "rouge1_r": 0.1}
    write_rows(tmp_path / "summaries.jsonl", [{**row, "kind": "abs"}, {**row, "kind": "ext"}])
    found = read_summaries(str(tmp_path))
    assert found.systems == ("abs/s", "ext/s")
    assert found.hypotheses[0] == ("uno\ndos",)
    assert found.references == (("One .\nTwo .",),)
    assert list(found.human) == ["litepyramid_recall"]


@pytest.mark.skipif(not (SHARED_DATA / "summaries").is_dir(), reason="needs the shared data")
def test_summeval_has_a_mean() -> None:
    found = read_summaries(str(SHARED_DATA / "summaries" / "summeval"))
    parts = [found.human[name] for name in ("coherence", "consistency", "fluency", "relevance")]
    assert found.human["mean"] == pytest.approx(np.mean(parts, axis=0))
    assert len(found.reference_streams) == 11


def test_models_among_the_systems_as_in_summeval_op(tmp_path: Path) -> None:
    write_rows(tmp_path / "docs.jsonl", [{"doc": 0, "reviews": ["Good.", "Bad."]}])
    rows = [{"doc": 0, "system": name, "summary": name, "Fluency": 5} for name in ("human-summaries", "a")]
    write_rows(tmp_path / "summaries.jsonl", rows)
    found = read_summaries(str(tmp_path))
    assert found.systems == ("a",) and found.references == (("human-summaries",),)
    assert found.sources == ("Good.\nBad.",)
    write_rows(tmp_path / "docs.jsonl", [{"doc": 0, "refs": ["Fair."]}])
    assert read_summaries(str(tmp_path)).systems == ("a", "human-summaries")
