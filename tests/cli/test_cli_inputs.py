"""What commands read: pipes, languages that contradict the texts, inputs that are probably a mistake."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading

import pytest

from tesla_eval import TeslaM
from tesla_eval.serving.protocols import JsonLines

ENGLISH = [
    "The government presented a new plan to lower taxes in the coming year.",
    "The dog sleeps under the table, and the cat sits on the roof of the house.",
    "He went home because it had begun to rain and he did not have an umbrella.",
]
GERMAN = [
    "Die Regierung hat gestern einen neuen Plan zur Senkung der Steuern vorgestellt.",
    "Der Hund schläft unter dem Tisch, und die Katze sitzt auf dem Dach des Hauses.",
    "Er ging nach Hause, weil es zu regnen begann und er keinen Schirm dabei hatte.",
]
WORSE = [text.replace("new", "old").replace("dog", "wolf").replace("rain", "snow") for text in ENGLISH]


@pytest.fixture
def english(write) -> str:
    return write("ref.txt", ENGLISH)


@pytest.fixture
def worse(write) -> str:
    return write("worse.txt", WORSE)


class TestPipes:
    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
    @pytest.mark.parametrize("command", [["score"], ["compare"], ["explain", "--json"]])
    def test_references_sources_and_systems_are_opened_once(self, tmp_path, english, worse, command):
        texts = {"ref": ENGLISH, "src": GERMAN, "one": WORSE, "two": ENGLISH[::-1]}
        if command[0] == "explain":
            texts.pop("two")
        for name, lines in texts.items():
            os.mkfifo(tmp_path / name)
            # Opening waits for a reader: a second opening would wait for ever.
            text = "".join(f"{line}\n" for line in lines)
            threading.Thread(target=(tmp_path / name).write_text, args=(text,), daemon=True).start()
        pipes = [str(tmp_path / name) for name in texts]
        arguments = [*command, "-m", "m", "-r", pipes[0], "-s", pipes[1], *pipes[2:]]
        done = subprocess.run([sys.executable, "-m", "tesla_eval.cli", *arguments], capture_output=True, text=True,
                              timeout=60, check=False)  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "identified from the references" in done.stderr

    def test_references_may_come_from_standard_input(self, worse):
        arguments = ["score", "-m", "m", "--json", "-r", "-", worse]
        done = subprocess.run([sys.executable, "-m", "tesla_eval.cli", *arguments], input="\n".join(GERMAN), text=True,
                              capture_output=True, check=False)  # fmt: skip
        assert "lang:de" in done.stdout


class TestLanguage:
    def test_a_pair_means_its_target(self, tesla, english, worse):
        outcome = tesla("score", "-l", "de-en", "-m", "m", "-r", english, worse)
        assert "language: English (en), the target of de-en" in outcome.err
        assert outcome.out == tesla("score", "-l", "en", "-m", "m", "-r", english, worse).out

    @pytest.mark.parametrize("command", ["score", "compare", "report", "explain"])
    def test_a_language_that_contradicts_the_files_is_an_error(
        self, tesla, tmp_path, english, worse, command
    ):
        systems = [worse, english] if command == "compare" else [worse]
        more = ["-o", str(tmp_path / "r.html")] if command == "report" else []
        outcome = tesla(command, "-l", "de", "-m", "m", "-r", english, *systems, *more)
        assert outcome.status == 2
        assert "-l de, but the references look like English (en)" in outcome.err
        assert "insist with -l de!" in outcome.err
        assert outcome.out == ""
        insisted = tesla(command, "-l", "de!", "-m", "m", "-r", english, *systems, *more)
        assert insisted.status == 0, insisted.err

    def test_single_sentences_are_a_warning(self, tesla):
        outcome = tesla("explain", "-l", "de", "-m", "m", " ".join(WORSE), " ".join(ENGLISH))
        assert outcome.status == 0
        assert "warning: -l de, but the references look like English (en)" in outcome.err

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["score", "-r", "REF", "nowhere.txt"], "nowhere.txt: cannot be opened"),
            (["score", "-r", "REF", "REF", "-m", "nonsense"], "nonsense"),
            (["score", "REF"], "give reference files with -r"),
            (["compare", "-r", "REF", "nowhere.txt", "REF"], "nowhere.txt: cannot be opened"),
            (["explain", "only a hypothesis"], "at least one reference"),
            (["explain", "-r", "REF", "nowhere.txt"], "nowhere.txt: cannot be opened"),
        ],
    )
    def test_nothing_is_said_of_it_before_bad_usage(self, tesla, english, arguments, message):
        outcome = tesla(*(english if one == "REF" else one for one in arguments), "-l", "auto")
        assert outcome.status == 2
        assert message in outcome.err
        assert "language:" not in outcome.err


class TestMistakes:
    def warnings(self, outcome) -> list[str]:
        assert outcome.status == 0, outcome.err
        return [line for line in outcome.err.splitlines() if line.startswith("warning: ")]

    def test_output_in_another_language(self, tesla, english, worse, write):
        german = write("german.txt", GERMAN)
        (warning,) = self.warnings(tesla("score", "-m", "m", "-r", english, worse, german))
        assert f"{german}, line 1: the text looks like German (de), not like the references' 'en'" in warning

    def test_a_blank_system(self, tesla, english, worse, write):
        blank = write("blank.txt", ["", " ", ""])
        (warning,) = self.warnings(tesla("compare", "-m", "m", "-r", english, worse, blank))
        assert f"3 of 3 outputs of {blank} (first: line 1)" in warning

    def test_a_system_that_is_the_reference(self, tesla, english, worse):
        (warning,) = self.warnings(tesla("score", "-m", "m", "-r", english, english, worse))
        assert f"{english}, lines 1 to 3: this system equals {english}, a reference" in warning

    def test_a_system_given_twice(self, tesla, english, worse, write):
        (warning,) = self.warnings(tesla("score", "-m", "m", "-r", english, worse, worse))
        assert f"{worse}, lines 1 to 3: this system is given twice" in warning
        copy = write("copy.txt", WORSE)
        (warning,) = self.warnings(tesla("score", "-m", "m", "-r", english, worse, copy))
        assert f"{copy}, lines 1 to 3: this system equals {worse}" in warning

    def test_an_empty_second_reference(self, tesla, english, worse, write):
        second = write("ref2.txt", ["", "", ""])
        (warning,) = self.warnings(tesla("score", "-m", "m", "-r", english, "-r", second, worse))
        assert f"{second}, lines 1 to 3: all are blank; this reference counts as missing" in warning

    def test_nul_bytes(self, tesla, english, write):
        broken = write("nul.txt", [WORSE[0], "The dog\0 sleeps\0.", WORSE[2]])
        (warning,) = self.warnings(tesla("score", "-m", "m", "-r", english, broken))
        assert f"{broken}, line 2: has a NUL byte" in warning

    def test_rows_of_a_table_are_looked_at_too(self, tesla, write):
        rows = [f"{reference}\t{reference}" for reference in ENGLISH]
        table = write("table.tsv", ["mt\tref", *rows])
        (warning,) = self.warnings(tesla("score", "-m", "m", table))
        assert f"{table}, rows 1 to 3: this system equals reference 1, a reference" in warning

    def test_sound_inputs_give_no_warning(self, tesla, english, worse):
        assert self.warnings(tesla("score", "-m", "m", "-r", english, worse)) == []


class TestSummaries:
    @pytest.fixture
    def summaries(self, write) -> str:
        rows = [
            {"id": f"t{k}", "system": system, "hypothesis": texts[k], "references": [ENGLISH[k]]}
            for k in range(3) for system, texts in (("good", ENGLISH), ("poor", WORSE))
        ]  # fmt: skip
        return write("summaries.jsonl", [json.dumps(row) for row in rows])

    def test_the_default_metrics_are_those_for_summaries(self, tesla, summaries):
        scored = json.loads(tesla("score", summaries, "--json").out)
        assert list(scored["metrics"]) == ["tesla-s-recall", "tesla-s"]

    def test_compare_resamples_topics(self, tesla, summaries):
        outcome = tesla("compare", summaries)
        assert outcome.status == 0, outcome.err
        assert "2 systems, 3 topics" in outcome.out
        assert "3 topics are too few for any difference to reach level 0.05" in outcome.out
        (first, _) = json.loads(tesla("compare", summaries, "--json").out)["metrics"]
        assert (first["metric"], first["units"]) == ("tesla-s-recall", 3)

    def test_explain_names_system_and_topic(self, tesla, summaries):
        outcome = tesla("explain", summaries, "--system", "poor", "--segment", "2")
        assert outcome.out.startswith("system poor, topic t1\ntesla-s-recall ")
        lines = [json.loads(line) for line in tesla("explain", summaries, "--json").out.splitlines()]
        assert [(line["system"], line["topic"]) for line in lines[:3]] == [
            ("good", "t0"),
            ("poor", "t0"),
            ("good", "t1"),
        ]
        assert tesla("explain", summaries, "--system", "nobody").status == 2

    def test_report_takes_them_without_a_metric(self, tesla, summaries, tmp_path):
        page = tmp_path / "r.html"
        outcome = tesla("report", summaries, "-o", str(page))
        assert outcome.status == 0, outcome.err
        assert "tesla-s-recall" in page.read_text("utf-8")


NAMES = [("hyp", "ref"), ("mt", "reference"), ("hypothesis", "references"), ("translation", "refs")]


@pytest.mark.parametrize(("hypothesis", "reference"), NAMES)
def test_tables_json_lines_summaries_and_serve_understand_the_same_names(tesla, write, hypothesis, reference):
    rows = [
        {hypothesis: text, reference: [wanted] if reference.endswith("s") else wanted}
        for text, wanted in zip(WORSE, ENGLISH, strict=True)
    ]
    metric = TeslaM("en")
    expected = [
        metric.sentence_score(text, [wanted]).score for text, wanted in zip(WORSE, ENGLISH, strict=True)
    ]
    lines = write("table.jsonl", [json.dumps(row) for row in rows])
    cells = [f"{text}\t{wanted}" for text, wanted in zip(WORSE, ENGLISH, strict=True)]
    table = write("table.tsv", [f"{hypothesis}\t{reference}", *cells])
    summaries = write(
        "sums.jsonl", [json.dumps({"id": str(k), "system": "a", **row}) for k, row in enumerate(rows)]
    )
    for path in (lines, table, summaries):
        scored = json.loads(tesla("score", "-m", "m", path, "--json", "--segments").out)
        assert scored["systems"][0]["metrics"]["tesla-m"]["segments"] == expected
    answers = JsonLines(metric).answer([json.dumps(row) for row in rows]).splitlines()
    assert [json.loads(answer)["score"] for answer in answers] == expected
