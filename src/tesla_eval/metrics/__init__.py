"""The metrics. Classes are imported when they are first asked for; `create_metric` makes one by name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tesla_eval.metrics.base import Metric, SegmentScores
from tesla_eval.metrics.registry import create_metric, default_metrics, metric_key, metric_names

if TYPE_CHECKING:
    from tesla_eval.metrics.cremer import Cremer
    from tesla_eval.metrics.dicomer import Dicomer
    from tesla_eval.metrics.feature_metric import FeatureMetric
    from tesla_eval.metrics.groups import FeatureGroup
    from tesla_eval.metrics.pem import Pem
    from tesla_eval.metrics.tesla_b import TeslaB
    from tesla_eval.metrics.tesla_celab import TeslaCelab, TeslaCelabMinus
    from tesla_eval.metrics.tesla_f import TeslaF
    from tesla_eval.metrics.tesla_m import TeslaM
    from tesla_eval.metrics.tesla_s import TeslaS, TeslaSRecall
    from tesla_eval.metrics.tesla_x import TeslaX

_HOMES = {
    "Cremer": "cremer",
    "Dicomer": "dicomer",
    "FeatureGroup": "groups",
    "FeatureMetric": "feature_metric",
    "Pem": "pem",
    "TeslaB": "tesla_b",
    "TeslaCelab": "tesla_celab",
    "TeslaCelabMinus": "tesla_celab",
    "TeslaF": "tesla_f",
    "TeslaM": "tesla_m",
    "TeslaS": "tesla_s",
    "TeslaSRecall": "tesla_s",
    "TeslaX": "tesla_x",
}

__all__ = [
    "Cremer",
    "Dicomer",
    "FeatureGroup",
    "FeatureMetric",
    "Metric",
    "Pem",
    "SegmentScores",
    "TeslaB",
    "TeslaCelab",
    "TeslaCelabMinus",
    "TeslaF",
    "TeslaM",
    "TeslaS",
    "TeslaSRecall",
    "TeslaX",
    "create_metric",
    "default_metrics",
    "metric_key",
    "metric_names",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
