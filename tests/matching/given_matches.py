"""The core's matching of characters and of vectors, as the groups of features call it, with named measures."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tesla_eval import _core
from tesla_eval.language.analysis import AnalysedBatch
from tesla_eval.language.analysis.tokenisers import compose_all
from tesla_eval.matching.bags.ngram_bags import NgramFeature, bag_recipe
from tesla_eval.matching.matcher import RECALL_WEIGHT, Matches

__all__ = ["build_bags", "build_character_bags", "match_characters", "match_vectors"]

Index = npt.NDArray[np.int64]


def build_bags(batch: AnalysedBatch, features: list[NgramFeature], discount: float) -> _core.Bags:
    """The bags of every text of the batch, one for each feature."""
    form, recipe = bag_recipe(tuple(features), discount)
    return _core.Bags(batch.vocabulary.lexicon, batch.words_as(form), recipe)


def build_character_bags(texts: list[str]) -> _core.TokenBatch:
    """Texts as the group of character n-grams reads them: without tokens."""
    columns = (np.uint32, np.uint32, np.uint16, np.uint8, np.uint8, np.uint32, np.uint32)
    offsets = np.zeros(len(texts) + 1, np.int64)
    return _core.TokenBatch(offsets, *(np.zeros(0, kind) for kind in columns), compose_all(texts))


def match_characters(
    x: _core.TokenBatch,
    y: _core.TokenBatch,
    i: Index,
    j: Index,
    max_order: int,
    alpha: float = RECALL_WEIGHT,
) -> Matches:
    """Match the characters of pairs of texts; the columns are n = 1, 2, ... `max_order`."""
    group = _core.CharacterGroup(max_order, alpha, ("p", "r", "f"))
    return Matches(*np.hsplit(group.prepare(x).compare(group.prepare(y), i, j), 3))


def match_vectors(
    x: _core.VectorTexts, y: _core.VectorTexts, i: Index, j: Index, alpha: float = RECALL_WEIGHT
) -> Matches:
    """Match pairs of texts; the columns are `VECTOR_PROBLEMS`."""
    return Matches(*_core.match_vectors(x, y, i, j, alpha))
