"""pandas: importing this module gives every frame `frame.tesla.score(…)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from tesla_eval.connect.frames import score_frame
from tesla_eval.metrics.base import Metric


@pd.api.extensions.register_dataframe_accessor("tesla")
class TeslaAccessor:
    """The accessor behind `frame.tesla`."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def score(
        self,
        hypothesis: str = "",
        references: str | Sequence[str] = (),
        metric: str | Metric | Sequence[str | Metric] = "x",
        lang: str = "auto",
        **options: Any,
    ) -> pd.DataFrame:
        """The frame with columns of scores, as by `score_frame`."""
        return score_frame(self._frame, hypothesis, references, metric, lang, **options)
