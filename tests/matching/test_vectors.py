"""Word vectors (specification §8b, `vec`): the table, its makers, the reader, the exact matching."""

from __future__ import annotations

import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from itertools import cycle, islice
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pivoted_vectors import pivoted_embeddings
from tesla_eval import _core
from tesla_eval.base.errors import BuildError, InputError, ResourceError
from tesla_eval.base.records import Token
from tesla_eval.base.resources import (
    Provenance,
    Resource,
    find_resource,
    read_resource,
    shipped_folder,
    text_array,
    write_resource,
)
from tesla_eval.cli.train.vectors import vectors
from tesla_eval.language.analysis import AnalysedBatch, load_pipeline
from tesla_eval.language.analysis.batch import Vocabulary
from tesla_eval.language.analysis.frequencies import load_frequencies
from tesla_eval.language.analysis.vectors import (
    KIND,
    WordsWithVectors,
    WordVectors,
    _as_entries,
    load_vectors,
)
from tesla_eval.language.pivot import load_phrase_table
from tesla_eval.matching.matcher import Matches
from tesla_eval.matching.vectors import VECTOR_PROBLEMS, explain_vectors
from tesla_eval.training.vectors import (
    Embeddings,
    read_huggingface_folder,
    read_vector_text,
    read_wordpieces,
    vector_table,
)
from tests import textbook_vectors as plain
from tests.matching.given_matches import match_vectors
from tests.textbook_vectors import Word

ONLY = np.zeros(1, np.int64)


# The matching

SENTENCE = 64  # tokens: the core puts equal words together in longer texts only

numbers = st.integers(-127, 127)


@st.composite
def word_lists(draw: st.DrawFn) -> tuple[list[Word], list[Word]]:
    """Two texts over one small vocabulary, with vectors of a few numbers: short ones are often parallel or equal."""
    dimensions = draw(st.integers(1, 9))
    vectors = draw(
        st.lists(
            st.none() | st.lists(numbers, min_size=dimensions, max_size=dimensions).map(tuple),
            min_size=1,
            max_size=6,
        )
    )
    types = [
        Word(form, draw(st.integers(0, 3)), draw(st.sampled_from(vectors)), draw(st.integers(1, 400)))
        for form in range(draw(st.integers(1, 7)))
    ]
    text = st.lists(st.sampled_from(types), max_size=9)
    return draw(text), draw(text)


def batches_of(*sides: list[Word]) -> tuple[list[_core.TokenBatch], _core.WordVectors]:
    """Each text alone, as the core takes it: form and lemma are names, a list of weights makes the weights."""
    words = {f"w{word.form}": word for side in sides for word in side}
    entries = {form: word.vector for form, word in words.items() if word.vector is not None}
    dimensions = len(next(iter(entries.values()))) if entries else 1
    entries.setdefault("unused", (0,) * dimensions)
    matrix = np.array(list(entries.values()), np.int8)
    lexicon = _core.Lexicon(None)
    # An own list of frequencies counts 50 for what weighs 64.
    weights = [0.0, *(word.weight * 50 / 64 for word in words.values())]
    listed = _core.WordWeights("\n".join(["unused", *words]), np.array(weights), 0.0)
    as_is = _core.CharacterMap(lambda c: (c, 0), str)
    vectors = _core.WordVectors(
        _core.VectorTable(text_array("\n".join(entries)), matrix.reshape(-1), dimensions, False),
        as_is,
        _core.WordFacts(lexicon, as_is, listed),
    )
    return [batch_of(lexicon, side) for side in sides], vectors


def texts_of(*sides: list[Word]) -> list[_core.VectorTexts]:
    """The same, prepared."""
    batches, vectors = batches_of(*sides)
    return [_core.VectorTexts(batch, vectors) for batch in batches]


def flow_of(reference: list[Word], hypothesis: list[Word]) -> np.ndarray:
    """One row per entry: token of the reference, of the hypothesis, similarity, gain, weight."""
    batches, vectors = batches_of(reference, hypothesis)
    return _core.explain_vectors(*batches, vectors).reshape(-1, 5)


def batch_of(lexicon: _core.Lexicon, words: list[Word]) -> _core.TokenBatch:
    """One text of these words."""
    lemmas = [f"l{word.lemma}" for word in words]
    lemma = lexicon.intern_lemmas(lemmas, np.zeros(len(words) + 1, np.int64), np.zeros(0, np.uint32))
    flags, places = np.zeros(len(words), np.uint8), np.zeros(len(words), np.uint32)
    return _core.TokenBatch(
        np.array([0, len(words)]), lexicon.intern_words([f"w{word.form}" for word in words]), lemma,
        flags.astype(np.uint16), flags, flags, places, places, [""],
    )  # fmt: skip


def check_against_textbook(matches: Matches, pair: int, expected: list[tuple[float, float, float]]) -> None:
    for column, measures in enumerate(expected):
        found = [matches.precision[pair, column], matches.recall[pair, column], matches.f[pair, column]]
        assert found == pytest.approx(measures, abs=1e-9, nan_ok=True), VECTOR_PROBLEMS[column]


@given(word_lists())
def test_made_up_texts_match_as_in_the_textbook(sides: tuple[list[Word], list[Word]]) -> None:
    reference, hypothesis = sides
    matches = match_vectors(*texts_of(reference, hypothesis), ONLY, ONLY)
    check_against_textbook(matches, 0, plain.features(reference, hypothesis))


@settings(max_examples=4)  # the textbook takes seconds for each
@given(word_lists(), st.integers(SENTENCE - 1, SENTENCE + 6), st.integers(SENTENCE - 1, SENTENCE + 6))
def test_texts_about_as_long_as_sentences_can_be_match_as_in_the_textbook(
    sides: tuple[list[Word], list[Word]], reference_size: int, hypothesis_size: int
) -> None:
    reference, hypothesis = (
        list(islice(cycle(side), size))
        for side, size in zip(sides, (reference_size, hypothesis_size), strict=True)
    )
    matches = match_vectors(*texts_of(reference, hypothesis), ONLY, ONLY)
    check_against_textbook(matches, 0, plain.features(reference, hypothesis))


@given(word_lists(), st.sampled_from([(0, 0), (SENTENCE + 1, 0), (SENTENCE - 1, SENTENCE + 9)]))
def test_the_flow_is_feasible_and_worth_the_optimum(
    sides: tuple[list[Word], list[Word]], sizes: tuple[int, int]
) -> None:
    reference, hypothesis = (
        list(islice(cycle(side), size or len(side))) for side, size in zip(sides, sizes, strict=True)
    )
    entries = flow_of(reference, hypothesis)
    assert entries[:, :2].tolist() == sorted(entries[:, :2].tolist())
    sent, received = np.zeros(len(reference), np.int64), np.zeros(len(hypothesis), np.int64)
    for i, j, steps, gain, weight in entries.tolist():
        assert weight > 0
        assert steps == plain.steps(reference[i], hypothesis[j])
        assert gain == 16 * plain.rescaled(reference[i], hypothesis[j], plain.THREE_TENTHS)
        sent[i] += weight
        received[j] += weight
    assert all(sent <= [word.weight for word in reference])
    assert all(received <= [word.weight for word in hypothesis])
    if reference:
        recall = (entries[:, 3] * entries[:, 4]).sum() / 16 / sum(word.weight for word in reference)
        found = match_vectors(*texts_of(reference, hypothesis), ONLY, ONLY).recall[0, 2]
        assert found == pytest.approx(recall, abs=1e-12)


def test_equal_words_meet_in_the_order_of_the_text() -> None:
    """However long the texts: a flow between words is found once, and shared out among their tokens."""
    one, other = Word(0, 0, (1, 0), 64), Word(1, 1, (0, 1), 32)
    count = 10_000
    entries = flow_of([one, other] * count, [other] * count + [one] * count)
    ones = [[2 * k, count + k, 160, 16, 64] for k in range(count)]
    others = [[2 * k + 1, k, 160, 16, 32] for k in range(count)]
    assert entries.tolist() == sorted(ones + others)


@given(word_lists())
def test_matching_is_symmetric(sides: tuple[list[Word], list[Word]]) -> None:
    x, y = texts_of(*sides)
    forth, back = match_vectors(x, y, ONLY, ONLY), match_vectors(y, x, ONLY, ONLY)
    np.testing.assert_array_equal(forth.precision, back.recall)


@given(word_lists())
def test_a_text_against_itself_is_exactly_1(sides: tuple[list[Word], list[Word]]) -> None:
    (x,) = texts_of(sides[0])
    matches = match_vectors(x, x, ONLY, ONLY)
    existing = [len(sides[0]) >= n for n in (1, 1, 1, 2)]
    for measure in (matches.precision, matches.recall, matches.f):
        np.testing.assert_array_equal(measure[0], np.where(existing, 1.0, np.nan))


@pytest.mark.parametrize("product", range(17))
@pytest.mark.parametrize("below", [0, 1])
def test_cosines_on_a_step_are_not_rounded_below_it(product: int, below: int) -> None:
    """The cosine is product / 16, or with one number more in the vector the least bit below it."""
    x = Word(0, 0, (1, 0, 0, 0, 0, 0), 64)
    y = Word(1, 1, (product, *four_squares(16**2 - product**2), below), 64)
    expected = max(0, 10 * product - below)
    entries = flow_of([x], [y])
    assert plain.steps(x, y) == expected
    assert [row[2] for row in entries.tolist()] == ([expected] if expected >= 55 else [])


def four_squares(number: int) -> tuple[int, int, int, int]:
    """Four whole numbers whose squares have this sum (Lagrange)."""
    bound = int(number**0.5) + 1
    for a in range(bound, -1, -1):
        for b in range(min(a, bound), -1, -1):
            rest = number - a * a - b * b
            if rest < 0 or rest > 2 * b * b:
                continue
            for c in range(min(b, int(rest**0.5) + 1), -1, -1):
                d = round((rest - c * c) ** 0.5) if rest >= c * c else -1
                if d >= 0 and a * a + b * b + c * c + d * d == number:
                    return a, b, c, d
    raise AssertionError(number)


def random_words(random: Random, size: int, types: int, dimensions: int) -> list[Word]:
    made = Random(7)
    vectors = [tuple(made.randint(-40, 40) + 25 for _ in range(dimensions)) for _ in range(types)]
    chosen = [random.randrange(types) for _ in range(size)]
    return [Word(k, k // 2, vectors[k], 1 + 37 * k % 300) for k in chosen]


@pytest.mark.parametrize(
    ("size", "types"), [(60, 50), (160, 400), pytest.param(300, 250, marks=pytest.mark.slow)]
)
def test_long_texts_with_many_similar_words_match_as_in_the_textbook(size: int, types: int) -> None:
    """Above 128 × 128 words nothing is settled before the solver."""
    random = Random(size)
    x, y = random_words(random, size, types, 24), random_words(random, size, types, 24)
    matches = match_vectors(*texts_of(x, y), ONLY, ONLY)
    rows, columns = sorted(set(x), key=lambda w: w.form), sorted(set(y), key=lambda w: w.form)
    weights = [
        np.array([side.count(word) * word.weight for word in kinds], float)
        for side, kinds in ((x, rows), (y, columns))
    ]
    s = np.array([[float(plain.rescaled(a, b, plain.THREE_TENTHS)) for b in columns] for a in rows])
    best = plain.textbook.transport(*weights, s)
    assert matches.recall[0, 2] == pytest.approx(best / weights[0].sum(), abs=1e-9)


@pytest.mark.parametrize(("size", "expected"), [(2048, 1.0), (2049, 0.0)])
def test_in_whole_books_only_form_and_lemma_count(size: int, expected: float) -> None:
    x = [Word(k, k, (1, 2), 64) for k in range(size)]
    y = [Word(size + k, size + k, (1, 2), 64) for k in range(size)]
    y[0] = replace(y[0], lemma=0)
    found = match_vectors(*texts_of(x, y), ONLY, ONLY)
    lemma = 0 if expected else 14 / 16 / size
    assert found.recall[0, 0] == pytest.approx(expected + lemma)


def test_a_text_with_too_many_different_words_is_refused() -> None:
    with pytest.raises(_core.TextTooLongError, match="65,536 different words"):
        texts_of([Word(k, 0, None, 1) for k in range((1 << 16) + 1)])


def test_words_that_the_lexicon_does_not_have_are_refused() -> None:
    batch = batch_of(_core.Lexicon(None), [Word(0, 0, None, 1)])
    as_is = _core.CharacterMap(lambda c: (c, 0), str)
    facts = _core.WordFacts(_core.Lexicon(None), as_is, None)
    table = _core.VectorTable(text_array("a"), np.ones(2, np.int8), 2, False)
    with pytest.raises(IndexError, match="no such word"):
        _core.VectorTexts(batch, _core.WordVectors(table, as_is, facts))


# Real texts


def english_table() -> WordVectors:
    vectors = load_vectors("en")
    assert vectors is not None
    return vectors


@pytest.fixture(scope="module")
def english() -> WordsWithVectors:
    return WordsWithVectors(english_table(), load_frequencies("en"))


def words_of(english: WordsWithVectors, batch: AnalysedBatch, index: int) -> list[Word]:
    forms, weights, vectors = english.of(batch)
    return [
        Word(
            int(forms[k]), int(batch.lemma[k]), tuple(vectors[k].tolist()) if vectors[k].any() else None,
            int(weights[k]),
        )
        for k in range(batch.offsets[index], batch.offsets[index + 1])
    ]  # fmt: skip


@pytest.mark.parametrize("count", [8, pytest.param(25, marks=pytest.mark.slow)])
def test_real_pairs_match_as_in_the_textbook(
    english: WordsWithVectors, real_pairs: list[tuple[str, str]], count: int
) -> None:
    pairs = [pair for pair in real_pairs if max(len(text.split()) for text in pair) < 20][:count]
    y, x = load_pipeline("en").analyse([h for h, _ in pairs], [r for _, r in pairs])
    every = np.arange(len(pairs))
    matches = match_vectors(english.prepare(x), english.prepare(y), every, every)
    for k in range(len(pairs)):
        check_against_textbook(matches, k, plain.features(words_of(english, x, k), words_of(english, y, k)))


def test_threads_and_batches_change_nothing(
    english: WordsWithVectors, real_pairs: list[tuple[str, str]]
) -> None:
    pairs = real_pairs[:200]
    y, x = load_pipeline("en").analyse([h for h, _ in pairs], [r for _, r in pairs])
    every = np.arange(len(pairs))
    expected = match_vectors(english.prepare(x), english.prepare(y), every, every)
    fresh = WordsWithVectors(english_table(), load_frequencies("en"))

    def one(k: int) -> Matches:
        side = load_pipeline("en").analyse([pairs[k][0]], [pairs[k][1]])
        prepared = [fresh.prepare(batch) for batch in side]
        return match_vectors(prepared[1], prepared[0], ONLY, ONLY)

    with ThreadPoolExecutor(4) as pool:
        for k, found in enumerate(pool.map(one, range(len(pairs)))):
            for name in ("precision", "recall", "f"):
                np.testing.assert_array_equal(getattr(found, name)[0], getattr(expected, name)[k])


def test_similar_words_are_named(english: WordsWithVectors) -> None:
    x, y = load_pipeline("en").analyse(["The men were arrested."], ["Men have been detained"])
    objective, flow = explain_vectors(x, y, english)
    links = {
        (x.tokens(0)[link.reference[0]].surface, y.tokens(0)[link.hypothesis[0]].surface): link
        for link in flow
    }
    assert links["men", "Men"].weight < objective < sum(link.weight for link in flow)
    assert links["men", "Men"].similarity == 1.0
    assert 0.6 < links["arrested", "detained"].similarity < 0.65
    assert links["were", "been"].similarity >= 0.9  # the same lemma
    assert links["arrested", "detained"].weight == min(english.of(x)[1][3], english.of(y)[1][3]) / 64


def test_synonyms_count_more_than_other_words(english: WordsWithVectors) -> None:
    reference, *hypotheses = load_pipeline("en").analyse(
        ["He bought a car."], ["He bought an automobile."], ["He bought a banana."], ["He bought a car."]
    )
    x = english.prepare(reference)
    f = [match_vectors(x, english.prepare(y), ONLY, ONLY).f[0] for y in hypotheses]
    assert (f[1] < f[0]).all()
    assert (f[0] < f[2]).all()
    assert (f[2] == 1.0).all()


def test_rare_words_weigh_more(english: WordsWithVectors) -> None:
    (batch,) = load_pipeline("en").analyse(["the cat quaverings"])
    _, weights, _ = english.of(batch)
    assert weights.tolist() == [round(64 * w / 50) for w in (14, 160, 261)]
    assert WordsWithVectors(english_table(), None).of(batch)[1].tolist() == [64] * 3


# The table and its reader

PIECES = {
    "arrested": ("arrested",),
    "Reformers": ("reformer", "##s"),
    "Café": ("cafe",),
    "well-known": ("well", "known"),
    "n't": ("n", "t"),
    "5,000": ("5", "000"),
    "Xylz": ("x", "##yl", "##z"),
    "北京": ("北", "京"),
    "☃": (),
    "x" * 101: (),
    "": (),
}


def pieces_of(resource: Resource, word: str) -> tuple[str, ...]:
    """The entries that a word is made of."""
    table, entries = WordVectors(resource), resource.text("entries").split("\n")
    return tuple(entries[number] for number in table.core.segment(table.prepared(word)))


def cosine(table: WordVectors, x: str, y: str) -> float:
    """The cosine of the vectors of two words, 0 where one has none."""
    a, b = table.look_up([x, y]).astype(np.int64)
    squares = int(a @ a) * int(b @ b)
    return int(a @ b) / float(np.sqrt(squares)) if squares else 0.0


@pytest.mark.parametrize(("word", "pieces"), PIECES.items())
def test_words_are_cut_as_bert_cuts_them(word: str, pieces: tuple[str, ...]) -> None:
    path = find_resource(KIND, "en")
    assert path is not None
    assert pieces_of(read_resource(path, KIND), word) == pieces


def test_single_characters_have_no_vector_and_several_pieces_have_the_mean() -> None:
    table = load_vectors("en")
    assert table is not None
    nothing, mean, first, second, one_usable, usable = table.look_up(
        ["a", "reformers", "reformer", "s", "xylz", "z"]
    )
    assert not nothing.any()
    assert not second.any()
    assert mean.any()
    assert abs(mean).max() == 127
    assert cosine(table, "reformers", "reformer") > 0.5
    assert one_usable.any()
    assert not usable.any()
    assert (first != mean).any()


@given(st.text(max_size=30))
def test_any_text_is_a_word_to_ask_for(word: str) -> None:
    table = load_vectors("en")
    assert table is not None
    assert table.look_up([word]).shape == (1, 64)


def assert_prepared(words: list[str], strips_accents: bool, in_pieces: bool) -> None:
    """That the core asks a table for the words as the textbook does: each has the vector of its own entry."""
    expected = [plain.prepared(word, strips_accents, in_pieces) for word in words]
    entries = sorted(set(expected) - {""})
    digits = np.arange(len(entries))[:, None] // 100 ** np.arange(3) % 100 + 1
    characters = _as_entries(strips_accents, in_pieces)[1]
    table = _core.VectorTable(text_array("\n".join(entries)), digits.astype(np.int8).reshape(-1), 3, False)
    lexicon = _core.Lexicon(None)
    facts = _core.WordFacts(lexicon, _core.CharacterMap(lambda c: (c, 0), str), None)
    vocabulary = Vocabulary(lexicon)
    batch = AnalysedBatch.from_tokens(
        [""], vocabulary, [[Token(word, 0, 1, word, "", False) for word in words]]
    )
    _, _, vectors = _core.WordVectors(table, characters, facts).of(batch.core)
    number_of = {entry: number for number, entry in enumerate(entries)}
    assert vectors.tolist() == [
        digits[number_of[entry]].tolist() if entry else [0, 0, 0] for entry in expected
    ]


ODD_WORDS = [
    "İ", "ΣΑΣ", "Σ", "ß", "ﬁ", "ǅ", "²", "٣", "é", "e\u0301", "\u0301", "漢字", "が", "한글", "कि",
    "_", "n’t", "\x1c", "a b", "",
]  # fmt: skip
KINDS_OF_TABLES = pytest.mark.parametrize(
    ("strips_accents", "in_pieces"), [(True, True), (False, True), (False, False)]
)


@KINDS_OF_TABLES
@given(st.lists(st.lists(st.sampled_from(ODD_WORDS), max_size=3).map("".join) | st.text(max_size=8)))
def test_words_are_prepared_as_regular_expressions_would(
    strips_accents: bool, in_pieces: bool, words: list[str]
) -> None:
    assert_prepared([word for word in words if "\n" not in word], strips_accents, in_pieces)


@KINDS_OF_TABLES
def test_characters_are_prepared_as_regular_expressions_would(strips_accents: bool, in_pieces: bool) -> None:
    characters = [chr(c) for c in (*range(10), *range(11, 0xD800), *range(0xE000, 0x20000), 0x2F800, 0x30000)]
    assert_prepared(characters, strips_accents, in_pieces)


NOTICES = {
    "en": ["apache-2.0"],
    "ru": ["mit"],
    **{language: ["apache-2.0", "phrase-tables"] for language in ("cs", "de", "es", "fr")},
}


def test_shipped_tables_are_small_and_have_their_notices() -> None:
    paths = sorted(shipped_folder().glob(f"{KIND}-*.tesla"))
    assert {path.stem.partition("-")[2] for path in paths} == NOTICES.keys()
    for path in paths:
        assert path.stat().st_size < 3_000_000
        resource = read_resource(path, KIND)
        assert resource.provenance.licence
        assert resource.provenance.sources
        for notice in NOTICES[resource.language]:
            assert path.name in (shipped_folder() / "licences" / f"{notice}.txt").read_text("utf-8")


def table_resource(entries: str = "a\nb", shape: tuple[int, ...] = (2, 3), **info: object) -> Resource:
    vectors = np.ones(shape, np.int8)
    described = {"segmentation": "words", "strip_accents": False, **info}
    return Resource(KIND, "en", {"entries": text_array(entries), "vectors": vectors}, info=described)


@pytest.mark.parametrize(
    "resource",
    [
        table_resource("a\nb\nc"),
        table_resource("a\na"),
        table_resource(shape=(2,)),
        table_resource(shape=(2, 0)),
        table_resource(shape=(2, 300)),
        replace(table_resource(), arrays={}),
        replace(table_resource(), info={}),
        replace(table_resource(), arrays={"entries": text_array("a"), "vectors": np.ones((1, 3))}),
    ],
)
def test_unsound_tables_are_refused(resource: Resource) -> None:
    with pytest.raises(ResourceError, match="is not a valid table of vectors"):
        WordVectors(resource)


def test_a_table_of_words_is_asked_for_the_lemma_too() -> None:
    words = Embeddings([f"w{k}" for k in range(8)] + ["cat", "run"], np.eye(10, dtype=np.float32))
    table = WordVectors(vector_table(words, "en", dimensions=4))
    (batch,) = load_pipeline("en").analyse(["Cats ran quaveringly"])
    _, _, vectors = WordsWithVectors(table, None).of(batch)
    assert vectors.tolist() == [*table.look_up(["cat", "run"]).tolist(), [0] * 4]


# The makers


def made_up(words: int = 40, size: int = 12, seed: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(words, size)).astype(np.float32)


def test_with_all_dimensions_kept_cosines_stay() -> None:
    vectors = made_up()
    table = WordVectors(vector_table(Embeddings([f"w{k}" for k in range(40)], vectors), "en", dimensions=12))
    centred = vectors - vectors.mean(axis=0)
    unit = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    unit -= unit.mean(axis=0)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    for k in range(1, 40):
        assert cosine(table, "w0", f"w{k}") == pytest.approx(float(unit[0] @ unit[k]), abs=0.02)


def test_the_scale_and_a_common_shift_do_not_count() -> None:
    names = [f"w{k}" for k in range(40)]
    first = vector_table(Embeddings(names, made_up()), "en", dimensions=8)
    scaled = vector_table(Embeddings(names, made_up() * 4), "en", dimensions=8)
    np.testing.assert_array_equal(first.arrays["vectors"], scaled.arrays["vectors"])


def test_dropped_axes_are_the_first_ones() -> None:
    """One number is large in half of the words and tells nothing else: without its axis the table is as without it."""
    common = np.where(np.arange(40) % 2, 30.0, -30.0)[:, None]
    names = [f"w{k}" for k in range(40)]
    with_it = np.hstack([common, made_up(size=11)]).astype(np.float32)
    table = WordVectors(vector_table(Embeddings(names, with_it), "en", dimensions=8))
    dropped = WordVectors(vector_table(Embeddings(names, with_it), "en", dimensions=8, dropped_axes=1))
    assert cosine(table, "w0", "w2") > 0.95
    assert cosine(table, "w0", "w1") < -0.95
    assert abs(cosine(dropped, "w0", "w2")) < 0.8
    assert abs(cosine(dropped, "w0", "w1")) < 0.8


def test_too_little_is_an_error() -> None:
    with pytest.raises(BuildError, match="too few"):
        vector_table(Embeddings(["a", "b"], made_up(2)), "en")
    with pytest.raises(BuildError, match="do not fit"):
        Embeddings(["a"], made_up(2))
    with pytest.raises(BuildError, match="not finite"):
        vector_table(
            Embeddings([f"w{k}" for k in range(40)], made_up() * np.float32(np.inf)), "en", dimensions=4
        )


def lines_of(vectors: np.ndarray, words: list[str]) -> list[str]:
    return [f"{word} {' '.join(map(str, row.tolist()))}" for word, row in zip(words, vectors, strict=True)]


@pytest.mark.parametrize("head", [[], ["5 3"]])
@pytest.mark.parametrize("end", ["", " "])
def test_text_files_with_and_without_a_head_line(write, head: list[str], end: str) -> None:
    words = ["The", "the", ",", "new york", "Zoë"]
    lines = [*head, *(line + end for line in lines_of(made_up(5, 3), words))]
    if not head:
        lines[3] = lines[3].replace("new york", "new_york")
    content = gzip.compress("".join(f"{line}\n" for line in lines).encode())
    found = read_vector_text(write("v.vec.gz", content))
    assert list(found.entries) == ["the", "zoë"] if head else ["the", "new_york", "zoë"]
    np.testing.assert_array_equal(found.vectors[0], made_up(5, 3)[0])
    assert len(read_vector_text(write("v.vec", [*lines]), words=1).entries) == 1


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "holds no vectors"),
        (["2 3"], "holds no vectors"),
        (["2 3", "a 1 2 3", "b 1 2"], "line 3: has 2 numbers; expected 3"),
        (["a 1 2 3", "b 1 x 3"], "line 2: 'x' is not a number"),
        (["a 1 2 3", "b 1 nan 3"], "line 2: a number is not finite"),
        (["a 1 2 3", "b 1 1e99 3"], "line 2: a number is not finite"),
        (["a"], "line 1: a vector of 0 numbers"),
        (["3 99999999"], "line 1: a vector of 99999999 numbers"),
        ([". 1 2 3"], "holds no vectors"),
    ],
)
def test_text_files_are_read_strictly(write, lines: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_vector_text(write("v.txt", lines))


def safetensors(header: object, data: bytes) -> bytes:
    encoded = json.dumps(header).encode() if not isinstance(header, bytes) else header
    return len(encoded).to_bytes(8, "little") + encoded + data


VOCABULARY = ["[PAD]", "[UNK]", "a", "b", "##c", *(f"word{chr(97 + k)}" for k in range(10)), "Worda", "##ed"]
NAME = "bert.embeddings.word_embeddings.weight"


def write_model(folder: Path, header: object, data: bytes, vocabulary: list[str] = VOCABULARY) -> None:
    (folder / "model.safetensors").write_bytes(safetensors(header, data))
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in vocabulary), "utf-8")


def entry(rows: int, columns: int, width: int = 4, dtype: str = "F32", start: int = 0) -> dict[str, object]:
    return {"dtype": dtype, "shape": [rows, columns], "data_offsets": [start, start + rows * columns * width]}


@pytest.mark.parametrize(
    ("dtype", "kind"), [("F32", "<f4"), ("F16", "<f2"), ("F64", "<f8"), ("BF16", "bf16")]
)
def test_a_hugging_face_folder(tmp_path: Path, dtype: str, kind: str) -> None:
    vectors = made_up(len(VOCABULARY), 6)
    if kind == "bf16":
        raw = (vectors.view(np.uint32) >> 16).astype("<u2").tobytes()
        vectors = (vectors.view(np.uint32) >> 16 << 16).view(np.float32)
    else:
        raw = vectors.astype(kind).tobytes()
        vectors = vectors.astype(kind).astype(np.float32)
    width = len(raw) // vectors.size
    write_model(tmp_path, {NAME: entry(*vectors.shape, width, dtype, 5), "__metadata__": {}}, b"12345" + raw)
    found = read_huggingface_folder(tmp_path)
    assert found.entries == ["a", "b", "##c", *VOCABULARY[5:15], "##ed"]  # `Worda` is `worda`
    assert not found.vectors[:3].any()  # before the first whole word
    np.testing.assert_array_equal(found.vectors[3:13], vectors[5:15])
    assert pieces_of(vector_table(found, "en", dimensions=4), "WordAed") == ("worda", "##ed")


@pytest.mark.parametrize(
    ("header", "data", "message"),
    [
        (b"", b"", "header claims 0 bytes"),
        (b"[1]", b"", "not a JSON object"),
        (b"{", b"", "not a safetensors file"),
        ({}, b"", "has 0 tensors"),
        ({NAME: entry(17, 2), "x." + NAME: entry(17, 2)}, b"", "has 2 tensors"),
        ({NAME: entry(17, 2)}, b"123", "is cut off"),
        ({NAME: entry(17, 2) | {"data_offsets": [0, 1]}}, b"", "sound place"),
        ({NAME: entry(17, 2) | {"data_offsets": [-136, 0]}}, b"", "sound place"),
        ({NAME: entry(17, 2) | {"shape": [17]}}, b"", "sound place"),
        ({NAME: entry(1 << 40, 2)}, b"", "sound place"),
        ({NAME: entry(17, 2) | {"dtype": "I8"}}, b"", "sound place"),
        ({NAME: "x"}, b"", "sound place"),
        ({NAME: entry(3, 2)}, bytes(24), "has 17 pieces, but there are 3 vectors"),
    ],
)
def test_unsound_models_are_refused(tmp_path: Path, header: object, data: bytes, message: str) -> None:
    write_model(tmp_path, header, data)
    with pytest.raises(InputError, match=message):
        read_huggingface_folder(tmp_path)


def test_a_header_that_claims_too_much_is_refused(tmp_path: Path) -> None:
    write_model(tmp_path, {}, b"")
    (tmp_path / "model.safetensors").write_bytes((1 << 60).to_bytes(8, "little"))
    with pytest.raises(InputError, match="header claims"):
        read_huggingface_folder(tmp_path)
    (tmp_path / "vocab.txt").unlink()
    with pytest.raises(InputError, match=r"has no file vocab\.txt"):
        read_huggingface_folder(tmp_path)


@pytest.mark.parametrize(
    ("pieces", "message"),
    [(["a", "b c"], "line 2"), (["a", ""], "1 pieces"), (["a", "b"], "no piece begins")],
)
def test_unsound_vocabularies_are_refused(pieces: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_wordpieces(pieces, made_up(2, 3), "vocab.txt")


def test_a_table_written_and_read_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"w{k}" for k in range(40)]
    made = [
        vector_table(
            Embeddings(names, made_up()), "xx", dimensions=8, provenance=Provenance(date="2026-11-15")
        )
        for _ in range(2)
    ]
    paths = [tmp_path / f"{name}.tesla" for name in ("a", "vectors-xx")]
    for path, resource in zip(paths, made, strict=True):
        write_resource(path, resource)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    monkeypatch.setenv("TESLA_EVAL_DATA", str(tmp_path))
    table = load_vectors("xx")
    assert table is not None
    assert cosine(table, "w0", "w1") == cosine(WordVectors(made[0]), "w0", "w1")


def build(*arguments: str) -> str:
    """What `tesla train vectors` prints."""
    with redirect_stdout(StringIO()) as out:
        vectors.main([*arguments], standalone_mode=False)
    return out.getvalue()


def test_a_table_from_the_command_line(write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESLA_EVAL_DATA", str(tmp_path / "own"))
    names = [f"w{k}" for k in range(40)]
    file = write("xy.vec", ["40 12", *lines_of(made_up(), names)])
    options = ["-l", "xy", "--dimensions", "8", "--licence", "CC0", "--date", "2026-11-15"]
    with pytest.raises(BuildError, match="8 dimensions and 8 dropped axes"):
        build(file, *options)
    options += ["--drop-axes", "2"]
    assert "40 words, 8 dimensions" in build(file, *options)
    resource = read_resource(tmp_path / "own" / "vectors-xy.tesla", KIND)
    assert resource.provenance == Provenance(("xy.vec",), "CC0", "2026-11-15")
    expected = vector_table(Embeddings(names, made_up()), "xy", dimensions=8, dropped_axes=2)
    np.testing.assert_array_equal(resource.arrays["vectors"], expected.arrays["vectors"])


def test_a_table_of_pieces_from_the_command_line(tmp_path: Path) -> None:
    matrix = made_up(len(VOCABULARY), 12)
    write_model(tmp_path, {NAME: entry(*matrix.shape)}, matrix.tobytes())
    output = tmp_path / "table.tesla"
    assert "pieces of words" in build(str(tmp_path), "-l", "xy", "-o", str(output), "--dimensions", "8")
    assert pieces_of(read_resource(output, KIND), "wordbed") == ("wordb", "##ed")


def test_a_table_through_a_pivot_language() -> None:
    table = WordVectors(vector_table(pivoted_embeddings(load_phrase_table("de", "en")), "de"))
    assert cosine(table, "Arzt", "Doktor") > 0.9
    assert cosine(table, "verhaften", "festnehmen") > 0.8
    assert cosine(table, "Arzt", "Banane") < 0.3
