"""Lemmas: what matching wants of them, and how a table is learned."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tesla_eval._core import FrontCodedDictionary
from tesla_eval.base.errors import BuildError, ResourceError
from tesla_eval.base.resources import Resource, read_resource, shipped_folder, text_array, write_resource
from tesla_eval.language.analysis.conllu import read_conllu
from tesla_eval.language.analysis.languages import LANGUAGES
from tesla_eval.language.analysis.lemmas import Lemmatiser, apply_edit, edit_between, normalise_form
from tesla_eval.language.analysis.simplemma import Simplemma, ends_of_unknown_words, ends_that_rules_look_at
from tesla_eval.training.languages import LemmaSettings, count_lemmas, train_lemmas
from tests.fixtures import shipped_texts
from tests.language.tokens import tokenise

DATA = shipped_folder()

TREEBANKS = Path(__file__).resolve().parents[3] / "shared" / "data" / "ud"

words = st.text(min_size=1, max_size=12)
letters = st.text(st.characters(categories=["L"]), min_size=1, max_size=8)
Pairs = list[tuple[str, str]]


@pytest.fixture(scope="module")
def english() -> Lemmatiser:
    return Lemmatiser("en")


@cache
def loaded(language: str) -> Lemmatiser:
    return Lemmatiser(language)


def learned(pairs: Pairs, language: str = "und", **settings: float | bool) -> Lemmatiser:
    """A lemmatiser that knows these pairs; `und` has neither simplemma nor a table of its own."""
    table = train_lemmas(count_lemmas(pairs, language), language, settings=LemmaSettings(**settings))  # type: ignore[arg-type]
    return Lemmatiser(language, table)


def stored_in_simplemmas_format(lemmas: dict[str, str]) -> bytes:
    """Keys as what they do not share with the one before; a value like the one before is not stored again."""

    def number(value: int) -> bytes:
        return bytes([value & 127 | 128]) + number(value >> 7) if value > 127 else bytes([value])

    def common(a: bytes, b: bytes) -> int:
        return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))

    stream = b"SMFC1\0" + number(len(lemmas))
    before, value_before = b"", None
    for key, value in sorted((key.encode(), value.encode()) for key, value in lemmas.items()):
        shared, stem = common(key, before), common(key, value)
        stream += number(shared) + number(len(key) - shared) + key[shared:]
        if value == value_before:
            stream += b"\xfe"
        elif len(key) - stem < 254:
            stream += bytes([len(key) - stem]) + number(len(value) - stem) + value[stem:]
        else:
            stream += b"\xff" + number(len(value)) + value
        before, value_before = key, value
    return stream


some_keys = st.text("aeжл", max_size=6) | st.text(max_size=40) | st.just("a" * 300)


@given(st.dictionaries(some_keys.map("international".__add__) | some_keys, st.text("aeжл", max_size=14)))
def test_a_dictionary_finds_its_keys_and_no_others(lemmas: dict[str, str]) -> None:
    dictionary = FrontCodedDictionary(stored_in_simplemmas_format(lemmas))
    assert len(dictionary) == len(lemmas)
    for key in lemmas:
        for asked in (key, key + "a", key[:-1], key[1:], key[:-1] + "z"):
            assert dictionary.get(asked) == lemmas.get(asked)


def test_what_is_known_of_simplemma_without_importing_it() -> None:
    """The version and the table of word ends are simplemma's own, for every language that has lemmas."""
    import simplemma
    from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

    codes = {path.stem.removeprefix("tagger-") for path in DATA.glob("tagger-*")} & SUPPORTED_LANGUAGES
    assert len(codes) > 25
    for code in (*codes, "hbs", "nb"):
        known = Simplemma.of(code)
        assert known is not None and known.name == f"simplemma-{simplemma.__version__}"
        assert ends_of_unknown_words(code) == ends_that_rules_look_at(code)
    assert Simplemma.of("xx") is None


@given(
    word=st.text(
        st.characters(categories=["P", "S", "M"]) | st.sampled_from(".,;:!?'-\u2019\u2026&%$"), min_size=1
    ),
    code=st.sampled_from(["en", "de", "fr", "lv", "he", "hi", "sv"]),
)
def test_simplemma_is_not_asked_for_signs_but_would_say_the_same(word: str, code: str) -> None:
    from simplemma.strategies import DefaultStrategy

    simplemma = Simplemma.of(code)
    assert simplemma is not None
    assert simplemma.lemma(word) == DefaultStrategy().get_lemma(word, code)


_PIECES = st.sampled_from(
    [
        "co",
        "anti",
        "worker",
        "Workers",
        "went",
        "do",
        "I",
        "can",
        "won",
        "O",
        "clock",
        "connor",
        "caf\u00e9",
        "E",
        "\u00e0",
        "12",
    ]
)
_JOINTS = st.sampled_from(
    ["-", "_", "'", "\u2019", "\u02bc", "n't", "'s", "\u2019ve", "'ll", "'d", ".", "", "--"]
)
_ENDS = st.sampled_from(
    ["", "cies", "doms", "isms", "ments", "nces", "tions", "ums", "ized", "erves", "secrecies"]
)


@given(parts=st.lists(st.tuples(_PIECES, _JOINTS), min_size=1, max_size=4), end=_ENDS)
@example(parts=[("can", "'t")], end="")
@example(parts=[("O", "'"), ("clock", "\u2019s")], end="")
@example(parts=[("Co", "-"), ("Workers", "")], end="")
@example(parts=[("a\x00", "")], end="")
def test_english_steps_are_those_of_simplemma(
    english: Lemmatiser, parts: list[tuple[str, str]], end: str
) -> None:
    """`full_lemma` asks simplemma itself. The core leaves to it only what is neither ASCII nor a word of letters."""
    word = "".join(piece + joint for piece, joint in parts) + end
    (lemma,) = english.plain.lookup([word])
    assert lemma == english.full_lemma(word) or (lemma is None and not normalise_form(word, "en").isascii())


def test_english_letters_signs_and_hyphens_need_no_simplemma(english: Lemmatiser) -> None:
    """Importing simplemma takes longer than scoring a thousand segments."""
    words = [
        "«",
        "…",
        "€",
        "épée",
        "à",
        "Prvnízpravy.cz",
        "record\xadplayer",
        "l'Énergie",
        "X-Æ",
        "naïve-ments",
        "летнему",
    ]
    assert english.plain.lookup(words) == [english.full_lemma(word) for word in words]


def test_every_character_has_the_lemma_of_the_full_steps(english: Lemmatiser) -> None:
    for lemmatiser in (english, Lemmatiser("ru"), Lemmatiser("af")):
        words = [
            word
            for c in map(chr, range(1, 0x3000))
            for word in (c, f"{c}da", f"A{c}", f"co-{c}tions", f"{c}.")
        ]
        known = zip(words, lemmatiser.plain.lookup(words), strict=True)
        assert [
            (word, lemma) for word, lemma in known if lemma not in (None, lemmatiser.full_lemma(word))
        ] == []


@pytest.mark.parametrize(
    ("word", "lemma"),
    [
        ("houses", "house"), ("went", "go"), ("Children", "child"), ("Google", "google"),
        ("1,000", "1,000"), ("1990s", "1990s"),
        ("n't", "not"), ("n’t", "not"), ("N'T", "not"), ("'ll", "will"), ("’ll", "will"), ("'re", "be"),
        ("ca", "can"), ("wo", "will"), ("'s", "'s"), ("’s", "'s"),
        ("me", "i"), ("him", "he"), ("us", "we"), ("US", "us"), ("my", "my"),
        ("gone", "go"), ("playing", "play"),  # simplemma alone: gan, playe
    ],
)  # fmt: skip
def test_english_lemmas(english: Lemmatiser, word: str, lemma: str) -> None:
    assert english.lemmas([word]) == [lemma]


@given(texts=st.lists(words))
def test_a_lemma_depends_on_its_word_alone(english: Lemmatiser, texts: list[str]) -> None:
    together = english.lemmas(texts)
    assert together == [english.lemmas([word])[0] for word in texts]
    assert together == [lemma.lower() for lemma in together]


@pytest.mark.parametrize(
    "language", ["en", "de", "fr", "ru", "tr", "ko", "el", "be", "hr", "hi", "ja", "vi", "und"]
)
@given(
    words=st.lists(
        st.one_of(
            words,
            letters,
            st.from_regex(r"[A-Z]?[a-zà-ÿа-яẠ-ỹ]{1,4}s?", fullmatch=True),
            st.from_regex(r"[A-Z]?[a-zA-Z]{2,6}(cies|doms|ments|ums|ized|erves|ing|é|ого)", fullmatch=True),
            st.from_regex(r"[a-zA-Z]?[अ-हा-्가-힣一-龥ぁ-ヿก-ฺ]{1,5}[a-zA-Zé]?", fullmatch=True),
        )
    )
)
def test_the_core_finds_the_lemmas_that_all_the_steps_find(language: str, words: list[str]) -> None:
    lemmatiser = loaded(language)
    for word, lemma in zip(words, lemmatiser.plain.lookup(words), strict=True):
        assert lemma in {None, lemmatiser.full_lemma(word)}


@pytest.mark.slow
@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_the_core_finds_the_lemmas_of_real_words(language: str) -> None:
    path = TREEBANKS / language / "test.conllu.gz"
    if path.exists():
        forms = {word.form for sentence in read_conllu(path) for word in sentence.words}
    else:
        forms = {word for text in shipped_texts(language) for word in tokenise(text, language)}
    assert forms
    lemmatiser = loaded(language)
    found = dict(zip(sorted(forms), lemmatiser.plain.lookup(sorted(forms)), strict=True))
    assert {
        word: lemma for word, lemma in found.items() if lemma not in {None, lemmatiser.full_lemma(word)}
    } == {}


def test_the_core_finds_the_lemmas_of_words_that_no_dictionary_holds(english: Lemmatiser) -> None:
    assert english.plain.lookup(["Zrblk", "zrblkments", "Zrbl-k"]) == ["zrblk", "zrblkment", "zrbl-k"]
    assert loaded("de").plain.lookup(["Zrblk", "zrblk-tafel", "..."]) == [None, None, "..."]


def test_a_language_without_a_dictionary_keeps_the_word() -> None:
    assert Lemmatiser("und").lemmas(["Häuser", "L’eau", ""]) == ["häuser", "l'eau", ""]
    assert Lemmatiser("und").name == "none"


def test_arabic_and_hebrew_words_lose_their_vowel_signs() -> None:
    assert Lemmatiser("ar").lemmas(["كِتَابٌ"]) == Lemmatiser("ar").lemmas(["كتاب"])
    assert Lemmatiser("he").lemmas(["שָׁלוֹם"]) == Lemmatiser("he").lemmas(["שלום"])


def test_a_word_without_end_is_its_own_lemma(english: Lemmatiser) -> None:
    word = "S" * 1_000_000
    assert english.lemmas([word]) == [word.lower()]


def test_the_name_tells_table_and_simplemma(english: Lemmatiser) -> None:
    fingerprint = read_resource(DATA / "lemmas-en.tesla").fingerprint
    assert english.name.startswith(f"{fingerprint}+simplemma-")


@given(words, words)
def test_an_edit_leads_from_the_word_to_its_lemma(word: str, lemma: str) -> None:
    assert apply_edit(word, edit_between(word, lemma)) == lemma


@given(st.lists(st.tuples(letters, letters), min_size=1, max_size=30))
def test_a_form_gets_its_most_frequent_lemma(pairs: Pairs) -> None:
    pairs = [(form.lower(), lemma.lower()) for form, lemma in pairs]
    lemmatiser = learned(pairs, rules=False)
    counts = Counter(pairs)
    for form, _ in pairs:
        found = lemmatiser.lemmas([form])[0]
        assert counts[form, found] == max(counts[form, lemma] for other, lemma in pairs if other == form)


def test_forms_without_a_clear_lemma_are_not_learned() -> None:
    pairs = [("saw", "see")] * 3 + [("saw", "saw")] * 2
    assert learned(pairs).lemmas(["saw"]) == ["see"]
    assert learned(pairs, trust=0.7, rules=False).lemmas(["saw"]) == ["saw"]


def test_case_is_told_apart_where_the_text_does() -> None:
    pairs = [("us", "we")] * 5 + [("Us", "we")] + [("US", "US")] * 3 + [("CA", "CA")]
    assert learned(pairs).lemmas(["us", "Us", "US", "CA"]) == ["we", "we", "us", "ca"]


def test_words_nobody_knows_are_changed_as_their_ends_suggest() -> None:
    pairs = [
        ("cats", "cat"),
        ("dogs", "dog"),
        ("flies", "fly"),
        ("skies", "sky"),
        ("the", "the"),
        ("bus", "bus"),
    ]
    lemmatiser = learned(pairs)
    assert lemmatiser.lemmas(["horses", "tries", "Tables"]) == ["horse", "try", "table"]
    assert lemmatiser.lemmas(["a", "s", "tables1"]) == ["a", "s", "tables1"]
    assert learned(pairs, rules=False).lemmas(["horses"]) == ["horses"]


def test_only_what_the_other_steps_get_wrong_is_stored() -> None:
    pairs = [("cats", "cat"), ("dogs", "dog"), ("mice", "mouse")]
    table = train_lemmas(count_lemmas(pairs, "und"), "und")
    assert table.text("form_keys") == "mice"
    assert table.info["forms"] == 1


def test_simplemma_is_overruled_or_not() -> None:
    pairs = [("houses", "hearth")]
    assert learned(pairs, "en").lemmas(["houses"]) == ["hearth"]
    assert learned(pairs, "en", overrule_simplemma=False).lemmas(["houses"]) == ["house"]
    assert learned(pairs, "en", simplemma=False, rules=False).lemmas(["trees"]) == ["trees"]


def test_a_table_survives_its_file(tmp_path: Path) -> None:
    table = train_lemmas(count_lemmas([("mice", "mouse"), ("cats", "cat"), ("dogs", "dog")], "und"), "und")
    write_resource(tmp_path / "lemmas-und.tesla", table)
    again = Lemmatiser("und", read_resource(tmp_path / "lemmas-und.tesla", "lemmas"))
    assert again.lemmas(["mice", "frogs"]) == ["mouse", "frog"]


def test_the_users_own_table_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_resource(tmp_path / "lemmas-en.tesla", train_lemmas({"houses": Counter({"hearth": 1})}, "en"))
    monkeypatch.setenv("TESLA_EVAL_DATA", str(tmp_path))
    assert Lemmatiser("en").lemmas(["houses"]) == ["hearth"]


def test_tables_that_cannot_be_are_refused() -> None:
    with pytest.raises(BuildError):
        train_lemmas({}, "en")
    texts = {"form_keys": "a\nb", "form_edits": "0", "suffix_keys": "", "suffix_edits": ""}
    arrays = {name: text_array(text) for name, text in texts.items()}
    with pytest.raises(ResourceError, match="is not a valid table"):
        Lemmatiser("en", Resource(kind="lemmas", language="en", arrays=arrays))


def test_shipped_tables_name_their_sources_and_stay_within_their_four_megabytes() -> None:
    paths = sorted(DATA.glob("lemmas-*.tesla"))
    assert len(paths) > 30
    assert sum(path.stat().st_size for path in paths) < 4_000_000
    notice = (DATA / "licences" / "universal-dependencies.txt").read_text(encoding="utf-8")
    for path in paths:
        resource = read_resource(path, "lemmas")
        assert resource.provenance.licence
        assert "(NC)" not in resource.provenance.licence
        for source in resource.provenance.sources:
            assert source.split(" ")[0] in notice
