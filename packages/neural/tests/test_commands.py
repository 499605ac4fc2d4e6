"""`tesla train encoder` and `tesla train n` with a tiny random encoder, and TESLA-N on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from conftest import WORDS
from tesla_eval.base.errors import TeslaError
from tesla_eval.cli import tesla

SOME = [word for word in WORDS if word.isalpha()]


def run(*arguments: str, fails: bool = False) -> str:
    result = CliRunner().invoke(tesla, list(arguments))
    if fails:
        assert isinstance(result.exception, TeslaError), result.output
        return str(result.exception)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


@pytest.fixture
def judged(tmp_path: Path) -> str:
    """Outputs that people like the better, the more words of the reference they have."""
    path = tmp_path / "judged.seg.tsv"
    rows = ["lp\ttestset\tsystem\tseg_id\thuman_score\thypothesis\treference"]
    for segment in range(30):
        words = [SOME[(segment + k) % len(SOME)] for k in range(6)]
        for system in range(4):
            output = words[: 3 + system] + [SOME[(segment * 3 + k) % len(SOME)] for k in range(3 - system)]
            row = (
                "de-en",
                "made",
                f"s{system}",
                str(segment + 1),
                str(system),
                " ".join(output),
                " ".join(words),
            )
            rows.append("\t".join(row))
    path.write_text("\n".join(rows) + "\n", "utf-8")
    return str(path)


def test_an_own_encoder_is_built_trained_and_used(tiny_folder: Path, own_data: Path, judged: str) -> None:
    told = run(
        "train", "encoder", "-l", "en", "--from", str(tiny_folder), "--layers", "2", "--licence", "none"
    )
    assert "2 layers, 16 dimensions, 27 pieces" in told
    assert (own_data / "encoder-en.tesla").is_file()
    texts = own_data.with_name("texts.txt")
    texts.write_text("a cat sat\n", "utf-8")
    refused = run("score", "-l", "en", "-m", "n", "-r", str(texts), str(texts), fails=True)
    assert "tesla train n" in refused  # the shipped weights are for the shipped encoder
    told = run("train", "n", "--segments", judged, "--no-cache")
    assert "learned from 1 sets" in told
    assert (own_data / "weights-n-en.json").is_file()
    shown = run("explain", "-l", "en", "-m", "n", "two men were arrested", "two men were arrested")
    assert "1.0000" in shown and "ctx.flow" in shown


def test_training_says_what_is_missing(own_data: Path, judged: str) -> None:
    assert "tesla train encoder -l de" in run("train", "n", "-l", "de", "--segments", judged, fails=True)


def test_two_files_with_preferences_for_one_test_set_are_refused(
    tmp_path: Path, own_data: Path, judged: str
) -> None:
    files = [tmp_path / "a.pairs.tsv", tmp_path / "b.pairs.tsv"]
    for file, better in zip(files, ("s1\ts2", "s2\ts1"), strict=True):
        file.write_text(
            f"lp\ttestset\tseg_id\tsystem_better\tsystem_worse\nde-en\tmade\t1\t{better}\n", "utf-8"
        )
    pairs = [word for file in files for word in ("--pairs", str(file))]
    told = run("train", "n", "--segments", judged, *pairs, "--no-cache", fails=True)
    assert "b.pairs.tsv: the preferences for de-en made are also in an earlier file" in told


def test_a_folder_that_is_no_model_is_refused(tmp_path: Path, own_data: Path) -> None:
    told = run("train", "encoder", "-l", "de", "--from", str(tmp_path), fails=True)
    assert "config.json" in told


def test_scores_and_drawings_on_the_command_line(tmp_path: Path) -> None:
    reference, system = tmp_path / "ref.txt", tmp_path / "sys.txt"
    reference.write_text("Two men were arrested.\nIt rained.\n", "utf-8")
    system.write_text("Two men were detained.\nIt rained.\n", "utf-8")
    assert "tesla-n" in run("score", "-m", "n,x", "-r", str(reference), str(system))
    shown = run("explain", "-m", "n", "Two men were detained.", "Two men were arrested.")
    assert "detained" in shown and "arrested" in shown
    assert "tm-data" in run(
        "explain", "-m", "n", "--html", "Two men were detained.", "Two men were arrested."
    )


def test_the_selftest_covers_the_package() -> None:
    assert "tesla-eval-neural:" in run("selftest")
    assert "encoder" in run("train", "--help") and "TESLA-N" in run("train", "n", "--help")


def test_the_lists_name_the_metric_and_its_encoder(own_data: Path) -> None:
    listed = run("metrics")
    assert next(line for line in listed.splitlines() if line.startswith("n ")).endswith("with an encoder")
    assert "languages: with an encoder" in run("metrics", "n")
    detailed = run("resources", "-l", "en")
    assert "3 layers, 384 dimensions" in next(line for line in detailed.splitlines() if " encoder " in line)
    english = next(line for line in run("resources").splitlines() if line.startswith("en "))
    assert "encoder" in english


def test_a_vocabulary_that_is_too_large_is_refused(
    tiny_folder: Path, own_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tesla_eval_neural.building._LARGEST_TEXT", 1 << 8)
    (tiny_folder / "vocab.txt").write_text("word\n" * 100, "utf-8")
    told = run("train", "encoder", "-l", "de", "--layers", "2", "--from", str(tiny_folder), fails=True)
    assert "vocab.txt: has more than" in told
