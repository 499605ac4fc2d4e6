"""`tesla compare`: systems against each other, from texts and from score files."""

from __future__ import annotations

import json
import re
import sys
import tracemalloc

import numpy as np
import pytest
import scipy.stats

REFERENCE = [f"Sentence number {i} has a cat, a dog and {i} other small animals." for i in range(40)]
GOOD = [line.replace("other ", "") for line in REFERENCE]
POOR = [line.replace("cat", "dog").replace("small", "big").replace("number", "no") for line in REFERENCE]
MIXED = [good if i % 2 else poor for i, (good, poor) in enumerate(zip(GOOD, POOR, strict=True))]


@pytest.fixture
def files(write):
    texts = {"ref": REFERENCE, "good": GOOD, "poor": POOR, "mixed": MIXED}
    return {name: write(f"{name}.txt", lines) for name, lines in texts.items()}


@pytest.fixture
def compared(tesla, files):
    """Runs the command on the three systems and returns what the JSON says of the first metric."""

    def run(*arguments: str, systems=("good", "poor", "mixed")):
        outcome = tesla(
            "compare", "-r", files["ref"], *(files[s] for s in systems), "--format", "json", *arguments
        )
        assert outcome.status == 0, outcome.err
        return json.loads(outcome.out)["metrics"][0]

    return run


def pair(found, files, first, second):
    return next(p for p in found["pairs"] if (p["first"], p["second"]) == (files[first], files[second]))


class TestFromTexts:
    @pytest.mark.parametrize("metric", ["m", "bleu", "chrf", "ter"])
    def test_scores_are_those_of_tesla_score_inside_their_intervals(self, compared, tesla, files, metric):
        systems = [files[name] for name in ("good", "poor", "mixed")]
        scored = json.loads(
            tesla("score", "-r", files["ref"], *systems, "-m", metric, "--format", "json").out
        )
        found = compared("-m", metric)
        for row, expected in zip(found["systems"], scored["systems"], strict=True):
            (cell,) = expected["metrics"].values()
            assert row["score"] == pytest.approx(cell["score"], abs=1e-9)
            assert row["low"] <= row["score"] <= row["high"]
        assert len(found["pairs"]) == 3

    @pytest.mark.parametrize("metric", ["m", "x", "bleu", "chrf", "ter", "nist"])
    def test_scores_equal_those_of_tesla_score_to_the_last_digit(self, compared, tesla, files, metric):
        """One sum, in one order."""
        systems = [files[name] for name in ("good", "poor", "mixed")]
        scored = json.loads(tesla("score", "-r", files["ref"], *systems, "-m", metric, "--json").out)[
            "systems"
        ]
        expected = [score["score"] for row in scored for score in row["metrics"].values()]
        found = compared("-m", metric)
        assert [row["score"] for row in found["systems"]] == expected
        by_name = dict(zip(systems, expected, strict=True))
        for test in found["pairs"]:
            assert test["difference"] == by_name[test["first"]] - by_name[test["second"]]

    @pytest.mark.parametrize("metric", ["m", "ter"])
    def test_the_better_system_wins_whichever_way_the_metric_counts(self, compared, files, metric):
        found = compared("-m", metric)
        test = pair(found, files, "good", "poor")
        assert test["wins"] == 1.0
        assert test["superiority"] == 1.0
        assert test["significant"]
        assert (test["difference"] > 0) == (metric == "m")
        assert [row["cluster"] for row in found["systems"]] == [1, 3, 2]

    def test_holm_never_makes_a_p_value_smaller(self, compared):
        for test in compared("-m", "m")["pairs"]:
            assert test["p_randomisation"] <= test["p_randomisation_holm"] <= 1
            assert test["p_bootstrap"] <= test["p_bootstrap_holm"] <= 1

    def test_the_sign_test_counts_segments_won_and_lost(self, write, tesla):
        rows = [f"{s}\t{k}\tm\t{score}" for k, (a, b) in enumerate([(1, 0)] * 9 + [(0, 1)] * 2 + [(1, 1)] * 4, start=1)
                for s, score in (("A", a), ("B", b))]  # fmt: skip
        path = write("scores.tsv", ["system\tsegment\tmetric\tscore", *rows])
        (found,) = json.loads(tesla("compare", "--scores", path, "--format", "json").out)["metrics"]
        expected = scipy.stats.binomtest(9, 11).pvalue
        assert found["pairs"][0]["p_sign"] == found["pairs"][0]["p_sign_holm"] == pytest.approx(expected)
        assert "p sign" in tesla("compare", "--scores", path).out
        docs = write("docs.txt", ["d1"] * 5 + ["d2"] * 10)
        (found,) = json.loads(tesla("compare", "--scores", path, "--docs", docs, "--format", "json").out)[
            "metrics"
        ]
        assert found["pairs"][0]["p_sign"] == 0.5  # both documents are won

    def test_equal_systems_do_not_differ(self, tesla, files, write):
        twin = write("twin.txt", GOOD)
        outcome = tesla(
            "compare", "-r", files["ref"], files["good"], twin, "-m", "m,bleu", "--format", "json"
        )
        for found in json.loads(outcome.out)["metrics"]:
            (test,) = found["pairs"]
            assert (test["difference"], test["wins"], test["p_randomisation"]) == (0.0, 0.5, 1.0)
            assert [row["cluster"] for row in found["systems"]] == [1, 1]

    def test_a_baseline_is_compared_with_all_others_only(self, compared, files):
        found = compared("--baseline", files["mixed"])
        assert [p["second"] for p in found["pairs"]] == [files["mixed"]] * 2
        assert {row["cluster"] for row in found["systems"]} == {None}

    def test_the_seed_decides_and_threads_do_not(self, compared):
        assert compared("--seed", "7") == compared("--seed", "7", "-j", "2")
        assert compared("--seed", "7") != compared("--seed", "8")

    def test_agrees_with_sacrebleu_on_the_interval_of_corpus_bleu(self, compared):
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.significance import PairedTest

        systems = [("good", GOOD), ("mixed", MIXED), ("poor", POOR)]
        bleu = BLEU(references=[REFERENCE])
        peer = PairedTest(systems, {"BLEU": bleu}, references=None, test_type="bs", n_samples=2000)()[1][
            "BLEU"
        ]
        ours = compared("-m", "bleu", "--resamples", "2000", systems=("good", "mixed", "poor"))["systems"]
        for row, theirs in zip(ours, peer, strict=True):
            assert row["score"] == pytest.approx(theirs.score, abs=1e-9)
            assert (row["high"] - row["low"]) / 2 == pytest.approx(theirs.ci, rel=0.15, abs=0.05)


class TestManySystems:
    @pytest.fixture
    def scores(self, write):
        """Thirteen systems, each clearly better than the next."""
        rows = [
            f"s{k:02}\t{i}\tm\t{0.9 - 0.05 * k + 0.001 * (i * 7 % 11)}" for i in range(60) for k in range(13)
        ]
        return write("scores.tsv", ["system\tsegment\tmetric\tscore", *rows])

    def test_clear_differences_stay_significant(self, tesla, scores):
        (found,) = json.loads(tesla("compare", "--scores", scores, "--json").out)["metrics"]
        assert found["resamples"] == 31200
        assert [row["cluster"] for row in found["systems"]] == list(range(1, 14))
        assert "31200 resamples" in tesla("compare", "--scores", scores).out

    def test_too_few_resamples_are_refused_before_scoring(self, tesla, files, write, monkeypatch):
        monkeypatch.setattr(
            "tesla_eval.cli.compare.score_systems", lambda *_, **__: pytest.fail("was scored")
        )
        systems = [write(f"{k}.txt", POOR) for k in range(13)]
        for command in (["compare"], ["report", "-o", write("r.html", [])]):
            outcome = tesla(*command, "-m", "m", "-r", files["ref"], *systems, "--resamples", "1000")
            assert outcome.status == 2
            assert "at least 1559" in outcome.err
            assert "language:" not in outcome.err

    def test_more_pairs_than_can_be_tested_are_refused_before_scoring(self, tesla, files, write, monkeypatch):
        for command in ("compare", "report"):
            monkeypatch.setattr(
                f"tesla_eval.cli.{command}.score_systems", lambda *_, **__: pytest.fail("was scored")
            )
        systems = [write(f"{k}.txt", POOR) for k in range(300)]
        for command in (["compare"], ["report", "-o", write("r.html", [])]):
            outcome = tesla(*command, "-m", "m", "-r", files["ref"], *systems)
            assert outcome.status == 2
            assert "44,850 comparisons with up to 17,940,000 resamples each" in outcome.err
            assert "hint: compare all systems with one of them (--baseline, " in outcome.err
            assert not outcome.out

    def test_three_hundred_systems_are_compared_with_a_baseline(self, tesla, write):
        """In memory that does not grow with the number of pairs times that of the resamples."""
        rows = [f"s{k}\t{i}\tm\t{(k * 7 + i * (k + 3)) % 101}" for i in range(20) for k in range(300)]
        path = write("scores.tsv", ["system\tsegment\tmetric\tscore", *rows])
        tracemalloc.start()
        outcome = tesla("compare", "--scores", path, "--baseline", "s0", "--json", "--alpha", "0.9")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        (found,) = json.loads(outcome.out)["metrics"]
        assert len(found["pairs"]) == 299
        assert peak < 100e6

    def test_too_few_documents_for_any_difference_are_said(self, tesla, scores, write):
        docs = write("docs.txt", ["d1"] * 20 + ["d2"] * 40)
        out = tesla("compare", "--scores", scores, "--docs", docs).out
        assert "2 documents are too few for any difference to reach level 0.05" in out


class TestDocuments:
    def test_are_resampled_whole_and_scored_in_order_of_appearance(self, compared, write):
        docs = write("docs.txt", ["z"] * 10 + ["b"] * 10 + ["c"] * 20)
        found = compared("-m", "bleu", "--docs", docs)
        assert (found["segments"], found["units"]) == (40, 3)
        assert [row["document"] for row in found["documents"]] == ["z", "b", "c"]

    def test_a_document_scores_as_its_segments_alone(self, compared, tesla, files, write):
        docs = write("docs.txt", ["first"] * 15 + ["second"] * 25)
        document = compared("-m", "bleu", "--docs", docs)["documents"][0]
        part = [write(f"part-{i}", lines[:15]) for i, lines in enumerate((REFERENCE, GOOD))]
        alone = json.loads(tesla("score", "-r", *part, "-m", "bleu", "--format", "json").out)
        assert document["scores"][files["good"]] == pytest.approx(
            alone["systems"][0]["metrics"]["bleu"]["score"]
        )

    def test_need_a_line_for_each_segment(self, tesla, files, write):
        docs = write("docs.txt", ["one"] * 39)
        outcome = tesla("compare", "-r", files["ref"], files["good"], files["poor"], "--docs", docs)
        assert outcome.status == 2
        assert "39 lines, but there are 40 segments" in outcome.err


class TestFromScores:
    def test_what_score_prints_gives_the_same_comparison(self, compared, tesla, files, write):
        systems = [files[name] for name in ("good", "poor", "mixed")]
        printed = tesla("score", "-r", files["ref"], *systems, "-m", "m", "--format", "tsv", "--segments").out
        scores = write("scores.tsv", printed.splitlines())
        found = json.loads(tesla("compare", "--scores", scores, "--format", "json").out)["metrics"][0]
        assert found == compared("-m", "m")

    def test_systems_and_metrics_can_be_chosen(self, tesla, write):
        rows = [
            f"{s}\t{g}\t{m}\t{(3 * ord(s) + 5 * ord(g)) % 7}"
            for s in "abc"
            for g in "123"
            for m in ("x", "ter")
        ]
        scores = write("scores.tsv", ["system\tsegment\tmetric\tscore", *rows])
        found = json.loads(
            tesla("compare", "--scores", scores, "c", "a", "-m", "ter", "--format", "json").out
        )
        (metric,) = found["metrics"]
        assert [row["system"] for row in metric["systems"]] == ["c", "a"]
        assert (metric["metric"], metric["higher_is_better"]) == ("ter:mean of segments", False)

    @pytest.fixture
    def foreign(self, write):
        """Scores under names of this package and of others: the second system has the lower ones."""
        rows = [
            f"{s}\t{i}\t{m}\t{0.5 + 0.1 * (s == 'high') + 0.01 * (i * 7 % 5)}"
            for s in ("high", "low") for i in range(40) for m in ("ter:level=char", "bleu", "wer", "comet22")
        ]  # fmt: skip
        return write("scores.tsv", ["system\tsegment\tmetric\tscore", *rows])

    @pytest.mark.parametrize(
        ("metric", "best"),
        [("ter:level=char", "low"), ("bleu", "high"), ("wer:lower", "low"), ("comet22:higher", "high")],
    )
    def test_the_direction_is_that_of_the_metric_or_of_the_user(self, tesla, foreign, metric, best):
        (found,) = json.loads(tesla("compare", "--scores", foreign, "-m", metric, "--json").out)["metrics"]
        assert {row["system"]: row["cluster"] for row in found["systems"]}[best] == 1
        text = tesla("compare", "--scores", foreign, "-m", metric)
        assert text.status == 0, text.err
        assert ("lower is better" in text.out) == (best == "low")

    def test_several_metrics_of_others_are_named_together(self, tesla, foreign):
        found = json.loads(
            tesla("compare", "--scores", foreign, "-m", "wer:lower,bleu,comet22:higher", "--json").out
        )
        assert [one["higher_is_better"] for one in found["metrics"]] == [False, True, True]

    @pytest.mark.parametrize("chosen", [(), ("-m", "wer"), ("-m", "bleu,wer")])
    def test_an_unknown_direction_is_asked_for_before_anything_is_printed(self, tesla, foreign, chosen):
        outcome = tesla("compare", "--scores", foreign, *chosen)
        assert (outcome.status, outcome.out) == (2, "")
        assert "is a higher or a lower 'wer' better?" in outcome.err
        assert "hint: -m wer:lower or -m wer:higher" in outcome.err

    def test_means_of_segments_are_not_called_corpus_scores(self, tesla, files, write, tmp_path):
        """Sentence BLEU's mean is not BLEU: the name says what it is, and no corpus metric's name stands for it."""
        stored = tmp_path / "seg.tsv"
        systems = [files[name] for name in ("good", "poor")]
        asked = ("score", "-r", files["ref"], *systems, "-m", "m,bleu,chrf,ter,nist")
        tesla(*asked, "--segments", "-o", str(stored))
        found = json.loads(tesla("compare", "--scores", str(stored), "--json").out)["metrics"]
        assert [one["metric"] for one in found] == [
            "tesla-m", *(f"{name}:mean of segments" for name in ("bleu", "chrf", "ter", "nist")),
        ]  # fmt: skip
        assert "BLEU (mean of segments)" in tesla("compare", "--scores", str(stored), "--format", "latex").out

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            ("b\t2\tx\tnan", "line 5: score 'nan' is not a number"),
            ("b\t1\tx\t3", "line 5: a second x score of b, segment 1"),
            ("b\t2\tx", "line 5: has 3 fields instead of 4"),
            ("b\t3\tx\t1", "no x score of system b for segment 2"),
        ],
    )
    def test_gaps_and_oddities_are_errors_that_say_where(self, tesla, write, row, message):
        rows = ["system\tsegment\tmetric\tscore", "a\t1\tx\t1", "a\t2\tx\t2", "b\t1\tx\t3", row]
        outcome = tesla("compare", "--scores", write("scores.tsv", rows))
        assert outcome.status == 2
        assert message in outcome.err


class TestEdges:
    def test_one_segment_gives_a_stated_result(self, tesla, write):
        names = [
            write(name, [text])
            for name, text in (("ref", "A cat sat."), ("a", "A cat sat."), ("b", "A dog."))
        ]
        outcome = tesla("compare", "-r", *names, "--format", "json")
        (test,) = json.loads(outcome.out)["metrics"][0]["pairs"]
        assert test["p_randomisation"] == test["p_bootstrap"] == test["p_bootstrap_holm"] == 1.0
        assert test["cohen_d"] is None

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["good"], "nothing to compare"),
            (["good", "good"], "given twice"),
            (["good", "poor", "--baseline", "other"], "baseline 'other'"),
            (["good", "poor", "-m", "nonsense"], "unknown metric"),
        ],
    )
    def test_wrong_usage_is_one_message_and_status_2(self, tesla, files, arguments, message):
        outcome = tesla("compare", "-r", files["ref"], *(files.get(a, a) for a in arguments))
        assert outcome.status == 2
        assert message in outcome.err
        assert "language:" not in outcome.err
        assert not outcome.out

    def test_files_of_other_lengths_are_refused(self, tesla, files, write):
        outcome = tesla("compare", "-r", files["ref"], files["good"], write("short.txt", POOR[:-1]))
        assert outcome.status == 2
        assert "39" in outcome.err


class TestFormats:
    def test_text_shows_clusters_tests_and_signatures(self, tesla, files):
        out = tesla("compare", "-r", files["ref"], files["good"], files["poor"], "-m", "m,bleu").out
        assert "95 % interval" in out
        assert "p rand" in out
        assert "metric:tesla-m|" in out
        assert "\nbleu|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:" in out

    @pytest.mark.parametrize("columns", ["60", "80", "100", "120"])
    def test_a_narrow_terminal_never_tears_what_belongs_together(self, tesla, files, monkeypatch, columns):
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", columns)
        out = tesla("compare", "-r", files["ref"], files["good"], files["poor"], "-m", "m").out
        heads = [line for line in out.splitlines() if line.startswith("first") and "second" in line]
        assert len(heads) > 1
        found = [re.split(r"  +", head)[2:] for head in heads]
        assert [name for head in found for name in head] == [
            "difference", "interval", "p rand", "Holm", "wins", "p boot", "Holm", "p sign", "Holm", "d", "superior",
        ]  # fmt: skip
        assert not any(head[0] in ("interval", "Holm") for head in found)

    def test_latex_escapes_names(self, tesla, files, write):
        odd = write("a_b&c.txt", POOR)
        out = tesla("compare", "-m", "m", "-r", files["ref"], files["good"], odd, "--format", "latex").out
        assert r"a\_b\&c & " in out and "& TESLA-M " in out
        assert out.count(r"\mathbf") == 1


@pytest.mark.slow
def test_a_thousand_resamples_of_3000_segments_10_systems_5_metrics_take_seconds():
    import time

    from tesla_eval.metrics.comparison import SystemTable, compare_systems

    scores = np.random.default_rng(1).random((3000, 10))
    table = SystemTable("m", tuple("abcdefghij"), scores)
    start = time.process_time()
    for _ in range(5):
        compare_systems(table)
    assert time.process_time() - start < 20
