"""Language detection: many languages, hostile and empty text, bounded work, and the protocol on the treebanks."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detection_model import DetectionSettings, build_detection, serbian_cyrillic
from tesla_eval._core import script_of
from tesla_eval.base.errors import ResourceError
from tesla_eval.base.resources import Provenance, read_resource, shipped_folder
from tesla_eval.language.analysis import detection
from tesla_eval.language.analysis.conllu import read_conllu
from tesla_eval.language.analysis.detection import (
    MAX_PIECES,
    PIECE_LENGTH,
    contradicts,
    identify,
    load_detection,
    models_of,
    spelled_texts,
)
from tesla_eval.language.analysis.languages import LANGUAGES

TREEBANKS = Path(__file__).resolve().parents[3] / "shared" / "data" / "ud"

# One sentence per line, written for this test: those named by a code are supported, those named by a word are not.
SENTENCES = dict(
    line.split("\t")
    for line in (Path(__file__).parents[1] / "data" / "sentences.tsv").read_text("utf-8").splitlines()
)
EXAMPLES = {name: text for name, text in SENTENCES.items() if len(name) == 2}
OUTSIDE = {name: text for name, text in SENTENCES.items() if len(name) > 2}


@pytest.mark.parametrize("language", sorted(EXAMPLES))
def test_a_sentence_is_recognised(language: str) -> None:
    assert identify([EXAMPLES[language]]).language == language


def test_every_supported_language_has_an_example() -> None:
    assert EXAMPLES.keys() == LANGUAGES.keys()


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Der Hund hat den Mann gebissen."), ("de", "Das ist ein Test."), ("en", "The cat sat on the mat."),
        ("en", "I don't know it."), ("fr", "Le chat est assis sur la table."), ("it", "Non lo so, ma lo spero."),
        ("nl", "Ik weet het niet."), ("ru", "Я не знаю, где он."), ("tr", "Bu çok güzel bir gün."),
    ],
)  # fmt: skip
def test_a_few_words_are_certain_if_they_are_common_ones(language: str, text: str) -> None:
    assert identify([text])[:2] == (language, True)


def test_short_texts_are_more_certain_together() -> None:
    texts = ["Guten Morgen!", "Ja, gerne.", "Wo warst du?", "Ich weiß nicht."]
    assert not identify(texts[:1]).certain
    assert identify(texts)[:2] == ("de", True)
    assert not identify([*texts, "Tack så mycket för hjälpen med bilen!"]).certain


def test_croatian_and_serbian_in_both_scripts() -> None:
    latin = "Juče smo vozom putovali u Niš, ali je ceo dan padala kiša i niko nije hteo da izađe iz kuće."
    assert identify([EXAMPLES["hr"]]).language == "hr"
    assert identify([latin]).language == "sr"
    assert identify([serbian_cyrillic(latin)]).language == "sr"


@pytest.mark.parametrize("name", sorted(OUTSIDE))
def test_an_unsupported_language_is_not_certain(name: str) -> None:
    found = identify([OUTSIDE[name]])
    assert not found.certain
    assert found.note


@pytest.mark.parametrize(
    "texts",
    [[], [""], ["", ""], ["12:30", "!!!", "🙌"], ["\0\0"], ["\ud800"], ["\u0301" * 50], [" \n\t"], ["½ ²"]],
)
def test_text_without_letters_has_no_language(texts: list[str]) -> None:
    found = identify(texts)
    assert (found.language, found.certain, found.note) == ("und", False, "no letters")


@pytest.mark.parametrize("text", ["OK", "Barack Obama", "Windows 11", "Paris – London", "ja", "中", "Так"])
def test_short_text_is_never_certain_and_contradicts_nothing(text: str) -> None:
    assert not identify([text]).certain
    assert all(contradicts(code, [text]) is None for code in LANGUAGES)


def test_code_and_names_contradict_nothing() -> None:
    code = [
        "def main(argv):",
        "    return sum(len(x) for x in argv)",
        'if (i < n) { printf("%d\\n", i); }',
    ] * 10
    names = ["Angela Merkel", "Emmanuel Macron", "Giorgia Meloni", "Pedro Sánchez", "Donald Tusk"] * 10
    for texts in (code, names):
        assert all(contradicts(language, texts) is None for language in ("de", "en", "fr", "it", "pl"))


def test_halves_in_two_languages_or_scripts_are_not_certain() -> None:
    assert not identify([EXAMPLES["de"], EXAMPLES["fi"]] * 10).certain
    assert not identify([EXAMPLES["en"], EXAMPLES["ru"]] * 10).certain


def test_a_foreign_name_does_not_hide_the_language() -> None:
    assert identify([EXAMPLES["ru"] + " Microsoft Windows"]).language == "ru"
    assert identify([EXAMPLES["zh"] + " iPhone Pro Max"]).language == "zh"


def test_capitals_and_decomposed_letters_make_no_difference() -> None:
    import unicodedata

    for language in ("de", "vi", "cs", "el", "ru"):
        text = EXAMPLES[language]
        assert identify([unicodedata.normalize("NFD", text)]) == identify([text])
        assert identify([text.upper()]).language == language


def test_what_contradicts() -> None:
    german = [EXAMPLES["de"]] * 2
    found = contradicts("en", german)
    assert found is not None
    assert found.language == "de"
    assert contradicts("de", german) is None
    assert contradicts("deu", german) is None
    assert contradicts("und", german) is None
    assert contradicts("lo", german) is None  # known by its characters only: nothing is known to compare with
    chinese = contradicts("en", [EXAMPLES["zh"]])
    assert chinese is not None
    assert chinese.language == "zh"
    assert contradicts("sr", [EXAMPLES["sr"]]) is None
    assert contradicts("en", [OUTSIDE["Bengali"]]) is not None  # whatever it is, it is not English


def test_texts_come_in_any_order() -> None:
    texts = [text for code in ("hr", "sr", "da", "no") for text in EXAMPLES[code].split(",")] * 9
    assert len(texts) <= MAX_PIECES
    expected = identify(texts)
    for seed in range(5):
        random.Random(seed).shuffle(texts)
        assert identify(texts) == expected


@given(st.lists(st.text(max_size=300), max_size=6))
def test_any_text_has_an_answer(texts: list[str]) -> None:
    found = identify(texts)
    assert found.language in {*LANGUAGES, "und"}
    assert 0 <= found.share <= 1 + 1e-9
    assert found.certain == (not found.note)
    assert identify(list(reversed(texts))) == found


def test_work_is_bounded(monkeypatch) -> None:
    class Counting(list[str]):
        looked_at = 0

        def __getitem__(self, index):  # type: ignore[no-untyped-def]
            self.looked_at += 1
            return super().__getitem__(index)

        def __iter__(self):  # type: ignore[no-untyped-def]
            raise AssertionError("all texts were looked at")

    texts = Counting([EXAMPLES["de"]] * 100_000)
    assert identify(texts).language == "de"
    assert texts.looked_at == MAX_PIECES
    hostile = ["a" * 10**7, "\u0301\u0323" * 10**6, "".join(map(chr, range(32, 0xD800))) * 10, "İ" * 10**6]
    pieces: list[str] = []

    def watched(texts):  # type: ignore[no-untyped-def]
        pieces[:] = texts
        return spelled_texts(texts)

    monkeypatch.setattr(detection, "spelled_texts", watched)
    for text in hostile:
        pieces.clear()
        start = time.process_time()
        identify([text] * 3)
        assert time.process_time() - start < 1
        assert 0 < sum(map(len, pieces)) <= MAX_PIECES * PIECE_LENGTH


def test_ngrams_and_words_equal_the_textbook() -> None:
    texts = ["The cat", "", "a — É!", "the cat"]
    spelled = spelled_texts(texts)
    buckets, owners = spelled.ngram_buckets(14)
    counted: dict[int, list[int]] = {}
    for bucket, owner in zip(buckets.tolist(), owners.tolist(), strict=True):
        counted.setdefault(owner, []).append(bucket)
    for number, text in enumerate(texts):
        expected = 0
        for word in "".join(c if c.isalpha() else " " for c in text.lower()).split():
            padded = f" {word} "
            expected += len(word) + sum(max(len(padded) - n + 1, 0) for n in (2, 3, 4)) + (len(padded) > 4)
        assert len(counted.get(number, [])) == expected
    assert sorted(counted[0]) == sorted(counted[3])
    assert list(owners) == sorted(owners)
    hashes = spelled.word_hashes().tolist()
    assert hashes[:2] == hashes[-2:]


def test_hashes_are_sums_of_powers() -> None:
    """A change of the hash would make the shipped model useless."""
    power, total = 1, 0
    for code in (0, ord("t"), ord("h"), ord("e"), 0):
        total, power = (total + (code + 1) * power) % 2**64, power * 0x9E3779B97F4A7C15 % 2**64
    for shift in (32, 29):
        total = (total ^ (total >> shift)) * 0xD6E8FEB86659FD93 % 2**64
    assert spelled_texts(["the"]).word_hashes().tolist() == [total >> 48]
    assert total >> 50 in spelled_texts(["the"]).ngram_buckets(14)[0]


def test_letters_and_marks_are_as_python_sees_them() -> None:
    """As far as this Python knows the characters that the core knows."""
    import unicodedata

    for code in (*range(0xD800), *range(0xE000, 0x33000)):
        character = chr(code)
        category = unicodedata.category(character)
        if category != "Cn" and unicodedata.unidata_version.startswith("14"):
            letter = character.isalpha() or category in {"Mn", "Mc"}
            assert letter or not script_of(code), hex(code)
            assert script_of(code) or not (character.isalpha() and code >= 0x700), hex(code)


def test_scripts() -> None:
    assert [script_of(ord(c)) for c in "aЖςאعकกあ漢한აա"] == [
        "Latin", "Cyrillic", "Greek", "Hebrew", "Arabic", "Devanagari", "Thai", "Kana", "Han", "Hangul", "Georgian",
        "Armenian",
    ]  # fmt: skip
    assert [script_of(ord(c)) for c in "1 -_\0🙌"] == [""] * 6
    in_models = {language for model in load_detection().values() for language in model.languages}
    assert in_models | {"zh", "ja"} == LANGUAGES.keys()


def test_the_large_table_is_mapped_not_copied() -> None:
    assert not load_detection()["Latin"].weights.flags.writeable


def test_a_damaged_model_is_named() -> None:
    resource = read_resource(shipped_folder() / "detection.tesla")
    for arrays in ({}, {**resource.arrays, "weights Latin": np.zeros((3, 31), np.int8)}):
        with pytest.raises(ResourceError, match=r"detection\.tesla: is not a valid model"):
            models_of(replace(resource, arrays=arrays))
    with pytest.raises(ResourceError):
        models_of(replace(resource, info={}))


def test_a_model_is_built_the_same_twice() -> None:
    pytest.importorskip("scipy")
    texts = {code: EXAMPLES[code].split(" ") * 3 for code in ("de", "en", "ru", "th")}
    texts = {
        code: [" ".join(words[i : i + 5]) for i in range(0, len(words), 5)] for code, words in texts.items()
    }
    settings = DetectionSettings(bits=8, bits_few=8, epochs=2, common_words=8)

    def build() -> bytes:
        made = build_detection(texts, provenance=Provenance(("own",), "none", "2026"), settings=settings)
        assert models_of(made)["Latin"].languages == ("de", "en")
        return b"".join(array.tobytes() for array in made.arrays.values())

    assert build() == build()


@pytest.mark.slow
def test_sentences_of_up_to_ten_words_are_told_or_doubted() -> None:
    """Development sentences: nearly none is certain and wrong."""
    if not TREEBANKS.exists():
        pytest.skip("the treebanks are not here")
    certain = right = wrong = total = 0
    for language in sorted(LANGUAGES.keys() - {"zh", "ja", "th"}):
        path = TREEBANKS / language / "dev.conllu.gz"
        texts = [sentence.text for sentence in read_conllu(path)] if path.exists() else []
        for text in [text for text in texts if len(text.split()) <= 10 and any(map(str.isalpha, text))][:400]:
            found = identify([text])
            total += 1
            right += found.language == language
            certain += found.certain
            wrong += found.certain and found.language != language
    assert right >= 0.9 * total
    assert certain >= 0.55 * total
    assert wrong <= 0.001 * total


@pytest.mark.slow
def test_the_treebanks_test_and_development_sentences() -> None:
    if not TREEBANKS.exists():
        pytest.skip("the treebanks are not here")
    chunks = chunks_right = sentences = sentences_right = false_alarms = 0
    for language in LANGUAGES:
        paths = [TREEBANKS / language / f"{name}.conllu.gz" for name in ("test", "dev")]
        texts = [sentence.text for path in paths if path.exists() for sentence in read_conllu(path)]
        for start in range(0, min(len(texts) - 19, 400), 20):
            chunk = texts[start : start + 20]
            chunks += 1
            chunks_right += identify(chunk).language == language
            false_alarms += contradicts(language, chunk) is not None
        sentences += len(texts[:400])
        sentences_right += sum(identify([text]).language == language for text in texts[:400])
    assert chunks > 800
    assert chunks_right >= 0.995 * chunks
    assert sentences_right >= 0.95 * sentences
    assert false_alarms <= 1
