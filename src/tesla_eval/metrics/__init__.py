"""The metrics by name."""

from __future__ import annotations

from collections.abc import Callable

from tesla_eval.analysis import Analyser
from tesla_eval.errors import UsageError
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.baselines import BASELINES, SacreBleuMetric
from tesla_eval.metrics.tesla_m import TeslaM

__all__ = ["METRIC_NAMES", "Metric", "TeslaM", "create_metric"]

_TESLA: dict[str, Callable[..., Metric]] = {"m": TeslaM}

METRIC_NAMES = (*_TESLA, *BASELINES)
"""What `-m` takes."""


def create_metric(
    name: str, lang: str, *, analyser: Analyser | None = None, synonyms: str | None = None, workers: int = 1
) -> Metric:
    """The metric that `-m NAME` means.

    >>> create_metric("m", "en").id
    'tesla-m'
    """
    key = name.strip().lower().removeprefix("tesla-")
    if key in _TESLA:
        return _TESLA[key](lang=lang, analyser=analyser, synonyms=synonyms, workers=workers)
    if key in BASELINES:
        return SacreBleuMetric(key, lang)
    raise UsageError(f"unknown metric {name!r}; known are {', '.join(METRIC_NAMES)}")
