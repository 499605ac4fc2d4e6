"""torchmetrics: the mean score of everything that a training or validation loop has seen, over all processes.

The states are a sum and a count, which torchmetrics adds up over processes, so only metrics whose system score is the
mean of their segments can be used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torchmetrics import Metric

from tesla_eval.base.arrays import ExactSum
from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.metrics.requests import create_metric
from tesla_eval.metrics.segments import texts_of


class TeslaScore(Metric):  # type: ignore[misc]  # torchmetrics may be missing where types are checked
    """A metric of this package with sum and count states.

    As in torchmetrics' text metrics, `update` takes predictions and targets: one text or one list of texts per
    prediction. An empty batch changes nothing.
    """

    is_differentiable = False
    full_state_update = False
    sum: torch.Tensor
    count: torch.Tensor

    def __init__(
        self, metric: str = "x", lang: str = "en", *, options: dict[str, Any] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.metric = create_metric(metric, lang, **(options or {}))
        if self.metric.formula_of_sums is not None or self.metric.corpus_wide:
            raise UsageError(f"{self.metric.id} is not a mean over segments: take torchmetrics' own metric")
        zero = torch.tensor(0.0, dtype=torch.float64)
        self.add_state("sum", default=zero, dist_reduce_fx="sum")
        self.add_state("count", default=zero.long(), dist_reduce_fx="sum")

    def update(self, preds: str | Sequence[str], target: str | Sequence[str | Sequence[str]]) -> None:
        """Score a batch: its predictions, and for each of them one reference or a list of references."""
        predictions = [preds] if isinstance(preds, str) else texts_of(preds)
        targets = [target] if isinstance(target, str) else texts_of(target)
        if isinstance(preds, str) and len(targets) > 1 and all(isinstance(given, str) for given in targets):
            targets = [targets]  # several references of the one prediction
        references = [[given] if isinstance(given, str) else given for given in targets]
        if len(predictions) != len(references):
            raise InputError(f"{len(predictions)} predictions, but {len(references)} targets")
        if len(predictions) == 0:
            return
        segments = self.metric.corpus_score(predictions, references, references_by_segment=True).segments
        total = ExactSum()
        total.add(segments)
        self.sum += float(total)
        self.count += len(segments)

    def compute(self) -> torch.Tensor:
        """The mean score so far; NaN before the first segment."""
        return self.sum / self.count

    @property
    def higher_is_better(self) -> bool:
        """Whether a higher score is better: torchmetrics' trackers ask."""
        return self.metric.higher_is_better

    @property
    def signature(self) -> str:
        """What makes the score reproducible."""
        return str(self.metric.get_signature())
