"""Scores on disk: the same numbers to the last bit, never computed twice, and clear words when the file is unusable."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval.base import version
from tesla_eval.base.errors import InputError, ResourceError
from tesla_eval.base.records import Signature
from tesla_eval.metrics import create_metric
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.cache import CACHE_VARIABLE, ScoreCache, default_cache_folder
from tesla_eval.metrics.results import SegmentScores


class LengthRatio(Metric):
    """Counts what it is asked to score; gives up on a text that says so."""

    id = "length"

    def __init__(self, version: str = "1") -> None:
        self.version = version
        self.scored: list[str] = []

    def get_signature(self) -> Signature:
        return Signature({"metric": self.id, "version": self.version})

    def score_segments(self, hypotheses, references) -> SegmentScores:
        if "give up" in hypotheses:
            raise KeyboardInterrupt
        self.scored.extend(hypotheses)
        lengths = [
            sum(len(text) for text in texts if text is not None) for texts in zip(*references, strict=True)
        ]
        scores = [len(hypothesis) / (1 + n) for hypothesis, n in zip(hypotheses, lengths, strict=True)]
        return SegmentScores(np.array(scores), np.empty((len(scores), 0)))

    def explain(self, hypothesis, references):
        raise NotImplementedError


def texts(count: int) -> list[str]:
    return [f"text {i}" for i in range(count)]


class TestScores:
    @pytest.mark.parametrize("name", ["m", "bleu", "chrf", "chrf++", "ter"])
    def test_are_those_of_the_metric_to_the_last_bit_fresh_and_kept(self, tmp_path, name):
        metric = create_metric(name, "en")
        hypotheses = ["The cats sat on a mat.", "", "Dogs bark."]
        references = [
            ["The cat sat on the mat.", "Nothing.", "The dogs are barking."],
            ["A cat sat.", None, None],
        ]
        direct = metric.score_segments(hypotheses, references)
        with ScoreCache(tmp_path) as cache:
            fresh = cache.score(metric, hypotheses, references)
        with ScoreCache(tmp_path) as cache:
            kept = cache.score(metric, hypotheses, references)
        for found in (fresh, kept):
            assert found.scores.tolist() == direct.scores.tolist()
            if direct.statistics is None:
                assert found.statistics is None
            else:
                assert found.statistics.tolist() == direct.statistics.tolist()

    def test_equal_segments_are_scored_once_and_a_rerun_scores_nothing(self, tmp_path):
        metric = LengthRatio()
        with ScoreCache(tmp_path) as cache:
            found = cache.score(metric, ["a", "b", "a"], [["x", "x", "x"]])
            assert metric.scored == ["a", "b"]
            assert found.scores.tolist() == [0.5, 0.5, 0.5]
            cache.score(metric, ["b", "a"], [["x", "x"]])
            assert metric.scored == ["a", "b"]

    def test_another_signature_is_another_score(self, tmp_path):
        with ScoreCache(tmp_path) as cache:
            cache.score(LengthRatio("1"), ["a"], [["x"]])
            newer = LengthRatio("2")
            cache.score(newer, ["a"], [["x"]])
        assert newer.scored == ["a"]

    @pytest.mark.parametrize("name", ["length", "m", "bleu", "ter", "rouge1", "nist"])
    def test_a_raised_scoring_number_makes_an_old_cache_unread(self, tmp_path, monkeypatch, name):
        with ScoreCache(tmp_path) as cache:
            for number in (version.SCORING, version.SCORING + 1):
                monkeypatch.setattr(version, "SCORING", number)
                metric = LengthRatio() if name == "length" else create_metric(name, "en")
                assert metric.get_signature()["scoring"] == str(number)
                cache.score(metric, ["a text"], [["one text"]])
            assert len(cache) == 2

    def test_an_interrupted_run_goes_on_where_it_stopped(self, tmp_path):
        many = texts(2000)
        with ScoreCache(tmp_path) as cache, pytest.raises(KeyboardInterrupt):
            cache.score(LengthRatio(), [*many[:-1], "give up"], [many])
        second = LengthRatio()
        with ScoreCache(tmp_path) as cache:
            assert 0 < len(cache) < 2000
            before = len(cache)
            cache.score(second, many, [many])
        assert len(second.scored) == 2000 - before

    def test_progress_counts_every_segment(self, tmp_path):
        steps: list[int] = []
        with ScoreCache(tmp_path) as cache:
            cache.score(LengthRatio(), [*texts(700), "text 0"], [[*texts(700), "text 0"]], steps.append)
        assert sum(steps) == 701

    def test_without_a_disk_nothing_is_written(self, tmp_path):
        metric = LengthRatio()
        with ScoreCache(tmp_path / "folder", on_disk=False) as cache:
            cache.score(metric, ["a"], [["x"]])
            cache.score(metric, ["a"], [["x"]])
        assert metric.scored == ["a"]
        assert not (tmp_path / "folder").exists()

    def test_segments_without_a_reference_are_refused_as_everywhere(self, tmp_path):
        with ScoreCache(tmp_path) as cache, pytest.raises(InputError, match="segment 1 has no reference"):
            cache.score(LengthRatio(), ["a"], [[None]])


@given(
    st.lists(
        st.lists(st.one_of(st.none(), st.text(max_size=3)), min_size=2, max_size=2), min_size=2, max_size=6
    )
)
def test_segments_share_a_key_only_if_all_their_texts_are_equal(rows):
    """Lengths are part of the key: ("ab", "c") is not ("a", "bc"), and a missing reference is not an empty one."""
    from tesla_eval.metrics.cache import _keys

    keys = _keys("metric:x", ["h"] * len(rows), list(zip(*rows, strict=True)))
    assert [[a == b for a in keys] for b in keys] == [[a == b for a in rows] for b in rows]


class TestFile:
    def test_a_damaged_one_is_named_with_a_way_out(self, tmp_path):
        with ScoreCache(tmp_path) as cache:
            cache.score(LengthRatio(), texts(5000), [texts(5000)])
        content = cache.path.read_bytes()
        cache.path.write_bytes(content[:4096] + b"\x5a" * (len(content) - 4096))
        with (
            pytest.raises(
                ResourceError, match=r"scores\.sqlite: the score cache is damaged .* delete the file"
            ),
            ScoreCache(tmp_path) as damaged,
        ):
            damaged.score(LengthRatio(), texts(5000), [texts(5000)])

    def test_another_kind_of_file_is_not_overwritten(self, tmp_path):
        path = tmp_path / "scores.sqlite"
        path.write_bytes(b"these are no scores " * 100)
        with pytest.raises(ResourceError, match="damaged"):
            ScoreCache(tmp_path)
        assert path.read_bytes().startswith(b"these")

    def test_a_newer_format_is_refused(self, tmp_path):
        database = sqlite3.connect(tmp_path / "scores.sqlite")
        database.execute("PRAGMA user_version = 99")
        database.commit()
        database.close()
        with pytest.raises(ResourceError, match="format 99"):
            ScoreCache(tmp_path)

    def test_a_refused_file_is_closed(self, tmp_path, monkeypatch):
        (tmp_path / "scores.sqlite").write_bytes(b"these are no scores " * 100)
        opened = []
        connect = sqlite3.connect

        def connect_and_keep(*arguments, **options):
            opened.append(connect(*arguments, **options))
            return opened[-1]

        monkeypatch.setattr(sqlite3, "connect", connect_and_keep)
        with pytest.raises(ResourceError, match="damaged"):
            ScoreCache(tmp_path)
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            opened[0].total_changes  # noqa: B018

    def test_a_folder_that_cannot_be_made_is_named(self, write):
        with pytest.raises(ResourceError, match="cannot be used"):
            ScoreCache(write("file", ["no folder"]))

    def test_without_a_home_scores_are_not_kept_and_a_warning_says_so(self, tesla, write, homeless):
        file = write("x.seg.tsv", ["lp\ttestset\tsystem\tseg_id\thuman_score\thypothesis\treference"]
                     + [f"de-en\tn\ts{k}\t1\t{k}\ta cat {k}\ta cat" for k in range(3)])  # fmt: skip
        outcome = tesla("meta", "--segments", file, "-m", "m")
        assert outcome.status == 0
        assert "warning: scores are not kept: you have no home folder" in outcome.err
        assert tesla("meta", "--segments", file, "-m", "m", "--no-cache").err == ""

    def test_lies_where_the_variable_says_or_in_the_cache_folder_of_the_platform(self, tmp_path, monkeypatch):
        monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
        assert default_cache_folder() == tmp_path
        monkeypatch.delenv(CACHE_VARIABLE)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
        monkeypatch.setattr("sys.platform", "linux")
        assert default_cache_folder() == tmp_path / "xdg" / "tesla-eval"
        monkeypatch.setattr("sys.platform", "darwin")
        assert default_cache_folder() == Path.home() / "Library" / "Caches" / "tesla-eval"
