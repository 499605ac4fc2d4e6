"""The 200 segments of tests/data: what holds for English on WMT holds for six languages on any machine."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tesla_eval.language.analysis import load_pipeline
from tesla_eval.language.analysis.detection import contradicts, identify
from tesla_eval.metrics import create_metric
from tests import textbook
from tests.fixtures import SHIPPED_DATA, shipped_pairs

LANGUAGES = ("de", "en", "fr", "ja", "ru", "zh")
ROWS = [line.split("\t") for line in (SHIPPED_DATA / "segments.tsv").read_text("utf-8").splitlines()]


def sides(language: str) -> tuple[list[str], list[str]]:
    """Hypotheses and references."""
    pairs = shipped_pairs(language)
    return [hypothesis for hypothesis, _ in pairs], [reference for _, reference in pairs]


def test_there_are_200_segments_of_known_origin() -> None:
    assert ROWS[0] == ["language", "hypothesis", "reference", "source"]
    assert len(ROWS) == 201
    assert {len(row) for row in ROWS} == {4}
    assert {row[0] for row in ROWS[1:]} == set(LANGUAGES)
    assert all(field.strip() == field != "" for row in ROWS for field in row)
    assert all(row[1] != row[2] for row in ROWS)
    assert len({row[2] for row in ROWS}) == 201
    assert "CC0" in (SHIPPED_DATA / "README.md").read_text("utf-8")


@pytest.mark.parametrize("language", LANGUAGES)
def test_m_scores_as_in_the_textbook(language: str) -> None:
    hypotheses, references = sides(language)
    found = create_metric("m", language).corpus_score(hypotheses, [references]).segments
    y, x = load_pipeline(language).analyse(hypotheses, references)
    for i, score in enumerate(found.tolist()):
        assert score == pytest.approx(textbook.tesla_m(x.tokens(i), y.tokens(i)), abs=1e-9)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["m", "x", "celab", "s"])
def test_order_and_threads_change_no_bit(name: str, language: str) -> None:
    hypotheses, references = sides(language)
    expected = create_metric(name, language).corpus_score(hypotheses, [references]).segments
    assert np.mean((expected > 0) & (expected < 1)) > 0.85
    order = list(range(len(expected)))
    random.Random(1).shuffle(order)
    shuffled = [[side[i] for i in order] for side in (hypotheses, references)]
    for workers in (1, 3):
        again = create_metric(name, language, workers=workers).corpus_score(shuffled[0], [shuffled[1]])
        np.testing.assert_array_equal(again.segments, expected[order])


@pytest.mark.parametrize(
    ("name", "language"),
    [(name, code) for code in LANGUAGES for name in ("m", "x", "celab", "s")]
    + [("b", code) for code in ("de", "en", "fr")],
)
def test_a_text_against_itself_is_exactly_1(name: str, language: str) -> None:
    texts = [text for side in sides(language) for text in side]
    assert set(create_metric(name, language).corpus_score(texts, [texts]).segments.tolist()) == {1.0}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("name", "least"), [("m", 0.5), ("x", 0.8), ("celab", 0.9)])
def test_most_hypotheses_are_closest_to_their_own_reference(name: str, least: float, language: str) -> None:
    """M sees parts of speech too, so a paraphrase can look more like another short sentence."""
    hypotheses, references = sides(language)
    matrix = create_metric(name, language).pairwise(hypotheses, references)
    assert np.mean(matrix.argmax(axis=1) == np.arange(len(hypotheses))) >= least


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_language_is_recognised(language: str) -> None:
    for side in sides(language):
        guess = identify(side)
        assert (guess.language, guess.certain, contradicts(language, side)) == (language, True, None)
