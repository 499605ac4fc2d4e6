"""Fitting PEM-X: non-negative weights of evidence over several sets, everything chosen by leaving a whole set out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from paraphrase_sets import ParaphraseSet
from tesla_eval import statistics
from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.errors import UsageError
from tesla_eval.base.parallel import NO_PROGRESS, Progress
from tesla_eval.language.analysis import load_pipeline
from tesla_eval.metrics.contradictions.finder import CONTRADICTIONS
from tesla_eval_papers.metrics.features.adequacy import BoundAdequacy, contradicted, longer_lengths
from tesla_eval_papers.models.pem_x import PemXModel

__all__ = [
    "EVIDENCE",
    "PENALTIES",
    "Measured",
    "compute_evidence",
    "leave_one_out",
    "model_of",
    "train_pem_x",
]

EVIDENCE = ("vec.best0.f", "vec.1.f", "chr.2.f", "chr.3.f")
"""Learned from, beside one balanced F of single words per pivot language."""
PENALTIES = (0.3, 0.1, 0.03, 0.01)
"""What leave-one-set-out chooses from, the strongest first."""
FULL_SHARE = 0.75
"""What a contradiction takes of a full agreement. Half would predict sets left out a little better, for a contradiction
is often a small part of what a text says; 1 would predict them worse than no contradictions at all
(research/paraphrase-results.md)."""
_LONE_SHARES = (0.0, 0.1, 0.2, 0.3)
"""What is tried for contradictions that people take off less for: a number that one text alone has is often a detail
left out, and raters of meaning hardly look at tense and names."""
_LIGHT = ("lone number", "tense", "name")
_CHUNK = 512
_DIGITS = 4
_SWEEPS = 10_000
COPY_SHARE = 0.2
FULLY_NOVEL = 0.6
"""The scale of the score: chosen on ParaBank's originals and their controls (docs/pem-x.md)."""


@dataclass(frozen=True)
class Measured:
    """A set with the evidence and contradictions of its pairs, and the evidence of unrelated texts."""

    pairs: ParaphraseSet
    names: tuple[str, ...]
    """What the columns of evidence are."""
    evidence: FloatArray
    contradictions: FloatArray
    words: Index
    """The number of words of the longer text of each pair."""
    unrelated: FloatArray
    """Evidence between originals that are far from each other in the table: neighbours often share a topic."""


def train_pem_x(
    sets: Sequence[ParaphraseSet],
    language: str,
    pivots: Sequence[str],
    language_model: str,
    *,
    date: str = "",
    data: Sequence[str] = (),
    progress: Progress = NO_PROGRESS,
) -> tuple[PemXModel, list[Measured]]:
    """The model of all sets, with the penalty and the share of light contradictions that predict sets left out best."""
    if len(sets) < 2:
        raise UsageError("pem-x is chosen by leaving one set out: name at least two tables")
    template = _template(language, pivots, language_model)
    group = BoundAdequacy(load_pipeline(language), template)
    names = [
        name
        for name in (*EVIDENCE, *(f"{pivot}.lem.1.f" for pivot in pivots))
        if name in group.evidence_names
    ]
    progress.stage("evidence (pairs)", sum(map(len, sets)))
    measured = [compute_evidence(group, one, names, progress) for one in sets]
    trials = [
        (float(np.mean(list(leave_one_out(measured, penalty, lone).values()))), penalty, lone)
        for penalty in PENALTIES
        for lone in _LONE_SHARES
    ]
    best, penalty, lone = max(trials, key=lambda trial: trial[0])
    held_out = leave_one_out(measured, penalty, lone)
    without = leave_one_out(measured, penalty, 0.0, full=0.0)
    training: dict[str, Any] = {
        "pairs": {one.pairs.name: len(one.pairs) for one in measured}, "penalty": penalty,
        "held-out Pearson": {name: round(value, _DIGITS) for name, value in held_out.items()},
        "mean": round(best, _DIGITS),
        "mean without contradictions": round(float(np.mean(list(without.values()))), _DIGITS),
    }  # fmt: skip
    told = replace(template, contradictions=_shares(lone), date=date, data=tuple(data), training=training)
    return model_of(measured, told, penalty), measured


def model_of(measured: Sequence[Measured], settings: PemXModel, penalty: float) -> PemXModel:
    """The model with the weights that some sets give, and everything else as in `settings`."""
    weights = _fit(measured, penalty)
    rounded = {
        name: round(weight, _DIGITS) for name, weight in zip(measured[0].names, weights.tolist(), strict=True)
    }
    return replace(
        settings, evidence={name: weight for name, weight in rounded.items() if weight},
        unrelated=_unrelated(measured, weights),
    )  # fmt: skip


def compute_evidence(
    group: BoundAdequacy, pairs: ParaphraseSet, names: Sequence[str], progress: Progress = NO_PROGRESS
) -> Measured:
    """The evidence named and all contradictions of a set; evidence that a pair lacks counts as none."""
    pipeline = load_pipeline(group.language)
    columns = [group.evidence_names.index(name) for name in names]
    parts: list[tuple[Any, ...]] = []
    for start in range(0, len(pairs), _CHUNK):
        span = slice(start, start + _CHUNK)
        x, y = pipeline.analyse(pairs.originals[span], pairs.paraphrases[span])
        one, other = group.prepare(x), group.prepare(y)
        index = np.arange(len(x.texts))
        far = np.roll(index, len(index) // 2)
        apart = np.array([x.texts[k] != x.texts[other] for k, other in enumerate(far.tolist())], np.bool_)
        parts.append((
            group.evidence(one, other, index, index)[:, columns], group.contradictions(one, other, index, index),
            longer_lengths(one, other, index, index), group.evidence(one, one, index[apart], far[apart])[:, columns],
        ))  # fmt: skip
        progress.advance(len(index))
    evidence, contradictions, words, unrelated = (
        np.concatenate(columns) for columns in zip(*parts, strict=True)
    )
    return Measured(
        pairs, tuple(names), np.nan_to_num(evidence), contradictions, words, np.nan_to_num(unrelated)
    )


def leave_one_out(
    measured: Sequence[Measured], penalty: float, lone: float, full: float = FULL_SHARE
) -> dict[str, float]:
    """Pearson's r of adequacy with people on each set, by the weights learned from all the others."""
    shares = np.array(list(_shares(lone, full).values()))
    correlations = {}
    for held in measured:
        others = [one for one in measured if one is not held]
        weights = _fit(others, penalty)
        adequacy = contradicted(
            _agreement(held.evidence, weights, _unrelated(others, weights)),
            held.contradictions,
            shares,
            held.words,
        )
        correlations[held.pairs.name] = statistics.pearson(adequacy, held.pairs.meaning).value
    return correlations


def _agreement(evidence: FloatArray, weights: FloatArray, unrelated: float) -> FloatArray:
    return np.clip((evidence @ weights - unrelated) / (1 - unrelated), 0.0, 1.0)


def _unrelated(measured: Sequence[Measured], weights: FloatArray) -> float:
    """The mean evidence of unrelated texts, over sets."""
    return round(float(np.mean([(one.unrelated @ weights).mean() for one in measured])), 2)


def _shares(lone: float, full: float = FULL_SHARE) -> Mapping[str, float]:
    return {kind: lone if kind in _LIGHT else full for kind in CONTRADICTIONS}


def _fit(measured: Sequence[Measured], penalty: float) -> FloatArray:
    """Ridge regression with weights of 0 or more, each set standardised and counted alike; the weights add up to 1."""
    size = measured[0].evidence.shape[1]
    gram, moment = np.zeros((size, size)), np.zeros(size)
    for one in measured:
        rows = one.evidence - one.evidence.mean(axis=0)
        target = one.pairs.meaning - one.pairs.meaning.mean()
        gram += rows.T @ rows / len(rows)
        moment += rows.T @ target / (len(rows) * max(float(target.std()), 1e-12))
    scale = np.sqrt(np.maximum(np.diag(gram), 1e-12))
    gram = gram / np.outer(scale, scale) + penalty * np.eye(size)
    weights = _non_negative(gram, moment / scale) / scale
    if not weights.sum() > 0:
        raise UsageError(
            "no evidence agrees with what people said; check that higher numbers mean a nearer meaning"
        )
    return np.asarray(weights / weights.sum())


def _non_negative(gram: FloatArray, moment: FloatArray) -> FloatArray:
    """The minimum of ½ w·G·w − m·w over w ≥ 0, coordinate by coordinate.

    >>> _non_negative(np.eye(2), np.array([0.5, -1.0])).tolist()
    [0.5, 0.0]
    """
    weights = np.zeros(len(moment))
    for _ in range(_SWEEPS):
        before = weights.copy()
        for k in range(len(weights)):
            weights[k] = max(0.0, weights[k] + (moment[k] - gram[k] @ weights) / gram[k, k])
        if np.abs(weights - before).max() < 1e-12:
            break
    return weights


def _template(language: str, pivots: Sequence[str], language_model: str) -> PemXModel:
    return PemXModel(
        language, {EVIDENCE[0]: 1.0}, 0.0, _shares(0.0), COPY_SHARE, FULLY_NOVEL, tuple(pivots),
        language_model, load_pipeline(language).lemma_fingerprint,
    )  # fmt: skip
