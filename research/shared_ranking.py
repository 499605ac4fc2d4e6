"""Ranking models of small problems that share structure: ASO over language pairs or years (specification §16)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tesla_eval.base.arrays import FloatArray

__all__ = ["RankingProblem", "fit_ranking", "fit_shared", "pooled"]

_TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class RankingProblem:
    """What people preferred: features of the better output − those of the worse one, and how much each pair counts."""

    differences: FloatArray
    counts: FloatArray

    def first(self, most: int) -> RankingProblem:
        """The problem with `most` of its pairs, evenly chosen."""
        if len(self.counts) <= most:
            return self
        some = np.linspace(0, len(self.counts) - 1, most).round().astype(np.int64)
        return RankingProblem(self.differences[some], self.counts[some])


def pooled(problems: Sequence[RankingProblem]) -> RankingProblem:
    """Several problems as one; each counts alike."""
    return RankingProblem(
        np.concatenate([one.differences for one in problems]),
        np.concatenate([one.counts / one.counts.sum() for one in problems]),
    )


def fit_ranking(problem: RankingProblem, penalty: float, structure: FloatArray | None = None) -> FloatArray:
    """The weights of one problem: modified Huber loss of the differences, as if each had the label 1.

    With `structure` Θ the weights are w + Θᵀv, and only w is penalised.

    >>> fit_ranking(RankingProblem(np.array([[1.0, 1.0], [1.0, -1.0]]), np.ones(2)), 1e-3).round(2).tolist()
    [1.0, 0.0]
    """
    from tesla_eval_papers.models.aso import fit_problems

    labels = np.ones((len(problem.counts), 1))
    weights = fit_problems(
        problem.differences, labels, penalty, structure, tolerance=_TOLERANCE, importance=problem.counts
    )
    return np.asarray(weights[0])


def fit_shared(
    problems: Mapping[str, RankingProblem], dimensions: int, penalty: float, *, rounds: int = 1
) -> tuple[dict[str, FloatArray], FloatArray]:
    """The weights of every problem by ASO, and Θ.

    Each round fits all problems and takes the `dimensions` first singular vectors of their weights as Θ (Ando & Zhang
    2005; Liu & Ng do one round). The weights are then fitted once more with the last Θ.
    """
    from tesla_eval_papers.models.aso import shared_structure

    structure: FloatArray | None = None
    for _ in range(rounds if dimensions else 0):
        weights = [fit_ranking(one, penalty, structure) for one in problems.values()]
        structure = shared_structure(np.stack(weights), dimensions)
    width = next(iter(problems.values())).differences.shape[1]
    return (
        {name: fit_ranking(one, penalty, structure) for name, one in problems.items()},
        np.zeros((0, width)) if structure is None else structure,
    )
