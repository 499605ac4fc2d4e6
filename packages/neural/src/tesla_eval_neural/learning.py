"""How TESLA-N's numbers are learned from human judgements (specification §8c): some twenty, all of them 0 or more.

First the weights of the kinds of pieces, by the F of best partners alone; then the weights of the features and of
TESLA-X's linear score. TESLA-X's own weights stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from tesla_eval._core import STATE_PROBLEMS, StateTexts, match_states, state_gains_by_kind
from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.errors import UsageError
from tesla_eval.base.records import Signature
from tesla_eval.language.analysis import AnalysedBatch, Analysis
from tesla_eval.metrics.combinations import Uncombined
from tesla_eval.metrics.feature_metric import FeatureMetric
from tesla_eval.metrics.features import BoundGroup, Feature, FeatureGroup, GroupDetail, fixed
from tesla_eval.metrics.tesla_x import TeslaX
from tesla_eval.models.linear import LinearModel
from tesla_eval.training.fit import RankingProblem
from tesla_eval.training.judged import TrainingSet
from tesla_eval_neural.encoder import Encoder, load_encoder
from tesla_eval_neural.group import (
    EVEN_WEIGHTS,
    MEAN,
    RECALL_WEIGHT,
    THRESHOLD,
    WEIGHT_UNIT,
    BoundContext,
    ContextGroup,
    f_measure,
)
from tesla_eval_neural.kinds import PIECE_INFORMATION, PIECE_KINDS
from tesla_eval_neural.metric import TeslaN

__all__ = [
    "EVIDENCE", "LEARNED", "PENALTY", "PIECE_PENALTY", "X_SCORE", "EvidenceGroup", "context_features",
    "evidence_metric", "fit_features", "flattened", "learn_pieces", "learned_features", "shipped_model", "with_columns",
    "x_scores",
]  # fmt: skip

X_SCORE = Feature("x", "x", "x", "TESLA-X's linear score", "x")
PENALTY = 0.3
PIECE_PENALTY = 0.2
LEARNED = (X_SCORE.name, *(f"{problem}.f" for problem in STATE_PROBLEMS), MEAN)
"""What gets a weight: `tools/loyo_n.py` has the other choices, and what they give where a year is left out."""
NUMBERS = "number."
_KINDS = len(PIECE_KINDS)
EVIDENCE = 8 * _KINDS + 3
"""Columns: by kind the pieces and gains of either side, and those of neighbours; precision and recall of the flow; the
cosine of the means."""
_PAIR = STATE_PROBLEMS.index("ctx.pair")
_MOST_STEPS = 100


@dataclass(frozen=True)
class EvidenceGroup(FeatureGroup):
    """What the features of context are made of, before the kinds of pieces have weights."""

    name: ClassVar[str] = "evidence"

    encoder: str | None = fixed(None)

    def bind(self, analysis: Analysis) -> BoundGroup:
        """The group over the language's encoder."""
        return _BoundEvidence(load_encoder(analysis.signature["lang"], self.encoder))


class _BoundEvidence(BoundGroup):
    def __init__(self, encoder: Encoder) -> None:
        self._context = BoundContext(encoder, ContextGroup())
        columns = [
            f"{side}.{what}.{kind}"
            for size in ("", ".pair")
            for side in (f"reference{size}", f"hypothesis{size}")
            for what in ("pieces", "gain")
            for kind in PIECE_KINDS
        ]
        names = [*columns, "flow.p", "flow.r", "mean"]
        self.features = tuple(Feature(name, EvidenceGroup.name, name, name, name) for name in names)

    @property
    def signature(self) -> Mapping[str, str]:
        return self._context.signature

    def prepare(self, batch: AnalysedBatch) -> StateTexts:
        return self._context.prepare(batch)

    def compare(
        self, reference: StateTexts, hypothesis: StateTexts, reference_index: Index, hypothesis_index: Index
    ) -> FloatArray:
        pairs = reference, hypothesis, reference_index, hypothesis_index
        gains = state_gains_by_kind(*pairs, _KINDS)
        precision, recall, cosine = match_states(*pairs, np.array(EVEN_WEIGHTS, np.uint32), THRESHOLD)
        flow = STATE_PROBLEMS.index("ctx.flow")
        return np.column_stack([gains, precision[:, flow], recall[:, flow], cosine])

    def explain(self, reference: AnalysedBatch, hypothesis: AnalysedBatch) -> GroupDetail:
        raise UsageError("evidence is for learning: explain tesla-n instead")


def evidence_metric(
    language: str, x_model: LinearModel | None = None, *, encoder: str | None = None, workers: int = 1
) -> FeatureMetric:
    """The evidence, and behind it the features of TESLA-X's model if one is given, without a score."""
    x_groups = () if x_model is None else x_model.groups
    members = {
        "id": "evidence", "groups": (EvidenceGroup(encoder), *TeslaX.groups),
        "combination": Uncombined((EvidenceGroup.name, *x_groups)),
    }  # fmt: skip
    metric: FeatureMetric = type("Evidence", (TeslaN,), members)(language, workers=workers)
    return metric


def learned_features(encoder: Encoder) -> tuple[Feature, ...]:
    """What weights are learned for: TESLA-X's score, then the features of context."""
    return X_SCORE, *BoundContext(encoder, ContextGroup()).features


def _sides(evidence: FloatArray, first: int = 0) -> tuple[FloatArray, ...]:
    """Pieces and gains by kind, of the reference and then of the hypothesis."""
    return tuple(evidence[:, k * _KINDS : (k + 1) * _KINDS] for k in range(first, first + 4))


def _shares(gain: FloatArray, pieces: FloatArray, weights: FloatArray) -> FloatArray:
    """The weighted mean of the best similarities; 0 for a side without pieces."""
    total = pieces @ weights
    return np.asarray((gain @ weights) / np.where(total > 0, total, 1.0))


def context_features(evidence: FloatArray, pieces: Sequence[int], alpha: float = RECALL_WEIGHT) -> FloatArray:
    """The features of `ContextGroup` with these weights of pieces, from the evidence."""
    learned, even = np.array(pieces, float), np.ones(_KINDS)
    x_pieces, x_gain, y_pieces, y_gain = _sides(evidence)
    x_pairs, x_pair_gain, y_pairs, y_pair_gain = _sides(evidence, 4)
    precision, recall = (
        np.column_stack(
            [
                _shares(gain, count, learned),
                _shares(gain, count, even),
                _shares(pair_gain, pairs, learned),
                flow,
            ]
        )
        for gain, count, pair_gain, pairs, flow in (
            (y_gain, y_pieces, y_pair_gain, y_pairs, evidence[:, -3]),
            (x_gain, x_pieces, x_pair_gain, x_pairs, evidence[:, -2]),
        )
    )
    for shares in (precision, recall):
        shares[(x_pairs.sum(axis=1) == 0) | (y_pairs.sum(axis=1) == 0), _PAIR] = np.nan
        shares[(x_pieces + y_pieces).sum(axis=1) == 0] = np.nan
    return np.concatenate([precision, recall, f_measure(precision, recall, alpha), evidence[:, -1:]], axis=1)


def learn_pieces(
    sets: Sequence[TrainingSet], alpha: float = RECALL_WEIGHT, penalty: float = PIECE_PENALTY
) -> tuple[int, ...]:
    """Weights of the kinds of pieces, in 64ths, by which the F of best partners ranks pairs as people do.

    A penalty keeps them near `PIECE_INFORMATION`. The columns of the sets begin with the evidence. Needs SciPy.
    """
    from scipy.optimize import minimize

    usable = [one for one in sets if len(one.better)]
    if not usable:
        raise UsageError("there are no pairs to learn from")
    better = _sides(np.concatenate([one.features[one.better, : 4 * _KINDS] for one in usable]))
    worse = _sides(np.concatenate([one.features[one.worse, : 4 * _KINDS] for one in usable]))
    shares = [one.weight * one.counts / one.counts.sum() for one in usable]
    share = np.concatenate(shares) / sum(one.weight for one in usable)
    start = np.log(PIECE_INFORMATION)

    def f_and_slope(sides: tuple[FloatArray, ...], weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """F and its derivative by the logarithms of the weights."""
        x_pieces, x_gain, y_pieces, y_gain = sides
        p, r = _shares(y_gain, y_pieces, weights), _shares(x_gain, x_pieces, weights)
        p_slope, r_slope = (
            weights * (gain - value[:, None] * pieces) / np.maximum(pieces @ weights, 1e-9)[:, None]
            for gain, pieces, value in ((y_gain, y_pieces, p), (x_gain, x_pieces, r))
        )
        mixed = np.maximum(r + alpha * (p - r), 1e-9)
        by_p, by_r = (r * mixed - p * r * alpha) / mixed**2, (p * mixed - p * r * (1 - alpha)) / mixed**2
        return p * r / mixed, by_p[:, None] * p_slope + by_r[:, None] * r_slope

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        weights, sharpness = np.exp(parameters[:_KINDS]), np.exp(parameters[_KINDS])
        (high, high_slope), (low, low_slope) = f_and_slope(better, weights), f_and_slope(worse, weights)
        margin = sharpness * (high - low)
        value = share @ np.logaddexp(0, -margin) + penalty * np.mean((parameters[:_KINDS] - start) ** 2)
        error = -share / (1 + np.exp(margin))
        away = 2 * penalty / _KINDS * (parameters[:_KINDS] - start)
        slope = (error * sharpness) @ (high_slope - low_slope) + away
        return float(value), np.append(slope, error @ margin)

    optimum = minimize(
        loss, np.append(start, np.log(20.0)), jac=True, method="L-BFGS-B", options={"maxiter": _MOST_STEPS}
    )
    weights = np.exp(optimum.x[:_KINDS])
    return tuple(np.maximum(np.rint(WEIGHT_UNIT * weights / weights.max()), 1).astype(int).tolist())


def with_columns(one: TrainingSet, columns: FloatArray) -> TrainingSet:
    """The same judgements over other columns."""
    return replace(one, features=columns)


def fit_features(
    sets: Sequence[TrainingSet],
    features: Sequence[Feature],
    penalty: float = PENALTY,
    *,
    floors: Mapping[str, float] | None = None,
    learned: Sequence[str] = LEARNED,
) -> LinearModel:
    """Weights of TESLA-X's score and of the features of context, which add up to 1."""
    kept = np.array([k for k, feature in enumerate(features) if feature.name in learned], np.int64)
    problem = RankingProblem([one.with_features(kept) for one in sets], [features[k] for k in kept])
    return problem.fit("signed", penalty, floors=floors)


def x_scores(model: LinearModel, features: Sequence[Feature], columns: FloatArray) -> FloatArray:
    """TESLA-X's linear scores, from columns that hold its features; what the language lacks is left out."""
    place = {feature.name: k for k, feature in enumerate(features)}
    known = model.restricted(place)
    families = tuple(features[place[name]].family for name in known.features)
    chosen = columns[:, [place[name] for name in known.features]]
    return replace(known, families=families).linear(chosen)


def flattened(learned: LinearModel, x_model: LinearModel) -> LinearModel:
    """The learned weights over all features: TESLA-X's share goes to its features in proportion to their weights.

    Numbers keep the whole weight that they have in TESLA-X, since a wrong number hardly shows in the states.
    """
    weights = dict(zip(learned.features, learned.weights.tolist(), strict=True))
    share = weights.pop(X_SCORE.name, 0.0)
    context = {name: weight for name, weight in weights.items() if weight > 0}
    x_weights = {
        name: weight * (1.0 if name.startswith(NUMBERS) else share)
        for name, weight in zip(x_model.features, x_model.weights.tolist(), strict=True)
    }
    names = (*context, *x_weights)
    return replace(
        learned, features=names, weights=np.array([*context.values(), *x_weights.values()]),
        means=np.zeros(len(names)), deviations=np.ones(len(names)), families=(),
        groups=(ContextGroup.name, *x_model.groups),
    )  # fmt: skip


def shipped_model(
    learned: LinearModel,
    x_model: LinearModel,
    pieces: Sequence[int],
    metric: FeatureMetric,
    encoder: Encoder,
    **description: Any,
) -> LinearModel:
    """The learned weights as one model with everything that it needs to be used."""
    known = x_model.restricted({feature.name for feature in metric.features})
    return replace(
        flattened(learned, known), metric=TeslaN.id, language=metric.lang,
        analysis=str(Signature(metric.analysis.signature)),
        settings={
            "encoder": encoder.fingerprint, "pieces": dict(zip(PIECE_KINDS, map(int, pieces), strict=True)),
        },
        **description,
    ).pruned()  # fmt: skip
