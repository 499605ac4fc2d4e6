"""The metrics by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tesla_eval.analysis import Analyser
from tesla_eval.analysis.languages import is_spaced
from tesla_eval.errors import UsageError
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.baselines import BASELINES, SacreBleuMetric
from tesla_eval.metrics.celab import CelabOptions, TeslaCelab, TeslaCelabMinus
from tesla_eval.metrics.pem import Pem
from tesla_eval.metrics.rouge import ROUGE_NAMES, RougeMetric
from tesla_eval.metrics.tesla_b import TeslaB
from tesla_eval.metrics.tesla_f import TeslaF
from tesla_eval.metrics.tesla_m import TeslaM
from tesla_eval.metrics.tesla_s import TeslaS, TeslaSRecall
from tesla_eval.metrics.tesla_x import TeslaX

if TYPE_CHECKING:
    from tesla_eval.metrics.cremer import Cremer
    from tesla_eval.metrics.dicomer import Dicomer

__all__ = [
    "BASELINE_NAMES",
    "CELAB_NAMES",
    "METRIC_NAMES",
    "CelabOptions",
    "Cremer",
    "Dicomer",
    "Metric",
    "Pem",
    "TeslaB",
    "TeslaCelab",
    "TeslaF",
    "TeslaM",
    "TeslaS",
    "TeslaSRecall",
    "TeslaX",
    "create_metric",
    "default_metrics",
    "metric_key",
]

_TESLA: dict[str, Callable[..., Metric]] = {"m": TeslaM, "b": TeslaB, "f": TeslaF, "x": TeslaX, "pem": Pem}
_SUMMARY: dict[str, Callable[..., Metric]] = {"s": TeslaS, "s-recall": TeslaSRecall}
# Loaded when asked for: a parser of discourse comes with them.
_COHERENCE = {"dicomer": "Dicomer", "cremer": "Cremer"}
_CELAB: dict[str, Callable[..., Metric]] = {"celab": TeslaCelab, "celab-": TeslaCelabMinus}

CELAB_NAMES = tuple(_CELAB)
"""The metrics that read units, not words."""
BASELINE_NAMES = (*BASELINES, *ROUGE_NAMES)
"""Other people's metrics, which read plain text."""
METRIC_NAMES = (*_TESLA, *_SUMMARY, *_COHERENCE, *_CELAB, *BASELINE_NAMES)
"""What `-m` takes."""


def __getattr__(name: str) -> Any:
    if name not in _COHERENCE.values():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{name.lower()}"), name)


def default_metrics(lang: str) -> str:
    """What `-m` means where it is not given: TESLA-M and TESLA-X; TESLA-CELAB for languages written without spaces.

    >>> default_metrics("en"), default_metrics("zh")
    ('m,x', 'celab')
    """
    return "m,x" if is_spaced(lang) else "celab"


def metric_key(name: str) -> str:
    """The name in `METRIC_NAMES` that is meant: ids and capitals are understood.

    >>> metric_key(" TESLA-M"), metric_key("chrF++")
    ('m', 'chrf++')
    """
    return name.strip().lower().removeprefix("tesla-")


def create_metric(
    name: str,
    lang: str,
    *,
    analyser: Analyser | None = None,
    synonyms: str | None = None,
    workers: int = 1,
    celab: CelabOptions | None = None,
) -> Metric:
    """The metric that `-m NAME` means.

    >>> create_metric("m", "en").id
    'tesla-m'
    """
    key = metric_key(name)
    if key in _TESLA:
        return _TESLA[key](lang=lang, analyser=analyser, synonyms=synonyms, workers=workers)
    if key in _SUMMARY:  # equal words only: synonyms are for others
        return _SUMMARY[key](lang=lang, analyser=analyser, workers=workers)
    if key in _COHERENCE:
        if analyser is not None:
            raise UsageError(
                f"{key} reads whole texts: an analysis of words without sentences is of no use to it"
            )
        coherence: Callable[..., Metric] = __getattr__(_COHERENCE[key])
        return coherence(lang=lang, workers=workers)
    if key in _CELAB:
        if analyser is not None:
            raise UsageError(f"{key} reads characters, not words: an analysis of words is of no use to it")
        return _CELAB[key](lang=lang, synonyms=synonyms, workers=workers, **asdict(celab or CelabOptions()))
    if key in BASELINES:
        return SacreBleuMetric(key, lang)
    if key in ROUGE_NAMES:
        return RougeMetric(key, lang)
    raise UsageError(f"unknown metric {name!r}; known are {', '.join(METRIC_NAMES)}")
