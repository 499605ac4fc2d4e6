"""Words that mean nearly the same, matched by their vectors (specification §8b, `vec`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tesla_eval import _core

if TYPE_CHECKING:
    from tesla_eval.base.explanations import Link
    from tesla_eval.language.analysis.batch import AnalysedBatch
    from tesla_eval.language.analysis.vectors import WordsWithVectors

KERNELS: tuple[str, ...] = _core.KERNELS
"""What this processor can compare vectors with, fastest first; `TESLA_EVAL_KERNEL` forces one of them."""
VECTOR_PROBLEMS: tuple[str, ...] = _core.VECTOR_PROBLEMS
"""Best partner at the thresholds 0 and .5, flow between words at .3, flow between bigrams at .3."""

_SIMILARITY_UNIT, _GAIN_UNIT, WEIGHT_UNIT = 160, 16, 64  # as in core/matching/vectors.cpp


def explain_vectors(
    reference: AnalysedBatch, hypothesis: AnalysedBatch, words: WordsWithVectors
) -> tuple[float, tuple[Link, ...]]:
    """The flow at threshold .3 between the tokens of two single texts: what it gains, and its links.

    A similarity is 1 for the same word, at least .9 for the same lemma, else the cosine, rounded down to 160ths. The
    flow counts it rescaled above the threshold, in 16ths.

    >>> from tesla_eval.language.analysis import load_pipeline
    >>> from tesla_eval.language.analysis.vectors import WordsWithVectors, load_vectors
    >>> words = WordsWithVectors(load_vectors("en"), None)
    >>> x, y = load_pipeline("en").analyse(["Two arrested"], ["Two detained"])
    >>> [(link.reference, link.hypothesis, link.similarity) for link in explain_vectors(x, y, words)[1]]
    [((0, 1), (0, 1), 1.0), ((1, 2), (1, 2), 0.6125)]
    """
    from tesla_eval.base.explanations import Link  # not before something is explained

    vectors = words.core[reference.vocabulary]
    rows = _core.explain_vectors(reference.core, hypothesis.core, vectors).tolist()
    links = tuple(
        Link((i, i + 1), (j, j + 1), similarity / _SIMILARITY_UNIT, weight / WEIGHT_UNIT)
        for i, j, similarity, _, weight in rows
    )
    return sum(gain / _GAIN_UNIT * (weight / WEIGHT_UNIT) for _, _, _, gain, weight in rows), links
