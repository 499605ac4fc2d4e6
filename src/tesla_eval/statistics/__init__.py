"""Arrays in, numbers out: correlation, pairwise agreement, resampling tests, annotator agreement.

This package knows nothing about metrics or files. Every result is a small frozen dataclass. What the data cannot give
is NaN with a note, never a 0. Every random draw is a function of an explicit seed.

The public names are those of its files. One is imported when it is first asked for: a score that needs no statistics
does not pay for them.
"""

# ruff: noqa: F403

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tesla_eval.statistics.agreements import *
    from tesla_eval.statistics.association import *
    from tesla_eval.statistics.candidates import *
    from tesla_eval.statistics.correlation import *
    from tesla_eval.statistics.estimate import *
    from tesla_eval.statistics.judges import *
    from tesla_eval.statistics.multiple import *
    from tesla_eval.statistics.pairs import *
    from tesla_eval.statistics.pooled import *
    from tesla_eval.statistics.resampling import *
    from tesla_eval.statistics.shares import *

DEFAULT_RESAMPLES = 1000
DEFAULT_SEED = 12345

_FILES = (
    "agreements", "association", "candidates", "correlation", "estimate", "judges", "multiple", "pairs", "pooled",
    "resampling", "shares",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    """A public name, from the file that has it."""
    for file in () if name.startswith("_") else _FILES:
        module = import_module(f"{__name__}.{file}")
        if name in vars(module):
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
