"""Scores on disk: the same numbers to the last bit, never computed twice, and clear words when the file is unusable."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval.base import version
from tesla_eval.base.errors import ResourceError, TeslaWarning
from tesla_eval.base.records import Signature
from tesla_eval.metrics import cache as cache_module
from tesla_eval.metrics import create_metric
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.cache import _APPLICATION, CACHE_VARIABLE, ScoreCache, default_cache_folder
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

    def test_a_segment_without_a_reference_has_the_empty_text_as_everywhere(self, tmp_path):
        metric = create_metric("m", "en")
        with ScoreCache(tmp_path) as cache:
            assert cache.score(metric, ["a", ""], [[None, None]]).scores.tolist() == [0, 1]


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


def filled(folder: Path, count: int = 300) -> Path:
    """A cache with the scores of some texts."""
    with ScoreCache(folder) as cache:
        cache.score(LengthRatio(), texts(count), [texts(count)])
    return cache.path


DAMAGES = {
    "bytes flipped": lambda content, draw: flipped(content, draw, draw.choice([1, 2, 8, 64])),
    "a number replaced": lambda content, draw: overwritten(content, draw, draw.randbytes(8)),
    "a stretch zeroed": lambda content, draw: overwritten(content, draw, bytes(draw.choice([16, 200, 4096]))),
    "a page repeated": lambda content, draw: overwritten(content, draw, content[4096:8192], 4096),
    "cut off": lambda content, draw: content[: draw.randrange(1, len(content))],
    "a NaN": lambda content, draw: overwritten(content, draw, np.array(np.nan).tobytes()),
}


def flipped(content: bytes, draw: random.Random, count: int) -> bytes:
    damaged = bytearray(content)
    for _ in range(count):
        damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
    return bytes(damaged)


def overwritten(content: bytes, draw: random.Random, new: bytes, step: int = 1) -> bytes:
    start = draw.randrange(0, len(content) - len(new) + 1, step)
    return content[:start] + new + content[start + len(new) :]


def outcomes_of_damage(folder: Path, trials: int) -> Counter[str]:
    """What became of damaged caches: `right` scores, an `error` that names the file, or `wrong` scores."""
    path = filled(folder)
    whole = path.read_bytes()
    right = LengthRatio().score_segments(texts(300), [texts(300)]).scores.tolist()
    outcomes: Counter[str] = Counter()
    for trial in range(trials):
        draw = random.Random(trial)
        damage = list(DAMAGES.values())[trial % len(DAMAGES)]
        path.write_bytes(damage(whole, draw))
        try:
            with ScoreCache(folder) as cache:
                scored = cache.score(LengthRatio(), texts(300), [texts(300)]).scores.tolist()
            outcomes["right" if scored == right else "wrong"] += 1
        except ResourceError as error:
            assert str(path) in str(error)
            outcomes["error"] += 1
    return outcomes


class TestDamage:
    def test_no_damaged_file_gives_a_wrong_score_or_a_raw_error(self, tmp_path):
        outcomes = outcomes_of_damage(tmp_path, 600)
        assert outcomes["wrong"] == 0
        assert outcomes["right"] > 100 < outcomes["error"]

    @pytest.mark.slow
    def test_nor_does_one_of_ten_thousand(self, tmp_path):
        assert outcomes_of_damage(tmp_path, 10_000)["wrong"] == 0

    @pytest.mark.parametrize(
        "damage", ["numbers = x'00'", "numbers = zeroblob(16)", "numbers = 'text'", "numbers = 1"]
    )
    def test_a_row_that_is_not_what_was_written_is_computed_again_and_replaced(self, tmp_path, damage):
        path = filled(tmp_path, 5)
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute(f"UPDATE scores SET {damage} WHERE key = (SELECT min(key) FROM scores)")
        for scored_again in (1, 0):
            metric = LengthRatio()
            with ScoreCache(tmp_path) as cache:
                assert np.isfinite(cache.score(metric, texts(5), [texts(5)]).scores).all()
            assert len(metric.scored) == scored_again

    def test_the_row_of_other_texts_is_not_taken(self, tmp_path):
        path = filled(tmp_path, 2)
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute("UPDATE scores SET numbers = (SELECT max(numbers) FROM scores)")
        metric = LengthRatio()
        with ScoreCache(tmp_path) as cache:
            cache.score(metric, texts(2), [texts(2)])
        assert len(metric.scored) == 1


def only_reading(monkeypatch) -> None:
    """As on a medium that cannot be written, which file modes do not make of one for the user root."""
    connect = sqlite3.connect

    def read_only(path, **options):
        is_file = path != ":memory:"
        return connect(f"file:{path}?mode=ro" if is_file else path, uri=is_file, **options)

    monkeypatch.setattr(sqlite3, "connect", read_only)


class TestSharing:
    def test_a_run_that_needs_nothing_new_writes_nothing(self, tmp_path):
        path = filled(tmp_path)
        before = path.stat().st_mtime_ns, path.read_bytes()
        with ScoreCache(tmp_path) as cache:
            cache.score(LengthRatio(), texts(300), [texts(300)])
        assert (path.stat().st_mtime_ns, path.read_bytes()) == before

    def test_a_cache_that_cannot_be_written_serves_what_it_has(self, tmp_path, monkeypatch):
        filled(tmp_path)
        only_reading(monkeypatch)
        metric = LengthRatio()
        with ScoreCache(tmp_path) as cache:
            cache.score(metric, texts(300), [texts(300)])
            assert metric.scored == []
            with pytest.warns(TeslaWarning, match=r"scores\.sqlite: new scores are not kept"):
                cache.score(metric, texts(302), [texts(302)])
            assert metric.scored == ["text 300", "text 301"]

    def test_a_neighbour_that_writes_does_not_stop_one_that_only_reads(self, tmp_path):
        path = filled(tmp_path)
        with closing(sqlite3.connect(path, isolation_level=None)) as neighbour:
            neighbour.execute("BEGIN IMMEDIATE")
            metric = LengthRatio()
            with ScoreCache(tmp_path) as cache:
                cache.score(metric, texts(300), [texts(300)])
        assert metric.scored == []

    @pytest.mark.parametrize("locked", ["before it is opened", "after it is opened"])
    def test_without_a_cache_that_a_neighbour_keeps_locked_scores_are_computed(
        self, tmp_path, monkeypatch, locked
    ):
        monkeypatch.setattr(cache_module, "_SECONDS_TO_WAIT", 0.1)
        path = filled(tmp_path)
        right = LengthRatio().score_segments(texts(301), [texts(301)]).scores.tolist()
        with closing(sqlite3.connect(path, isolation_level=None)) as neighbour:
            if locked.startswith("before"):
                neighbour.execute("BEGIN EXCLUSIVE")
                with pytest.warns(TeslaWarning, match="database is locked.*all scores are computed"):
                    cache = ScoreCache(tmp_path)
                scored = cache.score(LengthRatio(), texts(301), [texts(301)])
            else:
                cache = ScoreCache(tmp_path)
                neighbour.execute("BEGIN EXCLUSIVE")
                with pytest.warns(TeslaWarning, match="database is locked.*all scores are computed"):
                    scored = cache.score(LengthRatio(), texts(301), [texts(301)])
            cache.__exit__()
        assert scored.scores.tolist() == right

    def test_a_cache_of_an_older_version_is_emptied_when_there_is_something_to_keep(self, tmp_path):
        path = tmp_path / "scores.sqlite"
        with closing(sqlite3.connect(path, isolation_level=None)) as older:
            older.execute("CREATE TABLE scores (key BLOB PRIMARY KEY, numbers BLOB NOT NULL) WITHOUT ROWID")
            older.execute("INSERT INTO scores VALUES (x'00', x'00')")
            older.execute("PRAGMA user_version = 3")
        before = path.read_bytes()
        with ScoreCache(tmp_path) as cache:
            assert len(cache) == 0 and path.read_bytes() == before
            cache.score(LengthRatio(), texts(2), [texts(2)])
            assert len(cache) == 2

    @pytest.mark.parametrize("statements", [
        ["CREATE TABLE scores (player TEXT, points INTEGER)", "INSERT INTO scores VALUES ('ann', 7)"],
        ["CREATE TABLE scores (player TEXT, points INTEGER)", "PRAGMA user_version = 2"],
        ["CREATE TABLE games (player TEXT)"],
        ["CREATE TABLE games (player TEXT)", "PRAGMA user_version = 99"],
        ["PRAGMA application_id = 42"],
    ])  # fmt: skip
    def test_a_database_of_another_program_is_refused_and_left_as_it_is(self, tmp_path, statements):
        path = tmp_path / "scores.sqlite"
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            for statement in statements:
                database.execute(statement)
        before = path.read_bytes()
        with pytest.raises(ResourceError, match="a database of another program"):
            ScoreCache(tmp_path)
        assert path.read_bytes() == before


class TestFile:
    def test_a_damaged_one_is_named_with_a_way_out(self, tmp_path):
        with ScoreCache(tmp_path) as cache:
            cache.score(LengthRatio(), texts(5000), [texts(5000)])
        content = cache.path.read_bytes()
        cache.path.write_bytes(content[:4096] + b"\x5a" * (len(content) - 4096))
        with (
            pytest.raises(
                ResourceError, match=r"(?s)scores\.sqlite: the score cache is damaged .*hint: delete the file"
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
        database.execute(f"PRAGMA application_id = {_APPLICATION}")
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
