"""For `mbrs-decode --plugin_dir`: registers the metric `tesla`."""

from tesla_eval.connect.mbrs import MetricTesla

__all__ = ["MetricTesla"]
