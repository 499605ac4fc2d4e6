"""What `tesla meta` writes beside its report: plots, and score files for mt-metrics-eval."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from tesla_eval.meta import Joined
from tesla_eval.meta.drawing import write_drawing
from tesla_eval.meta.mtme import write_score_file
from tesla_eval.meta.plots import correlation_bars, system_scatter
from tesla_eval.meta.study import SetComparison

__all__ = ["draw_plots", "write_scores"]


def draw_plots(joined: Joined, comparisons: Iterable[SetComparison], folder: Path, file_format: str) -> None:
    """A scatter plot for each metric, and bars for each comparison."""
    key = joined.outputs.key
    for metric in joined.metrics:
        write_drawing(system_scatter(joined, metric), folder / _file_name(*key, metric, file_format))
    for found in comparisons:
        level, statistic = found.comparison.level, found.comparison.statistic
        title = f"{' '.join(key)}: {level} {statistic}"
        drawing = correlation_bars(found.comparison, title)
        write_drawing(drawing, folder / _file_name(*key, level, statistic, file_format))


def write_scores(joined: Joined, folder: Path, reference: str) -> None:
    """The scores of all outputs, segments and systems, higher is better, as mt-metrics-eval wants them."""
    outputs = joined.outputs
    home = folder / outputs.testset
    everything = np.ones(len(outputs.segments), bool)
    for name, scores in joined.metrics.items():
        by_segment = dict(zip(outputs.systems, scores.oriented.tolist(), strict=True))
        by_system = dict(
            zip(outputs.systems, scores.system_scores(everything)[:, None].tolist(), strict=True)
        )
        write_score_file(home, outputs.lp, name, [reference], by_segment)
        write_score_file(home, outputs.lp, name, [reference], by_system, level="sys")


def _file_name(*parts: str) -> str:
    """The parts with dots between them, and nothing that could lead out of a folder."""
    return ".".join(re.sub(r"[^\w+-]", "_", part) for part in parts)
