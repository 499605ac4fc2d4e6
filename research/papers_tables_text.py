"""What the papers' tables say, as data: figures, and what their authors read from them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class PaperTable(NamedTuple):
    """A table of a paper: rows of figures by metric, and the columns in words."""

    paper: str
    number: str
    data: str
    columns: tuple[str, ...]
    rows: dict[str, tuple[float | None, ...]]


_INTO = ("cz-en", "fr-en", "de-en", "es-en", "hu-en")
CONSISTENCY_INTO = PaperTable(
    "TESLA at WMT 2011", "table 1", "WMT 2009, consistency of segments", (*_INTO, "overall"),
    {
        "TESLA-M": (0.60, 0.61, 0.61, 0.59, 0.63, 0.61), "TESLA-B": (0.63, 0.64, 0.63, 0.62, 0.63, 0.63),
        "TESLA-F": (0.63, 0.65, 0.64, 0.62, 0.66, 0.63), "MaxSim": (0.60, 0.63, 0.63, 0.61, 0.62, 0.62),
        "METEOR": (0.47, 0.51, 0.52, 0.49, 0.48, 0.50),
    },
)  # fmt: skip
SPEARMAN_INTO = PaperTable(
    "TESLA at WMT 2011", "table 2", "WMT 2009, Spearman of systems", (*_INTO, "average"),
    {
        "TESLA-M": (1.00, 0.86, 0.85, 0.99, 0.66, 0.87), "TESLA-B": (1.00, 0.92, 0.67, 0.95, 0.83, 0.87),
        "TESLA-F": (1.00, 0.92, 0.68, 0.94, 0.94, 0.90), "MaxSim": (0.70, 0.91, 0.76, 0.98, 0.66, 0.80),
        "METEOR": (0.70, 0.93, 0.56, 0.87, 0.54, 0.72),
    },
)  # fmt: skip
CONSISTENCY_OUT = PaperTable(
    "TESLA at WMT 2011", "table 3", "WMT 2009, consistency of segments", ("en-fr", "en-de", "en-es", "overall"),
    {
        "TESLA-M": (0.64, 0.59, 0.59, 0.60), "TESLA-B": (0.65, 0.59, 0.60, 0.61),
        "TESLA-F": (0.68, 0.57, 0.60, 0.61),
    },
)  # fmt: skip
SPEARMAN_OUT = PaperTable(
    "TESLA at WMT 2011", "table 4", "WMT 2009, Spearman of systems", ("en-fr", "en-de", "en-es", "average"),
    {
        "TESLA-M": (0.93, 0.86, 0.79, 0.86), "TESLA-B": (0.91, 0.05, 0.63, 0.53),
        "TESLA-F": (0.85, 0.78, 0.67, 0.77),
    },
)  # fmt: skip
TUNING_INTO = PaperTable(
    "Better metrics, better MT (2011)", "table 1", "WMT 2010, Spearman of systems", ("average",),
    {"TESLA-F": (0.94,), "TESLA-M": (0.93,), "METEOR": (0.92,), "TER": (0.90,), "BLEU": (0.89,)},
)  # fmt: skip
TUNING_OUT = PaperTable(
    "Better metrics, better MT (2011)", "table 2", "WMT 2010, Spearman of systems", ("average",),
    {"TESLA-M": (0.93,), "METEOR": (0.82,), "TER": (0.81,), "BLEU": (0.80,), "TESLA-F": (0.76,)},
)  # fmt: skip
CELAB_IWSLT = PaperTable(
    "TESLA-CELAB (2012)", "table 2", "IWSLT 2008, English–Chinese", ("consistency", "Pearson", "Spearman"),
    {
        "BLEU, characters": (0.7004, 0.9130, 0.9643), "TESLA-M": (0.6771, 0.9167, 0.8929),
        "TESLA-CELAB⁻": (0.7018, 0.9229, 0.9643), "TESLA-CELAB": (0.7281, 0.9490, 0.9643),
    },
)  # fmt: skip
CELAB_NIST = PaperTable(
    "TESLA-CELAB (2012)", "table 3", "NIST 2008, English–Chinese", ("consistency", "Pearson", "Spearman"),
    {
        "BLEU, characters": (0.7091, 0.8429, 0.7818), "TESLA-M": (0.6969, 0.8301, 0.8091),
        "TESLA-CELAB⁻": (0.7158, 0.8514, 0.8227), "TESLA-CELAB": (0.7162, 0.8923, 0.8909),
    },
)  # fmt: skip

_HERE = Path(__file__).resolve().parent
HEAD = (_HERE / "papers_tables_head.md").read_text(encoding="utf-8")
TAIL = (_HERE / "papers_tables_tail.md").read_text(encoding="utf-8")
