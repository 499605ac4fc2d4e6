"""Specification §6: segmentation, confusion network and pivot bags, against exhaustive search over paths."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tesla_eval._core import Lexicon, PhraseCounter
from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.language.analysis import load_pipeline
from tesla_eval.language.analysis.batch import AnalysedBatch, Vocabulary
from tesla_eval.language.analysis.conllu import UNIVERSAL_TAGS
from tesla_eval.language.pivot import FunctionTag, PhraseTable, load_phrase_table
from tesla_eval.matching.bags.ngram_bags import PivotFeature, build_pivot_bags, pivot_network
from tesla_eval.matching.matcher import match_pairs
from tesla_eval.training.phrase_tables import table_resource

NOUN = FunctionTag("NOUN", False)
ONLY = np.zeros(1, np.int64)


def make_table(folder, pairs: list[tuple[str, str, int]], tags=None, compact: bool = False) -> PhraseTable:
    """The table with these phrase pairs and counts, unpruned."""
    counter = PhraseCounter()
    counter.add_pairs(
        [t for t, _, _ in pairs], [p for _, p, _ in pairs], np.array([n for *_, n in pairs], np.uint32)
    )
    run = str(folder / "run")
    counter.write_run(run)
    merged = counter.merge([run], 1, 0.0)
    words = {word: (tags or {}).get(word, NOUN) for word in merged["pivot_words"]}
    return PhraseTable.from_resource(
        table_resource(load_pipeline("en"), "fr", merged, words, info={"min_probability": 0.0}, compact=compact)
    )  # fmt: skip


def batch_of(vocabulary: Vocabulary, *texts: str, function=()) -> AnalysedBatch:
    """The texts cut at spaces, every word its own lemma."""
    words = [text.split() for text in texts]
    flat = [word for text in words for word in text]
    lemma = vocabulary.lexicon.intern_lemmas(flat, np.zeros(len(flat) + 1, np.int64), np.zeros(0, np.uint32))
    zeros = np.zeros(len(flat), np.uint32)
    arrays = {
        "offsets": np.cumsum([0, *map(len, words)], dtype=np.int64), "word": zeros, "lemma": lemma,
        "tag": zeros.astype(np.uint16), "universal": np.full(len(flat), UNIVERSAL_TAGS.index("NOUN"), np.uint8),
        "function": np.array([word in function for word in flat], np.uint8), "start": zeros, "end": zeros,
    }  # fmt: skip
    return AnalysedBatch.from_arrays(texts, vocabulary, arrays)


UNPRUNED = {"least_probability": 0.0, "least_ngram_probability": 0.0}


class TestWorkedExample:
    """Specification §6, from the PEM paper: punctuation kept, no discount, no pruning, n = 1..4 in one bag."""

    PAIRS = (
        ("Hello ,", "Bonjour ,", 9), ("Hello ,", "Salut ,", 1), ("Morning , sir .", "Bonjour , monsieur .", 5),
    )  # fmt: skip
    BAG: ClassVar = {
        "Bonjour": 0.9, "Salut": 0.1, ",": 1, "Querrien": 1, ".": 1,
        "Bonjour ,": 0.9, "Salut ,": 0.1, ", Querrien": 1, "Querrien .": 1,
        "Bonjour , Querrien": 0.9, "Salut , Querrien": 0.1, ", Querrien .": 1,
        "Bonjour , Querrien .": 0.9, "Salut , Querrien .": 0.1,
    }  # fmt: skip

    @pytest.mark.parametrize("compact", [False, True])
    def test_bags_weights_and_f(self, tmp_path, compact):
        table = make_table(tmp_path, list(self.PAIRS), compact=compact)
        vocabulary = Vocabulary(Lexicon(None))
        first, second = (batch_of(vocabulary, text) for text in ("Hello , Querrien .", "Morning , sir ."))
        network = pivot_network(first, table, 4, **UNPRUNED)
        bag = {" ".join(ngram.words): ngram.probability for order in network.ngrams for ngram in order}
        assert bag == self.BAG
        assert [(s.start, s.end) for s in network.segments] == [(0, 2), (2, 3), (3, 4)]
        feature = [PivotFeature("fr", "lem", 4, pooled=True)]
        bags = [build_pivot_bags(side, table, feature, discount=1.0, **UNPRUNED) for side in (first, second)]
        found = match_pairs(bags[0], bags[1], ONLY, ONLY, 0.5)
        assert (found.precision[0, 0], found.recall[0, 0], found.f[0, 0]) == (0.38, 0.38, 0.38)


WORDS = "abcd"
PIVOT_WORDS = "uvwx"
phrases = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
pivot_phrases = st.lists(st.sampled_from(PIVOT_WORDS), min_size=1, max_size=4).map(" ".join)
phrase_pairs = st.lists(st.tuples(phrases, pivot_phrases, st.integers(1, 6)), min_size=1, max_size=14)
sentences = st.lists(st.sampled_from([*WORDS, "u", "z"]), min_size=0, max_size=7)


@dataclass(frozen=True)
class Counts:
    """N(p), N(p, f) and the total, the plain way."""

    joint: Counter[tuple[str, str]]

    def n(self, phrase: str) -> int:
        return sum(count for (target, _), count in self.joint.items() if target == phrase)

    @property
    def total(self) -> int:
        return sum(self.joint.values())

    def probability(self, phrase: str) -> Fraction:
        count = Fraction(self.n(phrase)) or (Fraction(1, 2) if " " not in phrase else Fraction(0))
        return count / self.total

    def options(self, phrase: str, least: float) -> list[tuple[str, float]]:
        if not self.n(phrase):
            return [(phrase, 1.0)]
        found = sorted((-count, pivot) for (target, pivot), count in self.joint.items() if target == phrase)
        ranked = [(pivot, -count / self.n(phrase)) for count, pivot in found]
        return [option for k, option in enumerate(ranked) if k == 0 or option[1] > least]


def counts_of(pairs: list[tuple[str, str, int]]) -> Counts:
    joint: Counter[tuple[str, str]] = Counter()
    for target, pivot, count in pairs:
        joint[target, pivot] += count
    return Counts(joint)


def best_segmentation(words: list[str], counts: Counts) -> list[tuple[int, int]]:
    """All segmentations, exactly: the most probable, then fewer phrases, then longer first phrases."""
    best: tuple[object, list[tuple[int, int]]] | None = None
    for cuts in product([False, True], repeat=max(0, len(words) - 1)):
        ends = [k + 1 for k, cut in enumerate(cuts) if cut] + [len(words)]
        spans = list(zip([0, *ends[:-1]], ends, strict=True))
        if any(end - start > 4 for start, end in spans):
            continue
        probability = Fraction(1)
        for start, end in spans:
            probability *= counts.probability(" ".join(words[start:end]))
        key = (probability, -len(spans), [end - start for start, end in spans])
        if probability and (best is None or key > best[0]):
            best = key, spans
    return best[1] if best and words else []


def enumerated_bag(segments: list[list[tuple[str, float]]], n: int) -> dict[tuple[str, ...], float]:
    """Every occurrence of an n-gram, found by walking all paths: where it lies and what it runs through."""
    occurrences: dict[tuple[tuple[int, int, int], ...], tuple[tuple[str, ...], float]] = {}
    for path in product(*(range(len(options)) for options in segments)):
        walked = [
            (segment, option, k, word)
            for segment, option in enumerate(path)
            for k, word in enumerate(segments[segment][option][0].split())
        ]
        for start in range(len(walked) - n + 1):
            run = walked[start : start + n]
            weight = 1.0
            for segment, option in dict.fromkeys((s, o) for s, o, _, _ in run):
                weight *= segments[segment][option][1]
            occurrences[tuple((s, o, k) for s, o, k, _ in run)] = tuple(word for *_, word in run), weight
    bag: dict[tuple[str, ...], float] = {}
    for words, weight in occurrences.values():
        bag[words] = bag.get(words, 0.0) + weight
    return bag


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@settings(max_examples=300)
@given(phrase_pairs, sentences, st.sampled_from([0.0, 0.1, 0.3]), st.sampled_from([0.0, 0.01, 0.2]))
@example([("a", "u", 1), ("b", "u", 1), ("b", "u v", 4)], ["b", "b"], 0.0, 0.2)
def test_segmentation_and_bags_equal_exhaustive_search(folder, pairs, words, least, least_ngram):
    counts = counts_of(pairs)
    table = make_table(folder, pairs)
    text = batch_of(Vocabulary(Lexicon(None)), " ".join(words))
    network = pivot_network(text, table, 4, least_probability=least, least_ngram_probability=least_ngram)
    spans = best_segmentation(words, counts)
    assert [(segment.start, segment.end) for segment in network.segments] == spans
    expected = [counts.options(" ".join(words[start:end]), least) for start, end in spans]
    assert [
        [(" ".join(option.words), option.probability) for option in segment.translations]
        for segment in network.segments
    ] == expected
    for n in range(1, 5):
        every = enumerated_bag(expected, n)
        # Sums in another order may differ by a rounding, so either is right where one is the threshold itself.
        undecided = {
            words for words, weight in every.items() if weight == pytest.approx(least_ngram, abs=1e-12)
        }
        bag = {words: weight for words, weight in every.items() if weight > least_ngram}
        found = {ngram.words: ngram.probability for ngram in network.ngrams[n - 1]}
        assert without(found, undecided) == pytest.approx(without(bag, undecided))


def without(bag, left_out):
    return {words: weight for words, weight in bag.items() if words not in left_out}


@settings(max_examples=100)
@given(phrase_pairs, st.lists(sentences, min_size=2, max_size=4), st.permutations("abcduvwxz"))
def test_f_measures_are_those_of_the_bags_and_do_not_depend_on_numbering(folder, pairs, texts, first_met):
    tags = {"u": FunctionTag("DET", True), "v": FunctionTag("VERB", False)}
    table = make_table(folder, pairs, tags)
    lines = [" ".join(text) for text in texts]
    features = [PivotFeature("fr", similarity, n) for similarity in ("lem", "pos") for n in (1, 2, 3)]
    results = []
    for order in ("", " ".join(first_met)):  # words get other numbers
        vocabulary = Vocabulary(Lexicon(None))
        batch_of(vocabulary, order)
        bags = build_pivot_bags(batch_of(vocabulary, *lines), table, features)
        index = np.arange(len(lines))
        i, j = np.repeat(index, len(lines)), np.tile(index, len(lines))
        results.append(match_pairs(bags, bags, i, j).f)
    assert np.array_equal(results[0], results[1], equal_nan=True)
    for k, (x, y) in enumerate(product(lines, lines)):
        expected = [_plain_f(x, y, table, similarity, n) for similarity in ("lem", "pos") for n in (1, 2, 3)]
        assert results[0][k].tolist() == pytest.approx(expected, abs=1e-9, nan_ok=True)
        if x == y and x:
            assert set(results[0][k][~np.isnan(results[0][k])]) == {1.0}


def _plain_f(x: str, y: str, table: PhraseTable, similarity: str, n: int) -> float:
    bags = []
    for text in (x, y):
        network = pivot_network(batch_of(Vocabulary(Lexicon(None)), text), table, 3)
        bag: Counter[tuple[str, ...]] = Counter()
        for ngram in network.ngrams[n - 1]:
            bag[ngram.words if similarity == "lem" else ngram.tags] += (
                ngram.probability * 0.1**ngram.functions
            )
        bags.append(bag)
    if not bags[0] and not bags[1]:
        return float("nan")
    overlap = sum((bags[0] & bags[1]).values())
    if not overlap:
        return 0.0
    r, p = overlap / sum(bags[0].values()), overlap / sum(bags[1].values())
    return p * r / (0.8 * p + 0.2 * r)


def test_function_words_of_the_pivot_language_weigh_a_tenth(tmp_path):
    table = make_table(
        tmp_path, [("a house", "le maison", 1), ("home", "maison", 1)], {"le": FunctionTag("DET", True)}
    )
    vocabulary = Vocabulary(Lexicon(None))
    features = [PivotFeature("fr", "lem", 1)]
    bags = [build_pivot_bags(batch_of(vocabulary, text), table, features) for text in ("a house", "home")]
    found = match_pairs(bags[0], bags[1], ONLY, ONLY)
    assert (found.precision[0, 0], found.recall[0, 0]) == (1.0, pytest.approx(1 / 1.1))


def test_an_unknown_function_word_keeps_its_kind(tmp_path):
    table = make_table(tmp_path, [("house", "maison", 1)])
    text = batch_of(Vocabulary(Lexicon(None)), "the house", function={"the"})
    network = pivot_network(text, table, 2)
    assert network.segments[0].translations[0].function == (True,)
    assert [(ngram.words, ngram.functions) for ngram in network.ngrams[1]] == [(("the", "maison"), 1)]


def test_a_limit_below_the_tables_own_is_refused(tmp_path):
    counter = PhraseCounter()
    counter.add_pairs(["a"], ["u"], np.ones(1, np.uint32))
    counter.write_run(str(tmp_path / "run"))
    merged = counter.merge([str(tmp_path / "run")], 1, 0.1)
    info = {"min_probability": 0.1}
    resource = table_resource(load_pipeline("en"), "fr", merged, {"u": NOUN}, info=info, compact=False)
    with pytest.raises(UsageError, match=r"pruned at 0\.1; rebuild it with --prune COUNT 0\.05"):
        pivot_network(batch_of(Vocabulary(Lexicon(None)), "a"), PhraseTable.from_resource(resource), 3,
                      least_probability=0.05)  # fmt: skip


def test_a_text_too_long_for_exact_sums_is_an_error_of_the_input():
    (batch,) = load_pipeline("en").analyse(["a " * ((1 << 19) + 1)])
    with pytest.raises(InputError, match="more than half a million words: split it"):
        build_pivot_bags(batch, load_phrase_table("en", "fr"), [PivotFeature("fr", "lem", 1)])
