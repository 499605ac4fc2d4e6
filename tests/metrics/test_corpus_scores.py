"""BLEU, chrF and TER of many sums at once are what sacreBLEU says of each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval.base.errors import InputError
from tesla_eval.metrics import create_metric

HYPOTHESES = [
    "the cat sat on the mat",
    "",
    "a dog",
    "completely different words here now",
    "the the the the the",
]
REFERENCES = ["the cat sat on a mat", "nothing", "a dog", "the reference says something else", "the"]


@st.composite
def weights(draw):
    return np.array(
        draw(st.lists(st.integers(0, 3), min_size=len(HYPOTHESES), max_size=len(HYPOTHESES))), float
    )


@pytest.mark.parametrize("name", ["bleu", "chrf", "chrf++", "ter"])
@given(several=st.lists(weights(), min_size=1, max_size=4))
def test_any_resample_scores_as_sacrebleu_scores_it(name, several):
    metric = create_metric(name, "en")
    rows = metric.score_segments(HYPOTHESES, [REFERENCES]).statistics
    sums = np.stack([drawn @ rows for drawn in several])
    found = metric.formula_of_sums(sums)
    for drawn, score in zip(several, found, strict=True):
        lines = np.repeat(np.arange(len(HYPOTHESES)), drawn.astype(int)).tolist()
        if lines:
            direct = metric.corpus_score(
                [HYPOTHESES[i] for i in lines], [[REFERENCES[i] for i in lines]]
            ).score
            assert score == pytest.approx(direct, abs=1e-9)


def test_metrics_that_average_segments_have_no_formula():
    assert create_metric("m", "en").formula_of_sums is None


def test_references_by_segment_that_were_given_as_streams_say_how_to_give_them():
    with pytest.raises(InputError, match="references_by_segment=True"):
        create_metric("bleu", "en").corpus_score(["a", "b"], [["r1"], ["r2"]])
    with pytest.raises(InputError) as refused:
        create_metric("bleu", "en").corpus_score(["a", "b", "c"], [["r1"], ["r2"]])
    assert "references_by_segment" not in str(refused.value)
