"""lm-evaluation-harness: a task keeps (references, prediction) for each document; `aggregation` scores them together.

Nothing of the harness is imported. A task's own Python file names the functions for its YAML file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tesla_eval.metrics.requests import create_metric

Item = tuple[str | Sequence[str], str]
"""The reference or references of a document, and what the model wrote."""


def keep(references: Sequence[str], predictions: Sequence[str], **_: Any) -> Item:
    """The `metric` of a task with one reference per document: keeps the pair for the aggregation.

    >>> keep(references=["The cat sat."], predictions=["The cats sat."])
    ('The cat sat.', 'The cats sat.')
    """
    ((reference,), (prediction,)) = references, predictions
    return reference, prediction


def aggregation(metric: str = "x", lang: str = "en", **options: Any) -> Callable[[Sequence[Item]], float]:
    """The `aggregation` of a task: the score of all documents under the metric, which is made when it is called.

    >>> score = aggregation("m", lang="en")
    >>> round(score([("The cat sat.", "The cats sat."), (["A cat.", "A dog."], "A cat.")]), 4)
    0.7496
    """

    def aggregate(items: Sequence[Item]) -> float:
        references = [[given] if isinstance(given, str) else list(given) for given, _ in items]
        predictions = [prediction for _, prediction in items]
        scorer = create_metric(metric, lang, **options)
        return scorer.corpus_score(predictions, references, references_by_segment=True).score

    aggregate.__name__ = f"tesla_{metric}"
    return aggregate
