"""What commands print and write: formats, output files, hints, tables that fit the terminal."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from fcntl import ioctl
from pathlib import Path
from typing import ClassVar

import pytest
from sacrebleu.metrics.bleu import BLEU

import tesla_eval

REFERENCE = [f"Sentence number {i} has a cat, a dog and {i} other small animals." for i in range(20)]
GOOD = [line.replace("other ", "") for line in REFERENCE]
POOR = [line.replace("cat", "dog").replace("small", "big").replace("number", "no") for line in REFERENCE]


@pytest.fixture
def files(write) -> list[str]:
    return [
        write(name, lines) for name, lines in (("ref.txt", REFERENCE), ("good.txt", GOOD), ("poor.txt", POOR))
    ]


class TestFormatByEnding:
    STARTS: ClassVar = {"json": "{", "csv": "system,", "tsv": "system\t", "tex": "% ", "md": "| System |"}

    @pytest.mark.parametrize("ending", STARTS)
    def test_score(self, tesla, files, tmp_path, ending):
        output = tmp_path / f"scores.{ending}"
        assert tesla("score", "-r", *files, "-m", "m,bleu", "-o", str(output)).status == 0
        assert output.read_text("utf-8").startswith(self.STARTS[ending])

    @pytest.mark.parametrize("ending", STARTS)
    def test_compare(self, tesla, files, tmp_path, ending):
        output = tmp_path / f"scores.{ending}"
        assert tesla("compare", "-r", *files, "-m", "m,bleu", "-o", str(output)).status == 0
        assert output.read_text("utf-8").startswith(self.STARTS[ending].replace("system", "metric"))

    def test_a_format_that_is_named_wins(self, tesla, files, tmp_path):
        output = tmp_path / "scores.json"
        tesla("score", "-r", *files, "-m", "m", "-o", str(output), "--format", "tsv")
        assert output.read_text("utf-8").startswith("system\t")
        tesla("score", "-o", str(tmp_path / "scores.tsv"), "-r", *files, "-m", "m", "--json")
        assert (tmp_path / "scores.tsv").read_text("utf-8").startswith("{")


class TestPapers:
    def test_latex_has_proper_names_no_paths_and_the_best_in_bold(self, tesla, files):
        out = tesla("score", "-r", *files, "-m", "m,ter,rouge2", "--format", "latex").out
        assert r"System & TESLA-M & TER & ROUGE-2 \\" in out
        good, poor = (
            next(line for line in out.splitlines() if line.startswith(name)) for name in ("good", "poor")
        )
        assert good.count(r"\textbf{") == 3 and r"\textbf" not in poor
        assert "/" not in good

    def test_markdown(self, tesla, files):
        head, rule, good, *_ = tesla(
            "score", "-r", *files, "-m", "m,ter", "--format", "markdown"
        ).out.splitlines()
        assert (head, rule) == ("| System | TESLA-M | TER |", "|---|--:|--:|")
        assert good.startswith("| good | **0.") and good.count("**") == 4
        refused = tesla("score", "-r", *files, "-m", "m", "--format", "markdown", "--segments")
        assert refused.status == 2

    def test_compare_in_markdown_marks_the_first_cluster(self, tesla, files):
        lines = tesla("compare", "-r", *files, "-m", "m", "--format", "markdown").out.splitlines()
        assert lines[2].startswith("| good | **0.") and "**" not in lines[3]

    def test_csv_is_quoted_and_no_name_is_a_formula(self, tesla, files, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / '=a,"b".txt').write_text("\n".join(GOOD) + "\n")
        out = tesla("score", "-r", files[0], '=a,"b".txt', "-m", "m", "--format", "csv").out
        rows = list(csv.reader(io.StringIO(out)))
        assert rows[1][:2] == ['\'=a,"b".txt', "tesla-m"]


def test_json_has_the_parts_of_bleu(tesla, files):
    cell = json.loads(tesla("score", "-r", *files[:2], "-m", "bleu", "--json").out)["systems"][0]["metrics"][
        "bleu"
    ]
    expected = BLEU().corpus_score(GOOD, [REFERENCE])
    assert cell["precisions"] == expected.precisions
    assert (cell["brevity_penalty"], cell["system_length"], cell["reference_length"]) == (
        expected.bp, expected.sys_len, expected.ref_len,
    )  # fmt: skip


def test_compare_lists_pairs_by_the_size_of_the_difference(tesla, files, write):
    middle = write("middle.txt", [*GOOD[:14], *POOR[14:]])
    out = tesla("compare", "-r", *files, middle, "-m", "m", "--format", "tsv").out
    differences = [abs(float(line.split("\t")[3])) for line in out.splitlines()[1:]]
    assert len(differences) == 3 and differences == sorted(differences, reverse=True)


class TestOutputPath:
    @pytest.mark.parametrize("command", [["score"], ["compare"], ["report"]])
    def test_a_folder_that_is_not_there_is_reported_before_any_work(self, tesla, files, tmp_path, command):
        files[1] = "nowhere.txt"  # would be an error of its own
        outcome = tesla(*command, "-r", *files, "-o", str(tmp_path / "nodir" / "r.html"))
        assert outcome.status == 2
        assert "there is no folder" in outcome.err

    def test_tuning_and_training_too(self, tesla, write, tmp_path):
        absent = str(tmp_path / "nodir" / "weights")
        for command in (
            ["tune", "--nbest", "no.nbest", "-r", "no.ref"],
            ["train", "x", "--segments", "no.tsv"],
        ):
            outcome = tesla(*command, "-o", absent)
            assert outcome.status == 2
            assert "there is no folder" in outcome.err


class TestHints:
    @pytest.mark.parametrize(
        ("metric", "hint"),
        [
            ("comet", "comet:model="),
            ("bertscore", "bertscore:model="),
            ("tesla", "write m (no training"),
            ("lin", "dicomer:variant=lin"),
            ("rouge", "rougelsum"),
        ],
    )
    def test_metrics_that_people_ask_for(self, tesla, files, metric, hint):
        outcome = tesla("score", "-r", *files, "-m", metric)
        assert outcome.status == 2
        assert hint in outcome.err

    @pytest.mark.parametrize("command", ["score", "compare"])
    def test_metrics_with_a_blank_between_them(self, tesla, files, command):
        outcome = tesla(command, "-r", *files, "-m", "bleu", "chrf")
        assert outcome.status == 2
        assert "chrf: there is no such file; join several metrics by commas, such as -m m,chrf" in outcome.err

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
    def test_utf_16_is_named(self, tesla, files, write, encoding):
        wide = write("wide.txt", "\n".join(GOOD).encode(encoding))
        outcome = tesla("score", "-r", files[0], wide, "-m", "m")
        assert outcome.status == 2
        assert f"{wide}: looks like UTF-16, not UTF-8; convert it" in outcome.err


def on_terminal(columns: int, *arguments: str) -> str:
    """What a command prints on a terminal of so many columns."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        [sys.executable, "-m", "tesla_eval.cli", *arguments],
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    os.close(theirs)
    shown = b""
    try:
        while block := os.read(ours, 4096):
            shown += block
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert process.wait() == 0, shown
    return shown.decode()


class TestEightyColumns:
    def test_tables_are_cut_not_wrapped(self, files, tmp_path):
        folder = tmp_path / "a folder with a long name" / "and another one"
        folder.mkdir(parents=True)
        far = folder / "far.txt"
        far.write_text("\n".join(POOR[::-1]) + "\n")
        for command in (
            ["score", "-m", "m,x,bleu,chrf,chrf++,ter,rouge1,rouge2", "--ci"],
            ["compare", "-m", "m"],
        ):
            lines = on_terminal(80, *command, "-l", "en", "-r", *files, str(far)).splitlines()
            table = [line for line in lines if "|" not in line]  # signatures are no tables
            assert max(map(len, table)) <= 80
            assert sum("good.txt" in line for line in table) > 1
        assert max(map(len, on_terminal(80, "metrics").splitlines())) <= 80

    def test_nothing_is_cut_where_there_is_room(self, files):
        wide = on_terminal(600, "compare", "-l", "en", "-m", "m", "-r", *files)
        assert wide.count("good.txt") == 2  # a row of the systems, and one of the pairs


UNCOUNTED = {"merging counts", "reading", "reducing", "writing"}
"""Stages without a number."""


def test_a_progress_bar_says_what_it_counts():
    root = Path(tesla_eval.__file__).parent
    calls = [
        name
        for path in root.rglob("*.py")
        for name in re.findall(r'(?:\.stage|\bprogress)\(f?"([^"]+)"', path.read_text("utf-8"))
    ]
    assert len(calls) > 20
    assert {name for name in calls if not re.search(r"\([^)]+\)$", name)} == UNCOUNTED
