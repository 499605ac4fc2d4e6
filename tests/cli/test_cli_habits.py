"""What users of other tools type: short options, intervals, quality gates, suggestions, silence, colours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from tesla_eval import Metric, SegmentScores, Signature, create_metric
from tesla_eval.cli.shared.gates import Outcome, append_step_summary, write_junit
from tesla_eval.metrics.registry import Entry, registered
from tesla_eval.statistics.candidates import Additive
from tesla_eval.statistics.resampling import paired_bootstrap

REFERENCES = [
    "The cat sat on the mat.",
    "A storm hit Spain.",
    "It rained all day.",
    "We went home early.",
] * 5
GOOD = ["The cat sat on a mat.", "A storm hit Spain.", "It rained all night.", "We went home early."] * 5
POOR = ["The cat.", "Storms.", "It rained.", "Home we go."] * 5


@pytest.fixture
def files(write):
    return write("ref.txt", REFERENCES), write("good.txt", GOOD), write("poor.txt", POOR)


def test_the_module_is_the_command() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "tesla_eval.cli", "-V"], capture_output=True, text=True, check=True
    )
    assert found.stdout.startswith("tesla ")


def test_a_score_loads_nothing_that_it_does_not_need(files) -> None:
    """Start-up is part of the speed: each of these takes between 2 and 50 ms."""
    code = (
        "import sys\nfrom tesla_eval.cli import main\ntry:\n    main()\nfinally:\n"
        "    print(*sys.modules, sep='\\n', file=sys.stderr)"
    )
    ref, good, _ = files
    found = subprocess.run(
        [sys.executable, "-c", code, "score", "-l", "en", "-r", ref, good],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    loaded = set(found.stderr.splitlines())
    unwanted = {
        "jinja2", "numpy.ma", "rich", "sacrebleu", "scipy", "simplemma", "sklearn", "tesla_eval.connect",
        "tesla_eval.base.explanations", "tesla_eval.judgements", "tesla_eval.texts.markup",
        "tesla_eval.statistics.resampling", "tesla_eval_papers",
    }  # fmt: skip
    assert "tesla_eval.metrics.tesla_x" in loaded
    assert not unwanted & loaded


@pytest.mark.parametrize(("given", "seen"), [(None, "20"), ("26", "26")])
def test_import_shortens_the_wait_of_numpys_threads_unless_told(given: str | None, seen: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_THREAD_TIMEOUT"}
    if given is not None:
        environment["OPENBLAS_THREAD_TIMEOUT"] = given
    code = "import sys, os, tesla_eval; assert 'numpy' not in sys.modules; print(os.environ['OPENBLAS_THREAD_TIMEOUT'])"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == seen


@pytest.mark.parametrize(
    ("typed", "meant"), [("scroe", "score"), ("Compare", "compare"), ("explian", "explain")]
)
def test_a_typing_error_in_a_command_gets_a_suggestion(tesla, typed, meant) -> None:
    found = tesla(typed, "-r", "ref.txt")
    assert found.status == 2
    assert f"did you mean {meant}?" in found.err


def test_letters_of_sacrebleu_and_comet(tesla, files) -> None:
    ref, good, poor = files
    expected = json.loads(tesla("score", "-r", ref, good, poor, "-m", "m", "--format", "json").out)
    for systems in (("-i", good, poor), ("-t", good, "-t", poor), ("-i", good, "-t", poor)):
        assert json.loads(tesla("score", "-r", ref, *systems, "-m", "m", "--json").out) == expected
    found = tesla("score", "-s", ref, "-t", good, "-r", ref, "-m", "m")
    assert found.status == 0
    assert "none of the metrics reads the source" in found.err


def test_a_source_of_another_length_is_refused(tesla, files, write) -> None:
    ref, good, _ = files
    found = tesla("score", "-s", write("src.txt", ["x"]), "-r", ref, good, "-m", "m")
    assert found.status == 2
    assert "src.txt has 1" in found.err


class SourceEcho(Metric):
    """Scores 1 where the hypothesis is the source: a metric of another package that reads sources."""

    id = "source-echo"
    uses_source = True

    def __init__(self, lang: str = "en") -> None:
        self.lang = lang

    def get_signature(self) -> Signature:
        return Signature({"metric": self.id})

    def score_segments(self, hypotheses, references, sources=None) -> SegmentScores:
        scores = np.array([float(h == s) for h, s in zip(hypotheses, sources, strict=True)])
        return SegmentScores(scores, np.empty((len(scores), 0)))


def test_sources_reach_the_metrics_that_read_them(tesla, files, write, monkeypatch) -> None:
    ref, good, _ = files
    monkeypatch.setitem(registered(), "echo", Entry("echo", f"{__name__}:SourceEcho", "for this test"))
    source = write("src.txt", [*GOOD[:10], *POOR[10:]])
    found = tesla("score", "-s", source, "-t", good, "-r", ref, "-m", "echo", "--json")
    assert intervals(found)["source-echo"]["score"] == 0.5
    assert found.err == ""
    rows = [{"mt": h, "ref": h, "src": s} for h, s in zip(GOOD, [*GOOD[:5], *POOR[5:]], strict=True)]
    table = write("table.jsonl", [json.dumps(row) for row in rows])
    assert intervals(tesla("score", table, "-m", "echo", "--json"))["source-echo"]["score"] == 0.25


def test_quiet_leaves_errors_only(tesla, write, files) -> None:
    lower = write("lower.txt", [text.lower() for text in REFERENCES])
    loud = tesla("score", "-r", lower, lower, "-m", "m")
    assert "looks lower-cased" in loud.err
    quiet = tesla("score", "-r", lower, lower, "-m", "m", "--quiet")
    assert (quiet.status, quiet.err, quiet.out) == (0, "", loud.out)
    assert "looks lower-cased" in tesla("score", "-r", lower, lower, "-m", "m").err  # not for ever
    assert tesla("score", "-q", "-r", lower, "nowhere.txt", "-m", "m").err != ""


def intervals(outcome, system=0):
    assert outcome.status == 0, outcome.err
    return json.loads(outcome.out)["systems"][system]["metrics"]


def test_the_interval_is_the_bootstraps_for_one_system_and_for_several(tesla, files) -> None:
    ref, good, poor = files
    one = intervals(tesla("score", "-r", ref, good, "-m", "m,bleu", "--ci", "--json"))
    two = intervals(tesla("score", "-r", ref, poor, good, "-m", "m,bleu", "--ci", "--json"), 1)
    assert one == two  # the same draws, whatever stands beside it
    segments = create_metric("m").corpus_score(GOOD, [REFERENCES]).segments
    drawn = paired_bootstrap(Additive.of_segment_scores(segments[:, None]))
    assert (one["tesla-m"]["low"], one["tesla-m"]["high"]) == (drawn.low[0], drawn.high[0])
    bleu = create_metric("bleu")
    rows = bleu.score_segments(GOOD, [REFERENCES]).statistics
    drawn = paired_bootstrap(Additive.of_statistics(rows[:, None, :], bleu.formula_of_sums))
    assert (one["bleu"]["low"], one["bleu"]["high"]) == (drawn.low[0], drawn.high[0])
    assert one["bleu"]["low"] < one["bleu"]["score"] < one["bleu"]["high"]


def test_intervals_in_every_format(tesla, files) -> None:
    ref, good, _ = files
    asked = ("score", "-r", ref, good, "-m", "bleu", "--ci", "--seed", "7", "--resamples", "200")
    document = json.loads(tesla(*asked, "--json").out)
    cell = document["systems"][0]["metrics"]["bleu"]
    assert document["metrics"]["bleu"]["interval"] == {"level": 0.95, "resamples": 200, "seed": 7}
    text = tesla(*asked).out
    assert f"{cell['score']:.2f} [{cell['low']:.2f}, {cell['high']:.2f}]" in text
    assert "95 % interval, 200 resamples, seed 7" in text
    header, row = (line.split("\t") for line in tesla(*asked, "--format", "tsv").out.splitlines())
    fields = dict(zip(header, row, strict=True))
    assert (float(fields["low"]), float(fields["high"])) == (cell["low"], cell["high"])
    assert f"{(cell['high'] - cell['low']) / 2:.2f}}}$" in tesla(*asked, "--format", "latex").out
    assert tesla(*asked, "--format", "mtme").status == 2


class TestGates:
    def test_a_score_that_is_good_enough_passes(self, tesla, files) -> None:
        ref, good, _ = files
        found = tesla(
            "score", "-r", ref, good, "-m", "m,ter", "--min-score", "m=0.5", "--min-score", "ter=60"
        )
        assert found.status == 0
        assert found.err == ""

    def test_one_that_is_not_fails_after_the_results(self, tesla, files) -> None:
        ref, good, poor = files
        found = tesla("score", "-r", ref, good, poor, "-m", "m", "--min-score", "m=0.5")
        assert found.status == 1
        assert "good.txt" in found.out and "poor.txt" in found.out
        assert "poor.txt: tesla-m is 0." in found.err and "below the minimum of 0.5" in found.err
        assert "good.txt" not in found.err

    def test_where_lower_is_better_the_limit_is_a_maximum(self, tesla, files) -> None:
        ref, _, poor = files
        found = tesla("score", "-r", ref, poor, "-m", "ter", "--min-score", "ter=10")
        assert found.status == 1
        assert "above the maximum of 10" in found.err

    def test_a_drop_against_a_system(self, tesla, files) -> None:
        ref, good, poor = files
        asked = ("score", "-r", ref, good, poor, "-m", "m", "--max-drop")
        assert tesla(*asked, "m=0.9", "--baseline", good).status == 0
        found = tesla(*asked, "m=0.01", "--baseline", good)
        assert found.status == 1
        assert "worse than" in found.err
        assert tesla(*asked, "m=0", "--baseline", poor).status == 0  # better is no drop

    def test_outcomes_for_ci(self, tesla, files, tmp_path, monkeypatch) -> None:
        ref, good, poor = files
        summary, junit = tmp_path / "summary.md", tmp_path / "junit.xml"
        summary.write_text("before\n", "utf-8")
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
        limits = ("--min-score", "m=0.5", "--max-drop", "m=0.01", "--baseline", good)
        found = tesla("score", "-r", ref, good, poor, "-m", "m", *limits, "--junit", str(junit))
        assert found.status == 1
        suite = ElementTree.parse(junit).getroot()
        cases = [(Path(case.get("classname")).name, case.get("name"), len(case)) for case in suite]
        assert cases == [
            ("good.txt", "--min-score tesla-m=0.5", 0), ("poor.txt", "--min-score tesla-m=0.5", 1),
            ("poor.txt", "--max-drop tesla-m=0.01", 1),
        ]  # fmt: skip
        assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
        assert suite[1][0].get("message") in found.err
        before, head, _, *rows = summary.read_text("utf-8").splitlines()
        assert (before, head) == ("before", "| | system | limit | |")
        assert [row[2] for row in rows if row] == ["✅", "❌", "❌"]

    def test_hostile_names_stay_text_in_outcomes(self, tmp_path, monkeypatch) -> None:
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
        outcomes = [Outcome("a|b<img src=x>\x1b\n\ud800", "m=1", "bad & <b>")]
        append_step_summary(outcomes)
        write_junit(outcomes, tmp_path / "junit.xml")
        row = (tmp_path / "summary.md").read_text("utf-8").splitlines()[2]
        assert row.count("|") == 5 and "<" not in row
        (case,) = ElementTree.parse(tmp_path / "junit.xml").getroot()
        assert case.get("classname") == "a|b<img src=x>\\x1b\\n\\ud800"

    def test_junit_needs_a_gate_and_overwrites_no_input(self, tesla, files) -> None:
        ref, good, _ = files
        assert "--junit goes with" in tesla("score", "-r", ref, good, "-m", "m", "--junit", "x.xml").err
        found = tesla("score", "-r", ref, good, "-m", "m", "--min-score", "m=0", "--junit", ref)
        assert found.status == 2 and "cat" in Path(ref).read_text("utf-8")

    def test_a_drop_against_stored_scores(self, tesla, files, write) -> None:
        ref, good, poor = files
        stored = tesla("score", "-r", ref, good, "-m", "m", "-m", "bleu:lc=yes", "--json").out
        baseline = write("baseline.json", stored.encode())
        asked = ("--max-drop", "m=0.01", "--baseline", baseline)
        assert tesla("score", "-r", ref, good, "-m", "m", *asked).status == 0
        assert tesla("score", "-r", ref, poor, "-m", "m", *asked).status == 1
        found = tesla("score", "-r", ref, good, "-m", "m:alpha=0.9", "--max-drop", "m:alpha=0.9=0.1",
                      "--baseline", baseline)  # fmt: skip
        assert found.status == 2
        assert "has no tesla-m:alpha=0.9 score; there are tesla-m, bleu:lc=yes" in found.err

    def test_stored_scores_with_other_settings_are_noticed(self, tesla, files, write) -> None:
        ref, good, _ = files
        stored = tesla("score", "-r", ref, "-r", ref, good, "-m", "m", "--json").out  # nrefs:2
        baseline = write("baseline.json", stored.encode())
        found = tesla("score", "-r", ref, good, "-m", "m", "--max-drop", "m=0.5", "--baseline", baseline)
        assert found.status == 0
        assert "other settings" in found.err

    @pytest.mark.parametrize(
        ("options", "part"),
        [
            (("--min-score", "m"), "METRIC=VALUE"),
            (("--min-score", "m=high"), "METRIC=VALUE"),
            (("--min-score", "bleu=20"), "-m does not name this metric"),
            (("--max-drop", "m=0.1"), "--baseline"),
            (("--baseline", "x"), "--max-drop"),
            (("--max-drop", "m=0.1", "--baseline", "nowhere.json"), "nowhere.json"),
        ],
    )
    def test_bad_limits_are_refused_before_any_work(self, tesla, files, options, part) -> None:
        ref, good, _ = files
        found = tesla("score", "-r", ref, good, "-m", "m", *options)
        assert (found.status, found.out) == (2, "")
        assert part in found.err

    @pytest.mark.parametrize(
        "content", ["[]", "{}", '{"metrics": {}, "systems": []}', "{", "1" * 6000, "[" * 9999]
    )
    def test_hostile_baselines(self, tesla, files, write, content) -> None:
        ref, good, _ = files
        baseline = write("b.json", content.encode())
        found = tesla("score", "-r", ref, good, "-m", "m", "--max-drop", "m=0.1", "--baseline", baseline)
        assert (found.status, found.out) == (2, "")
        assert "b.json" in found.err and "Traceback" not in found.err


def test_explain_one_segment_of_one_system(tesla, files) -> None:
    ref, _, poor = files
    found = json.loads(tesla("explain", "-r", ref, poor, "--segment", "3", "--json").out)
    assert found["score"] == create_metric("m").sentence_score(POOR[2], [REFERENCES[2]]).score
    assert tesla("explain", "-r", ref, poor, "--segment", "21").status == 2
    assert "there are 20 segments" in tesla("explain", "-r", ref, poor, "--segment", "21").err
    assert tesla("explain", "a", "b", "--segment", "1").status == 2


@pytest.mark.parametrize("asked", [("-m", "m", "-m", "x"), ("-m", "m,x")])
def test_commands_for_one_metric_drop_none_silently(tesla, files, asked) -> None:
    ref, good, poor = files
    for command in (("explain", "a", "b"), ("rerank", "-r", ref, good, poor)):
        found = tesla(*command, *asked)
        assert (found.status, found.out) == (2, "")
        assert "takes one metric" in found.err
    assert "alpha:0.5" in tesla("explain", "a", "b", "-m", "m:alpha=0.5,max_n=1").out


def test_compare_as_tsv(tesla, files) -> None:
    ref, good, poor = files
    found = tesla("compare", "-r", ref, good, poor, "-m", "m", "-m", "bleu:lc=yes", "--format", "tsv")
    header, *rows = (line.split("\t") for line in found.out.splitlines())
    cells = [dict(zip(header, row, strict=True)) for row in rows]
    assert [cell["metric"] for cell in cells] == ["tesla-m", "bleu:lc=yes"]
    plain = json.loads(tesla("compare", "-r", ref, good, poor, "-m", "m", "--json").out)["metrics"][0]
    assert float(cells[0]["difference"]) == plain["pairs"][0]["difference"]
    assert float(cells[0]["first_score"]) == plain["systems"][0]["score"]
    assert cells[0]["significant"] == "yes"
    assert "metric:tesla-m|" in found.err and "bleu|nrefs:1|case:lc|" in found.err


def test_the_legend_of_the_star_stands_only_where_there_is_a_star(tesla, files, write) -> None:
    ref, good, poor = files
    assert "* differ at level" in tesla("compare", "-r", ref, good, poor, "-m", "m").out
    twin = write("twin.txt", GOOD)
    out = tesla("compare", "-r", ref, good, twin, "-m", "m").out
    assert "*" not in out
    assert "no two systems differ at level 0.05" in out


def on_terminal(*arguments: str, **environment: str) -> str:
    """What a command shows on a terminal, on both streams."""
    pty = pytest.importorskip("pty")  # Windows has none
    ours, theirs = pty.openpty()
    settings = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    process = subprocess.Popen(
        [sys.executable, "-m", "tesla_eval.cli", *arguments], stdin=theirs, stdout=theirs, stderr=theirs,
        env={**settings, "TERM": "xterm", **environment},
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    try:
        while block := os.read(ours, 1 << 16):
            shown += block
    except OSError:  # the other side is closed
        pass
    os.close(ours)
    assert process.wait() == 0, shown.decode()
    return shown.decode()


PAIR = ("explain", "The cats sat on a mat.", "Yesterday the black cat sat on the mat.")


def test_explain_is_coloured_on_a_terminal_only(tesla) -> None:
    plain = tesla(*PAIR).out
    assert "\x1b[" not in plain
    shown = on_terminal(*PAIR)
    assert "\x1b[32m\x1b[1m═══\x1b[0m" in shown and "\x1b[31m\x1b[1m···\x1b[0m" in shown
    without = on_terminal(*PAIR, "-l", "en", NO_COLOR="1")
    assert "\x1b[" not in without
    assert without.replace("\r\n", "\n") == plain
    assert "\x1b[" not in on_terminal(*PAIR, "--json")


def test_text_with_colours_of_its_own_is_shown_not_obeyed() -> None:
    shown = on_terminal("explain", "red \x1b[31m text", "red text")
    assert "\\x1b[31m text" in shown


def test_progress_tells_the_length_where_it_is_known(files) -> None:
    ref, good, _ = files
    shown = on_terminal("score", "-r", ref, good, "-m", "m")
    assert "/20" in shown
    assert "/?" not in shown


def test_references_by_segment() -> None:
    hypotheses = ["The cat sat on the mat.", "A storm hit the coast of Spain."]
    by_segment = [
        ["The cat sat on a mat.", "A cat sat upon the mat."],
        ["Spain was hit by a storm.", "A storm hits the Spanish coast."],
    ]
    metric = create_metric("m")
    streams = [list(stream) for stream in zip(*by_segment, strict=True)]
    expected = metric.corpus_score(hypotheses, streams)
    found = metric.corpus_score(hypotheses, by_segment, references_by_segment=True)
    assert np.array_equal(found.segments, expected.segments)
    with pytest.warns(UserWarning, match="references_by_segment=True"):
        metric.corpus_score(hypotheses, by_segment)
    ragged = metric.corpus_score(hypotheses, [by_segment[0], by_segment[1][:1]], references_by_segment=True)
    assert ragged.signature["nrefs"] == "var"


def test_references_by_segment_must_fit() -> None:
    from tesla_eval import score
    from tesla_eval.base.errors import TeslaError

    with pytest.raises(TeslaError, match="2 hypotheses, but references of 1 segments"):
        score(["a", "b"], [["a", "b"]], metric="m", lang="en", references_by_segment=True)
    with pytest.raises(TeslaError, match="one list of texts for each"):
        score(["a", "b"], ["a", "b"], metric="m", references_by_segment=True)
    assert score(["a"], [["b", "a"]], metric="m", lang="en", references_by_segment=True).segments.shape == (
        1,
    )


def test_a_missing_file_is_one_message(tesla, files) -> None:
    _, good, _ = files
    found = tesla("score", "-r", "nosuch.txt", good)
    assert found.status == 2
    assert found.err.splitlines() == ["error: nosuch.txt: cannot be opened (No such file or directory)"]
