"""tesla-eval: judge machine-made text against references by exact matching of weighted n-grams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tesla_eval.version import __version__

if TYPE_CHECKING:
    from tesla_eval.analysis import Analyser
    from tesla_eval.errors import TeslaError
    from tesla_eval.metrics import (
        Cremer,
        Dicomer,
        Pem,
        TeslaB,
        TeslaCelab,
        TeslaF,
        TeslaM,
        TeslaS,
        TeslaSRecall,
        TeslaX,
        create_metric,
    )
    from tesla_eval.records import CorpusScore, Explanation, Score, Signature, Token

_HOMES = {
    "Analyser": "analysis",
    "CorpusScore": "records",
    "Cremer": "metrics",
    "Dicomer": "metrics",
    "Explanation": "records",
    "Pem": "metrics",
    "Score": "records",
    "Signature": "records",
    "TeslaError": "errors",
    "TeslaB": "metrics",
    "TeslaCelab": "metrics",
    "TeslaF": "metrics",
    "TeslaM": "metrics",
    "TeslaS": "metrics",
    "TeslaSRecall": "metrics",
    "TeslaX": "metrics",
    "Token": "records",
    "create_metric": "metrics",
}

__all__ = [
    "Analyser",
    "CorpusScore",
    "Cremer",
    "Dicomer",
    "Explanation",
    "Pem",
    "Score",
    "Signature",
    "TeslaB",
    "TeslaCelab",
    "TeslaError",
    "TeslaF",
    "TeslaM",
    "TeslaS",
    "TeslaSRecall",
    "TeslaX",
    "Token",
    "__version__",
    "create_metric",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: `import tesla_eval` stays light."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tesla_eval' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"tesla_eval.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
