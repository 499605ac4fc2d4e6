"""Arrow batches and Parquet files: the same bits as the Python interface, rows carried over."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tesla_eval import create_metric
from tesla_eval.base.errors import InputError, SegmentError, UsageError
from tesla_eval.connect import batches, parquet
from tesla_eval.connect.batches import SIGNATURE_KEY, BatchScorer, metrics_by_name
from tesla_eval.connect.frames import score_frame
from tesla_eval.texts.tables import Columns
from tests.fixtures import shipped_pairs

arrow = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

PAIRS = shipped_pairs("en")
PLAIN = Columns(hyp=("mt",), ref=("ref",))


def pairs_table(count: int):
    """Rows with ids, no two alike."""
    rows = [PAIRS[i % len(PAIRS)] for i in range(count)]
    return arrow.table(
        {
            "id": [f"s{i}" for i in range(count)],
            "mt": [f"{hypothesis} {i}" for i, (hypothesis, _) in enumerate(rows)],
            "ref": [f"{reference} {i}" for i, (_, reference) in enumerate(rows)],
            "year": [2000 + i for i in range(count)],
        }
    )


def expected_scores(table, metric: str = "m") -> list[float]:
    found = create_metric(metric, "en").score_segments(table["mt"].to_pylist(), [table["ref"].to_pylist()])
    return found.scores.tolist()


@pytest.fixture(scope="module")
def scorer() -> BatchScorer:
    return BatchScorer(metrics_by_name("m", "en"), PLAIN)


class TestBatches:
    @given(cuts=some.lists(some.integers(0, 60), max_size=5))
    def test_scores_have_the_same_bits_however_rows_are_grouped(self, scorer, cuts) -> None:
        table = pairs_table(60)
        ends = sorted({0, 60, *cuts})
        found = [scorer(table.slice(a, b - a).combine_chunks().to_batches()[0]) for a, b in pairwise(ends)]
        scored = arrow.Table.from_batches(found)
        assert scored["tesla-m"].to_pylist() == expected_scores(table)
        assert scored["id"].equals(table["id"])
        assert scored.column_names == ["id", "year", "tesla-m"]

    def test_a_column_of_scores_says_its_signature(self, scorer) -> None:
        field = scorer(pairs_table(2).to_batches()[0]).schema.field("tesla-m")
        assert field.metadata[SIGNATURE_KEY].decode() == str(create_metric("m", "en").get_signature())

    def test_several_systems_metrics_and_references(self) -> None:
        columns = Columns(hyp=("a", "b"), ref=("r", "more"))
        scorer = BatchScorer(metrics_by_name(["m", "chrf"], "en"), columns, keep=())
        batch = arrow.record_batch(
            {
                "a": ["The cats sat.", "A dog."], "b": ["A cat sat.", "Dogs bark."], "r": ["The cat sat.", "The dog."],
                "more": arrow.array([["A cat sat.", "Cats sat.", None], None]),
            }
        )  # fmt: skip
        found = scorer(batch)
        assert found.schema.names == ["a:tesla-m", "a:chrf", "b:tesla-m", "b:chrf"]
        streams = [["The cat sat.", "The dog."], ["A cat sat.", None], ["Cats sat.", None]]
        for name, texts in (("a", batch["a"]), ("b", batch["b"])):
            for metric in ("m", "chrf"):
                made = create_metric(metric, "en")
                wanted = made.score_segments(texts.to_pylist(), streams).scores.tolist()
                assert found[f"{name}:{made.id}"].to_pylist() == wanted

    def test_types_of_text_columns(self, scorer) -> None:
        plain = pairs_table(5)
        wanted = expected_scores(plain)
        for kind in (arrow.large_string(), arrow.dictionary(arrow.int32(), arrow.string())):
            cast = [plain["mt"].cast(arrow.string()), plain["ref"]]
            typed = [
                column.dictionary_encode() if arrow.types.is_dictionary(kind) else column.cast(kind)
                for column in cast
            ]
            batch = arrow.table(typed, names=["mt", "ref"]).combine_chunks().to_batches()[0]
            assert scorer(batch)["tesla-m"].to_pylist() == wanted
        with pytest.raises(InputError, match="'ref' holds int64, not texts"):
            scorer(arrow.record_batch({"mt": ["a"], "ref": [1]}))
        with pytest.raises(InputError, match=r"no column 'ref'.*the columns are mt"):
            scorer(arrow.record_batch({"mt": ["a"]}))

    def test_what_is_missing_is_an_error_that_names_the_row_or_a_null(self, scorer) -> None:
        batch = arrow.record_batch(
            {"id": ["x", "y", "z"], "mt": ["A cat.", None, "A dog."], "ref": ["A cat.", "b", None]}
        )
        strict = BatchScorer(scorer.metrics, PLAIN, missing="error")
        with pytest.raises(InputError, match=r"row 2 of a batch \(id 'y'\): has no 'mt'"):
            strict(batch)
        with pytest.raises(InputError, match=r"f.parquet, row 103 \(id 'z'\): has no 'ref'"):
            strict.score(batch.slice(2), "f.parquet", 102)
        lenient = BatchScorer(scorer.metrics, PLAIN, missing="null")
        found = lenient(batch)["tesla-m"].to_pylist()
        assert found == [expected_scores(arrow.table(batch.slice(0, 1).to_pydict()))[0], None, None]
        assert lenient(batch.slice(1, 1))["tesla-m"].to_pylist() == [None]
        assert lenient(batch.slice(0, 0)).num_rows == 0

    def test_a_text_that_a_metric_refuses_is_named(self) -> None:
        scorer = BatchScorer({"celab": create_metric("celab", "zh", max_units=3)}, PLAIN)
        texts = ["下周", "下周", "下星期见"]
        batch = arrow.record_batch({"id": [1, 2, 3], "mt": texts, "ref": ["下", "下", "下"]})
        with pytest.raises(InputError, match=r"row 3 of a batch \(id 3\): "):
            scorer(batch)

    def test_columns_to_keep(self, scorer) -> None:
        batch = pairs_table(3).to_batches()[0]
        kept = BatchScorer(scorer.metrics, PLAIN, keep=["mt", "id", "mt"])
        assert kept(batch).schema.names == ["mt", "id", "tesla-m"]
        assert kept(batch)["mt"].equals(batch["mt"])
        with pytest.raises(InputError, match="no column 'nothing'"):
            BatchScorer(scorer.metrics, PLAIN, keep=["nothing"])(batch)
        with pytest.raises(InputError, match="'tesla-m' already"):
            scorer(batch.append_column("tesla-m", batch["id"]))

    def test_a_scorer_is_made_once_per_process(self, scorer, monkeypatch) -> None:
        monkeypatch.setattr(batches, "_MADE", {})
        sent = pickle.dumps(scorer)
        first, second = pickle.loads(sent), pickle.loads(sent)
        assert first is second
        batch = pairs_table(3).to_batches()[0]
        assert first(batch).equals(scorer(batch))

    def test_a_worker_with_another_version_refuses(self, scorer, monkeypatch) -> None:
        monkeypatch.setattr(batches, "_MADE", {})
        sent = pickle.dumps(scorer).replace(scorer.key.encode(), b"0" * len(scorer.key))
        with pytest.raises(UsageError, match="same version of tesla-eval on every machine"):
            pickle.loads(sent)

    def test_a_metric_that_needs_the_whole_corpus_is_refused(self) -> None:
        with pytest.raises(UsageError, match="whole corpus"):
            BatchScorer(metrics_by_name("nist", "en"), PLAIN)
        with pytest.raises(UsageError, match="which column"):
            BatchScorer(metrics_by_name("m", "en"), Columns(hyp=("mt",)))


class TestParquet:
    @pytest.mark.parametrize("jobs", ["1", "3"])
    def test_scores_stand_beside_the_ids(self, tesla, tmp_path: Path, monkeypatch, jobs) -> None:
        monkeypatch.setattr(parquet, "_ROWS_AT_ONCE", 64)
        monkeypatch.setattr(parquet, "_ROW_GROUP", 100)
        table = pairs_table(300)
        data, output = tmp_path / "data.parquet", tmp_path / "scores.parquet"
        pq.write_table(table, data, row_group_size=70)
        found = tesla("score", str(data), "-m", "m,bleu", "-j", jobs, "-o", str(output), "--json")
        assert found.status == 0, found.err
        scored = pq.read_table(output)
        assert scored.column_names == ["id", "year", "tesla-m", "bleu"]
        assert scored["id"].equals(table["id"]) and scored["year"].equals(table["year"])
        assert scored["tesla-m"].to_pylist() == expected_scores(table)
        assert scored["bleu"].to_pylist() == expected_scores(table, "bleu")
        system = json.loads(found.out)["systems"][0]
        assert (
            system["metrics"]
            == json.loads(tesla("score", str(data), "-m", "m,bleu", "--json").out)["systems"][0]["metrics"]
        )
        assert sorted(path.name for path in tmp_path.iterdir()) == ["data.parquet", "scores.parquet"]

    def test_columns_of_several_systems_and_what_is_kept(self, tesla, tmp_path: Path) -> None:
        table = pairs_table(9).append_column("other", pairs_table(9)["ref"])
        data, output = str(tmp_path / "d.parquet"), str(tmp_path / "s.parquet")
        pq.write_table(table, data)
        asked = ("score", data, "-m", "m", "--columns", "hyp=mt+other,ref=ref", "-o", output)
        for keep, names in (("none", []), ("year", ["year"]), ("all", table.column_names)):
            found = tesla(*asked, "--keep", keep)
            assert found.status == 0, found.err
            assert pq.read_table(output).column_names == [*names, "mt:tesla-m", "other:tesla-m"]
        assert "mt      " in found.out and "other   " in found.out
        assert tesla(*asked, "--min-score", "m=0.99").status == 1

    def test_references_that_are_missing_do_not_hide_the_language(self, tesla, tmp_path: Path) -> None:
        texts = [hypothesis for hypothesis, _ in shipped_pairs("de")[:20]]
        data, output = str(tmp_path / "d.parquet"), str(tmp_path / "s.parquet")
        pq.write_table(arrow.table({"mt": texts, "a": texts, "b": [None, *texts[1:]]}), data)
        found = tesla("score", "-l", "auto", data, "--columns", "hyp=mt,ref=a+b", "-m", "chrf", "-o", output)
        assert found.status == 0 and "German (de), identified" in found.err

    def test_a_row_that_cannot_be_scored_leaves_no_file(self, tesla, tmp_path: Path) -> None:
        table = pairs_table(5000).to_pydict()
        table["mt"][4321] = None
        data, output = tmp_path / "d.parquet", tmp_path / "s.parquet"
        pq.write_table(arrow.table(table), data)
        found = tesla("score", str(data), "-m", "chrf", "-o", str(output), "--missing", "error")
        assert found.status == 2
        assert f"{data}, row 4322 (id 's4321'): has no 'mt'" in found.err
        assert [path.name for path in tmp_path.iterdir()] == ["d.parquet"]

    @pytest.mark.parametrize(
        ("arguments", "reason"),
        [
            (("{data}", "{data}", "-o", "{out}"), "takes one table"),
            (("-r", "{text}", "{text}", "-o", "{out}"), "takes Parquet tables"),
            (("{data}", "--segments", "-o", "{out}"), "goes without --segments"),
            (("{data}", "-o", "{data}"), "is also an input"),
            (("{data}", "--keep", "id"), "--keep goes with"),
            (("{data}", "--keep", "nothing", "-o", "{out}"), "no column 'nothing'"),
            (("{empty}", "-o", "{out}"), "is empty"),
            (("{data}", "-m", "nist", "-o", "{out}"), "whole corpus"),
            (("{broken}", "-o", "{out}"), "Parquet"),
            (("{data}", "--columns", "hyp=mt+mt", "-o", "{out}"), "name each column of hypotheses once"),
            (("{data}", "--columns", "hyp=year", "-o", "{out}"), "data.parquet: column 'year' holds int64, not texts"),
            (("{alone}", "-o", "{out}"), "alone.parquet: which column holds the references? Write --columns"),
        ],
    )  # fmt: skip
    def test_what_is_refused(self, tesla, write, tmp_path: Path, arguments, reason) -> None:
        pq.write_table(pairs_table(3), tmp_path / "data.parquet")
        pq.write_table(pairs_table(0), tmp_path / "empty.parquet")
        pq.write_table(pairs_table(3).drop_columns("ref"), tmp_path / "alone.parquet")
        names = {
            "data": str(tmp_path / "data.parquet"), "empty": str(tmp_path / "empty.parquet"),
            "alone": str(tmp_path / "alone.parquet"),
            "text": write("t.txt", ["A cat."]), "broken": write("b.parquet", b"PAR1 nothing"),
            "out": str(tmp_path / "out.parquet"),
        }  # fmt: skip
        metric = () if "-m" in arguments else ("-m", "m")
        found = tesla("score", *metric, *(text.format(**names) for text in arguments))
        assert (found.status, found.out) == (2, ""), found.err
        assert reason in found.err
        assert not (tmp_path / "out.parquet").exists()

    @pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
    def test_memory_does_not_grow_with_the_file(self, tmp_path: Path) -> None:
        """One row group of four times the rows, 50 MB more: the peak stays where it is."""
        peaks = []
        for count in (30_000, 120_000):
            data = tmp_path / f"{count}.parquet"
            long = [f"{i % 977} " + "The cat sat on the mat. " * 12 for i in range(count)]
            pq.write_table(arrow.table({"id": range(count), "mt": long, "ref": long}), data, row_group_size=count,
                           use_dictionary=False, compression="none")  # fmt: skip
            code = (
                "import sys; from tesla_eval.cli import main; sys.argv = sys.argv[1:]\n"
                "try: main()\n"
                "finally: print(*[x for x in open('/proc/self/status') if 'VmHWM' in x], file=sys.stderr)"
            )
            done = subprocess.run(
                [sys.executable, "-c", code, "tesla", "score", str(data), "-l", "en", "-m", "bleu", "-q",
                 "-o", str(tmp_path / "scores.parquet")],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            peaks.append(int(done.stderr.split()[-2]) / 1024)
        assert peaks[1] < peaks[0] + 25, peaks


class TestMissing:
    """One policy, whoever calls: an error that names file and row, a null score, or no row."""

    @pytest.fixture
    def file(self, tmp_path: Path) -> str:
        table = pairs_table(5).set_column(1, "mt", arrow.array(["a b", None, "c d", "e f", None]))
        pq.write_table(table, tmp_path / "data.parquet")
        return str(tmp_path / "data.parquet")

    def test_tables_that_are_scored_into_tables(self, tesla, file, tmp_path) -> None:
        output = tmp_path / "out.parquet"
        asked = ("score", "-m", "m", file, "-o", str(output), "--missing")
        refused = tesla(*asked, "error")
        assert refused.status == 2
        assert f"{file}, row 2 (id 's1'): has no 'mt'" in refused.err
        assert tesla(*asked, "null").status == 0
        assert [score is None for score in pq.read_table(output)["tesla-m"].to_pylist()] == [0, 1, 0, 0, 1]
        assert tesla(*asked, "skip").status == 0
        assert pq.read_table(output)["id"].to_pylist() == ["s0", "s2", "s3"]

    def test_tables_that_are_scored_as_systems(self, tesla, file) -> None:
        refused = tesla("score", "-m", "m", file, "--missing", "error")
        assert refused.status == 2
        assert f"{file}, row 2: has no 'mt'" in refused.err
        skipped = tesla("score", "-m", "m", file, "--missing", "skip", "--json", "--segments")
        assert len(json.loads(skipped.out)["systems"][0]["metrics"]["tesla-m"]["segments"]) == 3
        assert f"2 of 5 rows were skipped; the first is {file}, row 2, which has no 'mt'" in skipped.err
        assert "-o FILE.parquet" in tesla("score", "-m", "m", file, "--missing", "null").err

    def test_frames(self, file) -> None:
        table = pq.read_table(file)
        asked = (table, "mt", "ref", "m", "en")
        assert score_frame(*asked)["tesla-m"].null_count == 2
        assert score_frame(*asked, missing="skip")["id"].to_pylist() == ["s0", "s2", "s3"]
        with pytest.raises(InputError, match="row 2 of the frame lacks a text"):
            score_frame(*asked, missing="error")
        with pytest.raises(UsageError, match="write one of 'empty', 'error', 'null', 'skip'"):
            score_frame(*asked, missing="drop")

    def test_a_refused_row_is_named_by_its_own_number_although_others_are_skipped(
        self, file, monkeypatch
    ) -> None:
        metric = create_metric("m", "en")
        scorer = BatchScorer({"m": metric}, PLAIN, missing="skip")

        def refuse(metric, texts, *others):
            raise SegmentError(InputError("too long"), 1)

        monkeypatch.setattr(batches, "score_texts", refuse)
        with pytest.raises(InputError, match=r"data, row 3 \(id 's2'\): too long"):
            scorer.score(pq.read_table(file).to_batches()[0], "data")
