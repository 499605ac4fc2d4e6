"""Fitting PEM and CREMER: support vector regression with scikit-learn, grid search by grouped cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.errors import BuildError, UsageError
from tesla_eval.base.parallel import NO_PROGRESS, Progress
from tesla_eval.judgements.summaries import SummarySet
from tesla_eval.language.analysis import load_stems
from tesla_eval.metrics.base import Metric
from tesla_eval_papers.judgements import RatedPair, controls
from tesla_eval_papers.metrics.features.paraphrases import (
    PARAPHRASE_FEATURES,
    ParaphraseFeatures,
    ParaphraseGroup,
)
from tesla_eval_papers.models.svr import CREMER_FEATURES, CremerModel, PemModel, SupportVectorModel

_COEF0 = 1.0
"""SVM-light's default in the polynomial kernel, (γ x·v + 1)³."""


@dataclass(frozen=True)
class Grid:
    """The parameters that are tried, all combinations."""

    cost: tuple[float, ...] = (10.0, 30.0)
    gamma: tuple[float, ...] = (0.1, 0.3)
    epsilon: tuple[float, ...] = (0.3, 0.5)
    kernel: str = "rbf"
    scales: tuple[float, ...] = ()
    """How much each standardised feature counts in a distance; empty: all alike."""

    @property
    def size(self) -> int:
        """How many combinations there are."""
        return len(self.cost) * len(self.gamma) * len(self.epsilon)


@dataclass(frozen=True)
class Fit:
    """A fitted model with what the search found."""

    model: SupportVectorModel
    parameters: dict[str, float]
    correlation: float
    """Pearson's r of predictions with targets over the held-out folds, for the parameters chosen."""
    held_out: FloatArray
    """The predictions for held-out rows: each is by the model that did not learn from the row's group."""


def group_folds(groups: Sequence[str | int], folds: int) -> Index:
    """The fold of every row: rows of a group go together, groups in order of appearance are dealt out in turn.

    >>> group_folds(["a", "a", "b", "c", "b"], 2).tolist()
    [0, 0, 1, 0, 1]
    """
    order = {group: place % folds for place, group in enumerate(dict.fromkeys(groups))}
    return np.array([order[group] for group in groups], np.int64)


def fit_support_vectors(
    features: Sequence[str],
    rows: FloatArray,
    targets: FloatArray,
    groups: Sequence[str | int],
    grid: Grid | None = None,
    *,
    folds: int = 5,
    progress: Progress = NO_PROGRESS,
) -> Fit:
    """The regression from standardised `rows` to `targets` whose parameters predict held-out groups best."""
    grid = grid or Grid()
    means, deviations = rows.mean(axis=0), rows.std(axis=0)
    deviations = np.where(deviations > 0, deviations, 1.0) / (grid.scales or 1.0)
    standard = (rows - means) / deviations
    fold = group_folds(groups, folds)
    if len(set(fold.tolist())) < folds:
        raise UsageError(f"{folds} folds need at least {folds} groups of rows")
    trials: list[tuple[float, dict[str, float], FloatArray]] = []
    for cost, gamma, epsilon in product(grid.cost, grid.gamma, grid.epsilon):
        parameters = {"C": cost, "gamma": gamma, "epsilon": epsilon}
        predicted = np.empty(len(rows))
        for held in range(folds):
            learner = _learner(grid.kernel, parameters).fit(standard[fold != held], targets[fold != held])
            predicted[fold == held] = learner.predict(standard[fold == held])
        trials.append((float(np.corrcoef(predicted, targets)[0, 1]), parameters, predicted))
        progress.advance(1)
    correlation, parameters, predicted = max(trials, key=lambda item: item[0])
    learner = _learner(grid.kernel, parameters).fit(standard, targets)
    model = SupportVectorModel(
        features=tuple(features), means=means, deviations=deviations, vectors=learner.support_vectors_,
        coefficients=learner.dual_coef_[0], intercept=float(learner.intercept_[0]), gamma=parameters["gamma"],
        kernel=grid.kernel, coef0=_COEF0,
    )  # fmt: skip
    return Fit(model, parameters, correlation, predicted)


def _learner(kernel: str, parameters: dict[str, float]) -> Any:
    from sklearn.svm import SVR

    return SVR(kernel=kernel, coef0=_COEF0, **parameters)


_CHUNK = 512

GRID = Grid(cost=(1.0, 3.0, 10.0), gamma=(0.03, 0.1, 0.3), epsilon=(0.1, 0.2))
"""The grid for PEM; the kernel has one width for all three features, as in the paper."""


def paraphrase_features(language: str, pivots: Sequence[str], language_model: str) -> ParaphraseFeatures:
    """PEM's features of a language over these pivot languages and this language model."""
    return ParaphraseGroup(tuple(pivots), language_model).bind(load_stems(language))


def with_controls(pairs: Sequence[RatedPair], features: ParaphraseFeatures) -> list[RatedPair]:
    """The pairs, and the paper's three controls for each original."""
    group_of = {pair.original: pair.group for pair in pairs}
    added = (pair for _, pair in controls(list(group_of), features.language_model))
    return [*pairs, *(replace(pair, group=group_of[pair.original]) for pair in added)]


def compute_features(
    features: ParaphraseFeatures,
    pairs: Sequence[RatedPair],
    progress: Progress = NO_PROGRESS,
) -> FloatArray:
    """One row per pair; NaN where a text has no words."""
    parts = []
    for start in range(0, len(pairs), _CHUNK):
        chunk = pairs[start : start + _CHUNK]
        x, y = features.analysis.analyse(
            [pair.original for pair in chunk], [pair.paraphrase for pair in chunk]
        )
        index = np.arange(len(chunk))
        parts.append(features.compare(features.prepare(x), features.prepare(y), index, index))
        progress.advance(len(chunk))
    return np.concatenate(parts)


def train_pem(
    pairs: Sequence[RatedPair],
    language: str,
    pivots: Sequence[str],
    language_model: str,
    *,
    folds: int = 5,
    progress: Progress = NO_PROGRESS,
) -> PemModel:
    """The model that predicts held-out originals best; pairs without words are left out."""
    features = paraphrase_features(language, pivots, language_model)
    progress.stage("features (pairs)", len(pairs))
    rows = compute_features(features, pairs, progress)
    kept = np.flatnonzero(~np.isnan(rows).any(axis=1)).tolist()
    if not kept:
        raise BuildError("no pair of texts has words to learn from")
    targets = np.array([pairs[k].overall for k in kept])
    groups = [pairs[k].group for k in kept]
    progress.stage("searching (settings)", GRID.size)
    fit = fit_support_vectors(
        PARAPHRASE_FEATURES, rows[kept], targets, groups, GRID, folds=folds, progress=progress
    )
    return PemModel(
        features.analysis.language, fit.model, tuple(pivots), language_model, features.analysis.lemma_fingerprint,
        {"pairs": len(kept), "originals": len(set(groups)), "folds": folds, "pearson": round(fit.correlation, 4),
         **fit.parameters},
    )  # fmt: skip


_EPSILON = (0.1, 0.3)
GRIDS = {
    "linear": Grid(cost=(0.01, 0.1, 1.0), gamma=(1.0,), epsilon=_EPSILON, kernel="linear"),
    "poly": Grid(cost=(0.01, 0.1, 1.0), gamma=(0.3, 1.0), epsilon=_EPSILON, kernel="poly"),
    "rbf": Grid(cost=(0.1, 1.0, 10.0), gamma=(0.03, 0.1, 0.3, 1.0), epsilon=_EPSILON, kernel="rbf"),
}
"""The grid of each kernel."""


def cremer_rows(
    summaries: SummarySet,
    human: FloatArray,
    content: Metric,
    coherence: Metric,
    *,
    progress: Progress = NO_PROGRESS,
) -> tuple[FloatArray, FloatArray, list[int]]:
    """For every scored summary its two features, its human score, and the number of its topic."""
    progress.stage("features (summaries)", human.size)
    streams = summaries.reference_streams
    rows, targets, topics = [], [], []
    for system, texts in enumerate(summaries.hypotheses):
        scored = [k for k, text in enumerate(texts) if text is not None and not np.isnan(human[system, k])]
        chosen = [text for k in scored if (text := texts[k]) is not None]
        if chosen:
            first = content.score_segments(chosen, [[stream[k] for k in scored] for stream in streams]).scores
            rows.append(np.stack([first, coherence.score_segments(chosen, ()).scores], axis=1))
            targets.append(human[system, scored])
            topics.extend(scored)
        progress.advance(len(texts))
    return np.concatenate(rows), np.concatenate(targets), topics


def train_cremer(
    rows: FloatArray,
    targets: FloatArray,
    topics: Sequence[str | int],
    *,
    kernel: str = "rbf",
    folds: int = 5,
    dicomer: str = "",
    progress: Progress = NO_PROGRESS,
) -> tuple[CremerModel, dict[str, Any]]:
    """The regression whose parameters predict held-out topics best, and what the search found."""
    progress.stage("searching (settings)", GRIDS[kernel].size)
    fit = fit_support_vectors(
        CREMER_FEATURES, rows, targets, topics, GRIDS[kernel], folds=folds, progress=progress
    )
    info = {**fit.parameters, "pearson": fit.correlation, "summaries": len(rows), "topics": len(set(topics))}
    return CremerModel(fit.model, dicomer, lowest=float(targets.min()), highest=float(targets.max())), info
