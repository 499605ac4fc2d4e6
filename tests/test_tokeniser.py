"""Tokens: Penn-style rules for English, and what holds for every text."""

from __future__ import annotations

import runpy
import time
import unicodedata
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval._core import Tokeniser
from tesla_eval.analysis.tokenisers import load_tokeniser, tokenise

measure = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "tools" / "measure_tokenisers.py")))

LAYOUT = "\u200b\u200e\u200f\u202a\u202e\u2066\u2069\ufeff"  # zero width, direction marks
JOINERS = "\u00ad\u200c\u200d\u2060"


def assert_cut(marked: str, language: str) -> None:
    """`marked` is a text with a bar wherever it must be cut and has no space."""
    text = unicodedata.normalize("NFC", marked.replace("|", ""))
    assert tokenise(text, language) == unicodedata.normalize("NFC", marked).replace("|", " ").split()


@pytest.mark.parametrize(
    "marked",
    [
        # contractions
        "I do|n't know", "you ca|n't", "Can|not can|not", "we|'ll see", "it|'s", "James|' book",
        "gon|na wan|na got|ta", "I|'d|'ve", "DO|N'T", "it|’s n’t", "he do|nt ask", "rock 'n roll", "get 'em",
        "O'Brien|'s", "Ba'ath", "o'clock", "the '60s", "the 1990s", "the 80's", "Mama|`s",
        # punctuation
        "Hello|, world|!", "(|well|) [|sic|]|.", "\"|quoted|\" “|quoted|” ‘|quoted|’ '|quoted|'",
        "``|quoted|''", "Wait|... what|?!", "Hm|…", "a|--|b — c|–|d", "so|!!!", "and|/|or",
        "one|; two|: three",
        # addresses, handles, tags
        "see https://example.org/a-b?c=d&e=(f)#g|.", "(|www.example.com|)|,", "example.co.uk/path|!",
        "a.b-c@example.org|.", "notes.pdf|,", "01.doc|,", "comp.sources.unix",
        "@some_one likes #this_tag|, no #|1",
        # numbers
        "1,234.50 + 0.5 = .5|%", "$|5|, €|1.99|, 10|%|.", "3:30 p.m. on 12/31/1999", "the 1st|, 2nd and 30th",
        "5|km|, 10|am|, 3D|, B2B|, v2.0", "call 713-853-1234|!", "1999|-|2001", "5|'|2", "1'000",
        # abbreviations, and the full stop that ends the text
        "Mr. J. R. Smith of Acme Inc. left the U.S. in Jan. 1999|.", "e.g. this|, i.e. that etc|.",
        "born in the U.S|.", "\"|Plan B|.|\"", "It ended|. Then it began|.", "gone|.|But", "at 5 p.m|.|)",
        # hyphens: prefixes stay, compounds are cut
        "a co-worker|'s e-mail|, non-human|, mid-July|-|August", "long|-|term state|-|of|-|the|-|art",
        "-|5 to +|5",
        # names
        "AT&T and R&D", "snake_case _|emphasis|_",
        # emoticons and emoji
        "Nice :) really ;-)", "love <3 you :D", "👍🏽|👩‍👩‍👧|🇫🇷|🇩🇪|❤️|!", "a|🏴󠁧󠁢󠁳󠁣󠁴󠁿",
        # combining marks stay with their base, also where there is no letter
        "e\u0323\u0304x (\u0338 \u0303 1\ufe0f\u20e3",
    ],
)  # fmt: skip
def test_english(marked: str) -> None:
    assert_cut(marked, "en")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []), (" \t\n\r\x00\x1f\x7f\x85\u2028", []), (LAYOUT, []), (JOINERS, []),
        ("a\x00b\x01", ["a", "b"]), ("\ufeffa\u200bb", ["a", "b"]),
        ("\u202bשלום\u202c, עולם\u200f.", ["שלום", ",", "עולם", "."]),
        ("co\u00adoperate\u00ad", ["co\u00adoperate"]), ("می\u200cخواهم\u200c.", ["می\u200cخواهم", "."]),
        ("\u0301", ["\u0301"]), ("\ue000x", ["\ue000", "x"]), ("a\u00a0b\u3000c", ["a", "b", "c"]),
    ],
)  # fmt: skip
def test_invisible_characters_separate_or_join(text: str, tokens: list[str]) -> None:
    assert tokenise(text) == tokens


telling_characters = st.sampled_from("aB1 .,'’-!?:@/&#$_…\n" + LAYOUT + JOINERS)


@given(
    text=st.text(telling_characters | st.characters(exclude_categories=["Cs"])),
    language=st.sampled_from(Tokeniser.languages()),
)
def test_tokens_cover_the_text_in_order(text: str, language: str) -> None:
    spans = load_tokeniser(language).spans(text)
    edges = [edge for span in spans for edge in span]
    assert edges == sorted(edges)
    assert all(start < end for start, end in spans)
    covered = {i for start, end in spans for i in range(start, end)}
    assert not any(text[i].isspace() for i in covered)
    left_out = {character for i, character in enumerate(text) if i not in covered}
    assert all(c.isspace() or unicodedata.category(c) in {"Cc", "Cf"} for c in left_out)


@pytest.mark.parametrize(
    "pattern",
    ["a", "a.", "ab.", "a-", "a'", "1.", "1-", "a@", "a.b@", "@a", "http://", "www.", ".", "'", "!?", ":)",
     "👩\u200d", "\u0301", "1'", "_", "a_", "a&", "(", "🇫", "\u00ad", "漢", "n't", "x.com/"],
)  # fmt: skip
def test_a_megabyte_without_a_space_takes_linear_time(pattern: str) -> None:
    tokeniser = load_tokeniser("en")
    begin = time.perf_counter()
    tokeniser.count(pattern * (1_000_000 // len(pattern)))
    assert time.perf_counter() - begin < 1  # quadratic work would take minutes


def test_a_language_without_rules_is_refused_by_the_core_and_cut_by_common_rules_in_python() -> None:
    with pytest.raises(ValueError, match="xx"):
        Tokeniser("xx")
    assert "und" in Tokeniser.languages()
    assert_cut("Ça|, c'est-à-dire|: l'eau|.", "und")


@pytest.mark.slow
@pytest.mark.skipif(not measure.TREEBANKS.is_dir(), reason="needs the treebanks of ../shared/data")
@pytest.mark.parametrize(("language", "least"), [("en", 99.0)])
def test_agreement_with_the_treebank(language: str, least: float) -> None:
    assert measure.token_f1(language, measure.gold_texts(language, "test"), measure.Mistakes()) >= least
