"""CoNLL-U is read strictly: what is sound comes out whole, what is not is named by file and line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval import TeslaM
from tesla_eval.base.errors import InputError
from tesla_eval.language.analysis import ConlluAnalyser
from tesla_eval.language.analysis.conllu import (
    UNIVERSAL_TAGS,
    Sentence,
    Word,
    content_word,
    parse_conllu,
    read_conllu,
)


def line(identifier: object, form: str, upos: str = "NOUN", *, xpos: str = "_", misc: str = "_") -> str:
    return "\t".join([str(identifier), form, form.lower(), upos, xpos, "_", "_", "_", "_", misc])


FRENCH = "\n".join(
    [
        "# source = a treebank",
        "# text = Il parle du chat.",
        line(1, "Il", "PRON"),
        line(2, "parle", "VERB"),
        line("3-4", "du", "_"),
        line(3, "de", "ADP"),
        line(4, "le", "DET"),
        line(5, "chat", misc="SpaceAfter=No"),
        line("5.1", "fantôme"),
        line(6, ".", "PUNCT"),
        "",
        line(1, "Oui", "INTJ"),
    ]
)


def test_sentences_words_comments_and_multiword_tokens_are_read() -> None:
    first, second = parse_conllu(FRENCH)
    assert [word.form for word in first.words] == ["Il", "parle", "de", "le", "chat", "."]
    assert first.multiwords == ((2, 4, "du", True),)
    assert first.comment("source") == "a treebank"
    assert first.comment("nothing") is None
    assert not first.words[4].space_after
    assert (second.line, [word.upos for word in second.words]) == (12, ["INTJ"])


def test_surface_tokens_keep_multiword_tokens_whole() -> None:
    first, second = parse_conllu(FRENCH)
    assert [(t.form, t.upos) for t in first.surface()][2:4] == [("du", "ADP"), ("chat", "NOUN")]
    assert second.surface() == second.words


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (["ADP", "DET"], "ADP"),
        (["VERB", "PRON"], "VERB"),
        (["ADP", "NOUN"], "NOUN"),
        (["AUX", "PART"], "AUX"),
    ],
)
def test_a_multiword_token_has_the_tag_of_its_content_else_of_its_first_part(
    tags: list[str], expected: str
) -> None:
    assert content_word([Word("x", "x", tag, "_") for tag in tags]).upos == expected


def test_the_text_is_that_of_the_comment_or_follows_the_spacing() -> None:
    first, second = parse_conllu(FRENCH)
    assert first.text == "Il parle du chat."
    assert first._replace(comments=()).text == "Il parle du chat."
    assert second.text == "Oui"


ENGLISH = "\n".join(
    [
        line(1, "I", "PRON"),
        line("2-3", "don't", "_"),
        line(2, "do", "AUX"),
        line(3, "n't", "PART"),
        line(4, "know", "VERB"),
        line(5, "it", "PRON", misc="SpaceAfter=No"),
        line(6, ".", "PUNCT", misc="SpaceAfter=No"),
        "",
        line("1-2", "Gimme", "_"),
        line(1, "Give", "VERB"),
        line(2, "me", "PRON"),
        line(3, "that", "PRON"),
    ]
)


@pytest.mark.parametrize(("language", "parts"), [("en", True), ("fr", False)])
def test_words_stand_where_the_raw_text_has_them(language: str, parts: bool) -> None:
    """Also after a multi-word token, whose parts have no spacing of their own, and after the end of a sentence."""
    analyser = ConlluAnalyser(language)
    (text,), (tokens,) = analyser.raw_texts([ENGLISH]), analyser.analyse([ENGLISH])
    assert text == "I don't know it. Gimme that"
    contraction = ["do", "n't"] if parts else ["don't"]
    whole = ["Gimme", "Gimme"] if parts else ["Gimme"]  # its parts do not spell it
    assert [text[token.start : token.end] for token in tokens] == [
        "I",
        *contraction,
        "know",
        "it",
        *whole,
        "that",
    ]


def test_an_explanation_shows_the_words_of_analysed_text() -> None:
    metric = TeslaM("en", analyser=ConlluAnalyser("en"))
    (detail,) = metric.explain(ENGLISH, [ENGLISH]).references
    assert [token.surface for token in detail.hypothesis][:5] == ["I", "do", "n't", "know", "it"]


def test_a_comment_that_is_not_the_text_of_the_tokens_is_no_raw_text() -> None:
    (sentence,) = parse_conllu("# text = Another text.\n" + line(1, "Oui"))
    assert sentence.text == "Oui"
    (spaced,) = parse_conllu("# text = Oui  non\n" + "\n".join([line(1, "Oui"), line(2, "non")]))
    assert [place for _, place in spaced.placed_words(split=False)] == [(0, 3), (5, 8)]


@pytest.mark.parametrize(
    ("text", "line_number", "complaint"),
    [
        ("1\tone\ttwo", 1, "3 columns"),
        (line(2, "a"), 1, "word 2 comes where word 1 should"),
        ("\n".join([line(1, "a"), line(1, "b")]), 2, "word 1 comes where word 2"),
        (line("one", "a"), 1, "not a word number"),
        (line(1, "a", "NOUNS"), 1, "not a universal tag"),
        (line(1, ""), 1, "may not be empty"),
        (line("1-2", "ab", "_"), 1, "no words"),
        ("\n".join([line("1-2", "ab", "_"), line(1, "a"), ""]), 3, "inside a multi-word token"),
        ("\n".join([line("1-2", "ab", "_"), line(1, "a"), line("2-3", "bc", "_")]), 3, "overlap"),
        ("\n".join([line(1, "a"), line("2-1", "ab", "_")]), 2, "backwards"),
        ("\n".join([line(1, "a"), "# late = comment"]), 2, "inside a sentence"),
        ("# only = comments\n", 2, "no words"),
    ],
)
def test_unsound_input_names_file_and_line(text: str, line_number: int, complaint: str) -> None:
    with pytest.raises(InputError, match=rf"^my\.conllu, line {line_number}: .*{complaint}"):
        list(parse_conllu(text, "my.conllu"))


def test_files_may_be_gzipped_and_have_carriage_returns(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu.gz"
    path.write_bytes(gzip.compress(("\ufeff" + FRENCH.replace("\n", "\r\n")).encode()))
    assert [s._replace(line=0) for s in read_conllu(path)] == [
        s._replace(line=0) for s in parse_conllu(FRENCH)
    ]


def test_a_file_that_is_no_utf8_or_cut_off_is_named(tmp_path: Path) -> None:
    latin = tmp_path / "latin.conllu"
    latin.write_bytes(line(1, "é").encode("latin-1"))
    with pytest.raises(InputError, match=r"latin\.conllu, line 1"):
        list(read_conllu(latin))
    cut = tmp_path / "cut.conllu.gz"
    cut.write_bytes(gzip.compress(FRENCH.encode())[:-12])
    with pytest.raises(InputError, match=r"cut\.conllu\.gz"):
        list(read_conllu(cut))


words = st.builds(
    Word,
    form=st.text("abcé漢', ", min_size=1, max_size=5).filter(str.strip),
    lemma=st.sampled_from(["a", "b", "_"]),
    upos=st.sampled_from(UNIVERSAL_TAGS),
    xpos=st.sampled_from(["NN", "_"]),
    space_after=st.booleans(),
)


@given(st.lists(st.lists(words, min_size=1, max_size=6), max_size=5))
def test_what_is_written_is_what_is_read(sentences: list[list[Word]]) -> None:
    text = "\n\n".join(
        "\n".join(
            f"{i}\t{w.form}\t{w.lemma}\t{w.upos}\t{w.xpos}\t_\t_\t_\t_\t{'_' if w.space_after else 'SpaceAfter=No'}"
            for i, w in enumerate(sentence, 1)
        )
        for sentence in sentences
    )
    parsed = list(parse_conllu(text))
    assert [s.words for s in parsed] == [tuple(sentence) for sentence in sentences]
    assert all(
        s.text[start:end] == word.form for s in parsed for word, (start, end) in s.placed_words(split=True)
    )


@given(st.text("12-.\t\n_#aNOUN= ", max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        assert all(isinstance(sentence, Sentence) for sentence in parse_conllu(text))
    except InputError as error:
        assert "line" in str(error)
