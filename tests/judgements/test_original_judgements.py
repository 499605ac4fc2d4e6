"""Judgements in their original formats: WMT's RNK_results.csv, and the folders and tables of DUC and TAC."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tesla_eval.base.errors import InputError
from tesla_eval.judgements.nouns import preferences_of
from tesla_eval.judgements.summaries import read_summaries
from tesla_eval.judgements.wmt import read_rankings
from tests.texts.test_markup import REFERENCES, SYSTEMS

HEADER = (
    "srclang,trglang,srcIndex,documentId,segmentId,judgeId,system1Number,system1Id,system2Number,system2Id,"
    "system3Number,system3Id,system4Number,system4Id,system5Number,system5Id,"
    "system1rank,system2rank,system3rank,system4rank,system5rank"
)


def line(
    systems: list[str], ranks: list[int], *, document: str = "-1", segment: int = 1, judge: str = "ann"
) -> str:
    numbered = ",".join(f"-1,{system}" for system in systems)
    return f"Chinese,English,{segment},{document},{segment},{judge},{numbered},{','.join(map(str, ranks))}"


@pytest.fixture
def csv(tmp_path: Path):
    def write(*lines: str, name: str = "wmt12.RNK_results.csv", header: str = HEADER) -> str:
        (tmp_path / name).write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
        return str(tmp_path / name)

    return write


FIVE = [f"newstest2012.zh-en.{name}" for name in "abcde"]


class TestRankings:
    def test_every_line_is_a_task(self, csv):
        found = read_rankings(
            csv(line(FIVE, [1, 2, 2, 5, -1]), line(FIVE, [3, 1, 1, 1, 1], segment=7, judge="bob"))
        )
        rankings = found["zh-en", "newstest2012"]
        assert rankings.systems == [*"abcd", *"abcde"]
        assert rankings.ranks == [1, 2, 2, 5, 3, 1, 1, 1, 1]
        assert rankings.judges == ["ann"] * 4 + ["bob"] * 5
        assert rankings.segments == ["1"] * 4 + ["7"] * 5
        assert len(set(rankings.tasks)) == 2
        assert rankings.lines[0] == 2

    def test_pairs_are_those_whose_ranks_differ(self, csv):
        found = preferences_of(read_rankings(csv(line(FIVE, [1, 2, 2, 5, -1])))["zh-en", "newstest2012"])
        assert sorted(zip(found.better, found.worse, strict=True)) == [
            ("a", "b"), ("a", "c"), ("a", "d"), ("b", "d"), ("c", "d")
        ]  # fmt: skip

    def test_names_without_a_test_set_get_that_of_the_file(self, csv):
        found = read_rankings(csv(line([*"abcde"], [1, 2, 3, 4, 5], document="d1")))
        assert list(found) == [("zh-en", "wmt12")]
        assert found["zh-en", "wmt12"].segments[0] == "d1:1"

    def test_the_shorter_header_of_2014(self, csv):
        header = (
            "srclang,trglang,srcIndex,segmentId,judgeId,system1Id,system1rank,system2Id,system2rank,rankingID"
        )
        found = read_rankings(csv("ces,eng,4,4,eve,x.y,1,z,2,77", header=header, name="all.csv"))
        assert found["cs-en", "all"].systems == ["x.y", "z"]

    @pytest.mark.parametrize(("bad", "message"), [
        (line(FIVE, [1, 2, 2, 0, 1]), "rank '0' is not"),
        (line(FIVE, [1, 2, 2, 3, 1]).replace(",1,2,2", ",1,x,2"), "rank 'x' is not"),
        ("Chinese,English,1,-1", "has 4 fields, but the header has 21"),
        (line(FIVE, [1, 2, 2, 3, 1]).replace("Chinese", "Klingonese"), "srclang"),
        (line(FIVE, [1, 2, 2, 3, 1]).replace("English,1,", "English,x,"), "srcIndex 'x'"),
    ])  # fmt: skip
    def test_a_broken_line_is_named(self, csv, bad, message):
        path = csv(line(FIVE, [1, 2, 3, 4, 5]), bad)
        with pytest.raises(InputError) as refused:
            read_rankings(path)
        assert f"{path}, line 3: " in str(refused.value)
        assert message in str(refused.value)

    def test_a_header_without_ranks_is_refused(self, csv):
        with pytest.raises(InputError, match="line 1: the header has system1Id, but no system1rank"):
            read_rankings(csv(header=HEADER.replace("system1rank", "other")))


def test_meta_from_sgml_and_original_rankings(tesla, csv, tmp_path):
    (tmp_path / "ref.sgm").write_text(REFERENCES, encoding="utf-8")
    (tmp_path / "sys.sgm").write_text(SYSTEMS, encoding="utf-8")
    header = (
        "srclang,trglang,srcIndex,documentId,segmentId,judgeId,system1Id,system2Id,system1rank,system2rank"
    )
    files = ("-r", str(tmp_path / "ref.sgm"), "--outputs", str(tmp_path / "sys.sgm"))
    by_document = csv(
        "Chinese,English,1,d1,2,ann,s1,s2,1,2", "Chinese,English,1,d2,1,ann,s1,s2,1,2", header=header
    )
    by_number = csv(
        "zho,eng,2,-1,2,ann,s1,s2,1,2", "zho,eng,4,-1,4,ann,s1,s2,1,2", header=header, name="n.csv"
    )
    results = []
    for rankings in (by_document, by_number):
        outcome = tesla(
            "meta", *files, "--rankings", rankings, "-m", "chrf", "--format", "json", "--no-cache"
        )
        assert outcome.status == 0, outcome.err
        results.append(json.loads(outcome.out))
    assert results[0] == results[1]
    values = [r["value"] for r in results[0]["results"] if r["statistic"] == "consistency"]
    assert values
    assert set(values) == {1.0}


def tac(folder: Path, manual: str = "", *, layout: str = "ROUGE") -> Path:
    base = folder / layout if layout else folder
    for name in ("models", "peers"):
        (base / name).mkdir(parents=True)
    for topic in ("D1101-A", "D1102-A"):
        for author in "AB":
            (base / "models" / f"{topic}.M.100.C.{author}").write_text(f"Model {author} of {topic}.\nMore.\n")
        for peer in (1, 12):
            (base / "peers" / f"{topic}.M.100.C.{peer}").write_text(f"Peer {peer} of {topic}.\n")
    if manual:
        (folder / "manual").mkdir()
        (folder / "manual" / "manual.peer.A").write_text(manual)
    return folder


MANUAL = """D1101-A 1 0.5 6 0 12 11 0.4 3 4
D1101-A 12 0.25 3 1 12 11 0.2 2 1
D1102-A 1 0.75 6 0 12 11 0.4 5 5
D1102-A 12 0.125 3 1 12 11 0.2 1 2
D1102-A A 0.125 3 1 12 11 0.2 1 2
"""


class TestSummaries:
    def test_models_are_letters_and_systems_numbers(self, tmp_path):
        found = read_summaries(str(tac(tmp_path / "tac", MANUAL)))
        assert found.systems == ("1", "12")
        assert found.topics == ("D1101-A", "D1102-A")
        assert found.references[0] == ("Model A of D1101-A.\nMore.", "Model B of D1101-A.\nMore.")
        assert found.hypotheses[1] == ("Peer 12 of D1101-A.", "Peer 12 of D1102-A.")
        assert found.human["responsiveness"].tolist() == [[4, 5], [1, 2]]
        assert found.human["linguistic_quality"].tolist() == [[3, 5], [2, 1]]
        assert found.human["pyramid"].tolist() == [[0.5, 0.75], [0.25, 0.125]]

    def test_the_nine_columns_of_2008(self, tmp_path):
        nine = "".join(" ".join([*row.split()[:5], *row.split()[6:]]) + "\n" for row in MANUAL.splitlines())
        found = read_summaries(str(tac(tmp_path / "tac", nine)))
        assert found.human["responsiveness"].tolist() == [[4, 5], [1, 2]]

    def test_folders_without_judgements_and_without_rouge(self, tmp_path):
        found = read_summaries(str(tac(tmp_path / "aesop", layout="")))
        assert found.human == {}
        assert found.systems == ("1", "12")

    def test_tables_of_duc(self, tmp_path):
        folder = tac(tmp_path / "duc", layout="")
        for name in ("models", "peers"):
            for path in (folder / name).iterdir():
                path.rename(path.with_name(path.name.replace("-A", "")))
        (folder / "responsiveness").mkdir()
        (folder / "responsiveness" / "responsiveness.table").write_text(
            "Content responsiveness\n\ncolumn 1: docset\ndocset type assessor peer score\n"
            "D1101 M C 1 4\nD1101 M C 12 2\nD1102 M C 1 3\n"
        )
        (folder / "linguistic_quality.table").write_text("D1101 M C 1 1 5\nD1101 M C 1 2 3\n")
        found = read_summaries(str(folder))
        assert found.human["responsiveness"][:, 0].tolist() == [4, 2]
        assert np.isnan(found.human["responsiveness"][1, 1])
        assert found.human["linguistic_quality.Q2"][0, 0] == 3

    @pytest.mark.parametrize(("bad", "message"), [
        ("D1101-A 1 0.5 6 0", "has 5 fields"),
        ("D1101-A 1 good 6 0 12 11 0.4 3 4", "score 'good' is not a number"),
        ("D1109-A 1 0.5 6 0 12 11 0.4 3 4", "no summary of D1109-A by 1"),
        ("D1101-A 1 0.5 6 0 12 11 0.4 3 4", "a second score"),
    ])  # fmt: skip
    def test_a_broken_table_is_named_with_its_line(self, tmp_path, bad, message):
        folder = tac(tmp_path / "tac", MANUAL + bad + "\n")
        with pytest.raises(InputError) as refused:
            read_summaries(str(folder))
        assert "manual.peer.A, line 6: " in str(refused.value)
        assert message in str(refused.value)

    def test_an_odd_name_is_refused(self, tmp_path):
        folder = tac(tmp_path / "tac")
        (folder / "ROUGE" / "peers" / "notes.txt").write_text("x")
        with pytest.raises(InputError, match=r"notes\.txt: is not called"):
            read_summaries(str(folder))

    def test_score_and_meta_read_the_folder(self, tesla, tmp_path):
        folder = str(tac(tmp_path / "tac", MANUAL))
        outcome = tesla("score", "-m", "s", folder, "--format", "tsv")
        assert outcome.status == 0, outcome.err
        assert [row.split("\t")[0] for row in outcome.out.splitlines()[1:]] == ["1", "12"]
        outcome = tesla(
            "meta", "--summaries", folder, "-m", "s", "--human-score", "responsiveness", "--no-cache"
        )
        assert outcome.status == 0, outcome.err
