"""Words that mean nearly the same, matched by their vectors (specification §8b, `vec`)."""

from __future__ import annotations

from dataclasses import dataclass

from tesla_eval import _core

VECTOR_PROBLEMS: tuple[str, ...] = _core.VECTOR_PROBLEMS
"""Best partner at the thresholds 0 and .5, flow between words at .3, flow between bigrams at .3."""

_SIMILARITY_UNIT, _GAIN_UNIT, WEIGHT_UNIT = 160, 16, 64  # as in core/matching/vectors.cpp


@dataclass(frozen=True)
class SimilarWords:
    """What a word of the reference sends to a word of the hypothesis in the flow at threshold .3."""

    reference: int
    """The number of the token in its text."""
    hypothesis: int
    similarity: float
    """1 for the same word, at least .9 for the same lemma, else the cosine; rounded down to 160ths."""
    gain: float
    """The similarity rescaled above the threshold, in 16ths: what the flow counts."""
    weight: float


def explain_vectors(reference: _core.VectorTexts, hypothesis: _core.VectorTexts) -> list[SimilarWords]:
    """The flow between the words of the only text of `reference` and of the only text of `hypothesis`, not merged.

    >>> from tesla_eval.language.analysis import load_pipeline
    >>> from tesla_eval.language.analysis.vectors import WordsWithVectors, load_vectors
    >>> words = WordsWithVectors(load_vectors("en"), None)
    >>> x, y = load_pipeline("en").analyse(["Two arrested"], ["Two detained"])
    >>> prepared = [words.prepare(batch, merged=False) for batch in (x, y)]
    >>> [(link.reference, link.hypothesis, link.similarity) for link in explain_vectors(*prepared)]
    [(0, 0, 1.0), (1, 1, 0.6125)]
    """
    return [
        SimilarWords(i, j, similarity / _SIMILARITY_UNIT, gain / _GAIN_UNIT, weight / WEIGHT_UNIT)
        for i, j, similarity, gain, weight in _core.explain_vectors(reference, hypothesis).tolist()
    ]
