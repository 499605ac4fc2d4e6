"""The core with what nobody should give it: bad numbers, damaged bytes, lists that change, signals, no memory."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tesla_eval import TeslaM, Token, _core
from tesla_eval.base.errors import InputError, ResourceError
from tesla_eval.language.analysis.batch import AnalysedBatch, Vocabulary
from tesla_eval.language.analysis.lemmas import Lemmatiser
from tesla_eval.language.analysis.pipeline import Pipeline, load_pipeline
from tesla_eval.matching.celab import CelabMatcher
from tesla_eval_papers.discourse.document import LONGEST_SENTENCE, PIECE
from tesla_eval_papers.discourse.relation_parser import load_discourse_parser

ROOT = Path(__file__).resolve().parents[2]
ONE = np.zeros(1, np.int64)
DISCOUNT = _core.Discount(1, 10)


def tokens_of(lemmas: list[int]) -> _core.Tokens:
    size = len(lemmas)
    return _core.Tokens(
        np.array([0, size], np.int64),
        np.array(lemmas, np.uint32),
        np.ones(size, np.uint16),
        np.zeros(size, np.uint8),
    )


def lexicon_with(lemmas: list[str]) -> _core.Lexicon:
    lexicon = _core.Lexicon(None)
    lexicon.intern_words(lemmas)
    lexicon.intern_lemmas(lemmas, np.zeros(len(lemmas) + 1, np.int64), np.zeros(0, np.uint32))
    return lexicon


# -- C.2: lists that another thread changes -----------------------------------------------------------------------


@contextmanager
def repeated_meanwhile(change: Callable[[], None]) -> Iterator[None]:
    """Another thread does it again and again; threads take turns often."""
    done = threading.Event()

    def work() -> None:
        while not done.is_set():
            change()

    thread = threading.Thread(target=work)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        thread.start()
        yield
    finally:
        done.set()
        thread.join()
        sys.setswitchinterval(interval)


def emptied_meanwhile(work, texts: list[str]) -> None:
    """Run `work` on the list while another thread replaces its strings."""

    def change() -> None:
        for index in range(len(texts)):
            texts[index] = chr(97 + index % 26) * 3000

    with repeated_meanwhile(change):
        for _ in range(30):
            work(texts)


@pytest.mark.parametrize("kind", ["analyser", "characters", "words", "units", "batch"])
def test_a_list_may_change_while_it_is_read(kind: str) -> None:
    tokeniser = _core.Tokeniser("en")
    kinds = (np.uint32, np.uint32, np.uint16, np.uint8, np.uint8, np.uint32, np.uint32)
    columns: list[np.ndarray] = [np.zeros(0, kind) for kind in kinds]
    labels = _core.Labels(*(np.zeros(0, kind) for kind in (np.uint16, np.uint8, np.uint8, np.uint8)))

    def work(texts: list[str]) -> None:
        if kind == "analyser":
            lexicon = _core.Lexicon(None)

            def define(words: Any) -> None:
                lemmas = lexicon.intern_lemmas(["x"], np.zeros(2, np.int64), np.zeros(0, np.uint32))
                lexicon.define_words(words, lemmas.repeat(len(words)), [])

            analyser = _core.Analyser(lexicon, tokeniser, None, None, define, labels, False, str)
            analyser.analyse([texts, texts], False)
        elif kind == "characters":
            _core.CharacterBags(texts)
        elif kind == "words":
            _core.Lexicon(None).intern_words(texts)
        elif kind == "units":
            _core.CelabBatch(_core.NgramVocabulary(), [texts], 1)
        else:
            _core.TokenBatch(np.zeros(201, np.int64), *columns, texts)

    emptied_meanwhile(work, ["".join(chr(97 + (i * k) % 26) for k in range(3000)) for i in range(200)])


def test_strings_of_a_list_are_held_while_the_core_reads_them() -> None:
    """Without a sanitizer: a string that the list no longer has must live until the core is done."""
    texts = [f"{i} " * 400_000 for i in range(2)]
    seen = threading.Event()
    watched = texts[1]
    outside = sys.getrefcount(watched)

    def look() -> None:
        if sys.getrefcount(watched) > outside:
            seen.set()
        time.sleep(0)

    with repeated_meanwhile(look):
        for _ in range(50):  # a busy machine may let the thread look too late
            _core.CharacterBags(texts)
            if seen.is_set():
                break
    assert seen.is_set()


class MadeWhenAsked(Sequence[str]):
    """Its strings live only as long as somebody holds them."""

    def __len__(self) -> int:
        return 200

    def __getitem__(self, place: Any) -> Any:
        if place >= len(self):
            raise IndexError
        return f"number{place}".ljust(20 + place, "x")


def test_strings_that_nobody_else_holds_are_read_as_they_are() -> None:
    texts = MadeWhenAsked()
    lexicon = lexicon_with([])
    assert lexicon.forms(lexicon.intern_words(texts)) == list(texts)
    lemmas = lexicon.intern_lemmas(texts, np.zeros(len(texts) + 1, np.int64), np.zeros(0, np.uint32))
    assert lexicon.lemmas(lemmas) == list(texts)
    weights = np.arange(len(texts), dtype=np.float64)
    assert _core.WordWeights("\n".join(sorted(texts)), weights, -1.0).of(texts).min() >= 0


def test_lists_that_change_while_they_are_read_are_read_as_they_were() -> None:
    texts = [["a", "b"], ["c"]]

    class EmptiesTexts:
        """An array whose reading runs code of Python's."""

        def __init__(self) -> None:
            self.numbers = np.zeros(4)  # two units, each with n-grams of up to two

        def __dlpack__(self, **options: Any) -> Any:
            texts.clear()
            return self.numbers.__dlpack__(**options)

        def __dlpack_device__(self) -> Any:
            return self.numbers.__dlpack_device__()

    weights: Any = [EmptiesTexts(), np.zeros(2)]
    batch = _core.CelabBatch(_core.NgramVocabulary(), texts, 2, weights)
    assert not texts and len(batch) == 2

    class Groups(list[list[str]]):
        def __iter__(self) -> Iterator[list[str]]:
            return iter([[f"text {number}"] for number in range(5000)])

    _, analyser = load_pipeline("en").in_core()
    batches = analyser.analyse(Groups([["one"]]), False)
    assert [held.texts for held in batches] == [(f"text {number}",) for number in range(5000)]


FAR = 1 << 40  # beyond every array


def test_numbers_that_change_after_the_core_took_them_change_nothing() -> None:
    offsets, weights = np.array([0, 2, 4], np.int64), np.ones(1)
    table = _core.CandidateTable(offsets, np.ones((1, 4)), np.ones((4, 2), np.int64))
    best = table.best(weights).tolist()
    offsets[1] = FAR
    assert table.best(weights).tolist() == best
    offsets, lemmas = np.array([0, 2], np.int64), np.array([0, 1], np.uint32)
    tokens = _core.Tokens(offsets, lemmas, np.ones(2, np.uint16), np.zeros(2, np.uint8))
    offsets[1] = lemmas[1] = np.iinfo(np.uint32).max
    lexicon, recipe = lexicon_with(["a", "b"]), _core.BagRecipe([("lem", 1)], DISCOUNT)
    bags = [_core.Bags(lexicon, given, recipe) for given in (tokens, tokens_of([0, 1]))]
    assert _core.match(*bags, ONE, ONE, 0.8)[2].tolist() == [[1.0]]


@pytest.mark.parametrize("kind", ["characters", "BLEU", "language model"])
def test_numbers_that_change_while_the_core_reads_them_are_refused_or_read_as_they_were(kind: str) -> None:
    """Of two values of the last number one is unsound; another thread writes them in turns."""
    size = 200_000
    if kind == "characters":
        bags = _core.CharacterBags(["abc"])
        numbers: npt.NDArray[Any] = np.zeros(size, np.int64)
        expected = _core.count_characters(bags, bags, np.zeros(size, np.int64), numbers, 1)
        work = partial(_core.count_characters, bags, bags, np.zeros(size, np.int64), numbers, 1)
    elif kind == "BLEU":
        texts = _core.WordTexts.by_sacrebleu(["a b", "a b"], "none")
        numbers = np.ones((1, size), np.int64)
        expected = _core.count_bleu(texts, np.zeros(size, np.int64), numbers, 1)
        work = partial(_core.count_bleu, texts, np.zeros(size, np.int64), numbers, 1)
    else:
        model = _core.NgramModel([np.arange(5, dtype=np.uint32)], [np.full(5, -1.5, np.float32)], [], 0.01)
        numbers = np.full(size, 3, np.uint32)
        expected = model.score(np.array([0, size]), numbers)
        work = partial(model.score, np.array([0, size]), numbers)
    last = numbers.reshape(-1)[-1:]
    sound, unsound = int(last[0]), min(FAR, int(np.iinfo(numbers.dtype).max))

    def change() -> None:
        last[0] = unsound
        last[0] = sound

    with repeated_meanwhile(change):
        for _ in range(20):
            with suppress(IndexError, ValueError):
                assert np.array_equal(work(), expected)


# -- C.3, C.4, C.6: numbers from outside --------------------------------------------------------------------------


def test_bags_of_other_features_are_refused() -> None:
    lexicon = lexicon_with(["a"])
    tokens = tokens_of([0])
    kinds = [[("ms", 1)], [("lem", 1)], [("lem", 2)], [("skip", 4)], [("pos", 3)]]
    for x in kinds:
        for y in kinds:
            bags = [_core.Bags(lexicon, tokens, _core.BagRecipe(named, DISCOUNT)) for named in (x, y)]
            if x == y:
                _core.match(*bags, ONE, ONE, 0.8)
            else:
                with pytest.raises(ValueError, match="do not belong together"):
                    _core.match(*bags, ONE, ONE, 0.8)


def test_bags_with_different_discounts_are_not_matched() -> None:
    lexicon, tokens = lexicon_with(["a"]), tokens_of([0])
    bags = [_core.Bags(lexicon, tokens, _core.BagRecipe([("lem", 1)], _core.Discount(1, q))) for q in (10, 2)]
    with pytest.raises(ValueError, match="do not belong together"):
        _core.match(*bags, ONE, ONE, 0.9)


def batch_of(lemmas: list[int], texts: int = 1) -> _core.TokenBatch:
    """All tokens are the first text's; the others are empty."""
    offsets = np.array([0] + [len(lemmas)] * texts)
    word, place = np.zeros(len(lemmas), np.uint32), np.zeros(len(lemmas), np.uint32)
    flags = np.zeros(len(lemmas), np.uint8)
    lemma = np.array(lemmas, np.uint32)
    tags = flags.astype(np.uint16)
    return _core.TokenBatch(offsets, word, lemma, tags, flags, flags, place, place, ["a"] * texts)


@pytest.mark.parametrize("name", ["offsets", "word", "lemma", "tag", "universal", "function", "start", "end"])
def test_arrays_of_a_batch_cannot_be_changed(name: str) -> None:
    """The core has checked them, and reads them without checks from then on."""
    column = getattr(batch_of([0, 0], texts=2), name)
    with pytest.raises(ValueError, match="read-only"):
        column[1] = 10**3 if name == "offsets" else 1
    with pytest.raises(ValueError, match="WRITEABLE"):
        column.flags.writeable = True


def test_the_number_of_no_lemma_is_refused() -> None:
    """It fills up blocks of words: a lemma with this number would be equal to what is not there."""
    with pytest.raises(ValueError, match="no lemma has this number"):
        batch_of([0, 0xFFFFFFFF])


def test_any_number_but_0_marks_a_function_word() -> None:
    lexicon, recipe = lexicon_with(["a", "b"]), _core.BagRecipe([("lem", 1), ("skip", 2)], DISCOUNT)

    def tokens(flags: list[int]) -> _core.Tokens:
        size = len(flags)
        lemmas, tags = np.arange(size, dtype=np.uint32), np.ones(size, np.uint16)
        return _core.Tokens(np.array([0, size]), lemmas, tags, np.array(flags, np.uint8))

    for feature, n in (("lem", 1), ("skip", 2)):
        usual, other = (
            _core.explain(lexicon, tokens(flags), tokens([0, 0]), feature, n, DISCOUNT, 0.8)
            for flags in ([0, 1], [0, 255])
        )
        assert other["reference_weight"] == usual["reference_weight"] > 0
        assert other["measures"] == usual["measures"]
    usual, other = (_core.Bags(lexicon, tokens(flags), recipe) for flags in ([0, 1], [0, 255]))
    assert [c.tolist() for c in _core.match(usual, usual, ONE, ONE, 0.8)] == [
        c.tolist() for c in _core.match(other, usual, ONE, ONE, 0.8)
    ]


def test_segments_that_do_not_belong_together_are_refused() -> None:
    lexicon, recipe = lexicon_with(["a"]), _core.BagRecipe([("ms", 1)], DISCOUNT)
    group = _core.NgramGroup(lexicon, "lemma", None, recipe, 0.8, ())
    scorer = _core.Scorer([group], [], ("ms1",), _core.MeanCombination(), 0.0, 1.0, str.__eq__)

    def match(streams: list[Any], *present: list[int], lemma: int = 0) -> Any:
        indices = [np.array(index, np.int64) for index in present]
        compared = group.compare_segments(streams, batch_of([lemma]), indices)
        for rows, index, (scores, features) in zip(
            compared, indices, scorer.score(streams, batch_of([lemma]), indices), strict=True
        ):
            assert rows.tolist() == features[index].tolist() and rows[:, 0].tolist() == scores[index].tolist()
        return compared

    one, two = batch_of([0]), batch_of([0], 2)
    assert [rows.tolist() for rows in match([one, one], [0], [])] == [[[1.0]], []]
    assert match([]) == []
    for streams, present, error in (
        ([one], [[0], [0]], "differ in number"), ([one], [], "differ in number"),
        ([two], [[0]], "another number of texts"), ([one], [[0, 0]], "do not ascend"),
        ([one], [[1]], "no such text"), ([one], [[-1]], "no such text"),
    ):  # fmt: skip
        with pytest.raises((ValueError, IndexError), match=error):
            match(streams, *present)
        with pytest.raises((ValueError, IndexError), match=error):
            scorer.score(streams, batch_of([0]), [np.array(index, np.int64) for index in present])
    with pytest.raises(IndexError, match="no such lemma"):
        match([batch_of([1])], [0])
    with pytest.raises(IndexError, match="no such lemma"):
        match([one], [0], lemma=1)
    for wrong in ([None], ["a"], [0]):
        with pytest.raises((TypeError, RuntimeError)):
            match(wrong, [0])


def test_scorers_refuse_what_does_not_fit() -> None:
    lexicon, recipe = lexicon_with(["a"]), _core.BagRecipe([("lem", 1)], DISCOUNT)
    groups = [_core.NgramGroup(lexicon, "lemma", None, recipe, 0.8, ()) for _ in range(2)]
    mean = _core.MeanCombination()
    for columns in ([2], [-1]):
        with pytest.raises(IndexError, match="no such column"):
            _core.Scorer(groups, columns, ("c",), mean, 0.0, 1.0, str.__eq__)
    with pytest.raises(ValueError, match="names and features"):
        _core.Scorer(groups, [], ("only one",), mean, 0.0, 1.0, str.__eq__)
    with pytest.raises(ValueError, match="differ in length"):
        _core.SignedCombination([1.0], [0, 0], True)
    weights = _core.SignedCombination([1.0], [0], True)
    signed = _core.Scorer(groups, [], ("a", "b"), weights, 0.0, 1.0, str.__eq__)
    with pytest.raises(ValueError, match="another number of features"):
        signed.score([batch_of([0])], batch_of([0]), [None])
    x, y = (group.prepare(batch_of([0])) for group in groups)
    with pytest.raises(ValueError, match="one group"):
        x.compare(y, ONE, ONE)
    with pytest.raises(ValueError, match="texts and tokens"):
        _core.TokenBatch(*[np.zeros(1, np.int64)], *(np.zeros(0, kind) for kind in (
            np.uint32, np.uint32, np.uint16, np.uint8, np.uint8, np.uint32, np.uint32)), ["a"])  # fmt: skip
    for arguments in (("form", None, ()), ("surface", None, ()), ("lemma", None, ("x",))):
        with pytest.raises(ValueError):
            _core.NgramGroup(lexicon, arguments[0], arguments[1], recipe, 0.8, arguments[2])


def test_the_types_in_a_list() -> None:
    assert _core.types_in([]) == set()
    assert _core.types_in(["a"] * 40 + [None, 1.0] + ["b"] * 40) == {str, type(None), float}
    with pytest.raises(TypeError):
        _core.types_in(("a",))  # type: ignore[arg-type]


def test_a_type_that_empties_the_list_when_it_is_hashed() -> None:
    class Emptying(type):
        def __hash__(cls) -> int:
            objects.clear()
            return 1

    class Text(str, metaclass=Emptying):
        pass

    objects: list[str] = [Text("a"), *["b"] * 100]
    assert {id(kind) for kind in _core.types_in(objects)} == {id(Text), id(str)}


def pivot_table() -> _core.PhraseTable:
    def words(*texts: str) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint32]]:
        return np.frombuffer("".join(texts).encode(), np.uint8), np.array(
            [0, *accumulate(map(len, texts))], np.uint32
        )

    numbers = [np.array(values, np.uint32) for values in ([0], [1, 1], [2], [0, 1], [0], [2], [0, 1], [0])]
    return _core.PhraseTable(*words("a"), *words("x"), np.zeros(1, np.uint8), *numbers, 2.0)


def pivot_tokens(lemmas: list[int]) -> _core.PivotTokens:
    size = len(lemmas)
    return _core.PivotTokens(
        np.array([0, size], np.int64),
        np.array(lemmas, np.uint32),
        np.zeros(size, np.uint8),
        np.zeros(size, np.uint8),
    )


def test_pivot_bags_of_other_features_are_refused() -> None:
    lexicon, table = lexicon_with(["a"]), pivot_table()

    def bags(similarity: str, longest: int) -> _core.PivotBags:
        return _core.PivotBags(
            lexicon, table, pivot_tokens([0]), [(similarity, 1, longest)], DISCOUNT, 0.0, 0.0
        )

    _core.match(bags("lem", 1), bags("lem", 1), ONE, ONE, 0.8)
    for x, y in ((("lem", 1), ("pos", 1)), (("pos", 2), ("pos", 1))):
        with pytest.raises(ValueError, match="do not belong together"):
            _core.match(bags(*x), bags(*y), ONE, ONE, 0.8)


@pytest.mark.parametrize("lemma", [1, 5000, 0x7FFFFFFF, 0xFFFFFFFE, 0xFFFFFFFF])
def test_a_lemma_that_does_not_exist_is_refused(lemma: int) -> None:
    lexicon = lexicon_with(["a"])
    with pytest.raises(IndexError, match="no such lemma"):
        _core.Bags(lexicon, tokens_of([0, lemma]), _core.BagRecipe([("ms", 1)], DISCOUNT))
    with pytest.raises(IndexError, match="no such lemma"):
        _core.explain(lexicon, tokens_of([lemma]), tokens_of([0]), "ms", 1, DISCOUNT, 0.8)
    with pytest.raises(IndexError, match="no such lemma"):
        _core.PivotBags(lexicon, pivot_table(), pivot_tokens([lemma]), [("lem", 1, 1)], DISCOUNT, 0.0, 0.0)
    with pytest.raises(IndexError, match="no such lemma"):
        _core.explain_pivot(lexicon, pivot_table(), pivot_tokens([lemma]), 1, 0.0, 0.0)
    _core.Bags(
        lexicon, tokens_of([lemma]), _core.BagRecipe([("lem", 1)], DISCOUNT)
    )  # numbers of one's own: nobody is asked for them


@pytest.mark.parametrize("word", [1, 4097, 0xFFFFFFFF])
def test_a_word_that_does_not_exist_is_refused(word: int) -> None:
    lexicon = lexicon_with(["a"])
    plain = _core.PlainLemmas([], [], [], [], None, (), True)
    asked = np.array([0, word], np.uint32)
    with pytest.raises(IndexError, match="no such word"):
        _core.define_plain(lexicon, asked, plain, None)
    first = np.zeros(1, np.uint32)
    with pytest.raises(IndexError, match="no such word"):
        lexicon.define_words(first, first, [[(word, 0, 1)]])
    with pytest.raises(IndexError, match="no such word"):
        lexicon.define_words(asked, np.zeros(2, np.uint32), [])
    undefined: list[int] = []  # nothing was defined by halves
    labels = _core.Labels(*(np.zeros(0, kind) for kind in (np.uint16, np.uint8, np.uint8, np.uint8)))
    analyser = _core.Analyser(
        lexicon,
        _core.Tokeniser("en"),
        None,
        None,
        lambda words: undefined.extend(words.tolist()),
        labels,
        False,
        str,
    )
    with pytest.raises(RuntimeError, match="no lemma"):
        analyser.analyse([["a"]], False)
    assert undefined == [0]


def repeated_word(count: int) -> _core.Tokens:
    return _core.Tokens(
        np.array([0, count], np.int64),
        np.zeros(count, np.uint32),
        np.ones(count, np.uint16),
        np.zeros(count, np.uint8),
    )


def test_weights_that_64_bits_cannot_sum_are_an_error() -> None:
    lexicon, text = lexicon_with(["a"]), repeated_word(2_000_000)
    with pytest.raises(_core.TextTooLongError):
        _core.Bags(lexicon, text, _core.BagRecipe([("pos", 3)], _core.Discount(9999, 10000)))
    bags = _core.Bags(lexicon, text, _core.BagRecipe([("pos", 3)], DISCOUNT))
    precision, recall, f = _core.match(bags, bags, ONE, ONE, 0.8)
    assert precision[0, 0] == recall[0, 0] == f[0, 0] == 1


def test_words_that_senses_link_are_limited() -> None:
    lexicon, recipe = lexicon_with(["a"]), _core.BagRecipe([("ms", 3)], DISCOUNT)
    assert _core.Bags(lexicon, repeated_word(50_000), recipe)
    with pytest.raises(_core.TextTooLongError, match="more than 50,000 words"):
        _core.Bags(lexicon, repeated_word(50_001), recipe)


def test_the_longest_text_for_the_finest_discount() -> None:
    lexicon = lexicon_with(["a"])
    size = (2**63 - 1) // (6 * 10**12)
    for tokens in (size, size + 1):
        text = repeated_word(tokens)
        if tokens > size:
            with pytest.raises(_core.TextTooLongError):
                _core.explain(lexicon, text, text, "pos", 3, _core.Discount(9999, 10000), 0.8)
            continue
        bags = _core.Bags(lexicon, text, _core.BagRecipe([("pos", 3)], _core.Discount(9999, 10000)))
        assert _core.match(bags, bags, ONE, ONE, 0.8)[2][0, 0] == 1


def test_weights_of_the_transport_problem_are_checked() -> None:
    def solve(supply: float, demand: float, gain: int, dtype: type = np.int64) -> None:
        _core.solve_transport(
            np.array([supply], dtype), np.array([demand], dtype), ONE, ONE, np.array([gain])
        )

    solve(2**62, 2**62, 1)
    for arguments in ((2**62, 2**62, 4), (-1, 1, 1), (1, -1, 1), (2**62, 1, 1 << 30)):
        with pytest.raises(ValueError, match="negative or too large"):
            solve(*arguments)
    for bad in (np.nan, np.inf, -1.0):
        with pytest.raises(ValueError, match="negative or too large"):
            solve(bad, 1.0, 1, np.float64)


def test_a_table_whose_options_are_too_probable_is_refused() -> None:
    def words(text: str) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint32]]:
        return np.frombuffer(text.encode(), np.uint8), np.arange(len(text) + 1, dtype=np.uint32)

    numbers = [
        np.array(values, np.uint32)
        for values in ([0], [1, 1], [2], [0, 2], [0, 1], [2, 1], [0, 1, 2], [0, 1])
    ]
    with pytest.raises(ValueError, match="counts"):
        _core.PhraseTable(*words("a"), *words("xy"), np.zeros(2, np.uint8), *numbers, 2.0)


# -- C.5: damaged dictionaries ------------------------------------------------------------------------------------


def front_coded(key: bytes, value: bytes) -> bytes:
    """A dictionary of simplemma's format with one whole value."""
    return b"SMFC1\0\1" + bytes([0, len(key)]) + key + bytes([255, len(value)]) + value


@pytest.mark.parametrize(
    "value", [b"\xf0", b"ab\xe4", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\x80", b"\xed\xa0\x80"]
)
def test_values_of_a_damaged_dictionary_are_not_read_past_their_end(value: bytes) -> None:
    dictionary = _core.FrontCodedDictionary(front_coded(b"cats", value))
    plain = _core.PlainLemmas([], [], [], [], dictionary, None, True)
    with pytest.raises(_core.DamagedDictionaryError):
        dictionary.get("cats")
    with pytest.raises(_core.DamagedDictionaryError):
        plain.lookup(["cats"])
    assert _core.FrontCodedDictionary(front_coded(b"cats", "chat é€😀".encode())).get("cats") == "chat é€😀"


def test_a_damaged_dictionary_is_an_error_of_the_resource(monkeypatch: pytest.MonkeyPatch) -> None:
    dictionary = _core.FrontCodedDictionary(front_coded(b"cats", b"\xf0"))
    pipeline = Pipeline("en", tagger=None, lemmatiser=Lemmatiser("en"), senses=None)
    plain = _core.PlainLemmas([], [], [], [], dictionary, None, True)
    monkeypatch.setattr(type(pipeline.lemmatiser), "plain", plain)
    with pytest.raises(ResourceError, match="reinstall simplemma"):
        pipeline.analyse(["cats"])


# -- C.7: compilers without builtins ------------------------------------------------------------------------------

NOT_EVERYWHERE = re.compile(
    r"__builtin_\w+|__attribute__|\bfseeko\b|\boff_t\b|\bssize_t\b|#include <(?:unistd|sys/)"
)


def lines_for_every_compiler(text: str) -> Iterator[tuple[int, str]]:
    """The lines outside of `#if ... __GNUC__`, `__unix__` and the like."""
    guards: list[bool] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("#if"):
            guards.append("defined(" in line)
        elif line.startswith("#elif"):
            guards[-1] = "defined(" in line
        elif line.startswith("#else"):
            guards[-1] = False
        elif line.startswith("#endif"):
            guards.pop()
        elif not any(guards):
            yield number, line


def test_what_only_some_compilers_have_is_guarded() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sorted((ROOT / "core").rglob("*.*"))
        for number, line in lines_for_every_compiler(path.read_text("utf-8"))
        if NOT_EVERYWHERE.search(line)
    ]
    assert found == []


# -- C.8: numbers out of range under every NumPy ------------------------------------------------------------------


@pytest.mark.parametrize(
    "bad",
    [
        {"start": -1},
        {"start": 2**32},
        {"end": 2**63},
        {"senses": (-1,)},
        {"senses": (2**32,)},
        {"function": 256},
    ],
)
def test_numbers_out_of_range_are_refused(bad: dict[str, object]) -> None:
    token = Token(
        **{"surface": "a", "start": 0, "end": 1, "lemma": "a", "pos": "X", "function": False, **bad}
    )  # type: ignore[arg-type]
    with pytest.raises(OverflowError):
        AnalysedBatch.from_tokens(["a"], Vocabulary(_core.Lexicon(None)), [[token]])


# -- C.9: the lexicon (more of it is in tests/core) -------------------------------------------------------------------


def unkeyed_hash(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The hash that the lexicon had before it had a key, of words of eight bytes."""

    def mix(v: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        factor = np.uint64(0xD6E8FEB86659FD93)
        v = v ^ (v >> np.uint64(32))
        v = v * factor
        v = v ^ (v >> np.uint64(32))
        v = v * factor
        return v ^ (v >> np.uint64(32))

    return mix(mix(words ^ np.uint64(0x9E3779B97F4A7C15 ^ 8)))


def test_words_made_to_collide_cost_no_more_than_others() -> None:
    letters = np.random.default_rng(1).integers(97, 123, (3_000_000, 8), np.uint8)
    hashes = unkeyed_hash(letters.view("<u8").ravel())
    unlucky = letters[(hashes & np.uint64(0xFFFF)) < 384]
    usual = letters[: len(unlucky)]

    def seconds(chosen: npt.NDArray[np.uint8]) -> float:
        words = [row.tobytes().decode() for row in chosen]
        times = []
        for _ in range(3):
            lexicon = _core.Lexicon(None)
            start = time.process_time()
            lexicon.intern_words(words)
            times.append(time.process_time() - start)
        return min(times)

    assert len(unlucky) > 10_000
    assert seconds(unlucky) < 4 * seconds(usual)


def test_no_result_depends_on_the_key_of_the_hash() -> None:
    """Two processes draw two keys."""
    program = (
        "from tesla_eval.metrics import create_metric; from tesla_eval.language.analysis import load_pipeline\n"
        "texts = ['The cat sat on the mat .', 'A cat is sitting there', 'mat mat mat']\n"
        "print(create_metric('m', 'en').score_segments(texts, [texts[::-1]]).features.tobytes().hex())\n"
        "print(create_metric('celab', 'zh').score_segments(['今天天气好'], [['天气今天好']]).scores.tobytes().hex())\n"
        "(batch,) = load_pipeline('en').analyse(texts); print(batch.word.tolist(), batch.lemma.tolist())\n"
    )
    outputs = {
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert len(outputs) == 1


# -- C.10: Ctrl-C -------------------------------------------------------------------------------------------------


def interrupted_after(seconds: float, work) -> float:
    """How long `work` took to stop after Ctrl-C; it must not end by itself."""
    sent: list[float] = []

    def send() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    # A shell that starts the tests in the background has them ignore Ctrl-C.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(seconds, send)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
        return time.monotonic() - sent[0]
    finally:
        timer.cancel()
        timer.join()
        signal.signal(signal.SIGINT, handler)


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_the_simplex_looks_for_ctrl_c() -> None:
    units = [f"u{number}" for number in range(800)]  # against themselves twice: every n-gram is contested
    matcher = CelabMatcher(max_units=10_000)
    assert interrupted_after(0.5, lambda: matcher.match([units], [units * 2])) < 2


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_matching_looks_for_ctrl_c() -> None:
    lexicon = lexicon_with([str(number) for number in range(200)])
    bags = _core.Bags(
        lexicon, tokens_of(list(range(200))), _core.BagRecipe([("ms", 1), ("ms", 2), ("ms", 3)], DISCOUNT)
    )
    pairs = np.zeros(1_000_000, np.int64)
    assert interrupted_after(0.5, lambda: _core.match(bags, bags, pairs, pairs, 0.8)) < 2


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_one_pair_of_texts_with_similar_heads_looks_for_ctrl_c() -> None:
    """The n-grams of both texts begin alike, but hardly any two are similar: many pairs are visited for nothing."""
    heads, others, size = 400, 400, 25_000
    lexicon = lexicon_with([str(number) for number in range(heads + 2 * others)])
    random = np.random.default_rng(1)

    def bags(side: int) -> _core.Bags:
        second = heads + side * others + random.integers(0, others, size)
        lemmas = np.stack([random.integers(0, heads, size), second], 1).ravel()
        tags = np.tile([1, 2 + side], size)
        tokens = _core.Tokens(
            np.array([0, 2 * size]),
            lemmas.astype(np.uint32),
            tags.astype(np.uint16),
            np.zeros(2 * size, np.uint8),
        )
        return _core.Bags(lexicon, tokens, _core.BagRecipe([("ms", 2), ("ms", 3)], DISCOUNT))

    x, y = bags(0), bags(1)
    start = time.monotonic()
    _core.match(x, y, ONE, ONE, 0.8)
    whole = time.monotonic() - start
    tries = (interrupted_after(whole / 10, lambda: _core.match(x, y, ONE, ONE, 0.8)) for _ in range(3))
    assert any(seconds < whole / 2 for seconds in tries)  # a busy machine may miss it once


# -- C.11: text without full stops --------------------------------------------------------------------------------

PHRASE = (
    "but because he left early when it rained and the market fell although nobody knew if they would come so "
)


def test_text_without_full_stops_costs_the_discourse_parser_no_more_than_other_text() -> None:
    parser = load_discourse_parser("en")
    parser.parse("It rained. But he came.")
    words = (PHRASE * 400).split()  # 8,000

    def seconds(text: str) -> float:
        start = time.process_time()
        parser.parse(text)
        return time.process_time() - start

    usual = " ".join(f"{word} ." if place % 50 == 49 else word for place, word in enumerate(words))
    assert seconds(" ".join(words)) < 2.5 * seconds(usual)


def test_only_sentences_that_nobody_writes_are_read_in_pieces() -> None:
    parser = load_discourse_parser("en")
    for words, pieces in ((LONGEST_SENTENCE, 1), (LONGEST_SENTENCE + 1, LONGEST_SENTENCE // PIECE + 1)):
        (document,) = parser.documents(["word " * words])
        assert len(document) == pieces
        assert sum(len(sentence) for sentence in document.sentences) == words


def test_too_long_texts_are_an_error_of_the_input() -> None:
    metric = TeslaM(lang="en", discount=0.9999)
    with pytest.raises(InputError, match="too long"):
        metric.score_segments(["a " * 1_600_000], [["a"]])
