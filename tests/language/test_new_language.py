"""docs/new-language.md, to the letter: a language that is not built in, from the files in examples/esperanto."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tesla_eval import TeslaM
from tesla_eval.base.errors import UsageError
from tesla_eval.language.analysis.conllu import parse_conllu
from tesla_eval.language.analysis.pipeline import load_pipeline
from tesla_eval.language.analysis.tags import load_tagger
from tesla_eval.training.languages import LanguageFiles, build_language

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "new-language.md"


@pytest.fixture
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository as working folder, an empty folder for the user's own resources, nothing loaded."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("TESLA_EVAL_DATA", str(tmp_path))
    for cached in (load_tagger, load_pipeline):
        cached.cache_clear()
    return tmp_path


def blocks() -> list[str]:
    return re.findall(r"^```\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def test_every_command_of_the_page_does_what_the_page_says(tesla: Any, at_home: Path) -> None:
    said, commands = "", 0
    for block in blocks():
        if block.startswith("tesla "):
            outcome = tesla(*shlex.split(block)[1:])
            assert (outcome.status, outcome.err) == (0, ""), block
            said, commands = outcome.out, commands + 1
        else:
            for line in block.splitlines():
                assert line in said
    assert commands == 4
    assert sorted(path.name for path in at_home.iterdir()) == [
        "lemmas-eo.tesla",
        "senses-eo.tesla",
        "tagger-eo.tesla",
    ]


def test_the_language_is_there_for_everything(tesla: Any, at_home: Path) -> None:
    assert tesla("score", "-l", "eo", "-r", "examples/esperanto/reference.txt", "README.md").status == 2
    assert tesla(*shlex.split(blocks()[0])[1:]).status == 0
    metric = TeslaM(lang="eo-001")
    assert metric.sentence_score("Mi amas vin.", ["Mi amas vin."]).score == 1.0
    assert metric.sentence_score("La doktoro venis.", ["La kuracisto venos."]).score == 1.0
    described = json.loads(tesla("resources", "-l", "eo", "--json").out)["languages"]["eo"]
    assert described["quality"]["universal_tags"] == described["quality"]["lemmas"] == 100.0
    assert described["own"] == ["lemmas", "senses", "tagger"]


def test_sentences_alone_are_enough(tesla: Any, at_home: Path) -> None:
    outcome = tesla("train", "language", "-l", "eo", "--train", "examples/esperanto/train.conllu")
    assert outcome.status == 0
    assert "not measured" in outcome.out
    text = "examples/esperanto/reference.txt"
    scored = tesla("score", "-l", "eo", "-r", text, text)
    assert "1.0000" in scored.out
    assert "language 'eo' has no synonyms" in scored.err


def test_an_alias_is_stored_under_the_code_that_finds_it(tesla: Any, at_home: Path) -> None:
    train = "examples/esperanto/train.conllu"
    assert tesla("train", "language", "-l", "nb", "--train", train).status == 0
    assert (at_home / "tagger-no.tesla").exists()
    assert tesla("train", "language", "-l", "../x", "--train", train).status == 2
    assert tesla("train", "language", "-l", "und", "--train", train).status == 2


def test_words_without_lemmas_make_no_table_of_lemmas() -> None:
    sentence = "1\tLa\t_\tDET\t_\t_\t_\t_\t_\t_\n2\tkato\t_\tNOUN\t_\t_\t_\t_\t_\t_\n\n"
    built = build_language(LanguageFiles(list(parse_conllu(sentence * 3))), "eo")
    assert [resource.kind for resource in built] == ["tagger"]


def test_a_bad_line_is_named(tesla: Any, write: Any, at_home: Path) -> None:
    lexicon = write("words.tsv", ["kato\tkato\tNOUN", "hundo NOUN"])
    outcome = tesla(
        "train", "language", "-l", "eo", "--train", "examples/esperanto/train.conllu", "--lexicon", lexicon
    )
    assert outcome.status == 2
    assert "words.tsv, line 2" in outcome.err
    assert not (at_home / "tagger-eo.tesla").exists()


def test_no_code_no_language() -> None:
    from tesla_eval.language.analysis.languages import code_to_build

    for code in ("", "e", "esperanto", "e1", "und"):
        with pytest.raises(UsageError):
            code_to_build(code)
