"""Another program's segmenter in front of our tagger; most tests put a small one in its place."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from tesla_eval.base.errors import UsageError
from tesla_eval.language.analysis.custom import SegmentedAnalyser

TEXT = "か\u3099くせいが 本を 買った。"  # the first character in two parts, as some systems write it
WORDS = ["がくせい", "が", "本", "を", "買っ", "た", "。"]


@pytest.fixture
def fugashi(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fugashi that knows one sentence."""

    def cut(text: str) -> list[SimpleNamespace]:
        words = WORDS if text.startswith("がくせい") else text.rstrip("。").split("・")
        return [SimpleNamespace(surface=word) for word in words if word]

    monkeypatch.setitem(sys.modules, "fugashi", SimpleNamespace(Tagger=lambda: cut))
    monkeypatch.setattr("importlib.metadata.version", lambda package: "1.0")


@pytest.mark.usefixtures("fugashi")
def test_words_keep_their_places_in_the_raw_text() -> None:
    (tokens,) = SegmentedAnalyser("fugashi", "ja").analyse([TEXT])
    assert [token.surface for token in tokens] == WORDS[:-1]
    assert [TEXT[token.start : token.end] for token in tokens] == ["か\u3099くせい", *WORDS[1:-1]]
    assert {"NOUN", "ADP", "VERB"} <= {token.pos for token in tokens}
    assert [token.function for token in tokens][1] is True


@pytest.mark.usefixtures("fugashi")
def test_it_is_asked_for_on_the_command_line_and_stands_in_the_signature(tesla: Any, write: Any) -> None:
    text = write("a.txt", [TEXT, "", "本・本"])
    outcome = tesla("score", "-l", "ja", "-m", "m:segmenter=fugashi", "-r", text, text)
    assert outcome.status == 0, outcome.err
    assert "1.0000" in outcome.out
    assert "analysis:fugashi-1.0,unidic-lite-1.0,tagger-" in outcome.out
    none = tesla("score", "-l", "ja", "-m", "m:segmenter=fugashi,synonyms=none", "-r", text, text)
    assert "senses-none" in none.out


@pytest.mark.usefixtures("fugashi")
def test_other_languages_are_refused(tesla: Any, write: Any) -> None:
    with pytest.raises(UsageError, match="segmenter 'fugashi' is not available for language 'zh'"):
        SegmentedAnalyser("fugashi", "zh")
    text = write("a.txt", ["本"])
    assert tesla("score", "-l", "th", "-m", "m:segmenter=fugashi", "-r", text, text).status == 2


def test_what_to_install_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fugashi", None)
    with pytest.raises(UsageError, match=r"pip install 'tesla-eval\[ja\]'"):
        SegmentedAnalyser("fugashi", "ja")


def test_the_real_one() -> None:
    pytest.importorskip("fugashi")
    pytest.importorskip("unidic_lite")
    (tokens,) = SegmentedAnalyser("fugashi", "ja").analyse(["学生が本を買った。"])
    assert [token.surface for token in tokens] == ["学生", "が", "本", "を", "買っ", "た"]
