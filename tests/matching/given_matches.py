"""The core's matching of characters and of vectors, as the groups of features call it, with named measures."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tesla_eval import _core
from tesla_eval.language.analysis import AnalysedBatch
from tesla_eval.language.analysis.tokenisers import compose_all
from tesla_eval.matching.bags.ngrams import NgramFeature, bag_recipe
from tesla_eval.matching.ngrams import RECALL_WEIGHT, Matches

__all__ = ["build_bags", "build_character_bags", "match_characters", "match_vectors"]

Index = npt.NDArray[np.int64]


def build_bags(batch: AnalysedBatch, features: list[NgramFeature], discount: float) -> _core.Bags:
    """The bags of every text of the batch, one for each feature."""
    form, recipe = bag_recipe(tuple(features), discount)
    return _core.Bags(batch.vocabulary.lexicon, batch.words_as(form), recipe)


def build_character_bags(texts: list[str]) -> _core.CharacterBags:
    """The character n-grams of every text."""
    return _core.CharacterBags(compose_all(texts))


def match_characters(
    x: _core.CharacterBags,
    y: _core.CharacterBags,
    i: Index,
    j: Index,
    max_order: int,
    alpha: float = RECALL_WEIGHT,
) -> Matches:
    """Match the characters of pairs of texts; the columns are n = 1, 2, ... `max_order`."""
    return Matches(*_core.match_characters(x, y, i, j, max_order, alpha))


def match_vectors(
    x: _core.VectorTexts, y: _core.VectorTexts, i: Index, j: Index, alpha: float = RECALL_WEIGHT
) -> Matches:
    """Match pairs of texts; the columns are `VECTOR_PROBLEMS`."""
    return Matches(*_core.match_vectors(x, y, i, j, alpha))
