"""Readers of WMT tables and of mt-metrics-eval's folders: what they give, and how they refuse."""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import numpy as np
import pytest

from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.judgements.judges import annotator_agreement
from tesla_eval.judgements.nouns import SystemScores, preferences_of, win_table
from tesla_eval.judgements.wmt import (
    language_pairs,
    read_eval_set,
    read_human_systems,
    read_preferences,
    read_rankings,
    read_score_file,
    read_segments,
    read_system_scores,
    write_score_file,
)
from tesla_eval.statistics.agreements import expected_wins

WMT = Path(__file__).parents[3] / "shared" / "data" / "wmt"
needs_wmt = pytest.mark.skipif(not WMT.is_dir(), reason="the WMT data are not here")


def write(path: Path, *rows: str) -> str:
    """Rows with | for tabs, gzipped if the name says so."""
    data = "".join(row.replace("|", "\t") + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return str(path)


SEGMENT_HEADER = "lp|testset|system|seg_id|human_score|hypothesis|reference"
PAIR_HEADER = "lp|testset|seg_id|system_better|system_worse"
RANK_HEADER = "lp|testset|seg_id|task|judge|system|rank"
SYSTEM_HEADER = "lp|testset|system|human_system_score|score_type|n_judgements"


class TestSegments:
    def test_tables_have_a_row_a_system_and_a_column_a_segment(self, tmp_path):
        path = write(
            tmp_path / "x.seg.tsv.gz",
            SEGMENT_HEADER + "|reference2",
            "de-en|news|sysB|1|0.5|hallo|hello|hi",
            "de-en|news|sysA|1||hello|hello|hi",
            "de-en|news|sysB|2|-1|wurld|world|",
            "cs-en|news|sysC|1||a|b|",
        )
        first, second = read_segments(path)
        assert first.key == ("de-en", "news")
        assert first.systems == ("sysA", "sysB")
        assert first.segments == ("1", "2")
        assert first.hypotheses == (("hello", None), ("hallo", "wurld"))
        assert first.references == (("hello", "world"), ("hi", None))
        assert np.array_equal(first.human, [[math.nan, math.nan], [0.5, -1]], equal_nan=True)
        assert second.systems == ("sysC",)

    def test_language_pairs_can_be_chosen(self, tmp_path):
        path = write(tmp_path / "x", SEGMENT_HEADER, "de-en|n|s|1||h|r", "cs-en|n|s|1||h|r")
        assert [found.lp for found in read_segments(path, lps={"cs-en"})] == ["cs-en"]

    def test_a_single_empty_reference_is_the_empty_text(self, tmp_path):
        (found,) = read_segments(write(tmp_path / "x", SEGMENT_HEADER, "de-en|n|s|1||h|"))
        assert found.first_reference == ("",)

    def test_the_first_reference_is_the_first_that_a_segment_has(self, tmp_path):
        header = SEGMENT_HEADER + "|reference2"
        (found,) = read_segments(write(tmp_path / "x", header, "a-b|n|s|1||h|r1|r2", "a-b|n|s|2||h||only"))
        assert found.first_reference == ("r1", "only")

    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            (["lp|system"], "line 1: the header must have the columns lp testset system seg_id"),
            ([], "line 1: the header must have"),
            ([SEGMENT_HEADER + "|system"], "line 1: the header"),
            ([SEGMENT_HEADER, "de-en|n|s|1||h|r", "de-en|n|s|2||h"], "line 3: has 6 fields instead of 7"),
            ([SEGMENT_HEADER, "de-en|n|s|1|good|h|r"], "line 2: human_score 'good' is not a number"),
            ([SEGMENT_HEADER, "de-en|n|s|1|1_000|h|r"], "line 2: human_score '1_000' is not a number"),
            ([SEGMENT_HEADER, "de-en|n|s|1|nan|h|r"], "line 2: human_score 'nan' is not a number"),
            (
                [SEGMENT_HEADER, "de-en|n|s|1||h|r", "de-en|n|s|1||h|r"],
                "line 3: a second output of system s for segment 1",
            ),
            (
                [SEGMENT_HEADER, "de-en|n|s|1||h|r", "de-en|n|t|1||h|other"],
                "line 3: segment 1 has other references",
            ),
            (
                [SEGMENT_HEADER, "de-en|n|s|1||h|r", "cs-en|n|s|1||h|r", "de-en|n|t|1||h|r"],
                "line 4: the rows of de-en n are not next to each other",
            ),
        ],
    )
    def test_what_is_wrong_is_named_with_file_and_line(self, tmp_path, rows, message):
        path = write(tmp_path / "bad.seg.tsv", *rows)
        with pytest.raises(InputError, match=message) as error:
            list(read_segments(path))
        assert "bad.seg.tsv" in str(error.value)

    def test_reading_is_by_test_set(self, tmp_path):
        path = write(tmp_path / "x", SEGMENT_HEADER, "de-en|n|s|1||h|r", "cs-en|n|s|1|oops|h|r")
        sets = read_segments(path)
        assert next(sets).lp == "de-en"
        with pytest.raises(InputError, match="line 3"):
            next(sets)


class TestPreferences:
    def test_are_grouped_and_joined_by_name(self, tmp_path):
        pairs = read_preferences(write(tmp_path / "p", PAIR_HEADER, "de-en|n|2|b|a", "de-en|n|1|a|b"))
        outputs = write(
            tmp_path / "s", SEGMENT_HEADER, *(f"de-en|n|{s}|{i}||h|r" for i in (1, 2) for s in "ab")
        )
        (found,) = read_segments(outputs)
        table = pairs["de-en", "n"].joined(found)
        assert (table.segment.tolist(), table.better.tolist(), table.worse.tolist()) == (
            [1, 0],
            [1, 0],
            [0, 1],
        )
        assert table.wins(2).tolist() == [[0, 1], [1, 0]]

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            ("de-en|n|1|a|zz", "p, line 3: system zz has no output for de-en n"),
            ("de-en|n|9|a|b", "p, line 3: segment 9 has no output for de-en n"),
        ],
    )
    def test_a_judgement_of_what_is_not_there_is_named(self, tmp_path, row, message):
        pairs = read_preferences(write(tmp_path / "p", PAIR_HEADER, "de-en|n|1|a|b", row))
        (found,) = read_segments(
            write(tmp_path / "s", SEGMENT_HEADER, "de-en|n|a|1||h|r", "de-en|n|b|1||h|r")
        )
        with pytest.raises(InputError, match=message):
            pairs["de-en", "n"].joined(found)

    def test_files_have_different_test_sets(self, tmp_path):
        first, second, again = (
            write(tmp_path / name, PAIR_HEADER, f"de-en|{testset}|1|a|b")
            for name, testset in (("p", "n"), ("q", "m"), ("r", "n"))
        )
        assert list(read_preferences(first, second)) == [("de-en", "n"), ("de-en", "m")]
        with pytest.raises(InputError, match="r: the preferences for de-en n are also in an earlier file"):
            read_preferences(first, second, again)

    def test_a_system_is_not_better_than_itself(self, tmp_path):
        with pytest.raises(InputError, match="line 2: system a is compared with itself"):
            read_preferences(write(tmp_path / "p", PAIR_HEADER, "de-en|n|1|a|a"))


class TestRankings:
    @pytest.fixture
    def rankings(self, tmp_path):
        rows = [
            *(f"de-en|n|1|t1|ann|{system}|{rank}" for system, rank in (("a", 1), ("b", 2), ("c", 2))),
            *(f"de-en|n|1|t2|bob|{system}|{rank}" for system, rank in (("c", 3), ("a", 2), ("b", 1))),
        ]
        return read_rankings(write(tmp_path / "r", RANK_HEADER, *rows))["de-en", "n"]

    def test_unroll_to_preferences_without_ties(self, rankings):
        found = preferences_of(rankings)
        assert sorted(zip(found.better, found.worse, strict=True)) == [
            ("a", "b"), ("a", "c"), ("a", "c"), ("b", "a"), ("b", "c"),
        ]  # fmt: skip

    def test_agreement_by_hand(self, rankings):
        # ann and bob agree on a > c; they differ on a-b, and ann ties b-c.
        result = annotator_agreement(rankings)
        assert (result.p_agree, result.n) == (1 / 3, 3)
        assert result.kappa == pytest.approx(0, abs=1e-12)
        assert annotator_agreement(rankings, same_judge=True).n == 0

    def test_expected_wins_by_hand(self, rankings):
        # a: 1/2 against b, 2/2 against c; b: 1/2 and 1/1; c never wins.
        systems, wins = win_table(preferences_of(rankings))
        assert dict(zip(systems, expected_wins(wins).tolist(), strict=True)) == {"a": 0.75, "b": 0.75, "c": 0}

    @pytest.mark.parametrize("rank", ["0", "-1", "1.5", "", "²"])
    def test_a_rank_is_a_positive_whole_number(self, tmp_path, rank):
        with pytest.raises(InputError, match="line 2: rank"):
            read_rankings(write(tmp_path / "r", RANK_HEADER, f"de-en|n|1|t|ann|a|{rank}"))


class TestSystemScores:
    def test_the_official_type_is_the_default(self, tmp_path):
        rows = [
            f"de-en|n|{s}|{v}|{t}|9"
            for t, v in (("win_ratio", 0.5), ("trueskill_official", 1.5))
            for s in "ab"
        ]
        scores = read_system_scores(write(tmp_path / "x", SYSTEM_HEADER, *rows))["de-en", "n"]
        assert scores.chosen(("a", "b"))[0] == "trueskill_official"
        assert scores.chosen(("a", "b"), "win_ratio")[1].tolist() == [0.5, 0.5]

    def test_a_type_that_covers_more_systems_comes_before_it(self):
        scores = SystemScores("x", {"mqm": {"a": 1.0}, "da_z": {"a": 0.1, "b": 0.2}})
        assert scores.chosen(("a", "b"))[0] == "da_z"
        name, values = scores.chosen(("a", "b"), "mqm")
        assert name == "mqm"
        assert np.array_equal(values, [1.0, math.nan], equal_nan=True)

    def test_a_type_that_is_not_there_is_refused(self):
        with pytest.raises(UsageError, match="type 'esa'; there are: mqm"):
            SystemScores("x", {"mqm": {"a": 1.0}}).chosen(("a",), "esa")

    def test_two_scores_for_one_system_are_refused(self, tmp_path):
        with pytest.raises(InputError, match="line 3: a second mqm score for system a"):
            read_system_scores(write(tmp_path / "x", SYSTEM_HEADER, *["de-en|n|a|1|mqm|9"] * 2))


class TestMtMetricsEval:
    @pytest.fixture
    def folder(self, tmp_path):
        files = {
            "references/de-en.refA.txt": "one\n\nthree\n",
            "references/de-en.refB.txt": "1\n2\n3\n",
            "system-outputs/de-en/sysA.txt": "uno\ndos\ntres\n",
            "system-outputs/de-en/sysB.txt": "un\ndeux\ntrois\n",
            "system-outputs/de-en/refB.txt": "1\n2\n3\n",
            "human-scores/de-en.mqm.seg.score": "sysA\t-1\nsysA\tNone\nsysA\t0\nrefB 0\nrefB 0\nrefB 0\n",
            "human-scores/de-en.da.seg.score": "sysA 70\nsysA 80\nsysA 90\n",
            "human-scores/de-en.mqm.sys.score": "sysA -0.5\nsysB None\n",
        }
        for name, text in files.items():
            path = tmp_path / "wmt99" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path / "wmt99"

    def test_reads_texts_and_scores(self, folder):
        found = read_eval_set(folder, "de-en")
        assert language_pairs(folder) == ["de-en"]
        assert found.key == ("de-en", "wmt99")
        assert found.systems == ("sysA", "sysB")
        assert found.hypotheses[1] == ("un", "deux", "trois")
        assert found.references == (("one", "", "three"), ("1", "2", "3"))
        assert found.first_reference == ("one", "2", "three")
        assert np.array_equal(found.human, [[-1, math.nan, 0], [math.nan] * 3], equal_nan=True)

    def test_kind_of_score_and_human_translations_can_be_chosen(self, folder):
        assert read_eval_set(folder, "de-en", score_name="da").human[0].tolist() == [70, 80, 90]
        assert read_eval_set(folder, "de-en", human_translations=True).systems == ("refB", "sysA", "sysB")
        with pytest.raises(UsageError, match="no seg scores 'esa' for de-en; there are: da, mqm"):
            read_eval_set(folder, "de-en", score_name="esa")

    def test_system_scores(self, folder):
        assert read_human_systems(folder, "de-en").by_type == {"mqm": {"sysA": -0.5}}

    def test_written_scores_are_read_back_to_the_bit(self, folder):
        scores = {"sysA": [0.1, 1 / 3, 1e-17], "sysB": [0.0, -2.5, 100.0]}
        path = write_score_file(folder, "de-en", "chrf", ["refA", "refB"], scores)
        assert path == folder / "metric-scores" / "de-en" / "chrf-refA.refB.seg.score"
        assert read_score_file(path) == scores

    def test_a_metric_without_references_is_named_so(self, folder):
        path = write_score_file(folder, "de-en", "dicomer", [], {"sysA": [1.0]}, level="sys")
        assert path.name == "dicomer-src.sys.score"

    def test_a_metric_file_has_no_gaps(self, folder):
        with pytest.raises(InputError, match="system sysA has no score for seg 2"):
            write_score_file(folder, "de-en", "m", ["refA"], {"sysA": [1.0, math.nan]})
        assert not (folder / "metric-scores").exists()

    @pytest.mark.parametrize(
        ("name", "text", "message"),
        [
            ("system-outputs/de-en/sysA.txt", "uno\ndos\n", "sysA.txt: 2 lines, but the references have 3"),
            ("references/de-en.refB.txt", "1\n", "references of de-en differ in length"),
            (
                "human-scores/de-en.mqm.seg.score",
                "sysA 1\n",
                "1 scores for system sysA, but there are 3 segments",
            ),
            ("human-scores/de-en.mqm.seg.score", "sysA 1 2\n", "line 1: has 3 fields"),
            ("human-scores/de-en.mqm.seg.score", "sysA 1\nsysA bad\n", "line 2: score 'bad' is not a number"),
            ("human-scores/de-en.mqm.seg.score", "sysA inf\n", "line 1: score 'inf' is not a number"),
        ],
    )
    def test_what_is_wrong_is_named(self, folder, name, text, message):
        (folder / name).write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=message):
            read_eval_set(folder, "de-en")

    def test_folders_without_data_are_named(self, folder, tmp_path):
        with pytest.raises(InputError, match="no references for fr-en"):
            read_eval_set(folder, "fr-en")
        with pytest.raises(InputError, match="has no folder system-outputs"):
            language_pairs(tmp_path)


@needs_wmt
class TestWmtData:
    def test_expected_wins_are_those_of_the_data(self):
        """`system_scores.tsv.gz` holds them to five digits, computed from the same preferences elsewhere."""
        scores = read_system_scores(str(WMT / "system_scores.tsv.gz"))
        for key, preferences in read_preferences(str(WMT / "wmt14-rr.pairs.tsv.gz")).items():
            systems, wins = win_table(preferences)
            expected = dict(zip(systems, expected_wins(wins).tolist(), strict=True))
            assert expected == pytest.approx(scores[key].by_type["expected_wins"], abs=6e-6)

    def test_rankings_unroll_to_the_preferences_of_the_data(self):
        rankings = read_rankings(str(WMT / "wmt12-rr.rawranks.tsv.gz"))
        preferences = read_preferences(str(WMT / "wmt12-rr.pairs.tsv.gz"))
        for key, expected in preferences.items():
            found = preferences_of(rankings[key])
            rows = (sorted(zip(p.segments, p.better, p.worse, strict=True)) for p in (found, expected))
            assert next(rows) == next(rows)

    @pytest.mark.slow
    @pytest.mark.parametrize("name", sorted(path.name for path in WMT.glob("*.seg.tsv.gz")))
    def test_every_file_reads_and_joins(self, name):
        pairs_file = WMT / name.replace(".seg.", ".pairs.")
        preferences = read_preferences(str(pairs_file)) if pairs_file.exists() else {}
        scores = read_system_scores(str(WMT / "system_scores.tsv.gz"))
        for outputs in read_segments(str(WMT / name)):
            if outputs.key in preferences:
                assert len(preferences[outputs.key].joined(outputs)) == len(preferences[outputs.key])
            _, values = scores[outputs.key].chosen(outputs.systems)
            assert np.isnan(values).sum() < len(values) / 2
