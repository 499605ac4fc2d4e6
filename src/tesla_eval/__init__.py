"""tesla-eval: judge machine-made text against references by exact matching of weighted n-grams."""

from __future__ import annotations

from collections.abc import Sequence
from os import environ
from typing import TYPE_CHECKING, Any

from tesla_eval.version import __version__

if TYPE_CHECKING:
    from tesla_eval.analysis import Analyser
    from tesla_eval.errors import InputError, ResourceError, TeslaError, UsageError
    from tesla_eval.explanations import Explanation
    from tesla_eval.features import FeatureGroup
    from tesla_eval.metrics.base import Metric, SegmentScores
    from tesla_eval.metrics.cremer import Cremer
    from tesla_eval.metrics.cremer_x import CremerX
    from tesla_eval.metrics.dicomer import Dicomer
    from tesla_eval.metrics.feature_metric import FeatureMetric
    from tesla_eval.metrics.pem import Pem
    from tesla_eval.metrics.pem_x import PemX
    from tesla_eval.metrics.registry import create_metric
    from tesla_eval.metrics.tesla_b import TeslaB
    from tesla_eval.metrics.tesla_celab import TeslaCelab, TeslaCelabMinus
    from tesla_eval.metrics.tesla_f import TeslaF
    from tesla_eval.metrics.tesla_m import TeslaM
    from tesla_eval.metrics.tesla_s import TeslaS, TeslaSRecall
    from tesla_eval.metrics.tesla_s_source import TeslaSSource
    from tesla_eval.metrics.tesla_s_x import TeslaSX
    from tesla_eval.metrics.tesla_x import TeslaX
    from tesla_eval.records import CorpusScore, Score, Signature, Token
    from tesla_eval.segments import References

# NumPy's OpenBLAS starts a thread per core that waits busily before it sleeps: 2^26 cycles, 0.1 s of CPU time per core
# at every start. 2^20 are as good for its products (docs/benchmarks.md, "Start-up"). It is read when NumPy is loaded.
environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")

_HOMES = {
    "analysis": ("Analyser",),
    "explanations": ("Explanation",),
    "errors": (
        "InputError",
        "ResourceError",
        "TeslaError",
        "UsageError",
    ),
    "metrics.base": (
        "Metric",
        "SegmentScores",
    ),
    "metrics.cremer": ("Cremer",),
    "metrics.cremer_x": ("CremerX",),
    "metrics.dicomer": ("Dicomer",),
    "metrics.feature_metric": ("FeatureMetric",),
    "features": ("FeatureGroup",),
    "metrics.pem": ("Pem",),
    "metrics.pem_x": ("PemX",),
    "metrics.registry": ("create_metric",),
    "metrics.tesla_b": ("TeslaB",),
    "metrics.tesla_celab": (
        "TeslaCelab",
        "TeslaCelabMinus",
    ),
    "metrics.tesla_f": ("TeslaF",),
    "metrics.tesla_m": ("TeslaM",),
    "metrics.tesla_s": (
        "TeslaS",
        "TeslaSRecall",
    ),
    "metrics.tesla_s_source": ("TeslaSSource",),
    "metrics.tesla_s_x": ("TeslaSX",),
    "metrics.tesla_x": ("TeslaX",),
    "records": (
        "CorpusScore",
        "Score",
        "Signature",
        "Token",
    ),
}

__all__ = [
    "Analyser",
    "CorpusScore",
    "Cremer",
    "CremerX",
    "Dicomer",
    "Explanation",
    "FeatureGroup",
    "FeatureMetric",
    "InputError",
    "Metric",
    "Pem",
    "PemX",
    "ResourceError",
    "Score",
    "SegmentScores",
    "Signature",
    "TeslaB",
    "TeslaCelab",
    "TeslaCelabMinus",
    "TeslaError",
    "TeslaF",
    "TeslaM",
    "TeslaS",
    "TeslaSRecall",
    "TeslaSSource",
    "TeslaSX",
    "TeslaX",
    "Token",
    "UsageError",
    "__version__",
    "create_metric",
    "explain",
    "score",
]


def score(
    hypotheses: Sequence[str],
    references: References,
    metric: str = "x",
    lang: str = "en",
    *,
    sources: Sequence[str] | None = None,
    references_by_segment: bool = False,
    **options: Any,
) -> CorpusScore:
    """Score a system's texts against K streams of references with the metric of that name.

    With `references_by_segment` the references are one list per hypothesis instead.

    >>> result = score(["The cats sat."], [["The cat sat."]], metric="m")
    >>> round(result.score, 4), result.segments.shape
    (0.5873, (1,))
    """
    made: Metric = _made(metric, lang, references, options)
    return made.corpus_score(hypotheses, references, sources, references_by_segment=references_by_segment)


def explain(
    hypothesis: str,
    references: Sequence[str],
    metric: str = "m",
    lang: str = "en",
    *,
    sources: str | None = None,
    **options: Any,
) -> Explanation:
    """The score of one text with the matching behind it.

    >>> explanation = explain("The cats sat.", ["The cat sat."])
    >>> explanation.references[0].features[0].name
    'ms.1'
    """
    made: Metric = _made(metric, lang, [references], options)
    return made.explain(hypothesis, references, sources)


def _made(metric: str, lang: str, references: Any, options: dict[str, Any]) -> Metric:
    """The metric; with `lang="auto"` for the language that the references are most likely written in."""
    from importlib import import_module

    if lang == "auto":
        streams = import_module("tesla_eval.segments").streams_of_texts(references)
        texts = [text for stream in streams for text in stream if text]
        found = import_module("tesla_eval.analysis.detection").identify(texts)
        lang = (
            "en"
            if found.language == "und" or (found.script == "Latin" and not found.certain)
            else found.language
        )
    made: Metric = __getattr__("create_metric")(metric, lang, **options)
    return made


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: `import tesla_eval` stays light."""
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"tesla_eval.{home}"), name)
    raise AttributeError(f"module 'tesla_eval' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
