"""Fitting PEM: features of rated pairs and of the paper's controls, then support vector regression."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from tesla_eval.errors import BuildError
from tesla_eval.metrics.pem import LEAST_COUNT, pem_features
from tesla_eval.metrics.pem_features import FEATURES, PemFeatures
from tesla_eval.metrics.pem_model import PemModel
from tesla_eval.training.paraphrases import RatedPair, controls, shuffled
from tesla_eval.training.svr import Grid, fit_support_vectors

__all__ = ["GRID", "compute_features", "train_pem", "with_controls"]

FloatArray = npt.NDArray[np.float64]
_CHUNK = 512

GRID = Grid(cost=(1.0, 3.0), gamma=(0.03, 0.1), epsilon=(0.1, 0.2), scales=(1.0, 0.3, 4.0))
"""Dissimilarity counts most in a distance, so that the model can fall steeply from paraphrases to copies and be smooth
elsewhere; fluency least, for it tells one original from another more than good from bad, and it alone knows no bounds:
a text unlike all that was learned from must not be far from everything. With all alike cross-validation finds 0.782,
so 0.792. A gamma of 0.3 adds 0.004, but agrees less with the raw ratings of paraphrases."""


def with_controls(
    pairs: Sequence[RatedPair], features: PemFeatures, *, salad: bool = True
) -> list[RatedPair]:
    """The pairs, the paper's three controls for each original, and, with `salad`, some with words shuffled."""
    group_of = {pair.original: pair.group for pair in pairs}
    made = [pair for _, pair in controls(list(group_of), features.language_model)]
    if salad:
        made.extend(shuffled(list(group_of)))
    return [
        *pairs,
        *(RatedPair(pair.original, pair.paraphrase, group_of[pair.original], pair.overall) for pair in made),
    ]


def compute_features(
    features: PemFeatures, pairs: Sequence[RatedPair], progress: Callable[[int], object] = lambda done: None
) -> FloatArray:
    """One row a pair; NaN where a text has no words."""
    parts = []
    for start in range(0, len(pairs), _CHUNK):
        chunk = pairs[start : start + _CHUNK]
        x, y = features.analysis.analyse(
            [pair.original for pair in chunk], [pair.paraphrase for pair in chunk]
        )
        index = np.arange(len(chunk))
        parts.append(features.compute(x, y, index, index))
        progress(len(chunk))
    return np.concatenate(parts)


def train_pem(
    pairs: Sequence[RatedPair],
    language: str,
    pivots: Sequence[str],
    language_model: str,
    *,
    least_count: int = LEAST_COUNT,
    grid: Grid = GRID,
    folds: int = 5,
    progress: Callable[[str, int], object] = lambda stage, done: None,
) -> PemModel:
    """The model that predicts held-out originals best; pairs without words are left out."""
    features = pem_features(language, pivots, language_model, least_count)
    rows = compute_features(features, pairs, lambda done: progress("features", done))
    kept = np.flatnonzero(~np.isnan(rows).any(axis=1)).tolist()
    if not kept:
        raise BuildError("there is no pair of texts to learn from")
    targets = np.array([pairs[k].overall for k in kept])
    groups = [pairs[k].group for k in kept]
    fit = fit_support_vectors(
        FEATURES, rows[kept], targets, groups, grid, folds=folds, progress=lambda done: progress("grid", done)
    )
    return PemModel(
        features.analysis.language, fit.model, tuple(pivots), language_model, least_count,
        features.analysis.lemma_fingerprint,
        {"pairs": len(kept), "originals": len(set(groups)), "folds": folds, "pearson": round(fit.correlation, 4),
         **fit.parameters},
    )  # fmt: skip
