"""How a corpus is cut into chunks, and which analysed batches are kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval.analysis import load_pipeline, pipeline
from tesla_eval.metrics import base


@given(st.integers(1, 20_000), st.integers(1, 16))
def test_chunks_cover_a_corpus_and_leave_little_for_the_end(size: int, workers: int) -> None:
    texts = [""] * size
    sizes = [len(chunk.hypotheses) for chunk in base._chunks(texts, [texts], None, workers)]
    assert sum(sizes) == size
    assert max(sizes) <= base._LARGEST_CHUNK
    assert sizes == sorted(sizes, reverse=True)
    if workers > 1:
        assert sizes[-1] <= base._SMALLEST_CHUNK
        assert all(one <= max(size / workers, base._SMALLEST_CHUNK) for one in sizes)


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
