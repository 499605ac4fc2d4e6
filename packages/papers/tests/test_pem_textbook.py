"""PEM's three features against a slow version of the paper, on 200 pairs of sentences and where it is odd."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pytest
from tests.fixtures import ROOT

from tesla_eval.language.analysis import load_pipeline, load_stems
from tesla_eval.language.lm import load_language_model
from tesla_eval.language.pivot import load_phrase_table
from tesla_eval_papers import Pem
from textbook_pem import TextbookPem, Words

TUTORIAL = ROOT / "examples" / "tutorial"
ODD = (
    "...",
    "Wait -- what?!",
    "e-mail, re-sent; 3.5 %",
    "Querrien",
    "the the the the the",
    "naïve café",
    "A.",
)


@cache
def textbook() -> TextbookPem:
    table, model = load_phrase_table("en", "zh", stems=True), load_language_model("en", "stems")

    @cache
    def chances(context: Words) -> dict[str, float]:
        return dict(zip(model.words, np.asarray(model.distribution(context)).tolist(), strict=True))

    return TextbookPem(
        table.count, lambda phrase: dict(table.look_up(phrase)), float(table.resource.info["total"]), chances
    )


def stems(texts: list[str]) -> list[Words]:
    """Words and punctuation as the tokeniser of every metric cuts them, stemmed by somebody else's program."""
    porter = pytest.importorskip("nltk.stem.porter")
    stem = partial(porter.PorterStemmer(mode="ORIGINAL_ALGORITHM").stem, to_lowercase=False)
    (batch,) = load_pipeline("en").analyse(texts, keep_punctuation=True)
    forms = [[token.surface.lower() for token in batch.tokens(k)] for k in range(len(texts))]
    # Porter's own program leaves words of one or two letters as they are; NLTK's cuts `is` to `i`.
    return [
        tuple(stem(form) if form.isascii() and form.isalpha() and len(form) > 2 else form for form in text)
        for text in forms
    ]


def compare(originals: list[str], paraphrases: list[str]) -> None:
    ours = Pem("en").score_segments(paraphrases, [originals]).features
    words = zip(stems(originals), stems(paraphrases), strict=True)
    slow = np.array([textbook().features(original, paraphrase) for original, paraphrase in words])
    np.testing.assert_allclose(ours, slow, rtol=0, atol=1e-9)


def lines(name: str) -> list[str]:
    return (TUTORIAL / f"{name}.txt").read_text("utf-8").splitlines()


@pytest.mark.parametrize("system", ["anna", pytest.param("carla", marks=pytest.mark.slow)])
def test_features_of_200_pairs_are_the_papers(system: str) -> None:
    originals, paraphrases = lines("reference"), lines(system)
    assert len(originals) == 200
    compare(originals, paraphrases)


def test_features_of_odd_pairs_are_the_papers() -> None:
    compare([one for one in ODD for _ in ODD], [other for _ in ODD for other in ODD])


def test_the_table_has_phrases_with_stems_and_punctuation() -> None:
    table = load_phrase_table("en", "zh", stems=True)
    assert table.count([","]) > 0 and table.count(["countri"]) > 0 and table.count(["country"]) == 0
    assert table.check_analysis() is None
    assert table.resource.analysis == load_stems("en").lemma_fingerprint == "lemmas:porter|punctuation:kept"
