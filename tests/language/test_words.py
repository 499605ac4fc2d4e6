"""What is known of words without their context: which differ in capitals alone, their shapes, their weights."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tesla_eval import _core
from tesla_eval._core import Lexicon
from tesla_eval.base.errors import ResourceError
from tesla_eval.base.records import Token
from tesla_eval.base.resources import Resource, text_array
from tesla_eval.language.analysis.batch import LOWERING, AnalysedBatch, Vocabulary, word_facts
from tesla_eval.language.analysis.frequencies import KIND, WordFrequencies
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


def facts_of(lexicon: Lexicon, characters: _core.CharacterMap = LOWERING) -> _core.WordFacts:
    return _core.WordFacts(lexicon, characters, None)


def text_of(lexicon: Lexicon, forms: list[str]) -> _core.TokenBatch:
    """One text of these words, without lemmas of their own."""
    return batch_of(Vocabulary(lexicon), forms).core


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
    """The lexicon may know more words than the facts."""
    listed = frequencies(["the", "ss", "i̇", "σας", "2012"], [1, 2, 3, 4, 5]) if weighted else None
    vocabulary = Vocabulary(Lexicon(None))
    facts = word_facts(listed)[vocabulary]
    for forms in batches:
        batch = batch_of(vocabulary, forms)
        vocabulary.lexicon.intern_words(ahead)
        folded, shapes, word_weights, lemma_weights = facts.of(batch.core)
        known = vocabulary.lexicon.forms(np.arange(vocabulary.lexicon.word_count, dtype=np.uint32))
        wanted = [[column[word] for word in batch.word] for column in expected(known, listed)]
        assert [folded.tolist(), shapes.tolist(), word_weights.tolist()] == wanted
        lemmas = vocabulary.lexicon.lemmas(batch.lemma)
        assert lemma_weights.tolist() == (
            [1.0] * len(lemmas) if listed is None else listed.weights(lemmas).tolist()
        )


@pytest.mark.parametrize("around", [("", ""), ("a", "b"), ("1", "")])
def test_all_characters_are_as_python_sees_them(around: tuple[str, str]) -> None:
    forms = [character.join(around) for character in CHARACTERS]
    lexicon = Lexicon(None)
    folded, shapes, _, _ = facts_of(lexicon).of(text_of(lexicon, forms))
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
    facts = facts_of(lexicon, _core.CharacterMap(of_character, of_word))
    batch = text_of(lexicon, ["Ab", "ab", "ΣΣ", "σς", "aé"])
    assert [facts.of(batch)[0].tolist() for _ in range(2)] == [[0, 0, 2, 2, 4]] * 2
    assert asked == ["A", "b", "a", "Σ", "ΣΣ", "σ", "ς", "é"]


def test_an_error_of_python_reaches_the_caller_and_nothing_is_half_learned() -> None:
    known = {"a": "a", "A": "a"}
    lexicon = Lexicon(None)
    batch = text_of(lexicon, ["A", "a", "b"])
    facts = facts_of(lexicon, _core.CharacterMap(lambda c: (known[c], 0), str.lower))
    with pytest.raises(KeyError):
        facts.of(batch)
    known["b"] = "b"
    assert facts.of(batch)[0].tolist() == [0, 0, 2]
    for wrong in (b"a", None, 1):
        with pytest.raises((TypeError, RuntimeError)):
            facts_of(lexicon, _core.CharacterMap(lambda _: wrong, str.lower)).of(batch)  # type: ignore[arg-type, return-value]  # noqa: B023


def test_words_that_are_not_there_are_refused() -> None:
    batch = text_of(Lexicon(None), ["a"])
    with pytest.raises(IndexError, match="no such word"):
        facts_of(Lexicon(None)).of(batch)


def test_threads_may_meet_the_same_characters() -> None:
    """One map of characters serves all vocabularies; here nobody has asked it before."""
    forms = [chr(0x100 + (7 * k) % 3000) + "x" for k in range(3000)]
    characters = _core.CharacterMap(lambda c: (c.lower(), 0), str.lower)
    together = threading.Barrier(8, timeout=30)

    def folds(_: int) -> list[int]:
        lexicon = Lexicon(None)
        batch = text_of(lexicon, forms)
        together.wait()
        return facts_of(lexicon, characters).of(batch)[0].tolist()

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(folds, range(8)))
    assert found == [expected(forms, None)[0]] * 8


def test_threads_may_learn_the_same_words() -> None:
    forms = [f"{'X' if k % 3 else 'x'}{(7 * k) % 2000}" for k in range(6000)]
    lexicon = Lexicon(None)
    batches = [text_of(lexicon, forms[: 700 * (k + 1)]) for k in range(8)]
    facts = facts_of(lexicon)
    together = threading.Barrier(8, timeout=30)

    def folds(number: int) -> list[int]:
        together.wait()
        return facts.of(batches[number])[0].tolist()

    with ThreadPoolExecutor(8) as pool:
        learned = list(pool.map(folds, range(8)))
    first: dict[str, int] = {}
    numbers = {form: number for number, form in enumerate(dict.fromkeys(forms))}
    for form, number in numbers.items():
        first.setdefault(form.lower(), number)
    assert learned == [[first[form.lower()] for form in forms[: 700 * (k + 1)]] for k in range(8)]


def test_what_python_does_when_it_is_asked_may_ask_for_words() -> None:
    """A handler of signals can run then, and score something with the same vocabulary."""
    lexicon, forms = Lexicon(None), ["abc1", "ABC1"]
    batch = text_of(lexicon, forms)
    nested: list[list[int]] = []

    def of_character(character: str) -> tuple[str | None, int]:
        if not nested:
            nested.append([])
            nested.append(facts.of(batch)[0].tolist())
        return character.lower(), 0

    facts = facts_of(lexicon, _core.CharacterMap(of_character, str.lower))
    assert facts.of(batch)[0].tolist() == nested[1] == expected(forms, None)[0]


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
    with pytest.raises(ResourceError, match="is not a valid table"):
        frequencies(words, levels)
