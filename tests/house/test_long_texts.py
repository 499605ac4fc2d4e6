"""Long texts cost what they should, or are refused with an error that names the segment and the limit."""

from __future__ import annotations

import random
import subprocess
import sys
import time

import numpy as np
import pytest

from tesla_eval import InputError, _core
from tesla_eval.metrics import create_metric
from tesla_eval.metrics.scoring import Chunk, NamedMetric, score_systems

VERBS = "run walk speak take give see know make go come think look want use find tell ask work seem feel"
MEMORY = """
import random, resource, sys
from tesla_eval.metrics import create_metric
name, words, length = sys.argv[1:]
draw = random.Random(1)
texts = [" ".join(draw.choices(words.split(), k=int(length))) for _ in range(2)]
metric = create_metric(name, "en")
metric.score_segments(["a cat"], [["a cat"]])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
metric.score_segments(texts[:1], [texts[1:]])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="other systems count memory otherwise")


def memory_of(metric: str, words: str, length: int) -> int:
    """The KB that the score of two texts takes, which have so many of these words."""
    run = subprocess.run(
        [sys.executable, "-c", MEMORY, metric, words, str(length)],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return int(run.stdout)


@linux_only
def test_few_words_many_times_take_little_memory() -> None:
    """Twenty verbs in texts of 8,000 words: 64 million pairs of trigrams are similar."""
    assert memory_of("m", VERBS, 8000) < 150_000


@linux_only
@pytest.mark.parametrize("name", ["rougel", "rougelsum"])
def test_common_subsequences_of_long_texts_take_little_memory(name: str) -> None:
    """A table of 60,000 words by 60,000 words has 450 MB, with one bit a cell."""
    assert memory_of(name, " ".join(f"w{i}" for i in range(20_000)), 60_000) < 60_000


def test_long_texts_of_few_words_are_explained_in_seconds() -> None:
    """400 million pairs of equal characters."""
    text, start = "漢" * 19_999, time.process_time()
    (detail,) = create_metric("x", "en").explain(text, [text[1:]]).references
    assert time.process_time() - start < 10
    (flow,) = (feature.flow for feature in detail.features if feature.name == "vec.1")
    assert [(link.reference, link.hypothesis) for link in flow] == [((k, k + 1),) * 2 for k in range(19_998)]


def test_what_goes_through_hubs_has_the_same_optimum() -> None:
    """More than two million pairs of similar trigrams: against the transport problem with all its arcs."""
    draw = np.random.default_rng(3)
    lemmas, senses = 14, [draw.choice(30, draw.integers(0, 3), replace=False) for _ in range(14)]
    lexicon = _core.Lexicon(None)
    ends = np.cumsum([0, *map(len, senses)])
    lexicon.intern_lemmas(
        [str(lemma) for lemma in range(lemmas)], ends, np.concatenate(senses).astype(np.uint32)
    )
    shares = np.array([[len(set(a) & set(b)) > 0 for b in senses] for a in senses])
    similarity = np.where(np.eye(lemmas, dtype=bool), 2, 1 + shares)  # all have one tag, which is worth 1
    texts = [draw.integers(0, lemmas, 5000).astype(np.uint32) for _ in range(2)]
    rows, weights = zip(
        *(np.unique(np.stack([x[:-2], x[1:-1], x[2:]], 1), axis=0, return_counts=True) for x in texts),
        strict=True,
    )
    gains = sum(similarity[np.ix_(rows[0][:, k], rows[1][:, k])] for k in range(3))
    assert gains.size > 1 << 21
    i, j = np.indices(gains.shape).reshape(2, -1)
    expected, _ = _core.solve_transport(
        *(w.astype(np.int64) for w in weights), i, j, gains.ravel().astype(np.int64)
    )
    tokens = [
        _core.Tokens(np.array([0, len(x)]), x, np.ones(len(x), np.uint16), np.zeros(len(x), np.uint8))
        for x in texts
    ]
    solved = _core.explain(lexicon, *tokens, "ms", 3, _core.Discount(1, 10), 0.8)
    assert solved["objective"] == expected * solved["weight_unit"]


@pytest.mark.parametrize(("name", "options"), [("m", {}), ("ter", {}), ("ter", {"level": "char"})])
def test_an_error_names_the_segment_and_the_limit(name: str, options: dict[str, str]) -> None:
    text = ("a" if options else "word ") * 50_001
    chunk = Chunk([["short", text]], [["short", "short"]])
    start = time.process_time()
    with pytest.raises(
        InputError, match="segment 2: a text is too long: it has more than 50,000 words: split it"
    ):
        score_systems(["a"], [NamedMetric(name, create_metric(name, "en", **options))], [chunk])
    assert time.process_time() - start < 10


def test_a_long_text_of_few_words_is_refused() -> None:
    """Twenty verbs in texts of 20,000 words: four million pairs of trigrams are linked by a sense only."""
    draw = random.Random(1)
    texts = [" ".join(draw.choices(VERBS.split(), k=20_000)) for _ in range(2)]
    metric, start = create_metric("m", "en"), time.process_time()
    with pytest.raises(InputError, match="over 2 million pairs of n-grams share a sense: split them"):
        metric.score_segments(texts[:1], [texts[1:]])
    assert time.process_time() - start < 10


def test_ter_of_long_texts_takes_seconds() -> None:
    draw = random.Random(1)
    texts = [" ".join(draw.choices(VERBS.split(), k=20_000)) for _ in range(2)]
    start = time.process_time()
    create_metric("ter", "en").sentence_score(texts[0], texts[1:])
    assert time.process_time() - start < 10
