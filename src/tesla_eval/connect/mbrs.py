"""mbrs: importing this module registers the metric `tesla`; all pairs of a segment are scored in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from mbrs import timer
from mbrs.metrics import Metric, register

from tesla_eval.base.arrays import FloatArray
from tesla_eval.metrics.requests import create_metric


@register("tesla")
class MetricTesla(Metric):  # type: ignore[misc]  # mbrs has no types
    """Any metric of this package as mbrs' metric."""

    @dataclass
    class Config(Metric.Config):  # type: ignore[misc]
        """The metric's configuration, which mbrs makes options of.

        - name (str): The metric, as `tesla score -m` takes it.
        - lang (str): The language of the texts.
        """

        name: str = "m"
        lang: str = "en"

    cfg: Config

    def __init__(self, cfg: MetricTesla.Config) -> None:
        super().__init__(cfg)
        self.metric = create_metric(cfg.name, cfg.lang)
        self.HIGHER_IS_BETTER = self.metric.higher_is_better

    def score(self, hypothesis: str, reference: str, source: str | None = None) -> float:
        """The score of one hypothesis."""
        return self.metric.sentence_score(hypothesis, [reference], source).score

    def scores(
        self, hypotheses: Sequence[str], references: Sequence[str], sources: Sequence[str] | None = None
    ) -> torch.Tensor:
        """The scores of N hypotheses against one reference each."""
        with timer.measure("score") as measured:
            measured.set_delta_ncalls(len(hypotheses))
            return _tensor(self.metric.corpus_score(hypotheses, [references], sources).segments)

    def pairwise_scores(
        self, hypotheses: Sequence[str], references: Sequence[str], source: str | None = None
    ) -> torch.Tensor:
        """The score of every hypothesis (row) against every reference (column); each text is analysed once."""
        with timer.measure("score") as measured:
            measured.set_delta_ncalls(len(hypotheses) * len(references))
            return _tensor(self.metric.pairwise(hypotheses, references))

    def corpus_score(
        self,
        hypotheses: Sequence[str],
        references_lists: Sequence[Sequence[str]],
        sources: Sequence[str] | None = None,
    ) -> float:
        """The score of a system against K lists of references."""
        return self.metric.corpus_score(hypotheses, references_lists, sources).score


def _tensor(scores: FloatArray) -> torch.Tensor:
    return torch.from_numpy(scores).float()  # what mbrs' own metrics return
