"""The metrics: one short file for each, made by name with `create_metric`; `tesla_eval` exports the classes."""

from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.registry import default_metrics, metric_key, metric_names
from tesla_eval.metrics.requests import create_metric
from tesla_eval.metrics.results import SegmentScores

__all__ = ["Metric", "SegmentScores", "create_metric", "default_metrics", "metric_key", "metric_names"]
