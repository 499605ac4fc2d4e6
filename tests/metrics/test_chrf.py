"""chrF and chrF++ counted by the core are sacreBLEU's own, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.chrf import CHRF

from tesla_eval.metrics import create_metric

SETTINGS = [
    ("chrf", {}),
    ("chrf++", {}),
    ("chrf", {"char_order": 3, "lc": True}),
    ("chrf++", {"eps": True, "beta": 3}),
    ("chrf", {"whitespace": True}),
    ("chrf", {"char_order": 7}),
]
texts = st.text(st.sampled_from(" abAB.,!-'\t\x00\x1c\u2028\u00a0\u200bé中\U0001f600\ud800"), max_size=20)


def sacrebleus(name: str, options: dict[str, object]) -> CHRF:
    names = {"lc": "lowercase", "eps": "eps_smoothing"}
    given_options = {names.get(key, key): value for key, value in options.items()}
    return CHRF(**({"word_order": 2} if name == "chrf++" else {}), **given_options)


@pytest.mark.parametrize(("name", "options"), SETTINGS)
@given(segments=st.lists(st.tuples(texts, texts, texts | st.none()), min_size=1, max_size=4))
def test_segments_and_corpus_are_sacrebleus(
    name: str, options: dict[str, object], segments: list[tuple[str, str, str | None]]
) -> None:
    hypotheses, first, second = map(list, zip(*segments, strict=True))
    metric, own = create_metric(name, "en", **options), sacrebleus(name, options)
    kept = [[a] if b is None else [a, b] for a, b in zip(first, second, strict=True)]
    found = metric.corpus_score(hypotheses, kept, references_by_segment=True)
    expected = [own.sentence_score(h, refs).score for h, refs in zip(hypotheses, kept, strict=True)]
    assert found.segments.tolist() == expected
    assert found.score == own.corpus_score(hypotheses, [first, second]).score


@pytest.mark.parametrize(("name", "options"), SETTINGS)
@given(hypotheses=st.lists(texts, max_size=4), references=st.lists(texts, max_size=4))
def test_all_pairs_are_those_one_by_one(
    name: str, options: dict[str, object], hypotheses: list[str], references: list[str]
) -> None:
    metric = create_metric(name, "en", **options)
    matrix = metric.pairwise(hypotheses, references)
    assert matrix.shape == (len(hypotheses), len(references))
    for i, hypothesis in enumerate(hypotheses):
        for j, reference in enumerate(references):
            assert matrix[i, j] == metric.score_segments([hypothesis], [[reference]]).scores[0]


def test_a_segment_without_any_reference_text() -> None:
    assert create_metric("chrf", "en").score_segments(["a", "b"], [["", "b"]]).scores.tolist() == [0.0, 100.0]
    assert np.isfinite(create_metric("chrf++", "en").pairwise(["a"], [""])).all()
