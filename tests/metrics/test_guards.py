"""Penalties against padding, repetition, other numbers and negations (specification §8b)."""

from collections import Counter
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval import _core
from tesla_eval._core import GUARD_FEATURES
from tesla_eval.base.arrays import FloatArray
from tesla_eval.language.analysis import load_pipeline
from tesla_eval.language.analysis.batch import Vocabulary
from tesla_eval.language.analysis.critical_words import CriticalWords
from tesla_eval.metrics.features.guards import GuardGroup

TEXTS = st.lists(
    st.sampled_from(["not", "cat", "cats", "12", "1,200", "house", "the", "."]), max_size=12
).map(" ".join)


def guards(hypothesis: str, reference: str, language: str = "en") -> dict[str, float]:
    return dict(zip(GUARD_FEATURES, rows([hypothesis], reference, language)[0].tolist(), strict=True))


def rows(hypotheses: list[str], reference: str, language: str = "en") -> FloatArray:
    analysis = load_pipeline(language)
    group = GuardGroup().bind(analysis)
    x, y = analysis.analyse([reference], hypotheses)
    index = np.arange(len(hypotheses))
    return group.compare(group.prepare(x), group.prepare(y), np.zeros_like(index), index)


@given(TEXTS, TEXTS)
def test_penalties_are_bounded_and_a_copy_has_none(hypothesis: str, reference: str) -> None:
    values = rows([hypothesis, reference], reference)
    assert ((values >= 0) & (values <= 1)).all()
    assert (values[1] == 0).all()


def test_padding_begins_at_half_as_long_again() -> None:
    reference = "one two three four"
    assert guards("one two three four five six seven", reference)["padding"] == 0
    assert guards(" ".join(8 * ["five"]), reference)["padding"] == (2 * 8 - 3 * 4 - 2) / (2 * 8)


def test_runs_of_words_that_the_reference_has_not() -> None:
    reference = "Cats sleep."
    more = "Dogs bark loudly, hungry wolves howl."
    values = guards(f"{reference} {more}", reference)
    assert values["insertion"] == (6 - 3) / 8
    assert values["surplus"] == values["insertion"]  # all of the reference is there
    assert guards(f"Cats {more}", reference)["surplus"] == (5 - 3) / 7 / 4  # half of it
    assert values["digression"] == (6 - 4) / (6 - 4 + 2)
    assert guards(f"{more} {reference}", reference) == values  # wherever they stand
    assert (
        guards(more, "Birds sing sweetly, clever foxes run.")["insertion"] == 0
    )  # not longer than the reference
    assert guards("Cats dogs sleep bark loudly", reference)["insertion"] == 0  # three words are free


def test_stray_sentences() -> None:
    reference = "Cats sleep. Mice dance."
    stray = "Dogs bark."
    assert guards(f"{reference} {stray}", reference)["stray"] == 2 / 6
    assert guards(f"{stray} {reference}", reference)["stray"] == 2 / 6  # wherever it stands
    assert guards(f"Cats sleep. {stray}", reference)["stray"] == 0  # no more sentences than the reference
    some = guards(f"{reference} Dogs, wolves, birds chase cats.", "Cats cats sleep. Mice dance.")
    assert some["stray"] == (5 - 3) / 9  # a word of the reference speaks for three
    assert (
        guards("Cats. Sleep. Mice. Dance.", reference)["stray"] == 0
    )  # every one has words of the reference
    assert guards(f"{reference} No. 5 barks, e.g. dogs", reference)["stray"] > 0
    assert guards("猫睡觉。老鼠跳舞。狗叫。", "猫睡觉。老鼠跳舞。", "zh")["stray"] > 0


def test_a_repeated_text_is_an_insertion() -> None:
    reference = "Cats chase small grey mice daily."
    assert guards(f"{reference} {reference}", reference)["insertion"] == (6 - 3) / 12


def test_disorder() -> None:
    words = [f"w{k}" for k in range(12)]
    reference = " ".join(words)
    assert guards(" ".join([*words[1:], words[0]]), reference)["disorder"] == 0  # 11 of 66 pairs
    pairs = 66 + 10
    assert guards(" ".join(words[::-1]), reference)["disorder"] == pytest.approx(
        (4 * 66 - pairs) / (2 * pairs)
    )
    assert guards("w1 w0", "w0 w1")["disorder"] == 0  # two words say little


@given(st.permutations(range(9)))
def test_disorder_counts_pairs_in_another_order(order: list[int]) -> None:
    inversions = sum(x > y for k, x in enumerate(order) for y in order[k + 1 :])
    pairs = 36 + 10
    expected = max(0, 4 * inversions - pairs) / (2 * pairs)
    words = [f"w{k}" for k in order]
    assert guards(" ".join(words), " ".join(sorted(words)))["disorder"] == expected


def test_stutter() -> None:
    assert guards("Two two cats cats slept slept.", "Two cats slept.")["stutter"] == 3 / 6
    assert guards("They had had two cats.", "They had had two dogs.")["stutter"] == 0


@pytest.mark.parametrize("entity", ["&#39;", "&#x27;", "&quot;", "&AMP;"])
def test_xml_entities_are_not_words(entity: str) -> None:
    reference = "Cats chase small grey mice daily."
    damaged = "Dogs chase 3 mice mice."
    assert guards(f"{entity} {damaged} {entity} {entity}", reference) == guards(damaged, reference)


@pytest.mark.parametrize(
    ("language", "hypothesis", "reference", "expected"),
    [
        ("zh", "10月举行两次", "十月举行2次", 0),
        ("zh", "12月举行", "十月举行", 1),
        ("zh", "他买了一本书", "他买了书", 0),  # an article
        ("ja", "1つの岩と2本", "一つの岩と二本", 0),
        ("ja", "3つの岩", "一つの岩", 1),
        ("ru", "более 28 000 смертей", "более 28 тысяч смертей", 0),
        ("ru", "более 28 070 смертей", "более 28 тысяч смертей", 2 / 4),
    ],
)
def test_numbers_of_other_languages(language: str, hypothesis: str, reference: str, expected: float) -> None:
    assert guards(hypothesis, reference, language)["numbers"] == expected


@pytest.mark.parametrize(
    ("hypothesis", "reference", "expected"),
    [
        ("It costs 1,500 euros.", "It costs 1500 euros.", 0),
        ("He has 3 cats.", "He has three cats.", 0),
        ("He has 4 cats.", "He has 3 cats.", 1),
        ("In 2012, 3 died.", "In 2012, 4 died.", 2 / 4),
        ("Nobody died.", "3 died.", 1),
        ("He has 15 cats.", "He has fifteen cats.", 0),
        ("It starts at 12.30.", "It starts at 12:30.", 0),
    ],
)
def test_numbers(hypothesis: str, reference: str, expected: float) -> None:
    assert guards(hypothesis, reference)["numbers"] == expected


@pytest.mark.parametrize(
    ("language", "hypothesis", "reference", "expected"),
    [
        ("en", "He isn't here.", "He is not here.", 0),
        ("en", "He is here.", "He is not here.", 1),
        ("en", "Not only he came.", "He came too.", 0),
        ("en", "He failed to come.", "He did not come.", 0),
        ("en", "He left with a word.", "He left without a word.", 1),
        ("de", "Er hat keinen Hund.", "Er hat einen Hund.", 1),
        ("es", "No vino nadie.", "Nadie vino.", 0),
        ("fr", "Il n'a rien dit.", "Il n'a pas parlé.", 0),
        ("fr", "Il a pas parlé.", "Il a parlé.", 1),
        ("cs", "Prezident nenavštívil školu.", "Prezident navštívil školu.", 1),
        ("cs", "Nejlepší neděle nechala školu.", "Škola.", 0),
        ("cs", "Vláda s návrhem nesouhlasí.", "Vláda s návrhem souhlasí.", 1),
        ("cs", "Petr nemá psa.", "Petr má psa.", 1),
        ("cs", "Nejsem na to zvyklý.", "Jsem na to zvyklý.", 1),  # looks like a superlative
        ("cs", "Řeka nesla led.", "Řeka měla led.", 0),
        ("zh", "他不喜欢猫。", "他喜欢猫。", 1),
    ],
)
def test_negation(language: str, hypothesis: str, reference: str, expected: float) -> None:
    assert guards(hypothesis, reference, language)["negation"] == expected


def test_a_language_without_lists_has_no_negation() -> None:
    values = guards("ei ole siin 3", "on siin 4", "und")
    assert np.isnan(values["negation"]) and values["numbers"] == 1


Words = list[tuple[int, bool]]
"""The lemmas of a text, and whether each is a function word."""


def plain_guards(x: Words, y: Words) -> dict[str, float]:
    """What depends on the words alone, in the plainest way."""
    content_x, content_y = (sum(not function for _, function in text) for text in (x, y))

    def matched(words: Words) -> list[bool]:
        left = Counter(lemma for lemma, function in x if not function)
        taken = []
        for lemma, function in words:
            taken.append(not function and left[lemma] > 0)
            left[lemma] -= taken[-1]
        return taken

    def longest_run(words: Words, taken: list[bool]) -> int:
        best = run = 0
        for (_, function), has_partner in zip(words, taken, strict=True):
            run = 0 if has_partner else run + (not function)
            best = max(best, run)
        return best

    run = longest_run(y, matched(y))
    if run > 3:
        run = min(run, longest_run(y[::-1], matched(y[::-1])))
    insertion = max(0, min(run, max(0, content_y - content_x)) - 3) / max(1, content_y)
    digression = max(0, run - 4)
    lemmas_x, lemmas_y = ([lemma for lemma, _ in text] for text in (x, y))
    once = [a for a in lemmas_y if lemmas_x.count(a) == lemmas_y.count(a) == 1]
    places = [lemmas_x.index(a) for a in once]
    inversions = sum(a > b for k, a in enumerate(places) for b in places[k + 1 :])
    pairs = len(places) * (len(places) - 1) // 2 + 10
    stutters = [sum(a == b for a, b in pairwise(lemmas)) for lemmas in (lemmas_x, lemmas_y)]
    return {
        "padding": max(0, 2 * len(y) - 3 * len(x) - 2) / max(1, 2 * len(y)),
        "insertion": insertion,
        "surplus": insertion * (sum(matched(y)) / max(1, content_x)) ** 2,
        "digression": digression / max(1, digression + content_x),
        "disorder": max(0, 4 * inversions - pairs) / (2 * pairs),
        "stutter": max(0, stutters[1] - stutters[0]) / max(1, len(y)),
    }


@pytest.mark.parametrize(
    ("of_x", "of_y"), [(0, 5), (9, 6), (40, 63), (64, 64), (64, 65), (66, 60), (70, 140)]
)
@pytest.mark.parametrize("kinds", [3, 30, 200])
def test_sentences_and_long_texts_equal_a_plain_count(of_x: int, of_y: int, kinds: int) -> None:
    """Texts of up to 64 words are compared another way than longer ones."""
    random = Random(kinds)
    vocabulary = Vocabulary(_core.Lexicon(None))
    vocabulary.lexicon.intern_words(["word"])
    group = _core.GuardGroup(CriticalWords("en").core[vocabulary])

    def drawn(size: int) -> Words:
        return [(lemma, lemma % 4 == 0) for lemma in random.choices(range(kinds), k=size)]

    def read(text: Words) -> _core.PreparedTexts:
        """Every word has the same form, which is no number and no negation."""
        lemmas, function = (np.array(column) for column in zip(*text, strict=True)) if text else ([], [])
        none = np.zeros(len(text), np.uint8)
        place = np.zeros(len(text), np.uint32)
        batch = _core.TokenBatch(
            np.array([0, len(text)]), place, np.asarray(lemmas, np.uint32), none.astype(np.uint16), none,
            np.asarray(function, np.uint8), place, place, [""],
        )  # fmt: skip
        return group.prepare(batch)

    for _ in range(20):
        x = drawn(of_x)
        y = (x[::-1] + drawn(of_y))[:of_y] if random.random() < 0.5 else drawn(of_y)
        (row,) = read(x).compare(read(y), np.array([0]), np.array([0]))
        values = dict(zip(GUARD_FEATURES, row.tolist(), strict=True))
        expected = plain_guards(x, y)
        assert {name: values[name] for name in expected} == pytest.approx(expected, abs=1e-15)


def test_words_of_the_next_text_change_nothing() -> None:
    """A text that ends in a negation is the same whatever text follows it in the batch."""
    (batch,) = load_pipeline("en").analyse(["He did not", "Only he did", "not only he"])
    assert CriticalWords("en").negations(batch).tolist() == [0, 0, 1, 0, 0, 0, 0, 0, 0]
    marked = np.array([True, False, False, True, True, False, False, False, True])
    assert np.flatnonzero(batch.next_to(marked, 1)).tolist() == [3, 7]
    assert np.flatnonzero(batch.next_to(marked, -1)).tolist() == [1, 4, 5]
