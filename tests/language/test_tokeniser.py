"""Tokens: Penn-style rules for English, tables for the others, and what holds for every text."""

from __future__ import annotations

import runpy
import time
import unicodedata
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval import create_metric
from tesla_eval.language.analysis import load_pipeline
from tesla_eval.language.analysis.tokenisers import Tokeniser, load_tokeniser
from tests.language.tokens import tokenise

TOOLS = Path(__file__).parents[2] / "tools"
measure = SimpleNamespace(**runpy.run_path(str(TOOLS / "measure_tokenisers.py")))

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
    ("language", "marked"),
    [
        ("fr", "L'|homme qu'|il a vu|, c'|est-à-dire aujourd'hui|, a|-t-il dit|-elle|; d'|11 à rendez-vous"),
        ("it", "Nell'|acqua dell'|uomo c'|è un po' d'|oro|."),
        ("ca", "L'|home|, l'|instal·lació i posa|'l|-hi"),
        ("de", "Am 3. Mai bzw. im 19. Jahrhundert z.B. Nord|-|Süd 1990|."),
        ("sv", "EU:s t.ex. yrkes- och 70-talet"),
        ("fi", "EU:n 1500-luvun death metal -yhtye 10. marraskuuta"),
        ("hr", "u 2009. godini|, 14. dr. Ivan"), ("nl", "'s middags in 't huis 6-4|, v.Chr. en/of"),
        ("af", "Dit is 'n 6-opgawe"), ("cy", "sy|'n i|'r|, ma' 'na"), ("ga", "B'|fhéidir d'|aois"),
        ("mt", "il-|kuntratt ta' l-|istess f'|dan"), ("ro", "s-|a într-|un să|-l nr. 5"),
        ("pl", "Był|em tam w 1972 r|. i był|by|.|.|."), ("pt", "US$ 5 e/ou 6-4|, etc.|, dr. Silva"),
        ("es", "I+D de EE.UU. y"), ("cs", "není|-|li J. Novák"), ("sl", "8. 9. 2004 je RSS|-|vir|.|.|."),
        ("lt", "2010 m|. V|. Petraitis"), ("ru", "в 1960-х гг. и т.д. же"), ("uk", "10 тис. у 91-му"),
        ("be", "у 1933 г."), ("el", "σ' αυτήν|, ό,τι θες"), ("hy", "ի՞նչ ես|, թե՛"),
        ("ka", "ერთ–ერთი მაგ. ეს"), ("he", "צה\"ל פרופ' כ|-|150"), ("hi", "आस|-|पास है|।"),
        ("fa", "می\u200cخواهم|، بله|؟"), ("id", "Rp|9.000 PT Tbk. R|."), ("ko", "대왕|(|恭靖大王|)|이다|."),
        ("tr", "Ankara'da Ar|-|Ge|."), ("vi", "Hà Nội|, TP. HCM"), ("is", "hv. þm. 3. gr. allsherjar- og"),
        ("da", "f.eks. 5 mio. kr. til A/S|."), ("no", "den 22. juli bl.a. skatte- og 90-tallet"),
        ("lv", "2013.|gada 8. maijā"), ("zh", "我|在|2024|年"),
    ],
)  # fmt: skip
def test_other_languages(language: str, marked: str) -> None:
    assert_cut(marked, language)


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
    begin = time.process_time()
    tokeniser.count(pattern * (1_000_000 // len(pattern)))
    assert time.process_time() - begin < 2  # also with sanitizers; quadratic work would take minutes


def test_a_language_without_rules_is_refused_by_the_core_and_cut_by_common_rules_in_python() -> None:
    with pytest.raises(ValueError, match="xx"):
        Tokeniser("xx")
    assert "und" in Tokeniser.languages()
    assert_cut("Ça|, c'est-à-dire|: l'eau|.", "und")


def test_rules_of_ones_own() -> None:
    table = "style split-hyphens\nheads l'\nabbreviations dr"
    assert [*Tokeniser.from_table(table).spans("Dr. l'a-b")] == [(0, 3), (4, 6), (6, 7), (7, 8), (8, 9)]
    for mistake in ("style splendid", "headz l'"):
        with pytest.raises(ValueError, match=r"splendid|headz"):
            Tokeniser.from_table(mistake)


@pytest.mark.slow
@pytest.mark.skipif(not measure.TREEBANKS.is_dir(), reason="needs the treebanks of ../shared/data")
@pytest.mark.parametrize("language", sorted(measure.treebank_languages() - {"vi"}))  # whose words hold spaces
def test_agreement_with_the_treebank(language: str) -> None:
    least = {"zh": 93, "ja": 93, "th": 91}.get(language, 98)
    assert measure.token_f1(language, measure.gold_texts(language, "test"), measure.Mistakes()) >= least


def test_serbian_texts_match_across_scripts():
    """Cyrillic letters are read as Latin ones; positions stay those of the text as given, and the signature says so."""
    cyrillic, latin = "Љиља је јуче читала књигу о џезу.", "Ljilja je juče čitala knjigu o džezu."
    metric = create_metric("x", "sr")
    assert (
        metric.sentence_score(latin, [cyrillic]).score == metric.sentence_score(cyrillic, [latin]).score == 1
    )
    assert metric.sentence_score(cyrillic, ["Петар спава."]).score < 0.2
    assert "|letters:latin|" in str(metric.get_signature())
    (batch,) = load_pipeline("sr").analyse([cyrillic])
    assert [token.surface for token in batch.tokens(0)] == cyrillic.rstrip(".").split()
    assert create_metric("m", "ru").sentence_score(latin, [cyrillic]).score < 1


def test_texts_reach_the_core_in_nfc() -> None:
    """The core leaves texts alone that NFC cannot change; quotes and dashes are not among those that it can."""
    unchanged = [chr(c) for c in range(0x2002, 0x2040)]
    assert all(unicodedata.is_normalized("NFC", character) for character in unchanged)
    texts = [f"a{c}b" for c in unchanged] + [
        "a\u2000b",
        "a\u2001b",
        "cafe\u0301 \u2013 it\u2019s",
        "\u2126 \u2013",
        "e\u2019\u0301",
    ]
    (batch,) = load_pipeline("en").analyse(texts)
    assert list(batch.core.texts) == [unicodedata.normalize("NFC", text) for text in texts]
