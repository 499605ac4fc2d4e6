"""How a corpus is cut into chunks, which analysed batches are kept, and the sum of the scores of all chunks."""

from __future__ import annotations

import copy
import math
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from operator import add
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval.base import arrays
from tesla_eval.base.arrays import ExactSum
from tesla_eval.base.errors import InputError
from tesla_eval.language.analysis import ConlluAnalyser, load_pipeline, pipeline
from tesla_eval.metrics import base, create_metric
from tesla_eval.metrics.baselines.bleu import StatisticsTotal
from tesla_eval.metrics.segments import mean_over_references, present_references


@given(st.integers(1, 20_000), st.integers(1, 16))
def test_chunks_cover_a_corpus_and_leave_little_for_the_end(size: int, workers: int) -> None:
    texts = [""] * size
    sizes = [chunk.segments for chunk in base._chunks(texts, [texts], None, workers)]
    assert sum(sizes) == size
    assert max(sizes) <= base._LARGEST_CHUNK
    assert sizes == sorted(sizes, reverse=True)
    if workers > 1:
        assert sizes[-1] <= base._SMALLEST_CHUNK
        assert all(one <= max(size / workers, base._SMALLEST_CHUNK) for one in sizes)


@given(
    st.lists(st.lists(st.floats(-1e300, 1e300) | st.floats(0, 1), max_size=30), max_size=5),
    st.integers(1, 40),
)
def test_the_sum_of_chunks_is_exact(chunks: list[list[float]], at_once: int) -> None:
    total = ExactSum()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "_MOST_AT_ONCE", at_once)
        for chunk in chunks:
            total.add(np.array(chunk))
    assert float(total) == math.fsum(number for chunk in chunks for number in chunk)


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [([1.0, math.nan], math.nan), ([math.inf, 1.0], math.inf), ([math.inf, -math.inf], math.nan), ([], 0.0)],
)
def test_what_is_not_finite_makes_the_sum_so(numbers: list[float], expected: float) -> None:
    total = ExactSum()
    for number in numbers:
        total.add(np.array([0.5, number]))
    np.testing.assert_equal(float(total), expected)


def test_no_corpus_score_depends_on_the_number_of_workers() -> None:
    """TER divides by the mean length of several references: its statistics are not whole numbers."""
    hypotheses = [" ".join("abcdefg"[k % 5 :]) for k in range(400)]
    streams = [[" ".join("fgabcdecbb"[k % n :]) for k in range(400)] for n in (3, 7, 8)]
    for name in ("ter", "m"):
        scores = {
            create_metric(name, "en", workers=workers).corpus_score(hypotheses, streams).score
            for workers in (1, 2, 3, 4)
        }
        assert len(scores) == 1, name


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
def test_a_signature_does_not_depend_on_what_was_scored_before(name: str) -> None:
    """sacreBLEU's metrics remember the number of references of the last call."""
    metric = create_metric(name, "en")
    for _ in range(2):
        assert "nrefs" not in str(metric.get_signature())
        metric.score_segments(["a b"], [["a"], ["b"], ["c"]])


@given(st.lists(st.floats(0, 1) | st.just(math.nan), min_size=1, max_size=6))
def test_the_mean_over_references_is_the_sum_from_the_lowest_on(values: list[float]) -> None:
    present = sorted(value for value in values if not math.isnan(value))
    expected = reduce(add, present) / len(present) if present else math.nan
    found = mean_over_references(np.array([values, values[::-1]]).T)
    np.testing.assert_array_equal(found, [expected, expected])


def test_sums_of_counts_and_of_other_statistics() -> None:
    """Exact and the same whichever chunks hold the numbers that are not whole; scores may be asked for in between."""
    rows = [[1.0, 3.0], [2.0, 0.1], [4.0, 0.2], [2.0**40, 5.0], [1.0, 0.7]]
    expected = [math.fsum(column) for column in zip(*rows, strict=True)]
    for cut in range(6):
        total = StatisticsTotal(lambda sums: sums)  # type: ignore[arg-type,return-value]
        for part in (rows[:cut], rows[cut:]):
            if part:
                empty = np.zeros(len(part))
                total.add(base.SegmentScores(empty, empty[:, None], np.array(part)))
                total.score()
        assert total.score() == expected


class TestKeptBatches:
    """Analysed batches are kept up to a number of texts; those used last are kept longest."""

    @pytest.fixture
    def english(self, monkeypatch: pytest.MonkeyPatch) -> pipeline.Pipeline:
        monkeypatch.setattr(pipeline, "_KEPT_TEXTS", 4)
        one = load_pipeline("en")
        one.forget_batches()
        return one

    def test_equal_texts_are_analysed_once(self, english: pipeline.Pipeline) -> None:
        assert english.analyse(["a b"])[0] is english.analyse(["a b"])[0]

    def test_equal_groups_of_one_call_are_analysed_once(self, english: pipeline.Pipeline) -> None:
        first, other, again = english.analyse(["a b"], ["c"], ["a b"])
        assert first is again
        assert other.texts == ("c",)

    def test_groups_that_look_alike_are_told_apart(self, english: pipeline.Pipeline) -> None:
        """Only some texts of a large group are hashed."""
        first = [f"text {k}" for k in range(100)]
        second = [text if k % 6 == 0 else f"other {k}" for k, text in enumerate(first)]
        assert hash(pipeline._LargeKey(tuple(first), False)) == hash(pipeline._LargeKey(tuple(second), False))
        for texts in (first, second, first):
            (batch,) = english.analyse(texts)
            assert batch.texts == tuple(texts)
            assert [token.lemma for token in batch.tokens(1)] == texts[1].split()

    def test_batches_of_an_older_vocabulary_are_not_kept(self, english: pipeline.Pipeline) -> None:
        """Another thread may begin a new vocabulary while one analyses."""
        _, analyser = english.in_core()

        def analyse_slowly(*args: Any) -> Any:
            batches = analyser.analyse(*args)
            english._begin_vocabulary()
            return batches

        vars(english)["_analyser"] = SimpleNamespace(analyse=analyse_slowly)  # until the new vocabulary
        (old,) = english.analyse(["an old batch"])
        assert not english._kept
        (new,) = english.analyse(["an old batch"])
        assert new.vocabulary is english.vocabulary is not old.vocabulary

    def test_the_texts_are_counted(self, english: pipeline.Pipeline) -> None:
        for k in range(10):
            english.analyse([f"first {k}", f"second {k}"])
        assert [key[0][0] for key in english._kept] == ["first 8", "first 9"]
        assert english._kept_texts == 4

    def test_what_is_used_again_stays(self, english: pipeline.Pipeline) -> None:
        (reference,) = english.analyse(["a reference"])
        for k in range(10):
            english.analyse([f"an output {k}"])
            assert english.analyse(["a reference"])[0] is reference

    def test_a_batch_larger_than_all_is_kept_until_the_next(self, english: pipeline.Pipeline) -> None:
        texts = [f"text {k}" for k in range(9)]
        assert english.analyse(texts)[0] is english.analyse(texts)[0]
        english.analyse(["another"])
        assert list(english._kept) == [(("another",), False)]


def test_positions_count_the_characters_that_were_given() -> None:
    """The core counts those of NFC."""
    texts = ["a re\u0301sume\u0301 of it", "plain", "E\u0301 b"]
    (batch,) = load_pipeline("en").analyse(texts)
    found = [[(token.surface, token.start, token.end) for token in batch.tokens(k)] for k in range(3)]
    assert found == [
        [("a", 0, 1), ("re\u0301sume\u0301", 2, 10), ("of", 11, 13), ("it", 14, 16)],
        [("plain", 0, 5)],
        [("E\u0301", 0, 2), ("b", 3, 4)],
    ]
    same = copy.copy(batch)
    del vars(same)["start"]
    assert same.start.tolist() == batch.start.tolist()


PIECES = (
    "The cat",
    "did n't sit",
    "on 2,500 mats",
    "kočka nespí",
    "Der Hund",
    "不是 猫",
    "!?",
    "",
    "not only",
    "3 cats",
)


@pytest.mark.parametrize(("name", "lang"), [("m", "en"), ("x", "en"), ("x", "cs"), ("x", "und"), ("s", "de")])
@given(st.data())
def test_the_core_scores_as_its_parts_do(name: str, lang: str, data: st.DataObject) -> None:
    """Scores and features to the last bit: in a batch, segment by segment, and by Python over the same groups."""
    metric: Any = create_metric(name, lang)
    segments = st.lists(st.lists(st.sampled_from(PIECES), max_size=4).map(" ".join), min_size=3, max_size=3)
    hypotheses, *references = data.draw(st.lists(segments, min_size=2, max_size=4))
    given_streams: list[list[str | None]] = [list(stream) for stream in references]
    if len(given_streams) > 1:
        given_streams[0][data.draw(st.integers(0, 2))] = None
    streams = present_references(given_streams)
    in_core = metric.score_segments(hypotheses, streams)
    assert metric._scorers is not None
    alone = [
        metric.score_segments([text], [[stream[i]] for stream in streams])
        for i, text in enumerate(hypotheses)
    ]
    np.testing.assert_array_equal(in_core.scores, np.concatenate([one.scores for one in alone]))
    np.testing.assert_array_equal(in_core.features, np.concatenate([one.features for one in alone]))
    for i, text in enumerate(hypotheses):
        one = metric.sentence_score(text, [stream[i] for stream in streams if stream[i] is not None])
        np.testing.assert_array_equal([one.score], in_core.scores[i])
        np.testing.assert_array_equal(list(one.features.values()), in_core.features[i])
    scorers, vars(metric)["_scorers"] = metric._scorers, None
    try:
        in_python = metric.score_segments(hypotheses, streams)
    finally:
        vars(metric)["_scorers"] = scorers
    np.testing.assert_array_equal(in_core.scores, in_python.scores)
    np.testing.assert_array_equal(in_core.features, in_python.features)


@pytest.mark.parametrize("name", ["m", "x"])
def test_one_text_against_another_scores_as_in_a_batch(name: str) -> None:
    """More texts than are kept, in several threads; some come again soon, some late, some under a new vocabulary."""
    metric: Any = create_metric(name, "en")
    references = [f"{PIECES[k % 10]} {PIECES[k % 7]} {k // 9}" for k in range(400)]
    hypotheses = [f"{PIECES[k % 8]} {PIECES[k % 3]} {k % 150}" for k in range(400)]
    batch = metric.score_segments(hypotheses, [references])

    def alone(k: int) -> list[float]:
        scored = metric.sentence_score(hypotheses[k], [references[k]])
        return [scored.score, *scored.features.values()]

    expected = np.column_stack([batch.scores, batch.features])
    with ThreadPoolExecutor(3) as pool:
        np.testing.assert_array_equal(np.array(list(pool.map(alone, range(400)))), expected)
    with metric.analysis._lock:
        metric.analysis._begin_vocabulary()
    np.testing.assert_array_equal(np.array([alone(k) for k in range(100, 200)]), expected[100:200])


def test_what_is_no_list_of_texts_takes_the_longer_way() -> None:
    """A tuple of references, a subclass of `str`, and an analysis of the user's own."""

    class Text(str):
        """A text that is not quite one."""

    metric = create_metric("m", "en")
    expected = metric.sentence_score("a cat sat", ["the cat sat"])
    for references in (("the cat sat",), [Text("the cat sat")]):
        assert metric.sentence_score("a cat sat", references) == expected
    with pytest.raises(InputError, match="reference"):
        metric.sentence_score("a cat sat", [])
    with pytest.raises(InputError, match="reference"):
        metric.sentence_score("a cat sat", ["the cat sat", 1])  # type: ignore[list-item]
    conllu = create_metric("m", "en", analyser=ConlluAnalyser("en"))
    word = "1\tcat\tcat\tNOUN\tNN\t_\t0\troot\t_\t_\n"
    assert conllu.sentence_score(word, [word]).score == 1
