"""`tesla score`: every format, every kind of bad input; never a traceback, never a shifted line."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
import sys

import pytest
import sacrebleu

from tesla_eval import TeslaM
from tesla_eval.cli.shared.terminal import width

REFERENCE = ["The cat sat on the mat.", "It rained all day.", "She sells sea shells."]
SYSTEM_A = ["The cats sat on a mat.", "It was raining all day.", "She sells shells."]
SYSTEM_B = ["A mat is where cats sit.", "Rain.", "Shells are what she sells by the sea."]


@pytest.fixture
def files(write):
    return write("ref.txt", REFERENCE), write("a.txt", SYSTEM_A), write("b.txt", SYSTEM_B)


def test_json_is_as_promised(tesla, files) -> None:
    ref, a, b = files
    found = json.loads(tesla("score", "-r", ref, a, b, "-m", "m,chrf", "--format", "json", "--segments").out)
    metric = TeslaM()
    assert found["metrics"]["tesla-m"]["signature"] == f"{metric.get_signature()}|nrefs:1"
    assert [system["system"] for system in found["systems"]] == [a, b]
    for system, texts in zip(found["systems"], (SYSTEM_A, SYSTEM_B), strict=True):
        expected = metric.corpus_score(texts, [REFERENCE])
        assert system["metrics"]["tesla-m"] == {
            "score": expected.score,
            "segments": expected.segments.tolist(),
        }
        assert system["metrics"]["chrf"]["score"] == pytest.approx(
            sacrebleu.corpus_chrf(texts, [REFERENCE]).score
        )
    plain = json.loads(tesla("score", "-m", "m", "-r", ref, a, "--format", "json").out)
    assert "segments" not in plain["systems"][0]["metrics"]["tesla-m"]


def test_tsv_is_as_promised(tesla, files) -> None:
    ref, a, b = files
    rows = list(
        csv.reader(
            io.StringIO(tesla("score", "-m", "m", "-r", ref, a, b, "--format", "tsv").out), delimiter="\t"
        )
    )
    assert rows[0] == ["system", "metric", "score", "signature"]
    assert [row[:2] for row in rows[1:]] == [[a, "tesla-m"], [b, "tesla-m"]]
    assert float(rows[1][2]) == TeslaM().corpus_score(SYSTEM_A, [REFERENCE]).score
    assert rows[1][3] == f"{TeslaM().get_signature()}|nrefs:1"
    outcome = tesla("score", "-m", "m", "-r", ref, a, b, "--format", "tsv", "--segments")
    rows = list(csv.reader(io.StringIO(outcome.out), delimiter="\t"))
    assert rows[0] == ["system", "segment", "metric", "score"]
    assert [row[1] for row in rows[1:]] == ["1", "2", "3"] * 2
    assert "metric:tesla-m|" in outcome.err, "the columns are fixed, so the signature stands beside"


def test_text_latex_and_mtme(tesla, files) -> None:
    ref, a, b = files
    text = tesla("score", "-r", ref, a, b, "-m", "m,bleu,ter").out
    assert "tesla-m" in text
    assert "metric:tesla-m|" in text
    assert "\nbleu|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:" in text
    segments = tesla("score", "-m", "m", "-r", ref, a, "--segments").out
    assert segments.count("a.txt") == 4
    latex = tesla("score", "-m", "m", "-r", ref, a, "--format", "latex").out
    assert r"\begin{tabular}" in latex
    assert "% metric:tesla-m" in latex
    score = TeslaM().corpus_score(SYSTEM_A, [REFERENCE])
    found = tesla("score", "-r", ref, a, "--format", "mtme", "--reference-name", "refB")
    assert found.out == f"a\t{score.score!r}\n", "bare names, as mt-metrics-eval has them"
    assert "tesla-m-refB.sys.score" in found.err
    lines = tesla("score", "-r", ref, a, "--format", "mtme", "--segments").out.splitlines()
    assert [float(line.split("\t")[1]) for line in lines] == score.segments.tolist()


def test_formats_refuse_what_they_cannot_hold(tesla, files) -> None:
    ref, a, _ = files
    assert tesla("score", "-r", ref, a, "--format", "mtme", "-m", "m,bleu").status == 2
    assert tesla("score", "-r", ref, a, "--format", "latex", "--segments").status == 2


def test_a_metric_is_scored_once_whatever_it_is_called(tesla, files) -> None:
    ref, a, _ = files
    out = tesla("score", "-r", ref, a, "-m", "m, M,tesla-m,TESLA-M,chrF", "--format", "tsv").out
    assert [line.split("\t")[1] for line in out.splitlines()[1:]] == ["tesla-m", "chrf"]


def test_columns_of_segments_stand_below_their_names(tesla, files, write, monkeypatch, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)
    write("a", SYSTEM_A)
    write("系统", SYSTEM_A)
    header, *rows = tesla("score", "-m", "m", "-r", files[0], "a", "系统", "--segments").out.splitlines()[:7]
    assert {width(line) for line in (header, *rows)} == {width(header)}
    assert {width(row.rpartition("  ")[0].rstrip()) for row in rows} == {
        header.index("segment") + len("segment")
    }


def test_percentages_have_two_digits(tesla, files) -> None:
    ref, a, _ = files
    row = tesla("score", "-r", ref, a, "-m", "bleu,m", "-m", "bleu:tok=char").out.splitlines()[1].split()
    assert [len(cell.partition(".")[2]) for cell in row[-3:]] == [2, 4, 2]


def test_corpus_scores_of_the_baselines_are_sacrebleus(tesla, files) -> None:
    ref, a, _ = files
    found = json.loads(tesla("score", "-r", ref, a, "-m", "bleu,chrf,chrf++,ter", "--format", "json").out)
    scores = {name: cell["score"] for name, cell in found["systems"][0]["metrics"].items()}
    assert scores["bleu"] == pytest.approx(sacrebleu.corpus_bleu(SYSTEM_A, [REFERENCE]).score)
    assert scores["chrf++"] == pytest.approx(sacrebleu.corpus_chrf(SYSTEM_A, [REFERENCE], word_order=2).score)
    assert scores["ter"] == pytest.approx(sacrebleu.corpus_ter(SYSTEM_A, [REFERENCE]).score)


def test_gzip_and_standard_input(files, write) -> None:
    ref = files[0]
    zipped = write("a.txt.gz", gzip.compress("\n".join(SYSTEM_A).encode()))
    command = [sys.executable, "-m", "tesla_eval.cli", "score", "-r", ref, zipped, "-", "--format", "json"]
    done = subprocess.run(command, input="\n".join(SYSTEM_A), capture_output=True, text=True, check=True)
    first, second = json.loads(done.stdout)["systems"]
    assert first["metrics"] == second["metrics"]
    assert second["system"] == "-"


def test_threads_change_nothing(tesla, write, real_pairs) -> None:
    ref, sys_a = write("ref", [r for _, r in real_pairs]), write("sys", [h for h, _ in real_pairs])
    one, two = (
        tesla("score", "-m", "m", "-r", ref, sys_a, "--format", "json", "--segments", "-j", jobs).out
        for jobs in "12"
    )
    assert one == two


def test_ragged_references(tesla, write) -> None:
    ref1, ref2 = write("r1", ["A dog.", "", ""]), write("r2", ["The hound.", "A bird.", ""])
    system = write("s", ["A dog.", "A bird.", ""])
    found = json.loads(
        tesla("score", "-m", "m", "-r", ref1, "-r", ref2, system, "--format", "json", "--segments").out
    )
    segments = found["systems"][0]["metrics"]["tesla-m"]["segments"]
    metric = TeslaM()
    assert segments[0] == metric.sentence_score("A dog.", ["A dog.", "The hound."]).score
    assert segments[1] == 1.0, "an empty line among references is a missing reference"
    assert segments[2] == 1.0, "where all are empty the reference is the empty text"


def test_one_reference_that_is_empty_is_the_empty_text(tesla, write) -> None:
    out = tesla(
        "score",
        "-r",
        write("r", ["A dog.", ""]),
        write("s", ["A dog.", "A cat."]),
        "--format",
        "json",
        "--segments",
    ).out
    assert json.loads(out)["systems"][0]["metrics"]["tesla-m"]["segments"] == [1.0, 0.0]


def test_baselines_survive_empty_texts(tesla, write) -> None:
    outcome = tesla(
        "score",
        "-r",
        write("r", ["", "A dog."]),
        write("s", ["A dog.", ""]),
        "-m",
        "bleu,chrf,ter",
        "--segments",
    )
    assert outcome.status == 0


# --- bad input -------------------------------------------------------------------------------------------------------


def check_refused(outcome, *parts: str) -> None:
    assert outcome.status == 2
    assert outcome.out == ""
    assert "Traceback" not in outcome.err
    for part in parts:
        assert part in outcome.err


def test_unequal_line_counts(tesla, files, write) -> None:
    ref, _, _ = files
    check_refused(
        tesla("score", "-r", ref, write("short.txt", SYSTEM_A[:2])), "ref.txt has 3", "short.txt has 2"
    )


def test_unequal_line_counts_are_noticed_after_many_chunks(tesla, write) -> None:
    ref, system = write("ref", REFERENCE * 1000), write("sys", SYSTEM_A * 1000 + ["One more."])
    check_refused(tesla("score", "-r", ref, system, "--segments", "--format", "tsv"), "3000", "3001")


def test_invalid_utf8(tesla, files, write) -> None:
    check_refused(
        tesla("score", "-r", files[0], write("latin.txt", b"ok\ncaf\xe9\nok\n")), "latin.txt, line 2", "UTF-8"
    )


def test_unreadable_and_empty_files(tesla, files, write, tmp_path) -> None:
    ref = files[0]
    check_refused(tesla("score", "-r", ref, str(tmp_path / "nowhere.txt")), "nowhere.txt")
    check_refused(tesla("score", "-r", ref, str(tmp_path)), str(tmp_path))
    check_refused(tesla("score", "-r", ref, write("empty.txt", b"")), "empty.txt", "empty")


def test_unknown_names_list_the_known_ones(tesla, files) -> None:
    ref, a, _ = files
    check_refused(tesla("score", "-r", ref, a, "-m", "blue"), "blue", "bleu", "chrf++")
    check_refused(tesla("score", "-r", ref, a, "-l", "xx"), "xx", "en", "de")
    check_refused(tesla("score", "-r", ref, a, "--format", "xml"), "xml")
    check_refused(tesla("score", ref), "-r")
    check_refused(tesla("score", "-r", ref), "SYSTEM")
    check_refused(tesla("scroe"), "scroe")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_segment_that_a_metric_refuses_is_named(tesla, write, jobs: str) -> None:
    good = ["买雨伞"] * 3000
    bad = [*good[:2100], "买雨伞吗？", *good[2101:]]
    names = write("ref.txt", good), write("good.txt", good), write("bad.txt", bad)
    for command in ("score", "compare"):
        outcome = tesla(command, "-l", "zh", "-j", jobs, "-m", "celab:max_units=4", "-r", *names)
        check_refused(outcome, "bad.txt, segment 2101: ", "has 5 units, more than 4")


def test_a_line_of_many_words_is_scored(tesla, write) -> None:
    long = "word " * 50_000
    out = tesla(
        "score", "-m", "m", "-r", write("r", [long, "x"]), write("s", [long, "x"]), "--format", "json"
    ).out
    assert json.loads(out)["systems"][0]["metrics"]["tesla-m"]["score"] == 1.0


def test_a_line_of_too_many_words_is_an_error_with_its_number(tesla, write) -> None:
    long = "word " * 50_001
    outcome = tesla("score", "-m", "m", "-l", "en", "-r", write("r", ["x", "x"]), write("s", ["x", long]))
    assert outcome.status == 2
    assert "segment 2" in outcome.err and "more than 50,000 words" in outcome.err


def test_a_book_of_real_text_is_scored(tesla, write, real_pairs) -> None:
    words = [" ".join(side).split() for side in zip(*(real_pairs * 100), strict=True)]
    sides = [" ".join(side[:40_000]) for side in words]
    assert min(len(side) for side in sides) > 150_000
    out = tesla(
        "score", "-m", "m", "-r", write("r", [sides[1]]), write("s", [sides[0]]), "--format", "json"
    ).out
    assert 0.3 < json.loads(out)["systems"][0]["metrics"]["tesla-m"]["score"] <= 1


def test_line_ends_marks_and_control_characters_shift_nothing(tesla, write) -> None:
    lines = ["A\x00 dog\x1b[31m.", "שלום dog", "One\u2028two.", "cat\x85dog", "\u202eA dog."]
    raw = b"\xef\xbb\xbf" + "\r\n".join(lines).encode()
    outcome = tesla(
        "score", "-m", "m", "-r", write("r", raw), write("s", lines), "--format", "json", "--segments"
    )
    assert json.loads(outcome.out)["systems"][0]["metrics"]["tesla-m"]["segments"] == [1.0] * 5


def test_names_of_files_cannot_take_over_the_terminal(tesla, files, write) -> None:
    out = tesla("score", "-r", files[0], write("a\x1b[2Jb.txt", SYSTEM_A)).out
    assert "\x1b" not in out


# --- warnings --------------------------------------------------------------------------------------------------------


def test_worked_on_text_is_warned_about_once(tesla, write) -> None:
    ref = write("ref.txt", REFERENCE * 10)
    tokenised = write("tok.txt", [line[:-1] + " ." for line in SYSTEM_A] * 10)
    outcome = tesla("score", "-r", ref, tokenised)
    assert outcome.err.count("tok.txt: the text looks already tokenised") == 1
    lowered = write("low.txt", [line.lower() for line in SYSTEM_A] * 10)
    assert tesla("score", "-r", ref, lowered).err.count("low.txt: the text looks lower-cased") == 1
    assert tesla("score", "-r", ref, write("ok.txt", SYSTEM_A * 10)).err == ""


# --- own analysis ----------------------------------------------------------------------------------------------------

CONLLU = (
    "# text = Dogs bark.\n"
    "1\tDogs\tdog\tNOUN\tNNS\t_\t_\t_\t_\t_\n"
    "2\tbark\tbark\tVERB\tVBP\t_\t_\t_\t_\tSpaceAfter=No\n"
    "3\t.\t.\tPUNCT\t.\t_\t_\t_\t_\t_\n"
    "\n"
    "# text =\n"
    "\n"
)


def test_conllu_is_taken_as_it_is(tesla, write) -> None:
    path = write("a.conllu", CONLLU.encode())
    other = write("b.conllu", CONLLU.replace("bark\tbark\tVERB\tVBP", "bark\tbellow\tVERB\tVBP").encode())
    found = json.loads(
        tesla("score", "-m", "m", "--analysed", "-r", path, path, other, "--format", "json", "--segments").out
    )
    same, different = (system["metrics"]["tesla-m"]["segments"] for system in found["systems"])
    assert same == [1.0, 1.0]
    assert different[0] < 1.0
    assert "analysis:conllu" in found["metrics"]["tesla-m"]["signature"]


def test_broken_conllu_names_file_and_line(tesla, write) -> None:
    path = write("a.conllu", CONLLU.encode())
    broken = write("broken.conllu", CONLLU.replace("2\tbark\tbark\t", "2\tbark\t").encode())
    check_refused(tesla("score", "--analysed", "-r", path, broken), "broken.conllu, line 3", "columns")
    check_refused(tesla("score", "--analysed", "-r", path, path, "-m", "m,bleu"), "plain text")
    shorter = write("shorter.conllu", CONLLU.partition("\n\n")[0].encode())
    check_refused(
        tesla("score", "--analysed", "-r", path, shorter), "a.conllu has 2 sentences", "shorter.conllu has 1"
    )


def test_analysed_text_without_tags_has_no_tags_in_common(tesla, write) -> None:
    def untagged(*forms: str) -> list[str]:
        return [f"{i}\t{form}\t_\t_\t_\t_\t_\t_\t_\t_" for i, form in enumerate(forms, 1)]

    first, second = write("a.conllu", untagged("red", "cat")), write("b.conllu", untagged("some", "dog"))
    found = json.loads(
        tesla("score", "-m", "m", "--analysed", "-r", first, first, second, "--format", "json").out
    )
    assert [system["metrics"]["tesla-m"]["score"] for system in found["systems"]] == [1.0, 0.0]


def test_conllu_with_synonyms_of_ones_own(tesla, write) -> None:
    path = write("a.conllu", CONLLU.encode())
    other = write("b.conllu", CONLLU.replace("Dogs\tdog", "Curs\tcur").encode())
    own = write("own.tsv", ["dog\tcur"])
    first = ("score", "--analysed", "-r", path, other, "--format", "json")
    found = [json.loads(tesla(*first, "-m", f"m:synonyms={wish}").out) for wish in ("none", own)]
    scores = [
        score["score"] for one in found for system in one["systems"] for score in system["metrics"].values()
    ]
    assert scores[0] < scores[1] == 1.0
