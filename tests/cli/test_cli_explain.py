"""`tesla explain`, `resources`, `selftest`, and how quickly the command starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from importlib.resources import files
from math import nextafter
from pathlib import Path

import pytest

from tesla_eval import Score, TeslaM, __version__, _core
from tesla_eval.metrics.registry import BUILT_IN

ROOT = Path(__file__).resolve().parents[2]
HYPOTHESIS, REFERENCE = "The cats sat on a mat.", "The cat sat on the mat."


def test_the_drawing_shows_both_sentences_links_and_features(tesla) -> None:
    out = tesla("explain", HYPOTHESIS, REFERENCE).out
    for part in (HYPOTHESIS, REFERENCE, "cats/NNS", "cat/NN", "═══", "═─═", "ms.1", "pos.3", "0.9848"):
        assert part in out


def test_kinds_of_links_are_drawn_apart_with_a_legend(tesla) -> None:
    """A link by part of speech only does not look like a synonym."""
    out = tesla("explain", "The thieves had autos, a theft.", "The thief has cars, a city.").out
    for link in (
        "thieves/NNS        ═─═  thief/NN",
        "autos/NNS          ≈≈≈  cars/NNS",
        "theft/NN           ┄┄┄  city/NN",
    ):
        assert link in out
    assert "═══ same word   ═─═ same lemma   ≈≈≈ synonym   ┄┄┄ same part of speech only" in out
    same = tesla("explain", "A cat.", "A cat.").out
    assert "\n  ═══ same word\n" in same


def test_another_feature_can_be_drawn(tesla) -> None:
    out = tesla("explain", HYPOTHESIS, REFERENCE, "--feature", "ms.2").out
    assert "The/DT cats/NNS" in out
    refused = tesla("explain", HYPOTHESIS, REFERENCE, "--feature", "ms.9")
    assert (refused.status, refused.out) == (2, "")


@pytest.mark.parametrize("feature", ["ms.2", "nonsense"])
def test_a_feature_that_would_not_be_drawn_is_refused(tesla, write, feature: str) -> None:
    files = ["-r", write("r", [REFERENCE]), write("a", [HYPOTHESIS]), write("b", ["A cat."])]
    for options, message in (
        (("--json", HYPOTHESIS, REFERENCE), "--json has all of them"),
        (files, "--feature draws the links of one system"),
    ):
        refused = tesla("explain", *options, "--feature", feature)
        assert (refused.status, refused.out) == (2, "")
        assert message in refused.err


def test_words_without_tags_are_drawn_without(tesla) -> None:
    out = tesla("explain", "-l", "und", HYPOTHESIS, REFERENCE).out
    assert "cats" in out and "/" not in out


def test_json_is_the_explanation(tesla) -> None:
    found = json.loads(tesla("explain", "--json", HYPOTHESIS, REFERENCE, "A cat.").out)
    assert found == json.loads(json.dumps(TeslaM().explain(HYPOTHESIS, [REFERENCE, "A cat."]).to_dict()))


def test_files_that_do_not_agree_are_not_half_explained(tesla, write) -> None:
    longer = write("r", ["Yes."] * 1300)
    outcome = tesla("explain", "--json", "-r", longer, write("s", ["Yes."] * 1299))
    assert (outcome.status, outcome.out) == (2, "")
    assert "1300 lines" in outcome.err


def test_files_give_one_json_line_a_segment(tesla, write) -> None:
    ref, ref2 = write("r", [REFERENCE, "Yes.", ""]), write("r2", ["", "", ""])
    out = tesla("explain", "--json", "-r", ref, "-r", ref2, write("s", [HYPOTHESIS, "No.", ""])).out
    lines = [json.loads(line) for line in out.splitlines()]
    assert [len(line["references"]) for line in lines] == [1, 1, 1]
    assert [line["score"] for line in lines] == [
        TeslaM().sentence_score(h, [r]).score for h, r in ((HYPOTHESIS, REFERENCE), ("No.", "Yes."), ("", ""))
    ]


def test_hostile_text_is_shown_not_obeyed(tesla) -> None:
    out = tesla("explain", "a\x1b[2Jb \u202edog", "dog שלום").out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "\u2068" in out, "right-to-left words stand in an isolate of their own"


@pytest.mark.parametrize(
    "arguments",
    [
        ["only one"],
        ["-r", "x", "a", "b"],
        ["-m", "bleu", "a", "b"],
        ["-m", "m,m", "a", "b"],
        ["-l", "xx", "a", "b"],
    ],
)
def test_wrong_calls_are_refused(tesla, arguments: list[str]) -> None:
    outcome = tesla("explain", *arguments)
    assert outcome.status == 2
    assert "Traceback" not in outcome.err


def test_this_machine_computes_the_stored_bits_with_every_kernel(tesla) -> None:
    outcome = tesla("selftest")
    assert outcome.status == 0, outcome.err
    assert "agree to the last bit" in outcome.out
    forced = [line.partition(":")[0] for line in outcome.out.splitlines() if line.startswith("kernel ")]
    assert forced == [f"kernel {kernel}" for kernel in _core.KERNELS[1:] or _core.KERNELS]


def test_a_forced_kernel_is_tested_alone(tesla, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESLA_EVAL_KERNEL", "portable")
    outcome = tesla("selftest")
    assert outcome.status == 0, outcome.err
    assert "kernel " not in outcome.out


OF_OTHER_PROGRAMS = {"meteor", "comet", "comet-qe", "bertscore"}
"""Metrics that run only with a program or a model of the user's own."""


def test_the_stored_scores_cover_every_metric_that_ships() -> None:
    cases = json.loads(files("tesla_eval").joinpath("cli", "selftest.json").read_text("utf-8"))
    assert {case["metric"].partition(":")[0] for case in cases} == BUILT_IN.keys() - OF_OTHER_PROGRAMS


SCORES = """
from tesla_eval import TeslaX
texts = (open(f"examples/{name}.txt", encoding="utf-8").read().splitlines() for name in ("system-a", "reference"))
segments = TeslaX("en").corpus_score(next(texts), list(texts)).segments
print([score.hex() for score in segments.tolist()])
"""


@pytest.mark.skipif(not _core.KERNELS[1:], reason="this machine has one kernel")
def test_all_kernels_compute_the_same_bits() -> None:
    """Kernels compare word vectors, which TESLA-X uses; `make test-core` compares all that they compute."""
    scores = set()
    for kernel in _core.KERNELS:
        environment = os.environ | {"TESLA_EVAL_KERNEL": kernel}
        outcome = subprocess.run(
            [sys.executable, "-c", SCORES],
            env=environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        scores.add(outcome.stdout)
    assert len(scores) == 1 and "0x1" in scores.pop()


def test_a_kernel_that_this_machine_lacks_is_refused() -> None:
    environment = os.environ | {"TESLA_EVAL_KERNEL": "abacus"}
    command = [sys.executable, "-c", "import tesla_eval._core"]
    outcome = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert outcome.returncode != 0 and "no kernel named abacus; it has" in outcome.stderr
    command = [sys.executable, "-m", "tesla_eval.cli", "score", "-r", "a", "b"]
    outcome = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert outcome.returncode == 2 and outcome.stderr.startswith(
        "error: this CPU has no kernel named abacus; it has"
    )
    command = [
        sys.executable,
        "-c",
        "import tesla_eval\ntry:\n    tesla_eval.TeslaM\nexcept tesla_eval.TeslaError as e: print(e)",
    ]
    outcome = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert "TESLA_EVAL_KERNEL chooses one" in outcome.stdout


def test_selftest_notices_another_bit(tesla, monkeypatch: pytest.MonkeyPatch) -> None:
    original = TeslaM.sentence_score

    def one_bit_less(self: TeslaM, *texts: object) -> Score:
        score = original(self, *texts)
        return replace(score, score=nextafter(score.score, 0.0))

    monkeypatch.setattr(TeslaM, "sentence_score", one_bit_less)
    outcome = tesla("selftest")
    assert outcome.status == 1
    assert "differ" in outcome.err


def test_version_and_help(tesla) -> None:
    assert tesla("--version").out.strip() == f"tesla {__version__}"
    out = tesla("--help").out
    for command in ("score", "explain", "resources", "train", "selftest"):
        assert command in out
        assert tesla(command, "--help").status == 0


CPU = "import resource; t = resource.getrusage(resource.RUSAGE_CHILDREN); print(t.ru_utime + t.ru_stime)"


@pytest.mark.parametrize(
    ("code", "limit"),
    [
        ("import tesla_eval", 0.15),
        ("import sys; sys.argv = ['tesla', '--version']; from tesla_eval.cli import main; main()", 0.3),
    ],
)
def test_start_up_is_light(code: str, limit: float) -> None:
    child = f"subprocess.run([sys.executable, '-c', {code!r}], stdout=subprocess.DEVNULL)"
    measure = f"import subprocess, sys; {child}; {CPU}"
    runs = [
        float(
            subprocess.run([sys.executable, "-c", measure], capture_output=True, text=True, check=True).stdout
        )
        for _ in range(5)
    ]
    assert min(runs) < limit


def test_no_network_is_ever_attempted() -> None:
    code = (
        "import socket\n"
        "def refuse(*a, **k): raise AssertionError('network')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "from tesla_eval import TeslaM, create_metric\n"
        "print(TeslaM().sentence_score('a house', ['the house']).score)\n"
        "print(create_metric('bleu', 'en').sentence_score('a house', ['the house']).score)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
