"""What is known of words without their context: which differ in capitals alone, their shapes, their weights."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tesla_eval import _core
from tesla_eval._core import Lexicon
from tesla_eval.analysis.batch import AnalysedBatch, Vocabulary, WordTable
from tesla_eval.analysis.frequencies import KIND, WordFrequencies
from tesla_eval.errors import ResourceError
from tesla_eval.records import Token
from tesla_eval.resources import Resource, text_array
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
    """One map of characters serves all vocabularies."""
    forms = [chr(0x100 + (7 * k) % 3000) + "x" for k in range(3000)]

    def folds(_: int) -> list[int]:
        vocabulary = Vocabulary(Lexicon(None))
        table = WordTable(vocabulary, None)
        table.learn(batch_of(vocabulary, forms))
        return table.folded.values.tolist()

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(folds, range(16)))
    assert all(one == found[0] for one in found)


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
