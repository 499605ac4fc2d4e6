"""Backward selection of features for argument classification (section 4.2 of the paper)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval_papers.srl.constituents import ParsedSentence
from tesla_eval_papers.srl.evaluation import gold_arguments, gold_constituents, noun_predicates
from tesla_eval_papers.srl.features import FEATURE_POOL, ArgumentCandidate, extract
from tesla_eval_papers.syntax.treebank import TreebankSentence
from tesla_eval_papers.training.srl import (
    TOLERANCE,
    FeatureTable,
    collect_examples,
    predicate_at,
    sparse_matrix,
)


@dataclass(frozen=True)
class SelectionStep:
    """A feature that was removed, and the F1 without it and all before."""

    removed: str
    f1: float
    left: tuple[str, ...]


def select_backwards(
    train: Sequence[TreebankSentence],
    dev: Sequence[TreebankSentence],
    nomtypes: Mapping[str, str],
    pool: Sequence[str] = FEATURE_POOL,
    *,
    most_steps: int | None = None,
    tolerance: float = TOLERANCE,
    after_step: Callable[[SelectionStep], object] = lambda step: None,
) -> list[SelectionStep]:
    """Remove one feature after the other, each time the one without which F1 on `dev` is highest, until F1 drops.

    Arguments are given; trees are the treebank's; the learner is the linear classifier. The first step has no removed
    feature: it is the whole pool.
    """
    from tesla_eval_papers.models.aso import fit_problems

    examples = collect_examples(
        train, [s.tree for s in train], nomtypes, identification=(), classification=pool
    )
    task, roles = examples.classification, examples.roles
    targets = task.label_matrix(roles)
    rows, right, gold = _dev_rows(dev, nomtypes, pool, task.table, roles)
    tested = sparse_matrix(rows, len(task.table))
    owner = np.array([pool.index(name.partition("=")[0]) for name in task.table.names])

    def f1(names: Sequence[str], start: FloatArray | None) -> tuple[float, FloatArray]:
        without = np.flatnonzero(~np.isin(owner, [pool.index(name) for name in names]))
        weights = fit_problems(task.matrix, targets, without=without, tolerance=tolerance, start=start)
        chosen = np.asarray(tested @ weights.T).argmax(axis=1)
        matched = sum(int(label) in allowed for label, allowed in zip(chosen, right, strict=True))
        return 2 * matched / (len(rows) + gold), weights

    left = tuple(pool)
    score, weights = f1(left, None)
    steps = [SelectionStep("", score, left)]
    after_step(steps[-1])
    while len(left) > 1 and (most_steps is None or len(steps) <= most_steps):
        trials = []
        for name in left:
            rest = tuple(other for other in left if other != name)
            trials.append((*f1(rest, weights), name, rest))
        best, best_weights, name, rest = max(trials, key=lambda trial: trial[0])
        if best < score:
            break
        score, weights, left = best, best_weights, rest
        steps.append(SelectionStep(name, score, left))
        after_step(steps[-1])
    return steps


def _dev_rows(
    dev: Sequence[TreebankSentence],
    nomtypes: Mapping[str, str],
    pool: Sequence[str],
    table: FeatureTable,
    roles: Sequence[str],
) -> tuple[list[list[int]], list[set[int]], int]:
    """Features of the arguments that are constituents, the labels that are right, and how many labels there are."""
    numbers = {role: number for number, role in enumerate(roles)}
    rows, right, count = [], [], 0
    for annotated in dev:
        sentence = ParsedSentence(annotated.tree)
        for gold_predicate in noun_predicates(annotated):
            gold = gold_arguments(gold_predicate)
            count += len(gold)
            predicate = predicate_at(sentence, gold_predicate.index, nomtypes)
            for constituent, labels in gold_constituents(sentence, gold):
                rows.append(table.row(extract(ArgumentCandidate(predicate, constituent), pool), learn=False))
                right.append({numbers[label] for label in labels if label in numbers})
    return rows, right, count
