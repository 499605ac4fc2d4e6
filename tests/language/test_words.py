"""What is known of words without their context: which differ in capitals alone, their shapes, their weights."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tesla_eval import _core
from tesla_eval._core import NO_VECTOR, Lexicon
from tesla_eval.base.errors import ResourceError
from tesla_eval.base.records import Token
from tesla_eval.base.resources import Resource, text_array
from tesla_eval.language.analysis.batch import (
    AnalysedBatch,
    GrowingArray,
    Vocabulary,
    WordTable,
    _lowered_character,
    word_tables,
)
from tesla_eval.language.analysis.frequencies import KIND, WordFrequencies, load_frequencies
from tesla_eval.language.analysis.lemmas import Lemmatiser
from tesla_eval.language.analysis.pipeline import Pipeline
from tesla_eval.language.analysis.tagger import load_tagger
from tesla_eval.language.analysis.vectors import WordsWithVectors, load_vectors
from tests.textbook import word_shape

ODD = [
    "the", "The", "THE", "cat", "Cat", "I", "İ", "i\u0307", "İstanbul", "ı", "ß", "ẞ", "SS", "ss", "ﬁ", "ﬀ", "ǅ", "ǆ",
    "Ǆ", "ΣΑΣ", "σας", "σασ", "Σ", "ς", "ΐ", "2012", "²", "٣", "x٣", "Ⅷ", "ⅷ", "𝐀", "ℂ", "ℂ-x", "é", "e\u0301",
    "E\u0301", "\u0301", "\u0345", "ნ", "Ნ", "漢字", "が", "ཀ", "한", "_", "-", "n't", "N’T", "𞤀", "𞤢",
]  # fmt: skip
FORMS = st.one_of(
    st.sampled_from(ODD), st.lists(st.sampled_from(ODD), max_size=3).map("".join), st.text(max_size=6)
)
CHARACTERS = [chr(c) for c in (*range(0xD800), *range(0xE000, 0x20000))]  # beyond, no letter has another form


def frequencies(words: list[str], levels: list[int]) -> WordFrequencies:
    arrays = {"words": text_array("\n".join(words)), "levels": np.array(levels, np.uint8)}
    return WordFrequencies(Resource(KIND, "en", arrays))


def batch_of(vocabulary: Vocabulary, forms: list[str]) -> AnalysedBatch:
    tokens = [Token(form, 0, 1, form, "", False, ()) for form in forms]
    return AnalysedBatch.from_tokens([" ".join(forms)], vocabulary, [tokens])


def learned(table: WordTable) -> tuple[list[int], list[int], list[float]]:
    return table.folded.values.tolist(), table.shape.values.tolist(), table.word_weight.values.tolist()


def expected(forms: list[str], listed: WordFrequencies | None) -> tuple[list[int], list[int], list[float]]:
    """By a dictionary of all words in small letters."""
    first: dict[str, int] = {}
    folded = [first.setdefault(form.lower(), number) for number, form in enumerate(forms)]
    shapes = [digit + 2 * capital for digit, capital in map(word_shape, forms)]
    lowered = [form.lower() for form in forms]
    return folded, shapes, [1.0] * len(forms) if listed is None else listed.weights(lowered).tolist()


@given(st.lists(st.lists(FORMS, max_size=8), max_size=4), st.lists(FORMS, max_size=3), st.booleans())
@example([["THE", "The"], ["the", "tHE"]], ["the"], True)
def test_words_are_as_python_sees_them(batches: list[list[str]], ahead: list[str], weighted: bool) -> None:
    """The lexicon may know more words than the table."""
    listed = frequencies(["the", "ss", "i̇", "σας", "2012"], [1, 2, 3, 4, 5]) if weighted else None
    vocabulary = Vocabulary(Lexicon(None))
    table = WordTable(vocabulary, listed)
    for forms in batches:
        batch = batch_of(vocabulary, forms)
        vocabulary.lexicon.intern_words(ahead)
        table.learn(batch)
    numbers = np.arange(len(table.folded), dtype=np.uint32)
    assert learned(table) == expected(vocabulary.lexicon.forms(numbers), listed)
    lemmas = vocabulary.lexicon.lemmas(np.arange(len(table.lemma_weight), dtype=np.uint32))
    assert table.lemma_weight.values.tolist() == (
        [1.0] * len(lemmas) if listed is None else listed.weights(lemmas).tolist()
    )


@pytest.mark.parametrize("around", [("", ""), ("a", "b"), ("1", "")])
def test_all_characters_are_as_python_sees_them(around: tuple[str, str]) -> None:
    forms = [character.join(around) for character in CHARACTERS]
    lexicon = Lexicon(None)
    vocabulary = Vocabulary(lexicon)
    numbers = lexicon.intern_words(forms)
    assert numbers.tolist() == list(range(len(forms)))
    folded, shapes, _ = WordTable(vocabulary, None)._core.learn_words(0, len(forms))
    want_folded, want_shapes, _ = expected(forms, None)
    assert folded.tolist() == want_folded
    assert shapes.tolist() == want_shapes


def test_a_character_is_asked_for_once_and_a_word_where_it_depends_on_its_neighbours() -> None:
    asked: list[str] = []

    def of_character(character: str) -> tuple[str | None, int]:
        asked.append(character)
        return (None if character == "Σ" else character.lower()), 0

    def of_word(word: str) -> str:
        asked.append(word)
        return word.lower()

    lexicon = Lexicon(None)
    lexicon.intern_words(["Ab", "ab", "ΣΣ", "σς", "aé"])
    facts = _core.WordFacts(lexicon, _core.CharacterMap(of_character, of_word), None)
    assert facts.learn_words(0, 5)[0].tolist() == [0, 0, 2, 2, 4]
    assert asked == ["A", "b", "a", "Σ", "ΣΣ", "σ", "ς", "é"]


def test_an_error_of_python_reaches_the_caller_and_nothing_is_half_learned() -> None:
    known = {"a": "a", "A": "a"}
    lexicon = Lexicon(None)
    lexicon.intern_words(["A", "a", "b"])
    facts = _core.WordFacts(lexicon, _core.CharacterMap(lambda c: (known[c], 0), str.lower), None)
    with pytest.raises(KeyError):
        facts.learn_words(0, 3)
    known["b"] = "b"
    assert facts.learn_words(0, 3)[0].tolist() == [0, 0, 2]
    for wrong in (b"a", None, 1):
        with pytest.raises((TypeError, RuntimeError)):
            _core.WordFacts(lexicon, _core.CharacterMap(lambda _: wrong, str.lower), None).learn_words(0, 1)  # type: ignore[arg-type, return-value]  # noqa: B023


def test_words_that_are_not_there_are_refused() -> None:
    lexicon = Lexicon(None)
    lexicon.intern_words(["a"])
    facts = WordTable(Vocabulary(lexicon), None)._core
    for first, end in ((0, 2), (1, 0)):
        with pytest.raises(IndexError):
            facts.learn_words(first, end)
        with pytest.raises(IndexError):
            facts.lemma_weights(first, end)


def test_threads_may_meet_the_same_characters() -> None:
    """One map of characters serves all vocabularies; here nobody has asked it before."""
    forms = [chr(0x100 + (7 * k) % 3000) + "x" for k in range(3000)]
    characters = _core.CharacterMap(_lowered_character, str.lower)
    together = threading.Barrier(8, timeout=30)

    def folds(_: int) -> list[int]:
        lexicon = Lexicon(None)
        lexicon.intern_words(forms)
        facts = _core.WordFacts(lexicon, characters, None)
        together.wait()
        return facts.learn_words(0, len(forms))[0].tolist()

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(folds, range(8)))
    assert found == [expected(forms, None)[0]] * 8


def test_what_python_does_when_it_is_asked_may_ask_for_other_words() -> None:
    """A handler of signals can run then, and score something."""
    inner, forms = Lexicon(None), ["abc1", "ABC1"]
    inner.intern_words(["zz"])

    def of_character(character: str) -> tuple[str | None, int]:
        _core.WordFacts(inner, _core.CharacterMap(_lowered_character, str.lower), None).learn_words(0, 1)
        return _lowered_character(character)

    lexicon = Lexicon(None)
    lexicon.intern_words(forms)
    facts = _core.WordFacts(lexicon, _core.CharacterMap(of_character, str.lower), None)
    folded, shapes, _ = facts.learn_words(0, 2)
    assert [folded.tolist(), shapes.tolist()] == list(expected(forms, None)[:2])


@pytest.mark.parametrize("after", range(12))
def test_an_interruption_leaves_nothing_half_learned(after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["The cat sat on a mat.", "A CAT sits.", "Cats sat there, the two.", "there sat 12 cats"]
    words = WordsWithVectors(load_vectors("en"), load_frequencies("en"))  # type: ignore[arg-type]
    pipeline = Pipeline(
        "en", tagger=load_tagger("en"), lemmatiser=Lemmatiser("en"), senses=None
    )  # with a vocabulary of its own
    put, puts = GrowingArray.put, iter(range(1000))

    def interrupted(array: GrowingArray[np.uint32], first: int, values: object) -> None:
        number = next(puts)
        if number == after and after % 2:
            raise KeyboardInterrupt
        put(array, first, values)  # type: ignore[arg-type]
        if number == after:
            raise KeyboardInterrupt

    monkeypatch.setattr(GrowingArray, "put", interrupted)
    for text in texts:
        with suppress(KeyboardInterrupt):
            words.of(*pipeline.analyse([text]))
    monkeypatch.undo()
    (batch,) = pipeline.analyse(texts)
    again, fresh = words.of(batch), WordsWithVectors(words.vectors, load_frequencies("en")).of(batch)
    vectors = [tokens.matrix.reshape(-1, words.vectors.dimensions) for tokens in (again, fresh)]
    known = fresh.row != NO_VECTOR
    np.testing.assert_array_equal(again.row != NO_VECTOR, known)
    np.testing.assert_array_equal(vectors[0][again.row[known]], vectors[1][fresh.row[known]])
    np.testing.assert_array_equal(again.squares[again.row[known]], fresh.squares[fresh.row[known]])
    np.testing.assert_array_equal(again.weight, fresh.weight)
    table = word_tables(load_frequencies("en"))[batch.vocabulary]
    forms = batch.vocabulary.lexicon.forms(np.arange(len(table.folded), dtype=np.uint32))
    assert learned(table) == expected(forms, load_frequencies("en"))


WORDS = st.lists(
    st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=4), min_size=1
)


@given(WORDS, WORDS, st.data())
def test_listed_words_have_their_weights(words: list[str], others: list[str], data: st.DataObject) -> None:
    """Of a word that is listed twice the last weight counts."""
    levels = data.draw(st.lists(st.integers(0, 200), min_size=len(words), max_size=len(words)))
    listed = dict(zip(words, levels, strict=True))
    rarest = 400.0 - 2 * min(levels)
    found = frequencies(words, levels).weights([*words, *others])
    assert found.tolist() == [
        400.0 - 2 * listed[w] if w in listed else rarest + 25 for w in [*words, *others]
    ]


@pytest.mark.parametrize(
    ("words", "levels"), [(["a"], [1, 2]), (["a", "b"], [1]), ([], []), (["a", ""], [1])]
)
def test_lists_that_do_not_fit_are_refused(words: list[str], levels: list[int]) -> None:
    with pytest.raises(ResourceError, match="do not fit"):
        frequencies(words, levels)
